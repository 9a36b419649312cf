package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// timedRow returns a row with one median, which is 3 µs.
func timedRow(label string, k *Kernel) *Row {
	m := Mark{Method: timing.Method{Mode: timing.Graph, Cache: timing.Warm}, Summary: stats.Summary{P50: 3, P90: 4, Min: 2}, TFLOPs: 5, Times: &record.Times{OutputsOK: true, Floor: 1.5}}
	item := &evidence.Item{Hash: label, Record: &record.Record{Kernel: record.Kernel{Name: label}}}
	if k != nil && k.Now == nil {
		k.Now = item
	}
	return &Row{Label: label, Kernel: k, Item: item, Marks: []Mark{m}}
}

// TestRowNames wants a row to say why its times need care.
func TestRowNames(t *testing.T) {
	current := &Kernel{}
	predicted := timedRow("k", current)
	predicted.Main().Times.Predicted = true
	old := timedRow("k", &Kernel{Now: &evidence.Item{Record: &record.Record{Kernel: record.Kernel{SHA256: "2"}}}})
	rival := timedRow("triton", nil)
	rival.Main().Times.Predicted = true // a rival never is
	cold := timedRow("k", current)
	cold.Main().Method.Cache = timing.Cold
	for _, c := range []struct {
		row         *Row
		text, class string
	}{
		{timedRow("k", current), "k", "name"}, {predicted, "k (predicted)", "name"}, {old, "k (older PTX)", "name"}, {rival, "triton", "rival"},
		{cold, "k (" + how(cold.Main().Method) + ")", "name"},
	} {
		if got := c.row.name(); got.Text != c.text || got.Class != c.class {
			t.Errorf("%q of class %q, want %q of class %q", got.Text, got.Class, c.text, c.class)
		}
	}
}

// TestTimesTable wants each row to have all columns. A rival is compared with nothing.
func TestTimesTable(t *testing.T) {
	s := &Shape{Shape: problem.Square(1, 8, 512, 64), Rows: []*Row{timedRow("k", &Kernel{}), timedRow("triton", nil)}}
	s.Rows[1].Main().Summary.P50 = 6
	table := s.Table()
	for i, want := range [][2]string{{"2.00×", "1.00×"}, {"4.00×", none}} {
		row := table.Rows[i]
		if len(row) != len(table.Head) {
			t.Fatalf("row %d has %d cells, the head has %d", i, len(row), len(table.Head))
		}
		if row[5].Text != want[0] || row[6].Text != want[1] {
			t.Errorf("row %d: %q of the floor and %q against the first, want %q", i, row[5].Text, row[6].Text, want)
		}
	}
}

// TestPower wants cells of a sweep to stand at the power of two below their size.
func TestPower(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 1, 3: 1, 4: 2, 1023: 9, 1024: 10} {
		if got := power(n); got != want {
			t.Errorf("power(%d) = %d, want %d", n, got, want)
		}
	}
}

// TestParityOfKernel wants the parity with the kernel that a kernel builds on, and nothing without a common case.
func TestParityOfKernel(t *testing.T) {
	of := func(name, format string) *Kernel {
		r := &record.Record{Kernel: record.Kernel{Name: name, Format: format}, Correctness: &record.Correctness{Cases: []record.Case{{Shape: problem.Square(1, 1, 64, 64), Distribution: "normal", OutputsHash: "x"}}}}
		return &Kernel{Now: &evidence.Item{Record: r}}
	}
	k := of("stage3b", "e4m3")
	for want, base := range map[string]*Kernel{"same bits as stage2 on 1 of 1 case": of("stage2", "e4m3"), "": of("stage2", "u8")} {
		if got := (&View{Kernels: []*Kernel{of("stage1", "e4m3"), base, k}}).Parity(k); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (&View{Kernels: []*Kernel{of("mine", "e4m3"), k}}).Parity(k); got != "" {
		t.Errorf("parity with another kernel: %q", got)
	}
}

// TestHistoryDates wants the first and the last day of all lines, in any order of the lines.
func TestHistoryDates(t *testing.T) {
	at := func(day int) *evidence.Item {
		return &evidence.Item{Record: &record.Record{Build: record.Build{Time: time.Date(2025, 3, day, 0, 0, 0, 0, time.UTC)}}}
	}
	late := line{label: "a", items: []*evidence.Item{at(5), at(9)}, p50: []float64{3, 2}}
	early := line{label: "b", items: []*evidence.Item{at(2), at(4)}, p50: []float64{5, 4}}
	dates := regexp.MustCompile(`2025-03-0\d</text>`)
	for _, lines := range [][]line{{late, early}, {early, late}} {
		got := dates.FindAllString(string(drawHistory(&Shape{}, lines).Chart), -1)
		if fmt.Sprint(got) != "[2025-03-02</text> 2025-03-09</text>]" {
			t.Errorf("%v", got)
		}
	}
}

// TestBestShapes wants the named shapes without a mask first, and at most three.
func TestBestShapes(t *testing.T) {
	of := func(name string, causal bool) *Shape {
		k := timedRow("k", &Kernel{})
		k.Item.Verdicts = []evidence.Judgement{{Verdict: &record.Verdict{Outcome: record.Merge}}}
		return &Shape{Name: name, Causal: causal, Rows: []*Row{k}}
	}
	v := &View{Shapes: []*Shape{of("", false), of("mission", true), of("long", false), of("mission", false)}}
	var got []string
	for _, s := range v.Best() {
		got = append(got, fmt.Sprint(s.Name, s.Causal))
	}
	if fmt.Sprint(got) != "[missionfalse longfalse false]" {
		t.Errorf("%q", got)
	}
	v.Shapes[3].Rows = nil // without a fastest kernel
	if best := v.Best(); best[0].Name != "long" {
		t.Errorf("the first is %q", best[0].Title())
	}
}

// TestRoof wants the roof to rise to the ridge and to be level from there on, inside the picture, and the ceilings
// to be above all dots.
func TestRoof(t *testing.T) {
	row := timedRow("k", &Kernel{})
	from := &evidence.Item{Record: &record.Record{Performance: &record.Performance{Ceiling: record.Ceiling{Bandwidth: 3000, FLOPs: 800}}}}
	f := drawRoofline("chip", []spot{{intensity: 100, rate: 20, row: row, shape: &Shape{}}}, from)
	points := regexp.MustCompile(`class="roof" points="([^"]*)"`).FindStringSubmatch(string(f.Chart))
	if points == nil {
		t.Fatalf("no roof in %s", f.Chart)
	}
	var xs, ys []float64
	for _, p := range strings.FieldsFunc(points[1], func(r rune) bool { return r == ' ' || r == ',' }) {
		x, _ := strconv.ParseFloat(p, 64)
		if len(xs) == len(ys) {
			xs = append(xs, x)
		} else {
			ys = append(ys, x)
		}
	}
	if len(ys) != 3 || !(xs[0] < xs[1] && xs[1] < xs[2]) || !(ys[0] > ys[1]) || ys[1] != ys[2] || ys[0] > 200 || ys[1] < 16 { // at the left edge the roof is at 150 TFLOP/s, of 10 to 1000
		t.Errorf("the roof has the points %v, %v", xs, ys)
	}
	if !(ys[1] > 17) {
		t.Error("the ceiling is the upper edge of the picture")
	}
}

// TestLatencyLines wants a line for each of the figures that are named beside the picture.
func TestLatencyLines(t *testing.T) {
	row := timedRow("k", &Kernel{})
	m := row.Main()
	m.Times.Runs = []timing.Run{{Batches: []timing.Batch{{Micros: []float64{2, 3, 4}}}}}
	chart := string(latency(&Shape{}, row).Chart)
	for _, class := range []string{"median", "p90"} {
		if n := strings.Count(chart, `class="`+class+`"`); n != 1 {
			t.Errorf("%d lines of class %s", n, class)
		}
	}
}

// TestScoreNotes wants a note about accurate mutants only if there are any.
func TestScoreNotes(t *testing.T) {
	s := score("k", 3)
	if _, _, notes := ScoreLines(s); len(notes) != 0 {
		t.Errorf("%q", notes)
	}
	s.Add(record.Mutant{Operator: "opcode", Fate: record.Accurate})
	if _, _, notes := ScoreLines(s); len(notes) != 1 || !strings.Contains(notes[0], "1 survivor has other bits") || !strings.Contains(notes[0], "60.0 %") {
		t.Errorf("%q", notes)
	}
}

// TestDiffWithoutCases wants no parity where the records have no case in common.
func TestDiffWithoutCases(t *testing.T) {
	for of, want := range map[int]bool{0: false, 2: true} {
		var b strings.Builder
		(&Difference{Parity: Parity{With: "stage2", Same: of, Of: of}}).WriteText(&b, term.Style{})
		if strings.Contains(b.String(), "B has the same bits as stage2") != want {
			t.Errorf("%d cases: %s", of, b.String())
		}
	}
}

// TestRecordHasItsHash wants the hash of a record, and the reasons of its defects, where a person looks for them.
func TestRecordHasItsHash(t *testing.T) {
	item := &evidence.Item{Hash: "0123456789", Record: &record.Record{Kernel: record.Kernel{Name: "k"}}}
	item.Defects = &record.Defects{}
	item.Defects.Add(problem.Shape{}, finding.Finding{Kind: "shared-race", Severity: finding.Error, Message: "a race", Why: "because", Count: 1})
	var b strings.Builder
	WriteRecord(&b, item, term.Style{})
	for _, want := range []string{"record", "0123456789", "    why: because\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "fix:") {
		t.Errorf("an empty fix is written:\n%s", b.String())
	}
}

// TestIntensity wants the operations per byte of a known shape: 4·512·512·64 per head, for 3·512·64 bytes of e4m3 and
// 512·64·2 of f16.
func TestIntensity(t *testing.T) {
	r := &record.Record{}
	r.Kernel.Problem.Format, r.Kernel.Problem.Output = problem.E4M3, problem.F16
	got, want := intensity(r, problem.Square(1, 8, 512, 64)), 4*512*512*64/float64(5*512*64)
	if !(got > 0.99*want && got < 1.01*want) {
		t.Errorf("%g FLOP per byte, want about %g", got, want)
	}
}
