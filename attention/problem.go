package attention

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
)

// Problem describes the attention O = softmax(Q·Kᵀ·scale)·V. Q is [B,Hq,Sq,D], K is
// [B,Hkv,Skv,D], V is [B,Hkv,Skv,DV] and O is [B,Hq,Sq,DV].
type Problem = problem.Attention

// Shape holds the extents of a problem.
type Shape = problem.Shape

// Square returns the shape in which Q, K and V are all [B,H,S,D].
func Square(b, h, s, d int) Shape { return problem.Square(b, h, s, d) }

// check refuses a problem that no kernel computes. K and V must have one byte per element.
func check(p Problem) error {
	if err := p.Check(); err != nil {
		return err
	}
	if !p.Format.OneByte() {
		return fmt.Errorf("format %s is not supported: use e4m3, e5m2 or u8", p.Format)
	}
	return nil
}

// codec returns the format of K and V as a format of package fp8.
func codec(p Problem) fp8.Format {
	f, _ := p.Format.FP8() // check has refused other formats
	return f
}
