package lab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// judgeCheats times a kernel on GPUs that cheat in the ways of a number of the checklist.
func judgeCheats(t *testing.T, number int) {
	t.Helper()
	for _, c := range []struct {
		name  string
		cheat func(*card)
		why   string
	}{
		{"10 results are remembered by pointer", func(c *card) { c.memo = true }, "timed launches gave wrong outputs"},
		{"10 results are remembered by the number of calls", func(c *card) {
			c.launched = func(_ string, n int, took time.Duration) (bool, time.Duration) { return n <= 8, took }
		}, "timed launches gave wrong outputs"},
		{"11 fifteen calls are done in one", func(c *card) {
			c.inGraph = func(_ string, n int, took time.Duration) (bool, time.Duration) {
				if n%15 == 0 {
					return true, took
				}
				return false, 10 * time.Nanosecond
			}
		}, "take at least"},
		{"12 launches of graphs do nothing", func(c *card) {
			c.inGraph = func(_ string, _ int, took time.Duration) (bool, time.Duration) { return false, took }
		}, "gave another output than an untimed launch on the same inputs"},
		{"13 work is left elsewhere, and its time with it", func(c *card) {
			c.inGraph = func(string, int, time.Duration) (bool, time.Duration) { return true, 50 * time.Nanosecond }
		}, "take at least"},
		{"14 the timer is patched for one kernel", func(c *card) { c.takes["stage3b"] = 0.4 }, "take at least"},
		{"15 one time is next to nothing", func(c *card) {
			replayed := 0 // all launches of the sixth replay, which is a sample
			c.inGraph = func(_ string, _ int, took time.Duration) (bool, time.Duration) {
				if replayed++; (replayed-1)/4 == 6 {
					return true, time.Nanosecond
				}
				return true, took
			}
		}, "take at least"},
	} {
		if numberOf(c.name) != number {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			gpu := newCard()
			c.cheat(gpu)
			p := timingPlan(gpu)
			p.Defects.Shapes, p.Cases, p.KeepGoing = nil, nil, true
			r, v := measure(t, preset(t, "stage3b"), p)
			wants(t, v, record.Reject, c.why)
			if r.Performance == nil || v.Gates[3].Status != record.Red {
				t.Errorf("performance is %s", v.Gates[3].Status)
			}
		})
	}
}

// TestChecklist10Remembered does without a clock: cases of one shape use the same buffers.
func TestChecklist10Remembered(t *testing.T) {
	gpu := newCard()
	gpu.memo = true
	p := timingPlan(gpu)
	p.Times, p.Defects.Shapes = nil, nil
	_, v := measure(t, preset(t, "stage3b"), p)
	wants(t, v, record.Reject, "the kernel stored it")
	if v.Gates[2].Status != record.Red {
		t.Errorf("correctness is %s", v.Gates[2].Status)
	}
}

// TestOptional wants an optional case that is not supported to be skipped without a refusal.
func TestOptional(t *testing.T) {
	p := timingPlan(newCard())
	p.Device, p.Times, p.Defects.Shapes = nil, nil, nil
	p.Cases = append(p.Cases, Case{Shape: problem.Shape{B: 1, Hq: 2, Hkv: 2, Sq: 33, Skv: 80}, Distribution: "normal", Optional: true})
	r, _ := measure(t, preset(t, "stage3b"), p)
	if c := r.Correctness; len(c.Cases) != 2 || len(c.Refused) != 0 {
		t.Errorf("%d cases, %q refused", len(c.Cases), c.Refused)
	}
	r, v := measure(t, preset(t, "hopper"), p)
	wants(t, v, record.Defer, "")
	if n := len(r.Correctness.Cases); n != 3 || r.Correctness.Cases[2].Shape.String() != "1,2,33/80,64" {
		t.Errorf("%d cases of a kernel that serves all of them", n)
	}
}

// TestChecklist14EventsElsewhere measures with events on a stream without work.
func TestChecklist14EventsElsewhere(t *testing.T) {
	gpu := newCard()
	gpu.clock = 1e-9
	_, err := Measure(context.Background(), preset(t, "stage3b"), timingPlan(gpu), nil)
	if err == nil || !strings.Contains(err.Error(), "another stream") {
		t.Errorf("%v", err)
	}
}

// TestChecklist16ColdIsCold wants the sets of a cold graph to be larger than the cache.
func TestChecklist16ColdIsCold(t *testing.T) {
	gpu := newCard()
	p := timingPlan(gpu, timing.Method{Mode: timing.Graph, Cache: timing.Cold, Launches: 4})
	p.Defects.Shapes, p.Cases = nil, nil
	s := preset(t, "stage3b")
	perf, err := Time(context.Background(), s, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := perf.Shapes[0]
	const bytes = 2 * 33 * 64 * (3 + 2)
	if int64(one.Method.Sets)*bytes < 3*gpu.Info().L2 || !one.OutputsOK {
		t.Errorf("%+v: %s", one.Method, one.Wrong)
	}
}

// TestChecklist18Named wants the record to have the hash of the text that ran.
func TestChecklist18Named(t *testing.T) {
	gpu := newCard()
	p := timingPlan(gpu)
	p.Baseline = preset(t, "stage2")
	r, _ := measure(t, preset(t, "stage3b"), p)
	for _, k := range []*record.Kernel{&r.Kernel, r.Baseline} {
		sum := sha256.Sum256([]byte(gpu.texts[k.Name]))
		if hex.EncodeToString(sum[:]) != k.SHA256 {
			t.Errorf("%s: another text was loaded", k.Name)
		}
	}
}

// honestRecord returns the record of a kernel that is twice as fast as its baseline. It is
// measured once.
func honestRecord(t *testing.T) *record.Record {
	t.Helper()
	honestOnce.Do(func() {
		gpu := newCard()
		gpu.takes["stage3b"] = 50
		p := timingPlan(gpu)
		p.Baseline = preset(t, "stage2")
		r, v := measure(t, preset(t, "stage3b"), p)
		wants(t, v, record.Merge, "+100")
		honestOne = r
	})
	return honestOne
}

var (
	honestOnce sync.Once
	honestOne  *record.Record
)

// TestDoctoredRecords judges records that were changed in ways that are not on the checklist.
func TestDoctoredRecords(t *testing.T) { judgeDoctored(t, 0) }

// judgeDoctored judges records that were changed, or measured in a misleading way, as in a number
// of the checklist.
func judgeDoctored(t *testing.T, number int) {
	t.Helper()
	if testing.Short() {
		t.Skip("long")
	}
	r := honestRecord(t)
	times := func(r *record.Record) *record.Times { return &r.Performance.Shapes[0] }
	for _, c := range []struct {
		name   string
		doctor func(r *record.Record)
		status record.Status
		why    string
	}{
		{"6 the comparison stopped early", func(r *record.Record) { r.Correctness.Cases[0].Errors.Elements = 64 }, record.Void, "only 64 elements were compared"},
		{"8 NaN where it was expected too", func(r *record.Record) { r.Correctness.Cases[0].Dequantised.NotFinite = 1 }, record.Red, "not finite"},
		{"16 nobody says whether the cache was warm", func(r *record.Record) { times(r).Method.Cache = "" }, record.Void, "the method is not named"},
		{"18 baseline and candidate swapped", func(r *record.Record) { slices.Reverse(times(r).Names) }, record.Red, "must start with"},
		{"18 the runs are of others", func(r *record.Record) { times(r).Runs[0].Candidates[0].Name = "stage5" }, record.Red, "as candidate 0"},
		{"19 zeros were timed", func(r *record.Record) { times(r).Inputs = "zeros" }, record.Void, "less power"},
		{"20 a tolerance for another type", func(r *record.Record) { r.Correctness.Tolerance.Max = 0.5 }, record.Red, "the gate's is 0.06"},
		{"20 only the last case was looked at", func(r *record.Record) { r.Correctness.Cases[0].Errors.Max = 1 }, record.Red, "largest error 1"},
		{"30 times that underflow to zero", func(r *record.Record) { times(r).Runs[0].Batches[0].Micros[0] = 0 }, record.Red, "a time of 0 µs"},
		{"20 min for max", func(r *record.Record) { r.Correctness.Cases[1].Dequantised.Max = 1 }, record.Red, "largest error"},
		{"an excuse that is none", func(r *record.Record) {
			r.Correctness.Cases[0].Powers[0] = record.Power{Name: gate.Zeros, Why: "it does not apply"}
		}, record.Void, "the impostor zeros passes"},
		{"spoiling that takes most of the time", func(r *record.Record) {
			for i := range times(r).Runs[0].Batches {
				for j := range times(r).Runs[0].Batches[i].Controls {
					times(r).Runs[0].Batches[i].Controls[j] = 51
				}
			}
		}, record.Void, "longer than the"},
		{"controls of other samples", func(r *record.Record) { times(r).Runs[0].Batches[0].Controls = []float64{1} }, record.Red, "1 control for"},
		{"ceilings that nobody probed", func(r *record.Record) { r.Performance.Ceiling = record.Ceiling{} }, record.Void, "not probed"},
		{"a model's times", func(r *record.Record) { times(r).Predicted = true }, record.Void, "predicted, not measured"},
		{"more time than passed", func(r *record.Record) {
			b := &times(r).Runs[0].Batches[0]
			b.End = b.Start.Add(time.Microsecond)
		}, record.Red, "were taken in"},
		{"a ratio that the samples do not give", func(r *record.Record) {
			for i := range times(r).Runs[0].Batches {
				if b := &times(r).Runs[0].Batches[i]; b.Candidate == 0 {
					for j := range b.Micros {
						b.Micros[j] = 99
					}
				}
			}
		}, record.Green, "not faster by enough"},
	} {
		if numberOf(c.name) != number {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			bad := clone(t, r)
			c.doctor(bad)
			v := gate.Judge(bad)
			outcome := record.Reject
			if c.status == record.Green {
				outcome = record.ValidNegative
			}
			wants(t, v, outcome, c.why)
			if !slices.ContainsFunc(v.Gates, func(g record.Gate) bool { return g.Status == c.status }) {
				t.Errorf("no gate is %s", c.status)
			}
		})
	}
}
