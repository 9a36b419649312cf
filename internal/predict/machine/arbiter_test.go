package machine

import (
	"math"
	"testing"
)

// TestDeliver checks how long operands take beside a product that ends at a time, if it takes half of
// the ports.
func TestDeliver(t *testing.T) {
	for _, c := range []struct {
		name                      string
		ports, tensor, at, cycles float64
		want                      float64
	}{
		{"no product", 0, 0, 10, 1.5, 11.5},
		{"a product that has ended", 0, 10, 10, 1.5, 11.5},
		{"beside a product", 0, 100, 10, 1.5, 13},
		{"a product that ends meanwhile", 0, 12, 10, 1.5, 12.5},
		{"behind other operands", 20, 100, 10, 1.5, 23},
	} {
		core := core{ports: c.ports, tensor: c.tensor}
		if core.deliver(c.at, c.cycles, 0.5); math.Abs(core.ports-c.want) > 1e-9 {
			t.Errorf("%s: operands are there at %v, want %v", c.name, core.ports, c.want)
		}
	}
}

// TestArbiter checks which of two warps issues first: the one that waits for a busy pipe for longer,
// else the one that issued last, else the youngest.
func TestArbiter(t *testing.T) {
	exp := &Op{cost: cost{unit: Exp, slots: 1}}
	old, young := &warp{op: exp}, &warp{op: exp}
	s := &sim{}
	for _, c := range []struct {
		name                           string
		oldSince, youngSince, pipe, at float64
		last, want                     *warp
	}{
		{"both wait for the pipe, the old one for longer", 5, 7, 16, 16, young, old},
		{"both wait for the pipe, the young one for longer", 7, 5, 16, 16, old, young},
		{"the pipe is free: the last one goes on", 5, 7, 0, 16, old, old},
		{"the pipe is free: the youngest", 5, 7, 0, 16, nil, young},
	} {
		core := &core{last: c.last, best: old}
		core.pipes[expPipe] = c.pipe
		old.at, young.at = c.oldSince, c.youngSince
		got := old
		if s.before(core, young, c.at) {
			got = young
		}
		if got != c.want {
			t.Errorf("%s: the other warp issues", c.name)
		}
	}
}
