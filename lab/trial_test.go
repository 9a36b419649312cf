package lab

import (
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// TestTrialSteps wants a trial to run what the gates run, and no more: each shape in its own
// schedules with its own inputs, one shape with NaN, and each case with the number of SMs that
// it has in a measurement. A score would otherwise describe gates that do not exist.
func TestTrialSteps(t *testing.T) {
	s, err := Preset("stage5-persistent", problem.Attention{}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{Defects: Defects{Schedules: []uint64{0, 7, 8, 9}, PerShape: 2}}
	one, two := problem.Square(1, 1, 32, 64), problem.Square(1, 2, 33, 64)
	r := &record.Record{
		Defects: &record.Defects{Shapes: []problem.Shape{one, two}, Inputs: []string{"normal", "rising"}},
		Correctness: &record.Correctness{Cases: []record.Case{
			{Shape: one, Seed: 1, Distribution: "normal"}, {Shape: two, Seed: 1, Distribution: "normal"},
			{Shape: two, Seed: 2, Distribution: "normal"}, {Shape: one, Seed: 3, Distribution: "normal"},
		}},
	}
	steps := stepsOf(s, p, r)
	find := func(kind stepKind, shape problem.Shape, seed uint64) trialStep {
		i := slices.IndexFunc(steps, func(s trialStep) bool {
			return s.kind == kind && s.inputs.Shape == shape && s.inputs.Seed == seed
		})
		if i < 0 {
			t.Fatalf("no step of kind %d for %v, seed %d", kind, shape, seed)
		}
		return steps[i]
	}
	if n := len(steps); n != 7 {
		t.Errorf("%d steps, want 7", n)
	}
	for shape, want := range map[problem.Shape]trialStep{
		one: {inputs: watchedCase(one, "normal"), schedules: []uint64{0, 7}},
		two: {inputs: watchedCase(two, "rising"), schedules: []uint64{0, 8}},
	} {
		if got := find(watchStep, shape, want.inputs.Seed); got.inputs != want.inputs || !slices.Equal(got.schedules, want.schedules) {
			t.Errorf("%v: %+v in schedules %v, want %+v in %v", shape, got.inputs, got.schedules, want.inputs, want.schedules)
		}
	}
	find(nanStep, two, watchedCase(two, "normal").Seed)
	for i, want := range []int{0, 1, 1, 2} { // consecutive cases of one shape share their memory
		c := r.Correctness.Cases[i]
		if got := find(caseStep, c.Shape, c.Seed).sets; got != want {
			t.Errorf("case %d runs after %d allocations, want %d", i, got, want)
		}
	}
}
