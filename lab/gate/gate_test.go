package gate

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// green returns a record without faults, of a kernel that takes ratio times as long as its
// baseline.
func green(ratio, noise float64) *record.Record {
	errors := func(max, mean float64) *ref.Errors {
		return &ref.Errors{Elements: 2 * 33 * 64, Max: max, Mean: mean, RMSE: mean}
	}
	one := func(seed uint64, distribution string) record.Case {
		c := record.Case{
			Shape: problem.Square(1, 2, 33, 64), Seed: seed, Distribution: distribution, InputsKept: true, Repeatable: true,
			Errors: errors(0.01, 0.001), Plain: errors(0.01, 0.001), Dequantised: errors(1e-4, 1e-5), PlainDequantised: errors(1e-4, 1e-5),
		}
		for _, n := range Impostors {
			c.Powers = append(c.Powers, record.Power{Name: n, Caught: true})
		}
		return c
	}
	figure := func(n int) resources.Figure { return resources.Figure{Value: n, Source: resources.Ptxas} }
	r := &record.Record{
		Schema: record.Schema, Kernel: record.Kernel{Name: "new", SHA256: "1", Format: "u8", Output: "f16"}, Baseline: &record.Kernel{Name: "old", SHA256: "2"},
		Resources: &record.Resources{Budget: BudgetFor("sm_89"), Dynamic: 1000,
			Usage: []resources.Usage{{Target: "sm_89", Registers: figure(128), Shared: figure(0), SpillStores: figure(0), SpillLoads: figure(0)}}},
		Defects:     &record.Defects{Schedules: []uint64{0, 1}, Shapes: []problem.Shape{problem.Square(1, 2, 33, 64)}},
		Correctness: &record.Correctness{Tolerance: Tolerance, Cases: []record.Case{one(0, "normal"), one(1, "one-hot")}},
		Counters:    &record.Counters{Kernel: map[string]float64{"bank conflicts": 5}, Baseline: map[string]float64{"bank conflicts": 7}},
	}
	r.Performance = &record.Performance{
		Ceiling: record.Ceiling{Bandwidth: 1000, FLOPs: 100, Launch: 2},
		Shapes:  []record.Times{times(ratio, noise, timing.Graph, timing.Warm)},
	}
	return r
}

func times(ratio, noise float64, mode timing.Mode, cache timing.Cache) record.Times {
	random := rand.New(rand.NewPCG(3, 4))
	m := timing.Method{Mode: mode, Cache: cache, Launches: 1, Clock: "events"}
	t := record.Times{Shape: problem.Square(1, 2, 33, 64), Method: m, Names: []string{"new", "old"}, OutputsOK: true, Inputs: "normal"}
	for range 3 {
		run := timing.Run{Candidates: []timing.Subject{{Name: "new", Method: m}, {Name: "old", Method: m}}}
		process := 1 + noise*random.NormFloat64()
		for range 6 {
			for c, us := range []float64{100 * ratio * process, 100} {
				b := timing.Batch{Candidate: c, Start: time.Unix(0, 0), End: time.Unix(1, 0)}
				for range 5 {
					b.Micros = append(b.Micros, us*(1+noise*random.Float64()))
				}
				run.Batches = append(run.Batches, b)
			}
		}
		t.Runs = append(t.Runs, run)
	}
	return t
}

func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name   string
		r      *record.Record
		change func(*record.Record)
		want   record.Outcome
		why    string
	}{
		{"pays", green(0.8, 0.002), nil, record.Merge, "+2"},
		{"pays too little", green(0.95, 0.002), nil, record.ValidNegative, "+10 % is needed"},
		{"does nothing", green(1, 0.002), nil, record.ValidNegative, "not faster by enough"},
		{"is slower", green(1.2, 0.002), nil, record.ValidNegative, "slower"},
		{"is slower in one process", green(1.2, 0.002), func(r *record.Record) {
			t := &r.Performance.Shapes[0]
			t.Runs = t.Runs[:1]
		}, record.ValidNegative, "against old in 1 process"},
		{"is slower, and nobody knows why", green(1.2, 0.002), func(r *record.Record) { r.Counters = nil }, record.Reject, "no counters to explain it"},
		{"pays too little, and nobody knows why", green(0.97, 0.002), func(r *record.Record) { r.Counters = nil }, record.Defer, "no counters to explain it"},
		{"noise", green(0.92, 0.08), nil, record.Defer, "it can detect"},
		{"pays warm and loses cold", green(0.8, 0.002), func(r *record.Record) {
			r.Performance.Shapes = append(r.Performance.Shapes, times(1.3, 0.002, timing.Graph, timing.Cold))
		}, record.ValidNegative, "cold"},
		{"events alone do not decide", green(0.8, 0.002), func(r *record.Record) {
			r.Performance.Shapes = []record.Times{times(0.8, 0.002, timing.Event, timing.Warm)}
		}, record.Defer, "which decides"},
		{"no baseline", green(1, 0.002), func(r *record.Record) { r.Baseline = nil }, record.Merge, "no baseline"},
		{"the same text", green(1, 0.002), func(r *record.Record) { r.Baseline.SHA256 = "1" }, record.NoChange, "the same kernel as old"},
		{"the same kernel in another text", green(1, 0.002), func(r *record.Record) { r.Kernel.Identity, r.Baseline.Identity = "i", "i" }, record.NoChange, "the same kernel as old"},
		{"the same text in another call", green(1, 0.002), func(r *record.Record) {
			r.Baseline.SHA256, r.Kernel.Identity, r.Baseline.Identity = "1", "i", "j"
		}, record.ValidNegative, ""},
		{"no GPU", green(1, 0.002), func(r *record.Record) { r.Performance = &record.Performance{Skipped: "no GPU"} }, record.Defer, "no GPU"},
		{"the emulator", green(1, 0.002), func(r *record.Record) {
			r.Build.Device.Driver, r.Performance = "emu", &record.Performance{Skipped: "no GPU"}
		}, record.Correct, "correct, not timed: no GPU"},
		{"the emulator, and a change that cannot pay", green(1, 0.002), func(r *record.Record) {
			r.Build.Device.Driver, r.Performance = "emu", &record.Performance{Skipped: "no GPU"}
			r.Prediction = &record.Prediction{Chip: "H200", Shape: problem.Square(1, 8, 512, 64), Kernel: 10.1, Baseline: 10, Free: 9.95}
		}, record.Correct, "PREDICTED for H200 on 1,8,512,64: cannot pay: 10.1 µs against 10 µs of old, and 9.95 µs (+0.5 %) even with the changed part free"},
		{"the emulator, and a change that may pay", green(1, 0.002), func(r *record.Record) {
			r.Build.Device.Driver, r.Performance = "emu", &record.Performance{Skipped: "no GPU"}
			r.Prediction = &record.Prediction{Chip: "H200", Shape: problem.Square(1, 8, 512, 64), Kernel: 8, Baseline: 10, Free: 5}
		}, record.Correct, "PREDICTED for H200 on 1,8,512,64: 8 µs against 10 µs of old (+25.0 %)"},
		{"the emulator, with an estimate of one register too many", green(1, 0.002), func(r *record.Record) {
			r.Build.Device.Driver, r.Performance = "emu", &record.Performance{Skipped: "no GPU"}
			r.Resources.Usage[0].Registers = resources.Figure{Value: 129, Source: resources.Estimate}
		}, record.Correct, "no GPU; the resources gate was skipped"},
		{"the emulator without checkers", green(1, 0.002), func(r *record.Record) {
			r.Build.Device.Driver, r.Performance, r.Defects = "emu", &record.Performance{Skipped: "no GPU"}, nil
		}, record.Defer, "the defects gate was skipped"},
		{"resources unknown", green(0.8, 0.002), func(r *record.Record) { r.Resources = nil }, record.Defer, "resources"},
		{"one register too many", green(0.8, 0.002), func(r *record.Record) { r.Resources.Usage[0].Registers.Value++ }, record.Reject, "129 registers, the budget is 128"},
		{"an estimate of one register too many", green(0.8, 0.002), func(r *record.Record) {
			r.Resources.Usage[0].Registers = resources.Figure{Value: 129, Source: resources.Estimate}
		}, record.Defer, "ptxas or a GPU gives the exact number"},
		{"dynamic shared memory", green(0.8, 0.002), func(r *record.Record) { r.Resources.Dynamic = 65537 }, record.Reject, "65537 bytes of shared memory"},
		{"spills", green(0.8, 0.002), func(r *record.Record) { r.Resources.Usage[0].SpillLoads.Value = 4 }, record.Reject, "4 bytes of spill loads"},
		{"a defect", green(0.8, 0.002), func(r *record.Record) {
			r.Defects.Errors, r.Defects.Found = 1, []record.Found{{Finding: finding.Finding{
				Kind: "shared-race", Severity: finding.Error, Message: "read", Place: finding.At(ptx.Pos{Line: 7}),
			}}}
		}, record.Reject, "shared-race at line 7"},
		{"a warning", green(0.8, 0.002), func(r *record.Record) {
			r.Defects.Warnings, r.Defects.Found = 1, []record.Found{{Finding: finding.Finding{Kind: "async-leak", Severity: finding.Warning}}}
		}, record.Merge, ""},
		{"bits depend on the schedule", green(0.8, 0.002), func(r *record.Record) { r.Defects.Depends = true }, record.Reject, "order in which warps run"},
		{"bits of a kernel that declares it depend on the schedule", green(0.8, 0.002), func(r *record.Record) {
			declareVarying(r)
			r.Defects.Depends, r.Correctness.Cases[0].Varied = true, true
		}, record.Merge, ""},
		{"a wrong output in one schedule", green(0.8, 0.002), func(r *record.Record) {
			declareVarying(r)
			r.Defects.Depends, r.Defects.Wrong = true, "1,2,33,64, normal: max error 9"
		}, record.Reject, "wrong in some order of warps: 1,2,33,64, normal: max error 9"},
		{"bits that vary between runs and are not declared", green(0.8, 0.002), func(r *record.Record) { r.Correctness.Cases[0].Varied = true }, record.Reject, "the kernel does not declare that"},
		{"one schedule", green(0.8, 0.002), func(r *record.Record) { r.Defects.Schedules = []uint64{0} }, record.Reject, "at least two schedules"},
		{"whole tiles under the checkers", green(0.8, 0.002), func(r *record.Record) { r.Defects.Shapes = []problem.Shape{problem.Square(1, 2, 64, 64)} }, record.Reject, "partial tile"},
		{"a kernel that takes whole tiles only", green(0.8, 0.002), func(r *record.Record) {
			r.Defects.Shapes, r.Defects.Refused = []problem.Shape{problem.Square(1, 2, 64, 64)}, []record.Refusal{{Shape: problem.Square(1, 2, 33, 64), Why: "k needs S % 64 == 0"}}
		}, record.Merge, ""},
		{"a fault", green(0.8, 0.002), func(r *record.Record) { r.Correctness.Cases[1].Failure = "the card is on fire" }, record.Reject, "on fire"},
		{"guard bands", green(0.8, 0.002), func(r *record.Record) { r.Correctness.Cases[1].Overrun = true }, record.Reject, "outside of the buffers"},
		{"other bits when run again", green(0.8, 0.002), func(r *record.Record) { r.Correctness.Cases[0].Repeatable = false }, record.Reject, "a different output"},
		{"a held bound", green(0.8, 0.002), func(r *record.Record) {
			c := &r.Correctness.Cases[0]
			c.Shape, c.Errors.Mean, c.Plain.Mean = problem.Square(1, 8, 512, 64), 0.0015, 0.0015
		}, record.Reject, "the bound for rounding to u8"},
		{"an lse", green(0.8, 0.002), func(r *record.Record) {
			r.Correctness.Cases[0].LSE = &ref.Errors{Max: 0.01, Worst: ref.Element{Want: 3}}
		}, record.Reject, "error of the log-sum-exp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.change != nil {
				c.change(c.r)
			}
			v := Judge(c.r)
			if v.Outcome != c.want || !strings.Contains(v.Why, c.why) {
				t.Errorf("%s: %s; want %s: %s\n%+v", v.Outcome, v.Why, c.want, c.why, v.Gates)
			}
			if v.OK() == (v.Outcome == record.Reject) || v.Ready() && !v.OK() {
				t.Error("OK and the outcome disagree")
			}
			stopped := false
			for _, g := range v.Gates {
				if stopped && g.Status != record.Skipped {
					t.Errorf("%s is %s after a red gate", g.Name, g.Status)
				}
				stopped = stopped || g.Status == record.Red || g.Status == record.Void
			}
		})
	}
}

// TestMinGain has the same figures judged by other criteria.
func TestMinGain(t *testing.T) {
	r := green(0.95, 0.002)
	r.Criteria = &record.Criteria{MinGain: 0.03}
	if v := Judge(r); v.Outcome != record.Merge {
		t.Errorf("%s: %s", v.Outcome, v.Why)
	}
	r = green(0.8, 0.002)
	r.Criteria = &record.Criteria{MinGain: 0.5}
	if v := Judge(r); v.Outcome != record.ValidNegative || v.Counters["baseline bank conflicts"] != 7 {
		t.Errorf("%s: %s, %v", v.Outcome, v.Why, v.Counters)
	}
}

func TestFloor(t *testing.T) {
	r := green(1, 0.002)
	r.Performance.Ceiling = record.Ceiling{Bandwidth: 1000, FLOPs: 100, Launch: 2}
	one := &record.Times{Shape: problem.Square(1, 8, 2048, 64), Method: timing.Method{Cache: timing.Warm}}
	// 4·8·2048²·64 operations at 100 TFLOP/s.
	if got := Floor(r, one); got < 85.8 || got > 86 {
		t.Errorf("%v µs", got)
	}
	r.Kernel.Problem.Causal = true
	if got := Floor(r, one); got < 42.9 || got > 43 {
		t.Errorf("causal: %v µs", got)
	}
	r.Performance.Ceiling.FLOPs = 1e9
	if got := Floor(r, one); got != 2 {
		t.Errorf("a launch: %v µs", got)
	}
	one.Method.Cache = timing.Cold // 3·8·2048·64 bytes at 1000 GB/s
	if got := Floor(r, one); got < 3.14 || got > 3.15 {
		t.Errorf("bytes: %v µs", got)
	}
}

// TestComparisonIsOurs wants the comparison to be computed from the samples, not read from the
// record.
func TestComparisonIsOurs(t *testing.T) {
	r := green(1, 0.002)
	r.Performance.Shapes[0].Baseline = &stats.Comparison{Ratio: 0.1, Interval: stats.Interval{Low: 0.09, High: 0.11}}
	if v := Judge(r); v.Outcome != record.ValidNegative {
		t.Errorf("%s: %s", v.Outcome, v.Why)
	}
}

// TestLargerBudget wants the verdict to say that a budget is larger than the default.
func TestLargerBudget(t *testing.T) {
	r := green(0.5, 0.002)
	r.Resources.Usage[0].Registers.Value = 200
	if v := Judge(r); v.Outcome != record.Reject {
		t.Errorf("%s: %s", v.Outcome, v.Why)
	}
	r.Resources.Budget.Registers = 255
	if g := Judge(r).Gates[0]; g.Status != record.Green || !strings.Contains(g.Summary, "larger than the default: 255 registers") {
		t.Errorf("%s: %s", g.Status, g.Summary)
	}
}

// TestEnded: a measurement that ended early fails the gate that it ended in, and no other.
func TestEnded(t *testing.T) {
	for _, internal := range []bool{false, true} {
		r := green(0.8, 0.002)
		r.Ended = &record.Ended{Gate: record.DefectsGate, Why: "a crash", Internal: internal}
		want := map[bool]record.Status{false: record.Red, true: record.Void}[internal]
		v := Judge(r)
		if g := v.Gates[0]; g.Status != record.Skipped || !strings.Contains(g.Summary, "ended early") {
			t.Errorf("before the end: %+v", g)
		}
		if g := v.Gates[1]; g.Status != want || g.Summary != "a crash" || v.Outcome != record.Reject {
			t.Errorf("the end: %+v, want %s", g, want)
		}
	}
}

// declareVarying makes the kernel of a record declare that it is not deterministic.
func declareVarying(r *record.Record) {
	r.Kernel.Call = &kernel.Kernel{Claims: map[string]string{kernel.ClaimedDeterministic: "false"}}
}
