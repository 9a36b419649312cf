package attn

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// CheckSupported refuses what no family computes yet, and head dimensions and scalings other
// than those that a family supports. Each family adds its own limits.
func CheckSupported(p problem.Attention, headDims []int, scalings ...problem.Scaling) error {
	if err := CheckHeads(p, headDims, scalings...); err != nil {
		return err
	}
	if p.Filled().DV != 0 {
		return fmt.Errorf("heads of V with %d columns and heads of K with %d are not supported: use one head dimension", p.DV, p.D)
	}
	return nil
}

// CheckHeads is CheckSupported for a family whose heads of V may have another of the head dimensions than
// heads of K.
func CheckHeads(p problem.Attention, headDims []int, scalings ...problem.Scaling) error {
	if err := p.Check(); err != nil {
		return err
	}
	switch {
	case !slices.Contains(headDims, p.D):
		return fmt.Errorf("head dimension %d is not supported: use %s", p.D, english.Or(headDims))
	case !slices.Contains(headDims, p.DimV()):
		return fmt.Errorf("heads of V with %d columns are not supported: use %s", p.DV, english.Or(headDims))
	case p.Output != problem.F16 && p.Output != problem.BF16:
		return fmt.Errorf("output %s is not supported: use f16 or bf16", p.Output)
	case p.Layout != problem.BHSD:
		return fmt.Errorf("layout %s is not supported: use %s", p.Layout, problem.BHSD)
	case !slices.Contains(scalings, p.Scaling):
		return fmt.Errorf("scaling %s is not supported: use %s", p.Scaling, english.Or(scalings))
	case p.Window.Limited() || p.Softcap != 0 || p.Sinks:
		return fmt.Errorf("windows, softcap and sinks are not supported: only decode and prefill support them")
	case p.Masked || p.Ragged():
		return fmt.Errorf("masks in memory and sequences of different lengths are not supported: only decode and prefill support them")
	case p.Bias != "" || p.Rope != "":
		return fmt.Errorf("a bias of the logits and rotary embeddings are not supported")
	case p.FormatQ != "":
		return fmt.Errorf("queries in %s with keys in %s are not supported: use one format", p.FormatQ, p.Format)
	case p.Appends:
		return fmt.Errorf("new keys are not supported")
	case p.Strided():
		return fmt.Errorf("tensors with gaps are not supported: Q, K, V and O must be contiguous")
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

// DimName returns the head dimension as part of a name: d64, or d192v128.
func DimName(p problem.Attention) string {
	if p.DV == 0 {
		return fmt.Sprintf("d%d", p.D)
	}
	return fmt.Sprintf("d%dv%d", p.D, p.DV)
}

// EntryName returns the name of a family's kernel for a problem: attn_ada_e4m3_d64_f16_causal.
func EntryName(family string, p problem.Attention) string {
	name := fmt.Sprintf("attn_%s_%s_%s_%s", family, p.Format, DimName(p), p.Output)
	if p.Causal {
		name += "_causal"
	}
	return name
}
