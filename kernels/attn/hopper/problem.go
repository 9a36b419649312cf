package hopper

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// maxSeq keeps the number of a row, and of a few tiles more, in a signed word.
const maxSeq = 1 << 24

// checkProblem refuses a problem that no kernel of this family computes.
func checkProblem(p problem.Attention) error {
	if err := p.Check(); err != nil {
		return err
	}
	switch {
	case p.D != 64 && p.D != 128:
		return fmt.Errorf("head dimension %d is not supported: use 64 or 128", p.D)
	case p.Sq > maxSeq || p.Skv > maxSeq:
		return fmt.Errorf("sequences of %d and %d are too long: at most %d", p.Sq, p.Skv, maxSeq)
	case p.B > 1<<28/p.Hq/((p.Sq+63)/64):
		return fmt.Errorf("batch %d, heads %d, sequence %d: more tiles of 64 rows than a grid has blocks", p.B, p.Hq, p.Sq)
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

// float8 is the format of Q, K and V as PTX names it.
func float8(p problem.Attention) ptx.Type {
	if p.Format == problem.E5M2 {
		return ptx.E5M2
	}
	return ptx.E4M3
}
