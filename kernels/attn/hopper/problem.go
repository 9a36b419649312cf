package hopper

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// checkProblem refuses a problem that no kernel of this family computes, whatever its
// sizes: [Config.rules] limits those.
func checkProblem(p problem.Attention) error {
	if err := attn.CheckHeads(p, headDims(), problem.PerHead); err != nil {
		return err
	}
	if p.Format != problem.E4M3 && p.Format != problem.E5M2 {
		return fmt.Errorf("format %s is not supported: use e4m3 or e5m2", p.Format)
	}
	return nil
}

// headDims returns the head dimensions that the designs support, of K and of V.
func headDims() []int { return []int{64, 96, 128, 192, 256} }

// float8 returns the PTX type of Q, K and V.
func float8(p problem.Attention) ptx.Type {
	if p.Format == problem.E5M2 {
		return ptx.E5M2
	}
	return ptx.E4M3
}
