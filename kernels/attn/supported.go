package attn

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// CheckSupported refuses what no family computes yet: other head dimensions, output types,
// layouts and scalings than those that all families share. Each family adds its own limits.
func CheckSupported(p problem.Attention) error {
	if err := p.Check(); err != nil {
		return err
	}
	switch {
	case p.D != 64 && p.D != 128:
		return fmt.Errorf("head dimension %d is not supported: use 64 or 128", p.D)
	case p.Output != problem.F16 && p.Output != problem.BF16:
		return fmt.Errorf("output %s is not supported: use f16 or bf16", p.Output)
	case p.Layout != problem.BHSD:
		return fmt.Errorf("layout %s is not supported: use %s", p.Layout, problem.BHSD)
	case p.Scaling != problem.PerHead:
		return fmt.Errorf("scaling %s is not supported: use %s", p.Scaling, problem.PerHead)
	case p.Window.Limited() || p.Softcap != 0 || p.Sinks:
		return fmt.Errorf("windows, softcap and sinks are not supported")
	case p.Masked || p.Ragged():
		return fmt.Errorf("masks in memory and sequences of different lengths are not supported")
	}
	return nil
}

// OutputType returns the PTX type of O.
func OutputType(p problem.Attention) ptx.Type {
	if p.Output == problem.BF16 {
		return ptx.BF16
	}
	return ptx.F16
}
