package lab

import (
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// TestParts wants the checkers to watch a kernel that merges partial results with more than eight parts to
// merge, on enough SMs for them, and no such shape for a kernel without a workspace.
func TestParts(t *testing.T) {
	decode, err := Preset("decode", problem.Attention{Shape: problem.Shape{B: 1, Hq: 1, Hkv: 1, Sq: 1, Skv: 8192, D: 64}}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s    *Subject
		want int
	}{{decode, 1}, {preset(t, "stage3b"), 0}} {
		m := &measurement{s: c.s, p: Plan{Depth: RingsAndEdge, Seed: 1}, heads: problem.HeadDim{D: 64}}
		got := 0
		for _, s := range newDeriver(m).watched() {
			switch sms := watchedSMs(s); {
			case s.Skv > 8*512:
				if got++; sms <= 8 || s.Hq != 1 || s.Sq != 1 {
					t.Errorf("%s: %v on %d SMs", c.s.Name, s, sms)
				}
			case sms != fewSMs:
				t.Errorf("%s: %v on %d SMs", c.s.Name, s, sms)
			}
		}
		if got != c.want {
			t.Errorf("%s: %d shapes with many parts, want %d", c.s.Name, got, c.want)
		}
	}
}

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

// TestSmoke wants the shortest plan to run enough of a kernel that merges partial results of many rows: the
// checkers watch at least 90 % of its lines.
func TestSmoke(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	p := Smoke()
	p.Cases = nil
	_, v := measure(t, preset(t, "prefill"), p)
	for _, g := range v.Gates {
		if g.Name == "defects" && g.Status != record.Green {
			t.Errorf("%s %s %v", g.Status, g.Summary, g.Reasons)
		}
	}
}

// TestMergedRows wants cases in which a kernel merges more than eight parts of more than eight rows, and
// sixteen parts of at least two rows, because threads merge rows and parts in groups.
func TestMergedRows(t *testing.T) {
	s, err := Preset("decode", problem.Attention{Shape: problem.Shape{B: 1, Hq: 8, Hkv: 1, Sq: 1, Skv: 8192, D: 64}}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	m := &measurement{s: s, p: Plan{Depth: RingsAndEdge, Seed: 1}, heads: problem.HeadDim{D: 64}}
	var many, few bool
	for _, c := range newDeriver(m).cases() {
		rows := c.Shape.Sq * c.Shape.Hq / c.Shape.Hkv
		many = many || rows > 8 && c.Shape.Skv > 8*512
		few = few || rows > 1 && rows <= 8 && c.Shape.Skv > 15*512
	}
	if !many || !few {
		t.Errorf("many rows %t, few rows %t", many, few)
	}
}
