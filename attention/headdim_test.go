package attention

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

// TestValueHeadDim computes heads of V of another size than heads of K: on Hopper with the Hopper kernels or
// decode, elsewhere with decode and prefill. With centred keys, too, whose means have the size of K.
func TestValueHeadDim(t *testing.T) {
	for _, c := range []struct {
		target ptx.Target
		shape  Shape
		want   string
	}{
		{ptx.SM90a, Shape{B: 1, Hq: 2, Hkv: 1, Sq: 130, Skv: 130, D: 192, DV: 128}, "hopper"},
		{ptx.SM90a, Shape{B: 2, Hq: 4, Hkv: 2, Sq: 1, Skv: 300, D: 192, DV: 128}, "decode"},
		{ptx.SM89, Shape{B: 1, Hq: 2, Hkv: 1, Sq: 130, Skv: 130, D: 192, DV: 128}, "prefill"},
		{ptx.SM89, Shape{B: 1, Hq: 4, Hkv: 1, Sq: 2, Skv: 100, D: 64, DV: 128}, "decode"},
	} {
		dev := open(t, c.target)
		p := Problem{Shape: c.shape, Format: problem.E4M3, Causal: true, LSE: true}
		in := inputs(t, p)
		op := newTestOp(t, dev, p, Options{})
		if op.Kernel().Name != c.want {
			t.Errorf("%v on %v: %s, want %s", p, c.target, op.Explain(), c.want)
		}
		right(t, op, in, runFloats(t, op, in), ref.Options{})
		if c.want == "decode" {
			centred := newTestOp(t, dev, p, Options{CentreKeys: true})
			r := runFloats(t, centred, in)
			if want := c.shape.O().Len(); len(r.Float32()) != want {
				t.Errorf("%v: %d elements of O, want %d", p, len(r.Float32()), want)
			}
		}
		_, err := op.Run(t.Context(), F32(in.Q.Data), F32(in.K.Data), F32(in.K.Data))
		if err == nil || !strings.Contains(err.Error(), "V: ") {
			t.Errorf("%v: V with the columns of K: %v", p, err)
		}
	}
}
