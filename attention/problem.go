package attention

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
)

// Problem is what is to be computed: O = softmax(Q·Kᵀ·scale)·V with Q and O [B,Hq,Sq,D] and
// K and V [B,Hkv,Skv,D].
type Problem = problem.Attention

// Shape is the extents of a problem.
type Shape = problem.Shape

// Square is the shape in which Q, K and V are all [B,H,S,D].
func Square(b, h, s, d int) Shape { return problem.Square(b, h, s, d) }

// check refuses a problem that this package cannot give to a kernel: its inputs are
// one-byte numbers with a scale per head.
func check(p Problem) error {
	if err := p.Check(); err != nil {
		return err
	}
	switch {
	case !p.Format.OneByte():
		return fmt.Errorf("format %s is not supported: use e4m3, e5m2 or u8", p.Format)
	case p.Scaling != problem.PerHead:
		return fmt.Errorf("scaling %s is not supported: use %s", p.Scaling, problem.PerHead)
	}
	return nil
}

// codec is the format of Q, K and V as package fp8 has it.
func codec(p Problem) fp8.Format {
	f, _ := p.Format.FP8() // check has seen to it
	return f
}
