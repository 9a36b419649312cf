package stages

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/problem"
)

// checkProblem refuses a problem that no stage computes, whatever its sizes: [rules] limits
// those.
func checkProblem(p problem.Attention) error {
	if err := p.Check(); err != nil {
		return err
	}
	switch {
	case p.Causal:
		return fmt.Errorf("the stages have no causal mask: use a kernel of another family")
	case p.Hq != p.Hkv || p.Sq != p.Skv:
		return fmt.Errorf("K and V have %d heads and %d positions, Q has %d and %d: the stages need K and V of the shape of Q", p.Hkv, p.Skv, p.Hq, p.Sq)
	case p.D != 64 && p.D != 128:
		return fmt.Errorf("head dimension %d is not supported: use 64 or 128", p.D)
	case !p.Format.OneByte():
		return fmt.Errorf("format %s is not supported: use e4m3, e5m2 or u8", p.Format)
	case p.Output != problem.F16 && p.Output != problem.BF16:
		return fmt.Errorf("output %s is not supported: use f16 or bf16", p.Output)
	case p.Layout != problem.BHSD:
		return fmt.Errorf("layout %s is not supported: use %s", p.Layout, problem.BHSD)
	case p.Scaling != problem.PerHead:
		return fmt.Errorf("scaling %s is not supported: use %s", p.Scaling, problem.PerHead)
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
