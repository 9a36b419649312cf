package recordtest

import (
	"time"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// Adder receives records and verdicts. A store of evidence is one.
type Adder interface {
	AddRecord(*record.Record) (hash string, err error)
	AddVerdict(*record.Verdict) (hash string, err error)
}

// The shapes that the ladder is timed on.
var mission, long = problem.Square(1, 8, 512, 64), problem.Square(1, 8, 2048, 64)

// gates are the gates in their order.
var gates = []record.GateName{record.ResourcesGate, record.DefectsGate, record.CorrectnessGate, record.PerformanceGate}

// Judge returns a verdict on the record with a hash. Its gates fit the outcome; red is the gate
// that fails in a rejection.
func Judge(hash string, at time.Time, outcome record.Outcome, red record.GateName, why string) *record.Verdict {
	v := &record.Verdict{Schema: record.Schema, Record: hash, Time: at, Outcome: outcome, Why: why}
	status := record.Green
	for _, name := range gates {
		g := record.Gate{Name: name, Status: status, Summary: string(name) + " as they should be"}
		switch {
		case name == red:
			g.Status, g.Summary, g.Reasons = record.Red, why, []string{why}
			status = record.Skipped
		case status == record.Skipped:
			g.Summary = "a gate before it is red"
		case name == record.PerformanceGate && (outcome == record.Defer || outcome == record.Correct):
			g.Status, g.Summary = record.Skipped, why
		}
		v.Gates = append(v.Gates, g)
	}
	if outcome == record.ValidNegative {
		v.Counters = map[string]float64{"bank_conflicts": 0, "tensor_share": 0.41}
	}
	return v
}

// stage is a kernel of the ladder.
type stage struct {
	name              string
	registers, shared int
	mission, long     float64 // microseconds
	outcome           record.Outcome
	red               record.GateName
	why               string
}

var ladder = []stage{
	{"stage0", 96, 41 << 10, 820, 12100, record.Merge, "", "the first of the ladder, all green"},
	{"stage1", 104, 45 << 10, 164, 2350, record.Merge, "", "5.00 times as fast as stage0"},
	{"stage2", 90, 37 << 10, 58, 790, record.Merge, "", "2.83 times as fast as stage1"},
	{"stage3a", 91, 35 << 10, 57.8, 786, record.ValidNegative, "", "+0.3 %, below the +10 % that it takes"},
	{"xor-swizzle", 99, 33 << 10, 61.4, 842, record.ValidNegative, "", "-5.5 %: the swizzle costs more than conflicts did"},
	{"stage3b", 83, 24 << 10, 21.5, 268, record.Merge, "", "2.70 times as fast as stage2"},
	{"stage4", 84, 30 << 10, 0, 0, record.Reject, record.DefectsGate, "1 race: shared memory is read before the copy has landed"},
	{"stage5", 126, 49 << 10, 0, 0, record.Reject, record.CorrectnessGate, "1 of 6 cases fails: max 3.3 > 0.06"},
	{"stage5-persistent", 120, 49 << 10, 20.4, 251, record.Defer, "", "+5.4 %, and this run could have told +4.1 % from none"},
}

// Campaign adds a ladder of kernels on the synthetic GPU, with rivals: kernels that are merged,
// deferred, rejected and valid negatives. speed is a factor on all times, and days is the
// number of days after Start.
func Campaign(to Adder, days int, speed float64) error {
	var base *record.Kernel
	var baseline stage
	for i := range ladder {
		st := &ladder[i]
		r := New(st.name)
		OnGPU(r)
		r.Build.Time = Start.AddDate(0, 0, days).Add(time.Duration(i) * 3 * time.Minute)
		r.Baseline = base
		measure(r, st, baseline, speed)
		hash, err := to.AddRecord(r)
		if err != nil {
			return err
		}
		if _, err := to.AddVerdict(Judge(hash, r.Build.Time.Add(time.Minute), st.outcome, st.red, st.why)); err != nil {
			return err
		}
		if st.outcome == record.Merge {
			base, baseline = &r.Kernel, *st
		}
	}
	return nil
}

// measure fills in a record up to the gate that is red.
func measure(r *record.Record, st *stage, baseline stage, speed float64) {
	Resources(r, st.registers, st.shared, 0)
	if st.red == record.DefectsGate {
		Racy(r)
		return
	}
	Clean(r)
	for range 3 {
		Correct(r, mission, 0.012).Name = "mission"
		Correct(r, long, 0.009).Name = "long"
	}
	if st.red == record.CorrectnessGate {
		r.Correctness.Cases = r.Correctness.Cases[:5]
		Wrong(r, mission).Name = "mission"
		return
	}
	for _, m := range methods {
		Timed(r, mission, m.Method, speed*m.factor*st.mission, speed*m.factor*baseline.mission,
			map[string]float64{"torch flash f16": 13.2 * m.factor, "triton e4m3": 17.9 * m.factor})
		Timed(r, long, m.Method, speed*m.factor*st.long, speed*m.factor*baseline.long,
			map[string]float64{"torch flash f16": 88 * m.factor})
	}
	for i := range r.Performance.Shapes {
		r.Performance.Shapes[i].Name = []string{"mission", "long"}[i%2]
	}
}

var methods = []struct {
	timing.Method
	factor float64
}{
	{timing.Method{Mode: timing.Graph, Cache: timing.Warm, Launches: 100, Sets: 1, Clock: "events"}, 1},
	{timing.Method{Mode: timing.Graph, Cache: timing.Cold, Launches: 100, Sets: 40, Clock: "events"}, 1.12},
	{timing.Method{Mode: timing.Event, Cache: timing.Warm, Launches: 1, Sets: 1, Clock: "events"}, 1.3},
}

// Laptop adds the records of a machine without a GPU: correct kernels that were not timed.
func Laptop(to Adder) error {
	for i, name := range []string{"stage0", "stage1", "stage3b"} {
		r := New(name)
		r.Build.Time = Start.Add(time.Duration(i) * time.Minute)
		Resources(r, 90+i, 30<<10, 0)
		Clean(r)
		Correct(r, problem.Square(1, 1, 32, 64), 0.014).Name = "small"
		Correct(r, problem.Square(2, 2, 33, 64), 0.011)
		Skipped(r)
		hash, err := to.AddRecord(r)
		if err != nil {
			return err
		}
		v := Judge(hash, r.Build.Time.Add(time.Second), record.Correct, "", "correct, not timed: no GPU")
		if _, err := to.AddVerdict(v); err != nil {
			return err
		}
	}
	return nil
}
