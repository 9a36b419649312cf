package report

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/internal/targets"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/stats"
)

// TestScale wants the ends of a scale at its ends, and the same ratio to take the same room on a logarithmic
// scale.
func TestScale(t *testing.T) {
	for _, c := range []struct {
		of      scale
		x, want float64
	}{
		{scale{low: 2, high: 6, from: 100, to: 300}, 2, 100}, {scale{low: 2, high: 6, from: 100, to: 300}, 6, 300}, {scale{low: 2, high: 6, from: 100, to: 300}, 3, 150},
		{scale{low: 2, high: 6, from: 300, to: 100}, 3, 250}, {scale{low: 5, high: 5, from: 100, to: 300}, 5, 200},
		{scale{low: 1, high: 100, from: 0, to: 10, log: true}, 10, 5}, {scale{low: 1, high: 100, from: 0, to: 10, log: true}, 0, 0},
	} {
		if got := c.of.at(c.x); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %g is at %g, want %g", c.of, c.x, got, c.want)
		}
	}
	for x, want := range map[float64][2]float64{1: {1, 1}, 2: {2, 2}, 3: {2, 5}, 5: {5, 5}, 7: {5, 10}, 0.02: {0.02, 0.02}, 0.011: {0.01, 0.02}, 100: {100, 100}} {
		if low, high := roundDown(x), roundUp(x); math.Abs(low/want[0]-1) > 1e-9 || math.Abs(high/want[1]-1) > 1e-9 {
			t.Errorf("%g is rounded to %g and %g, want %v", x, low, high, want)
		}
	}
	if s := logScale([]float64{3, 40, 0, math.Inf(1)}, 1, 2); s.low != 2 || s.high != 50 {
		t.Errorf("the scale goes from %g to %g", s.low, s.high)
	}
}

// TestLatencyScale wants a few late samples to be counted and not to compress the others.
func TestLatencyScale(t *testing.T) {
	all := append(slices.Repeat([]float64{10, 11, 12, 13}, 10), 90, 95)
	y, above := latencyScale(all, stats.Summarise(all))
	if above != 2 || !(y.low < 10) || !(y.high > 13 && y.high < 90) {
		t.Errorf("%d samples above a scale from %g to %g", above, y.low, y.high)
	}
	if at := y.at(10); !(at < y.from && at > y.at(13)) {
		t.Errorf("the fastest sample is at %g, the scale begins at %g", at, y.from)
	}
}

// TestHistogram wants one bar for each time, at its place and with a length by its count.
func TestHistogram(t *testing.T) {
	y := scale{low: 0, high: 31, from: 310, to: 0} // a range of times is 1 µs and 10 px
	d := &svg{}
	histogram(d, []float64{0.5, 0.5, 0.5, 0.5, 3.5, 3.5, 30.5, 40}, y, 100, 200)
	var got [][4]float64
	for _, r := range regexp.MustCompile(`<rect class="bar" x="([^"]*)" y="([^"]*)" width="([^"]*)" height="([^"]*)"/>`).FindAllStringSubmatch(d.String(), -1) {
		var one [4]float64
		for i := range one {
			one[i], _ = strconv.ParseFloat(r[i+1], 64)
		}
		got = append(got, one)
	}
	want := [][4]float64{{100, 300.5, 100, 9}, {100, 270.5, 50, 9}, {100, 0.5, 25, 9}} // 40 µs is above the scale
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestSubject wants a target to name its kernel, format, shape and rival, where it has them.
func TestSubject(t *testing.T) {
	mission := problem.Named{Name: "mission", Shape: problem.Square(1, 8, 512, 64)}
	for want, of := range map[string]targets.Target{
		"":            {},
		"stage5 e4m3": {Kernel: "stage5", Format: "e4m3"},
		"mission " + mission.Shape.String() + " over triton": {Shape: mission, Rival: "triton"},
		mission.Shape.String() + " causal":                   {Shape: problem.Named{Shape: mission.Shape}, Causal: true},
	} {
		if got := subjectOf(&of); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestMarkdownTable wants a line below the head that says which columns are numbers.
func TestMarkdownTable(t *testing.T) {
	table := &Table{Head: []string{"name", "µs"}, Right: "lr", Rows: [][]Cell{{text("a|b"), text("1")}}}
	want := "| name | µs |\n|---|---:|\n| a\\|b | 1 |\n"
	if got := table.Markdown(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestResourceNumbers wants every figure that is known, with its target.
func TestResourceNumbers(t *testing.T) {
	of := func(n int) resources.Figure { return resources.Figure{Value: n, Source: resources.Ptxas} }
	u := resources.Usage{Target: "sm_90", Registers: of(1), SpillStores: of(2), SpillLoads: of(3), Stack: of(4), Shared: of(5)}
	r := &record.Resources{Usage: []resources.Usage{u}, Dynamic: 6}
	var got []string
	for _, n := range resourceNumbers(r) {
		got = append(got, n.name+" "+strconv.FormatFloat(n.value, 'g', -1, 64))
	}
	want := "registers, sm_90 1; spill stores, sm_90 2; spill loads, sm_90 3; stack, sm_90 4; static shared, sm_90 5; dynamic shared 6"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("%s, want %s", text, want)
	}
}

// TestEmptyTables wants no heading without a table below it.
func TestEmptyTables(t *testing.T) {
	var b strings.Builder
	v := &View{}
	v.writeConfigs(&b, term.Style{})
	v.writeTargets(&b, term.Style{})
	if b.Len() > 0 {
		t.Errorf("%q", b.String())
	}
	v.Kernels = []*Kernel{{Label: "a", Config: "c"}, {Label: "b"}}
	if v.writeConfigs(&b, term.Style{}); !strings.Contains(b.String(), "a ") || strings.Contains(b.String(), "\nb") {
		t.Errorf("%q", b.String())
	}
}

// TestSweepCells wants each cell in its column and its row, with a readable text.
func TestSweepCells(t *testing.T) {
	s := &svg{}
	f := sweepField{d: problem.HeadDim{D: 64}, lowest: map[[2]int]float64{{0, 6}: 0.5, {1, 6}: 1, {1, 7}: 2}}
	f.draw(s, 0, 0, [2]int{0, 1}, [2]int{6, 7})
	cells := map[string][2]string{}
	for _, c := range regexp.MustCompile(`<text class="(cell[^"]*)" text-anchor="middle" x="([^"]*)" y="([^"]*)">([^<]*)</text>`).FindAllStringSubmatch(s.String(), -1) {
		cells[c[4]] = [2]string{c[2] + "," + c[3], c[1]}
	}
	at := func(column, row float64) string {
		return num(sweepLabels+column*sweepCell+sweepCell/2) + "," + num(sweepHead+row*sweepLine+13.5)
	}
	want := map[string][2]string{"0.50": {at(0, 0), "cell on-dark"}, "1.00": {at(0, 1), "cell"}, "2.00": {at(1, 1), "cell on-dark"}}
	for text, place := range want {
		if cells[text] != place {
			t.Errorf("%s: %v, want %v", text, cells[text], place)
		}
	}
	for _, label := range []string{`>64</text>`, `>128</text>`, `>1</text>`, `>2</text>`} {
		if strings.Count(s.String(), label) != 1 {
			t.Errorf("the label %s is there %d times", label, strings.Count(s.String(), label))
		}
	}
	if got := strings.Count(s.String(), "<rect"); got != 3 {
		t.Errorf("%d cells, want 3", got)
	}
	column := regexp.MustCompile(`x="([^"]*)" y="[^"]*">128</text>`).FindStringSubmatch(s.String())
	if column == nil || column[1] != num(sweepLabels+1.5*sweepCell) {
		t.Errorf("the label of the second column is at %v", column)
	}
}
