package stages

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
)

// checkProblem refuses a problem that no stage computes, whatever its sizes: [rules] limits
// those.
func checkProblem(p problem.Attention) error {
	if err := attn.CheckSupported(p, []int{64, 128}, problem.PerHead); err != nil {
		return err
	}
	switch {
	case p.Causal:
		return fmt.Errorf("the stages have no causal mask: use a kernel of another family")
	case p.Hq != p.Hkv || p.Sq != p.Skv:
		return fmt.Errorf("the stages need K and V of the shape of Q: K and V have %d heads and %d positions, Q has %d and %d", p.Hkv, p.Skv, p.Hq, p.Sq)
	case !p.Format.OneByte():
		return fmt.Errorf("format %s is not supported: use e4m3, e5m2 or u8", p.Format)
	}
	return nil
}

// step returns the value of one step of a byte before its scale. u8 counts in steps of
// 448/127; floating-point formats are values themselves.
func step(p problem.Attention) float64 {
	if p.Format.Decoded() == problem.U8 {
		return 448.0 / 127
	}
	return 1
}
