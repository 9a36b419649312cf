package hopper

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// checkProblem refuses a problem that no kernel of this family computes, whatever its
// sizes: [Config.rules] limits those.
func checkProblem(p problem.Attention) error {
	if err := p.Check(); err != nil {
		return err
	}
	switch {
	case p.D != 64 && p.D != 128:
		return fmt.Errorf("head dimension %d is not supported: use 64 or 128", p.D)
	case p.Format != problem.E4M3 && p.Format != problem.E5M2:
		return fmt.Errorf("format %s is not supported: the tensor cores take e4m3 and e5m2", p.Format)
	case p.Output != problem.F16 && p.Output != problem.BF16:
		return fmt.Errorf("output %s is not supported: use f16 or bf16", p.Output)
	case p.Layout != problem.BHSD:
		return fmt.Errorf("layout %s is not supported: use %s", p.Layout, problem.BHSD)
	case p.Scaling != problem.PerHead:
		return fmt.Errorf("scaling %s is not supported: use %s", p.Scaling, problem.PerHead)
	}
	return nil
}

// float8 returns the PTX type of Q, K and V.
func float8(p problem.Attention) ptx.Type {
	if p.Format == problem.E5M2 {
		return ptx.E5M2
	}
	return ptx.E4M3
}
