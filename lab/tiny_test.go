package lab

import (
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// TestTiny wants right kernels to pass and wrong ones to fail with few keys and rows, for all
// distributions. There the error of rounding depends on chance, and rows that share keys may be
// equal.
func TestTiny(t *testing.T) {
	shapes := []problem.Shape{
		problem.Square(1, 1, 1, 64), {B: 1, Hq: 8, Hkv: 1, Sq: 1, Skv: 1, D: 64}, {B: 1, Hq: 2, Hkv: 1, Sq: 2, Skv: 2, D: 64}, {B: 1, Hq: 4, Hkv: 2, Sq: 3, Skv: 3, D: 64},
		{B: 1, Hq: 2, Hkv: 2, Sq: 5, Skv: 1, D: 64}, {B: 1, Hq: 2, Hkv: 1, Sq: 1, Skv: 5, D: 64}, {B: 1, Hq: 8, Hkv: 1, Sq: 8, Skv: 8, D: 64}, problem.Square(1, 1, 16, 64),
		{B: 1, Hq: 8, Hkv: 1, Sq: 33, Skv: 33, D: 64}, {B: 1, Hq: 1, Hkv: 1, Sq: 1, Skv: 64, D: 64},
	}
	p := Quick()
	p.Depth, p.Ask.Ptxas, p.KeepGoing, p.Cases = Listed, "", true, nil
	p.Defects = Defects{Shapes: []problem.Shape{length(1, 1, 5)}, Schedules: []uint64{0, 1}}
	for i, s := range shapes {
		for j, d := range ref.Distributions() {
			for seed := range 2 {
				if *full || (i+j)%3 == 0 && seed == len(p.Cases)%2 {
					p.Cases = append(p.Cases, Case{Shape: s, Seed: uint64(100 + seed), Distribution: d.Name})
				}
			}
		}
	}
	for _, c := range []problem.Attention{{}, {Causal: true, LSE: true}} {
		c.Shape = shapes[3]
		s, err := Preset("hopper", c, kernel.Chip{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Measure(t.Context(), s, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range gate.Judge(r).Gates {
			for _, why := range g.Reasons {
				if g.Name == "correctness" {
					t.Errorf("%+v: %s: %s", c, g.Status, why)
				}
			}
		}
	}
}
