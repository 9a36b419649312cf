package timeline

import (
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// TestTracks checks the spans of two warps, with a product in flight, in microseconds.
func TestTracks(t *testing.T) {
	in := func(op string) observe.Inst {
		return observe.Inst{Bound: isa.Bound{Inst: &ptx.Inst{Op: ptx.NewOpcode(op)}}, Source: "a/one.go:3:1"}
	}
	x := &Timeline{Chip: "H200", MHz: 1000, Program: []observe.Inst{in("add.u32"), in("wgmma.mma_async"), in("cp.async.bulk")}}
	x.Issue(0, 0, 1, 0, 0, 0, machine.Issue)
	x.Work(0, 1, 1, 100, 300)
	x.Issue(0, 0, 1, 0, 1, 301, machine.Products)
	x.Issue(0, 0, 0, 0, 0, 10, machine.Issue)
	x.Work(0, 0, 2, 20, 50)
	x.roles[track{0, 0}].copies, x.roles[track{0, 1}].products = true, true
	list := x.Tracks()
	var names []string
	for i := range list {
		names = append(names, list[i].Name())
	}
	want := []string{"products", "copies", "warp 0 loads", "warp 1 computes"}
	if len(names) != len(want) {
		t.Fatalf("tracks %q, want %q", names, want)
	}
	for i := range want {
		if names[i] != want[i] {
			t.Errorf("track %d is %q, want %q", i, names[i], want[i])
		}
	}
	if s := list[0].Spans; len(s) != 1 || s[0] != (Span{0.1, 0.3, machine.Issue}) {
		t.Errorf("products in flight %v", s)
	}
	if s := list[3].Spans; len(s) != 3 || s[1] != (Span{0.001, 0.301, machine.Products}) || s[2].From != 0.301 {
		t.Errorf("spans of the computing warp %v", s)
	}
	x.roles[track{0, 0}].products = true // now both warps do the same
	if got := x.Tracks()[2].Name(); got != "warp 0" {
		t.Errorf("a warp among equals is %q", got)
	}
}
