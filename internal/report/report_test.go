package report_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

var warm = timing.Method{Mode: timing.Graph, Cache: timing.Warm, Launches: 100, Clock: "events"}

// timedOn returns a record with one time, for a number of days after the first record and a PTX.
func timedOn(days int, ptx string, micros float64) *record.Record {
	r := recordtest.New("stage1")
	recordtest.OnGPU(r)
	r.Kernel.SHA256 = ptx
	r.Build.Time = recordtest.Start.AddDate(0, 0, days)
	recordtest.Timed(r, problem.Square(1, 8, 512, 64), warm, micros, 0, map[string]float64{"torch flash f16": 20, "triton e4m3": 30})
	return r
}

func untimed(days int, ptx string) *record.Record {
	r := recordtest.New("stage1")
	r.Kernel.SHA256 = ptx
	r.Build.Time = recordtest.Start.AddDate(0, 0, days).Add(time.Hour)
	recordtest.Skipped(r)
	return r
}

// TestWhatStandsForAKernel wants the right record to represent a kernel, in all orders of records.
func TestWhatStandsForAKernel(t *testing.T) {
	for _, c := range []struct {
		name     string
		v        *report.View
		outcome  record.Outcome
		timed    bool
		outdated bool
		best     bool
	}{
		{"timed", view(t, one(timedOn(0, "a", 10), record.Merge)), record.Merge, true, false, true},
		{"a laptop does not hide a GPU", view(t, one(timedOn(0, "a", 10), record.Merge), one(untimed(1, "a"), record.Defer)), record.Merge, true, false, true},
		{"a rejection hides a merge", view(t, one(timedOn(0, "a", 10), record.Merge), one(untimed(1, "a"), record.Reject)), record.Reject, true, false, true},
		{"new PTX has old times", view(t, one(timedOn(0, "a", 10), record.Merge), one(untimed(1, "b"), record.Defer)), record.Defer, true, true, false},
		{"the newest times count", view(t, one(timedOn(0, "a", 10), record.Merge), one(timedOn(1, "b", 8), record.ValidNegative)), record.ValidNegative, true, false, true},
		{"never timed", view(t, one(untimed(0, "a"), record.Defer)), record.Defer, false, false, false},
		{"not judged", view(t, one(timedOn(0, "a", 10), "")), "", true, false, false},
		{"rejected with times", view(t, one(timedOn(0, "a", 10), record.Reject)), record.Reject, true, false, false},
	} {
		k := c.v.Kernels[0]
		if len(c.v.Kernels) != 1 || k.Outcome() != c.outcome || (k.Timed != nil) != c.timed || k.Outdated() != c.outdated {
			t.Errorf("%s: %d kernels, outcome %q, timed %v, outdated %v", c.name, len(c.v.Kernels), k.Outcome(), k.Timed != nil, k.Outdated())
		}
		if k.Timed != nil && c.name == "the newest times count" && k.Timed != k.Items[1] {
			t.Errorf("%s: an older record has the times", c.name)
		}
		if best := len(c.v.Shapes) > 0 && c.v.Shapes[0].Best() != nil; best != c.best {
			t.Errorf("%s: claimed is %v, want %v", c.name, best, c.best)
		}
	}
}

// TestOlderResults wants the times of a kernel that has changed since to be shown as such, until it is timed
// again or the new one is rejected.
func TestOlderResults(t *testing.T) {
	timed := one(timedOn(0, "a", 10), record.Merge)
	for name, c := range map[string]struct {
		v    *report.View
		want string
	}{
		"changed":     {view(t, timed, one(untimed(1, "b"), record.Defer)), "| stage1 (older PTX) | 10"},
		"timed again": {view(t, timed, one(timedOn(1, "b", 12), record.Defer)), "| stage1 | 12"},
		"rejected":    {view(t, timed, one(untimed(1, "b"), record.Reject)), report.NoResults},
	} {
		if got := c.v.Results(); !strings.Contains(got, c.want) || strings.Contains(got, "older") != strings.Contains(c.want, "older") {
			t.Errorf("%s: no %q in\n%s", name, c.want, got)
		}
	}
}

func TestPredictedAndWrongTimesAreNoResults(t *testing.T) {
	predicted, wrong := timedOn(0, "a", 10), timedOn(0, "a", 10)
	predicted.Performance.Shapes[0].Predicted = true
	wrong.Performance.Shapes[0].OutputsOK = false
	for _, r := range []*record.Record{predicted, wrong} {
		if got := view(t, one(r, record.Defer)).Results(); got != report.NoResults+"\n" {
			t.Errorf("results: %s", got)
		}
	}
}

func TestResults(t *testing.T) {
	v := view(t, campaign(0, 1))
	results := v.Results()
	for _, want := range []string{
		"on synthetic GPU", "| mission 1,8,512,64 | stage5-persistent | 20.", "| long 1,8,2048,64 |", "torch flash f16", "0.0120",
	} {
		if !strings.Contains(results, want) {
			t.Errorf("no %q in\n%s", want, results)
		}
	}
	if n := strings.Count(results, "\n| "); n != 3 { // the head and two shapes
		t.Errorf("%d lines in\n%s", n, results)
	}
	readme := "a\n<!-- results: written by attest report --readme, from evidence -->\nstale\n<!-- end of results -->\nb\n"
	now, err := report.ReplaceResults(readme, results)
	if err != nil || !strings.HasPrefix(now, "a\n<!--") || !strings.HasSuffix(now, "-->\nb\n") || strings.Contains(now, "stale") {
		t.Errorf("%v in\n%s", err, now)
	}
	if again, err := report.ReplaceResults(now, results); err != nil || again != now {
		t.Errorf("a second time: %v\n%s", err, again)
	}
	for _, bad := range []string{"", "<!-- end of results -->", strings.Split(readme, "stale")[0]} {
		if _, err := report.ReplaceResults(bad, results); err == nil {
			t.Errorf("%q has a place for results", bad)
		}
	}
	if got := view(t).Results(); got != report.NoResults+"\n" {
		t.Errorf("of nothing: %s", got)
	}
}

// TestResultsOfFewProcesses wants only times of five processes in a README, and a sentence about the
// others.
func TestResultsOfFewProcesses(t *testing.T) {
	const others = "`attest report --evidence evidence` also shows 1 shape with times of fewer than 5 processes."
	fill := func(processes int, ptx string, micros float64) func(recordtest.Adder) error {
		r := timedOn(0, ptx, micros)
		shape := &r.Performance.Shapes[0]
		shape.Runs = slices.Repeat(shape.Runs[:1], processes)
		return one(r, record.Merge)
	}
	for _, c := range []struct {
		v             *report.View
		want, without string
	}{
		{view(t, fill(4, "a", 10)), report.NoResults + " " + others + "\n", "|"},
		{view(t, fill(5, "a", 10)), "| 5 |", "fewer"},
		{view(t, campaign(0, 1), fill(4, "z", 1)), "stage5-persistent | 20.", others}, // a faster kernel of the same shape
	} {
		if got := c.v.Results(); !strings.Contains(got, c.want) || strings.Contains(got, c.without) {
			t.Errorf("want %q and not %q in\n%s", c.want, c.without, got)
		}
	}
	var few, enough bytes.Buffer
	if err := errors.Join(view(t, fill(4, "a", 10)).WriteSVG(&few), view(t, campaign(0, 1), fill(4, "z", 1)).WriteSVG(&enough)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(few.String(), "4 processes") || !strings.Contains(enough.String(), ", 5 processes") {
		t.Errorf("the pictures do not have the processes:\n%s\n%s", few.String(), enough.String())
	}
}

// TestRivalsAreOfTheSameRun wants the ratio to the fastest rival of the same run.
func TestRivalsAreOfTheSameRun(t *testing.T) {
	s := view(t, one(timedOn(0, "a", 10), record.Merge)).Shapes[0]
	r := s.Rows[0].Main().FastestRival()
	if x := 1 / r.Comparison.Ratio; r.Name != "torch flash f16" || x < 1.9 || x > 2.1 {
		t.Errorf("%+v", r)
	}
	if len(s.Rows) != 3 || s.Rows[1].Label != "torch flash f16" || s.Rows[2].Kernel != nil {
		t.Errorf("rows: %+v", s.Rows)
	}
}

// TestCausalIsApart wants the times of causal kernels to be apart from those without a mask, since
// causal is half the work.
func TestCausalIsApart(t *testing.T) {
	half := timedOn(1, "b", 5)
	half.Kernel.Problem.Causal = true
	v := view(t, one(timedOn(0, "a", 10), record.Merge), one(half, record.Merge))
	if len(v.Shapes) != 2 || v.Shapes[0].Causal || !v.Shapes[1].Causal || v.Shapes[1].Title() != v.Shapes[0].Title()+" causal" {
		t.Fatalf("%+v", v.Shapes)
	}
	for i, want := range []float64{10, 5} {
		s := v.Shapes[i]
		if got := s.Best().Main().Summary.P50; len(s.Rows) != 3 || got < 0.9*want || got > 1.1*want {
			t.Errorf("%s: %d rows, best %v µs", s.Title(), len(s.Rows), got)
		}
	}
}

// TestRivalsTable wants each rival once.
func TestRivalsTable(t *testing.T) {
	r := timedOn(0, "a", 10)
	r.Performance.Shapes[0].Rivals[0].Version, r.Performance.Shapes[0].Rivals[0].Note = "9.9", "in its own way"
	got := view(t, one(r, record.Merge), one(timedOn(1, "a", 10), "")).Shapes[0].Rivals()
	if len(got.Rows) != 2 || got.Rows[0][1].Text != "9.9" || got.Rows[0][2].Text != "in its own way" {
		t.Errorf("%+v", got.Rows)
	}
}

// TestOtherMethods wants times with a cold cache to come from another record only if it has the same
// PTX.
func TestOtherMethods(t *testing.T) {
	cold := warm
	cold.Cache = timing.Cold
	by := func(days int, ptx string, m timing.Method, micros float64) *record.Record {
		r := recordtest.New("stage1")
		recordtest.OnGPU(r)
		r.Kernel.SHA256 = ptx
		r.Build.Time = recordtest.Start.AddDate(0, 0, days)
		recordtest.Timed(r, problem.Square(1, 8, 512, 64), m, micros, 0, nil)
		return r
	}
	for _, ptx := range []string{"a", "b"} {
		v := view(t, one(by(0, ptx, cold, 30), ""), one(by(1, ptx, cold, 20), ""), one(by(2, "a", warm, 10), record.Merge), one(by(3, "a", warm, 12), ""))
		row := v.Shapes[0].Best()
		if len(v.Shapes[0].Rows) != 1 || row.Main().Summary.P50 > 11 {
			t.Fatalf("%s: %+v", ptx, row)
		}
		switch {
		case ptx == "b" && len(row.Marks) != 1:
			t.Errorf("times of other PTX: %+v", row.Marks)
		case ptx == "a" && (len(row.Marks) != 2 || row.Marks[1].Method.Cache != timing.Cold || row.Marks[1].Summary.P50 > 21):
			t.Errorf("cold times: %+v", row.Marks)
		}
	}
}

// TestBaselinesHaveRows wants a baseline to be shown beside the kernel, once.
func TestBaselinesHaveRows(t *testing.T) {
	against := func(name string, days int) *record.Record {
		r, old := recordtest.New(name), recordtest.New("stage1").Kernel
		recordtest.OnGPU(r)
		r.Baseline = &old
		r.Build.Time = recordtest.Start.AddDate(0, 0, days)
		recordtest.Timed(r, problem.Square(1, 8, 512, 64), warm, 5, 9, nil)
		return r
	}
	two := []func(recordtest.Adder) error{one(against("stage2", 1), record.Merge), one(against("stage3a", 2), record.Merge)}
	s := view(t, two...).Shapes[0]
	if len(s.Rows) != 3 || s.Rows[2].Label != "stage1, the baseline" || s.Rows[2].Kernel != nil || s.Rows[2].Main().Summary.P50 < 8 || s.Best() == s.Rows[2] {
		t.Errorf("rows: %+v", s.Rows)
	}
	s = view(t, append(two, one(timedOn(0, "a", 10), record.Merge))...).Shapes[0]
	if i := slices.IndexFunc(s.Rows, func(r *report.Row) bool { return strings.Contains(r.Label, "baseline") }); i >= 0 {
		t.Errorf("%s has a row of its own, too", s.Rows[i].Label)
	}
}

func TestNamesThatAreNotEnough(t *testing.T) {
	a, b := timedOn(0, "a", 10), timedOn(1, "b", 9)
	b.Kernel.Target = "sm_90a"
	v := view(t, one(a, record.Merge), one(b, record.Merge))
	if len(v.Kernels) != 2 || v.Kernels[0].Label != "stage1 e4m3 sm_89" || v.Kernels[1].Label != "stage1 e4m3 sm_90a" {
		t.Errorf("kernels %q and %q", v.Kernels[0].Label, v.Kernels[1].Label)
	}
}

// chosen returns a record of a kernel whose configuration depends on the shape.
func chosen(days int, config string, shape problem.Shape, micros float64) *record.Record {
	r := recordtest.New("hopper")
	recordtest.OnGPU(r)
	r.Kernel.SHA256 = config
	r.Kernel.Config = map[string]string{"config": config, "chosen": "by shape"}
	r.Kernel.Problem.D = shape.D
	r.Build.Time = recordtest.Start.AddDate(0, 0, days)
	recordtest.Timed(r, shape, warm, micros, 0, nil)
	return r
}

// TestChosenByShape wants every shape of a kernel with several texts, each with its newest judged
// times. Times of a text that was judged elsewhere count if they are of as many processes as a README needs.
func TestChosenByShape(t *testing.T) {
	brief := chosen(2, "narrower", problem.Square(1, 8, 512, 64), 4)
	brief.Performance.Shapes[0].Runs = brief.Performance.Shapes[0].Runs[:1]
	untimed := chosen(1, "wider", problem.Square(4, 32, 4096, 64), 1)
	untimed.Performance = nil
	v := view(t,
		one(chosen(0, "narrow", problem.Square(1, 8, 512, 64), 5), record.Merge),
		one(chosen(0, "wide", problem.Square(4, 32, 4096, 64), 800), record.Merge),
		one(chosen(0, "broad", problem.Square(4, 16, 4096, 128), 600), record.Merge),
		one(chosen(1, "narrower", problem.Square(1, 8, 512, 64), 6), record.Merge), // slower, but the newest
		one(brief, ""), // times of one process without a verdict
		one(untimed, record.Correct),
		one(chosen(2, "wider", problem.Square(4, 32, 4096, 64), 700), ""),  // a judged text, times of many processes
		one(chosen(3, "unknown", problem.Square(4, 16, 4096, 128), 1), ""), // no record of this text has a verdict
	)
	var got []string
	for _, s := range v.Shapes {
		if len(s.Rows) != 1 || s.Best() == nil {
			t.Fatalf("%s: %+v", s.Shape, s.Rows)
		}
		got = append(got, s.Shape.String()+": "+s.Best().Label)
	}
	want := "1,8,512,64: hopper D 64 narrower|4,32,4096,64: hopper D 64 wider|4,16,4096,128: hopper D 128 broad"
	slices.Sort(got)
	if w := strings.Split(want, "|"); !slices.Equal(got, []string{w[0], w[2], w[1]}) {
		t.Errorf("%q", got)
	}
	if k := v.Kernels[3]; k.Outcome() != record.Merge || len(k.Items) != 2 {
		t.Errorf("%s: %q of %d", k.Label, k.Outcome(), len(k.Items))
	}
	for i, least := range []float64{5.5, 590, 690} {
		if p50 := v.Shapes[i].Best().Main().Summary.P50; p50 < least || p50 > 1.1*least {
			t.Errorf("%v: %v µs is of another record", v.Shapes[i].Shape, p50)
		}
	}
}

// TestMoreRivals wants a run with more rivals to be shown, even if it is older, for the same kernel.
func TestMoreRivals(t *testing.T) {
	beside := func(days int, ptx string, micros float64, rivals ...string) *record.Record {
		r := recordtest.New("stage1")
		recordtest.OnGPU(r)
		r.Kernel.SHA256 = ptx
		r.Build.Time = recordtest.Start.AddDate(0, 0, days)
		times := map[string]float64{}
		for _, name := range rivals {
			times[name] = 20
		}
		recordtest.Timed(r, problem.Square(1, 8, 512, 64), warm, micros, 0, times)
		return r
	}
	for _, c := range []struct {
		last *record.Record
		want float64
	}{{beside(1, "a", 5, "triton e4m3"), 10}, {beside(1, "b", 5, "triton e4m3"), 5}, {beside(1, "a", 5, "torch flash f16", "triton e4m3"), 5}} {
		v := view(t, one(beside(0, "a", 10, "torch flash f16", "triton e4m3"), record.Merge), one(c.last, record.Merge))
		if got := v.Shapes[0].Best().Main().Summary.P50; got < c.want-1 || got > c.want+1 {
			t.Errorf("%v µs, want about %v", got, c.want)
		}
	}
}

// TestHeadDimensions wants D = 64 and D = 128 of one name to be two kernels.
func TestHeadDimensions(t *testing.T) {
	a, b, c := timedOn(0, "a", 10), timedOn(1, "b", 9), timedOn(2, "c", 9)
	a.Kernel.Problem.D = 64
	b.Kernel.Problem.D = 128
	c.Kernel.Problem.D, c.Kernel.Problem.Causal = 128, true
	var labels []string
	for _, k := range view(t, one(a, record.Merge), one(b, record.Merge), one(c, record.Merge)).Kernels {
		labels = append(labels, k.Label)
	}
	if want := []string{"stage1 D 64", "stage1 D 128", "stage1 D 128 causal"}; !slices.Equal(labels, want) {
		t.Errorf("%q", labels)
	}
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	view(t, campaign(0, 1)).WriteText(&b, term.Style{})
	for _, want := range []string{"stage4             e4m3    REJECT          ✓✗··", "2.70× (2.", "xor-swizzle", "the chain is whole"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	view(t, odd()...).WriteText(&b, term.Style{})
	for _, item := range view(t, odd()...).Items {
		report.WriteRecord(&b, item, term.Style{})
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("an escape sequence of a record reaches the terminal")
	}
}

func TestMarkdown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "md")
	names, err := view(t, campaign(0, 1), campaign(2, 0.9)).WriteMarkdown(dir)
	if err != nil || len(names) != 12 {
		t.Fatal(names, err)
	}
	for name, want := range map[string]string{
		"COMPARE.md":            "| **VALID-NEGATIVE** |",
		"HISTORY.md":            "| 2026-01-07 09:",
		"STATUS.md":             "- **xor-swizzle** (e4m3, synthetic GPU): VALID-NEGATIVE, -5.5 %",
		"VALIDATION-stage5.md":  "    7  ",
		"VALIDATION-stage4.md":  "- error: read of kv is not ordered",
		"VALIDATION-stage3b.md": "| event, warm | 1 |",
		"VALIDATION-stage2.md":  "Errors against float64. Tolerance: max 0.06, mean 0.02, at most 1 % above 0.06, 2 times the error of a plain computation",
		"VALIDATION-stage1.md":  "\n## Resources\n\n| ",
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, no %q in\n%s", name, err, want, text)
		}
	}
}

func TestDiff(t *testing.T) {
	v := view(t, one(timedOn(0, "a", 10), record.Merge), one(timedOn(3, "b", 5), record.Defer))
	d := report.Diff(v.Items[0], v.Items[1])
	if d.Same || len(d.Times) != 1 || *d.Times[0].Ratio < 0.45 || *d.Times[0].Ratio > 0.55 {
		t.Errorf("%+v", d)
	}
	if len(d.Kernel) != 1 || d.Kernel[0].What != "PTX" || len(d.Build) != 1 || d.Build[0].What != "date" || len(d.Outcome) != 1 {
		t.Errorf("kernel %v, build %v, outcome %v", d.Kernel, d.Build, d.Outcome)
	}
	same := report.Diff(v.Items[0], v.Items[0])
	if !same.Same || len(same.Kernel)+len(same.Build)+len(same.Outcome) != 0 || *same.Times[0].Ratio != 1 {
		t.Errorf("with itself: %+v", same)
	}
}

// TestDiffText: estimates are marked, bytes and shares have units, and the configuration has
// one name.
func TestDiffText(t *testing.T) {
	a, b := timedOn(0, "a", 10), timedOn(3, "b", 5)
	recordtest.Resources(a, 90, 44032, 0)
	recordtest.Resources(b, 96, 52224, 0)
	a.Resources.Usage[0].Registers.Source = resources.Estimate
	b.Resources.Usage[0].Registers.Source = resources.Estimate
	a.Kernel.Config, b.Kernel.Config = map[string]string{"config": "64x64 cp-async-2"}, map[string]string{"config": "64x64 cp-async-3"}
	v := view(t, one(a, record.Merge), one(b, record.Defer))
	var out bytes.Buffer
	report.Diff(v.Items[0], v.Items[1]).WriteText(&out, term.Style{})
	for _, want := range []string{
		"  configuration  64x64 cp-async-2  64x64 cp-async-3\n", "  registers, sm_89 (estimate)      90      96   1.07\n",
		"  dynamic shared               43 KiB  51 KiB   1.19\n", "  occupancy                    18.8 %  18.8 %   1.00\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// TestErrorsAreOfOrdinaryInputs wants the overview to show the error on N(0,1), and not that of a
// case that is hard for the format.
func TestErrorsAreOfOrdinaryInputs(t *testing.T) {
	r := recordtest.New("stage1")
	recordtest.Correct(r, problem.Square(1, 8, 512, 64), 0.012)
	hard := recordtest.Correct(r, problem.Square(1, 8, 512, 64), 1.6)
	hard.Distribution = "large-logits"
	var b bytes.Buffer
	v := view(t, one(r, record.Defer))
	v.Overview().WriteText(&b, "", term.Style{})
	if !strings.Contains(b.String(), "0.0120     1.11×") || strings.Contains(b.String(), "1.60") {
		t.Errorf("the overview is\n%s", b.String())
	}
	if page := html(t, v); strings.Contains(page, `class="heat h4"`+" x=") {
		t.Error("an error that the format itself has is shown as far above the tolerance")
	}
}
