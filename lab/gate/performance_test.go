package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// TestTimes wants times that contradict themselves to be red, and times that prove nothing to be
// void. Each limit is tried on both sides.
func TestTimes(t *testing.T) {
	one := func(f func(*record.Times)) func(*record.Record) {
		return func(r *record.Record) { f(&r.Performance.Shapes[0]) }
	}
	run := func(f func(*timing.Run)) func(*record.Record) {
		return one(func(t *record.Times) { f(&t.Runs[1]) })
	}
	batch := func(f func(*timing.Batch)) func(*record.Record) { return run(func(r *timing.Run) { f(&r.Batches[3]) }) }
	sample := func(us float64) func(*record.Record) {
		return batch(func(b *timing.Batch) { b.Micros[2] = us })
	}
	// took gives a batch five samples of 105 µs: 525 µs per launch of each sample.
	took := func(wall time.Duration, launches int, clock string) func(*record.Record) {
		return run(func(r *timing.Run) {
			b := &r.Batches[3]
			b.Micros, b.End = []float64{105, 105, 105, 105, 105}, b.Start.Add(wall)
			r.Candidates[1].Method.Launches, r.Candidates[1].Method.Clock = launches, clock
		})
	}
	// first keeps n samples of the kernel in all processes.
	first := func(n int) func(*record.Record) {
		return one(func(t *record.Times) {
			t.Runs = t.Runs[:1]
			t.Runs[0].Batches = t.Runs[0].Batches[:4]
			b := &t.Runs[0].Batches[2]
			b.Micros = b.Micros[:n-5]
		})
	}
	controls := func(candidate int, us float64) func(*record.Record) {
		return one(func(t *record.Times) {
			for i := range t.Runs {
				for k := range t.Runs[i].Batches {
					b := &t.Runs[i].Batches[k]
					for j := range b.Micros {
						b.Micros[j] = 100
						if b.Candidate == candidate {
							b.Controls = append(b.Controls, us)
						}
					}
				}
			}
		})
	}
	ceiling := func(bandwidth, flops, launch float64) func(*record.Record) {
		return func(r *record.Record) {
			r.Performance.Ceiling = record.Ceiling{Bandwidth: bandwidth, FLOPs: flops, Launch: launch}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*record.Record)
		status record.Status
		want   string
	}{
		{"sound", func(*record.Record) {}, record.Green, "the times are sound: 1,2,33,64 graph/warm +24.9 % [+24.8 %, +25.1 %] against old"},
		{"no section", func(r *record.Record) { r.Performance = nil }, record.Skipped, "nothing was timed"},
		{"no shape", func(r *record.Record) { r.Performance.Shapes = nil }, record.Skipped, "no shape was timed"},
		{"no baseline", func(r *record.Record) {
			r.Baseline = nil
			controls(0, 1)(r)
		}, record.Green, "the times are sound: 100 µs on 1,2,33,64, graph, warm cache"},

		{"names in another order", one(func(t *record.Times) { slices.Reverse(t.Names) }), record.Red, "the candidates are old, new, but they must start with new, old"},
		{"another baseline", one(func(t *record.Times) { t.Names = []string{"new", "other"} }), record.Red, "the candidates are new, other"},
		{"no name of the baseline", one(func(t *record.Times) { t.Names = []string{"new"} }), record.Red, "the candidates are new, but"},
		{"a rival", one(func(t *record.Times) { t.Names = append(t.Names, "rival") }), record.Green, ""},
		{"wrong outputs", one(func(t *record.Times) { t.OutputsOK, t.Wrong = false, "row 3" }), record.Red, "timed launches gave wrong outputs: row 3"},
		{"below the floor", sample(1.79), record.Red, "old took 1.79 µs once, but its bytes, operations and launch take at least 2 µs"},
		{"at nine tenths of the floor", sample(1.8), record.Green, ""},
		{"no samples of the baseline", one(func(t *record.Times) {
			for i := range t.Runs {
				t.Runs[i].Batches = slices.DeleteFunc(t.Runs[i].Batches, func(b timing.Batch) bool { return b.Candidate == 1 })
			}
		}), record.Void, "no samples of one side"},
		{"another candidate", run(func(r *timing.Run) { r.Candidates[1].Name = "x" }), record.Red, "a run has x as candidate 1"},
		{"one candidate too many", run(func(r *timing.Run) { r.Candidates = append(r.Candidates, timing.Subject{Name: "x"}) }), record.Red, "a run has x as candidate 2"},
		{"samples of nobody", batch(func(b *timing.Batch) { b.Candidate = 2 }), record.Red, "a run has samples of candidate 2"},
		{"samples of a negative candidate", batch(func(b *timing.Batch) { b.Candidate = -1 }), record.Red, "a run has samples of candidate -1"},
		{"time 0", sample(0), record.Red, "a time of 0 µs"},
		{"an infinite time", sample(math.Inf(1)), record.Red, "a time of +Inf µs"},
		{"not a time", sample(math.NaN()), record.Red, "a time of NaN µs"},
		{"a twentieth longer than it took", took(500*time.Microsecond, 1, "events"), record.Green, ""},
		{"longer than it took", took(499*time.Microsecond, 1, "events"), record.Red, "samples that take 525µs were taken in 499µs"},
		{"many launches", took(4990*time.Microsecond, 10, "events"), record.Red, "samples that take 5.25ms were taken in 4.99ms"},
		{"an unknown number of launches", took(499*time.Microsecond, 0, "events"), record.Red, "samples that take 525µs"},
		{"the host's clock", took(499*time.Microsecond, 1, timing.HostClock), record.Green, ""},
		{"an unknown end", took(0, 1, "events"), record.Green, ""},
		{"too few controls", batch(func(b *timing.Batch) { b.Controls = []float64{1} }), record.Red, "1 control for 5 samples"},
		{"a control of 0", batch(func(b *timing.Batch) { b.Controls = []float64{1, 1, 0, 1, 1} }), record.Red, "5 controls for 5 samples, or one that is not above 0"},
		{"controls", batch(func(b *timing.Batch) { b.Controls = []float64{1, 1, 1, 1, 1} }), record.Green, ""},

		{"controls as long as samples", controls(0, 100), record.Green, ""},
		{"controls longer than samples", controls(0, 101), record.Void, "the spoiling between launches takes 101 µs per launch, longer than the 100 µs"},
		{"long controls of the baseline", controls(1, 101), record.Green, ""},
		{"no bandwidth", ceiling(0, 100, 2), record.Void, "the ceilings of the device were not probed"},
		{"no operations", ceiling(1000, 0, 2), record.Void, "the ceilings of the device were not probed"},
		{"no launch", ceiling(1000, 100, 0), record.Void, "the ceilings of the device were not probed"},
		{"predicted", one(func(t *record.Times) { t.Predicted = true }), record.Void, "the times are predicted, not measured"},
		{"unknown inputs", one(func(t *record.Times) { t.Inputs = "" }), record.Void, "the inputs are not named"},
		{"zeros", one(func(t *record.Times) { t.Inputs = "zeros" }), record.Void, "zeros as inputs draw less power"},
		{"tiny inputs", one(func(t *record.Times) { t.Inputs = "tiny" }), record.Void, "tiny as inputs draw less power"},
		{"equal rows of V", one(func(t *record.Times) { t.Inputs = "constant-v" }), record.Void, "constant-v as inputs draw less power"},
		{"ten samples", first(10), record.Green, ""},
		{"nine samples", first(9), record.Void, "9 samples, but at least 10 are needed"},
		{"no mode", one(func(t *record.Times) { t.Method.Mode = "" }), record.Void, "the method is not named"},
		{"no cache", one(func(t *record.Times) { t.Method.Cache = "" }), record.Void, "the method is not named"},
	} {
		r := green(0.8, 0.002)
		c.change(r)
		if g := Judge(r).Gates[3]; g.Status != c.status || !strings.Contains(g.Summary, c.want) {
			t.Errorf("%s: %s: %s; want %s: %s", c.name, g.Status, g.Summary, c.status, c.want)
		}
	}
}

// TestCompared: speedups are relative to the baseline, and the limits themselves count as follows.
func TestCompared(t *testing.T) {
	c := compared{title: "x", Comparison: stats.Comparison{Ratio: 0.8, Interval: stats.Interval{Low: 0.5, High: 1.25}}}
	if got, want := c.String(), "x +25.0 % [-20.0 %, +100.0 %]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, c := range []struct {
		ratio, low, high       float64
		slower, pays, tooSmall bool // for an effect of +100 %
	}{
		{0.5, 0.4, 0.9, false, true, false},
		{0.5, 0.4, 1, false, false, false},
		{0.51, 0.5, 0.9, false, false, false},
		{0.6, 0.51, 0.9, false, false, true},
		{1.1, 1, 1.2, false, false, true},
		{1.1, 1.01, 1.2, true, false, true},
	} {
		one := compared{Comparison: stats.Comparison{Ratio: c.ratio, Interval: stats.Interval{Low: c.low, High: c.high}}}
		if one.slower() != c.slower || one.pays(1) != c.pays || one.tooSmall(1) != c.tooSmall {
			t.Errorf("%+v: slower %v, pays %v, too small %v", c, one.slower(), one.pays(1), one.tooSmall(1))
		}
	}
}

// TestDecide wants the reason of an outcome to be that of the shape and method that decided.
func TestDecide(t *testing.T) {
	r := green(0.8, 0.002) // the slower method comes first
	r.Performance.Shapes = append([]record.Times{times(1.3, 0.002, timing.Graph, timing.Cold)}, r.Performance.Shapes...)
	v := Judge(r)
	if v.Outcome != record.ValidNegative || !strings.HasPrefix(v.Why, "slower: 1,2,33,64 graph/cold -2") {
		t.Errorf("%s: %s", v.Outcome, v.Why)
	}
	if v.Counters["bank conflicts"] != 5 || v.Counters["baseline bank conflicts"] != 7 || len(v.Counters) != 2 {
		t.Errorf("the counters are %v", v.Counters)
	}
	if g := v.Gates[3]; len(g.Reasons) != 2 || !strings.HasPrefix(g.Reasons[0], "1,2,33,64 graph/cold -2") || !strings.HasPrefix(g.Reasons[1], "1,2,33,64 graph/warm +2") {
		t.Errorf("the comparisons are %q", g.Reasons)
	}

	r = green(0.92, 0.08)
	var reps []stats.Replicate
	for i := range r.Performance.Shapes[0].Runs {
		reps = append(reps, r.Performance.Shapes[0].Runs[i].Replicate(1, 0))
	}
	c, err := stats.Compare(reps, stats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("it can detect %.1f %%, and +10 %% is needed", 100*c.Detectable)
	if v := Judge(r); v.Outcome != record.Defer || !strings.HasSuffix(v.Why, want) {
		t.Errorf("%s: %s, want %s", v.Outcome, v.Why, want)
	}

	r = green(0.8, 0.002)
	r.Performance.Shapes[0].Runs = r.Performance.Shapes[0].Runs[:2]
	if v := Judge(r); strings.Contains(v.Why, "in 1 process") {
		t.Errorf("two processes: %s", v.Why)
	}
	r = green(0.8, 0.002)
	r.Build.Device.Driver = "emu"
	if v := Judge(r); v.Outcome != record.Merge {
		t.Errorf("an emulator on which nothing was skipped: %s: %s", v.Outcome, v.Why)
	}
}

// TestFloorWithoutCeilings: a ceiling that was not probed sets no floor.
func TestFloorWithoutCeilings(t *testing.T) {
	r := green(1, 0.002)
	r.Performance.Ceiling = record.Ceiling{Launch: 2}
	one := &record.Times{Shape: problem.Square(1, 8, 2048, 64), Method: timing.Method{Cache: timing.Cold}}
	if got := Floor(r, one); got != 2 {
		t.Errorf("%g µs, want 2", got)
	}
	r.Performance = nil
	if got := Floor(r, one); got != 0 {
		t.Errorf("nothing was probed: %g µs, want 0", got)
	}
}
