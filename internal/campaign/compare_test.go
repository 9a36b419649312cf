package campaign

import (
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// TestCountersAreOfTheirKernel compares two records that were measured beside other
// baselines: neither baseline may stand for A or B.
func TestCountersAreOfTheirKernel(t *testing.T) {
	measured := func(sha string, count, baseline float64, s problem.Shape) *record.Record {
		return &record.Record{
			Kernel:   record.Kernel{SHA256: sha},
			Baseline: &record.Kernel{SHA256: "base of " + sha},
			Counters: &record.Counters{Shape: s, Kernel: map[string]float64{"n": count}, Baseline: map[string]float64{"n": baseline}},
		}
	}
	small, large := problem.Square(1, 1, 64, 64), problem.Square(1, 1, 128, 64)
	r := &CompareResult{A: measured("a", 1, 2, small), B: measured("b", 3, 4, small)}
	if _, a, b := r.counters(); a["n"] != 1 || b["n"] != 3 {
		t.Errorf("counters %v and %v, want 1 and 3", a, b)
	}
	r.B = measured("b", 3, 4, large)
	if _, a, _ := r.counters(); a != nil {
		t.Errorf("counters of different shapes are compared: %v", a)
	}
	r.B.Baseline = &r.A.Kernel
	if s, a, b := r.counters(); s != large || a["n"] != 4 || b["n"] != 3 {
		t.Errorf("counters on %v: %v and %v, want those of the run that had A as its baseline", s, a, b)
	}
}
