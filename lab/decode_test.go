package lab

import (
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// TestDecodeServing wants the gates to judge our decode kernel with pages, a window, a soft cap
// and sinks, and to find it correct.
func TestDecodeServing(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	s, err := Preset("decode", problem.Attention{
		Shape: problem.Shape{B: 2, Hq: 4, Hkv: 2, Sq: 1, Skv: 200, D: 64}, Keys: problem.Paged, Layout: problem.BSHD,
		Window: problem.NewWindow(100, 0), Softcap: 30, Sinks: true, LSE: true,
	}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	p := quickly()
	p.Depth = Quick().Depth
	for _, shape := range []problem.Shape{{B: 2, Hq: 4, Hkv: 2, Sq: 1, Skv: 130, D: 64}} {
		p.Defects.Shapes = append(p.Defects.Shapes, shape)
		p.Cases = append(p.Cases, Case{Shape: shape, Distribution: "normal", Seed: 1})
	}
	if _, v := measure(t, s, p); v.Outcome != record.Correct {
		t.Errorf("%s: %s", v.Outcome, v.Why)
		for _, g := range v.Gates {
			t.Errorf("%s: %s %s %v", g.Name, g.Status, g.Summary, g.Reasons)
		}
	}
}
