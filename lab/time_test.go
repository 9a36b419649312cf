package lab

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// timingPlan returns a plan with few samples on a small shape.
func timingPlan(c *card, methods ...timing.Method) Plan {
	p := quickly()
	p.Defects.Shapes = p.Defects.Shapes[1:]
	p.Cases = []Case{{Shape: length(1, 2, 33), Seed: 0, Distribution: "normal"}, {Shape: length(1, 2, 33), Seed: 1, Distribution: "one-hot"}}
	p.Device = c
	p.References = shared
	if len(methods) == 0 {
		methods = []timing.Method{{Mode: timing.Graph, Cache: timing.Warm, Launches: 4}}
	}
	p.Times = &Times{
		Shapes: []problem.Named{{Name: "odd", Shape: length(1, 2, 33)}}, Methods: methods,
		Stop: timing.Stop{Least: 10, Most: 15, Time: time.Minute}, WarmUp: time.Nanosecond,
	}
	return p
}

// shared keeps references between tests, as a ladder does.
var shared = &References{}

func preset(t testing.TB, name string) *Subject {
	t.Helper()
	s, err := Preset(name, problem.Attention{Format: "e4m3"}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func measure(t testing.TB, s *Subject, p Plan) (*record.Record, record.Verdict) {
	t.Helper()
	r, err := Measure(context.Background(), s, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, gate.Judge(r)
}

// wants checks the outcome and the reason of a verdict.
func wants(t testing.TB, v record.Verdict, o record.Outcome, why string) {
	t.Helper()
	all := v.Why
	for _, g := range v.Gates {
		all += "\n" + string(g.Name) + " " + string(g.Status) + ": " + g.Summary + "\n\t" + strings.Join(g.Reasons, "\n\t")
	}
	if v.Outcome != o || !strings.Contains(all, why) {
		t.Errorf("%s, want %s because of %q:\n%s", v.Outcome, o, why, all)
	}
}

// TestOutcomes times two kernels whose speeds are known.
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name    string
		faster  float64 // the time of the baseline over that of the kernel
		outcome record.Outcome
		why     string
	}{
		{"faster", 1.5, record.Merge, "+50"},
		{"hardly faster", 1.04, record.ValidNegative, "not faster by enough"},
		{"slower", 0.8, record.ValidNegative, "slower"},
	} {
		t.Run(c.name, func(t *testing.T) {
			gpu := newCard()
			gpu.takes["stage2"], gpu.takes["stage3b"] = 100, 100/c.faster
			p := timingPlan(gpu)
			p.Baseline = preset(t, "stage2")
			r, v := measure(t, preset(t, "stage3b"), p)
			wants(t, v, c.outcome, c.why)
			if len(r.Performance.Shapes) != 1 || r.Performance.Shapes[0].Names[1] != "stage2" {
				t.Errorf("%+v", r.Performance)
			}
			if c.outcome == record.ValidNegative && v.Counters["baseline bank conflicts"] == 0 {
				t.Errorf("no counters say why: %v", v.Counters)
			}
			// Without counters the time is not explained.
			r.Counters = nil
			if v := gate.Judge(r); c.outcome == record.ValidNegative && v.Outcome == record.ValidNegative {
				t.Errorf("%s without counters", v.Outcome)
			}
		})
	}
}

func TestNoBaseline(t *testing.T) {
	_, v := measure(t, preset(t, "stage3b"), timingPlan(newCard()))
	wants(t, v, record.Merge, "no baseline")
}

func TestNoChange(t *testing.T) {
	p := timingPlan(newCard())
	p.Baseline = preset(t, "stage3b")
	_, v := measure(t, preset(t, "stage3b"), p)
	wants(t, v, record.NoChange, "the same kernel as")
}

// TestChecklist17Methods uses all four methods and wants no time to include the flush of the cache.
func TestChecklist17Methods(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	p := timingPlan(newCard(), DefaultTimes().Methods...)
	for i := range p.Times.Methods {
		p.Times.Methods[i].Launches = 4
	}
	r, v := measure(t, preset(t, "stage3b"), p)
	wants(t, v, record.Merge, "the times are sound")
	if n := len(r.Performance.Shapes); n != 4 {
		t.Fatalf("%d methods", n)
	}
	for _, s := range r.Performance.Shapes {
		if s.Summaries[0].Max > 110 || s.Floor <= 0 || s.TFLOPs[0] <= 0 {
			t.Errorf("%+v: %+v, floor %v", s.Method, s.Summaries[0], s.Floor)
		}
	}
}

// TestProcesses merges the measurements of other processes.
func TestProcesses(t *testing.T) {
	gpu := newCard()
	gpu.takes["stage3b"] = 50
	p := timingPlan(gpu)
	p.Baseline = preset(t, "stage2")
	p.Times.Processes = 3
	p.Times.Elsewhere = func(ctx context.Context, process int) (*record.Performance, error) {
		other := p
		times := *p.Times
		times.Seed = uint64(process)
		other.Times = &times
		return Time(ctx, preset(t, "stage3b"), other, nil)
	}
	r, v := measure(t, preset(t, "stage3b"), p)
	wants(t, v, record.Merge, "+100")
	if s := r.Performance.Shapes[0]; len(s.Runs) != 3 || s.Baseline.Replicates != 3 || len(r.Performance.Shapes) != 1 {
		t.Errorf("%d runs, %d replicates", len(s.Runs), s.Baseline.Replicates)
	}
}

// TestRowsBeforeTiming wants fewer rows for long sequences if the pairs of rows and keys are limited, but never
// fewer than after the timing, and the usual number otherwise.
func TestRowsBeforeTiming(t *testing.T) {
	for keys, want := range map[int]int{1: 512, 4096: 512, 8192: 256, 32768: 64, 131072: 64} {
		limited, usual := &Times{Pairs: 1 << 21}, &Times{}
		if s := length(1, 1, keys); limited.rows(s) != want || usual.rows(s) != 512 {
			t.Errorf("%d keys: %d rows, want %d; %d without a limit", keys, limited.rows(s), want, usual.rows(s))
		}
	}
}
