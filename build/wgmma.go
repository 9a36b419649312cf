package build

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// WgmmaForm is the form of a product D = A·B + D of a warpgroup: see
// [Kernel.WgmmaMmaAsync]. The type of D and its width N follow from the accumulator.
type WgmmaForm struct {
	A, B                   ptx.Type // the types of the factors' elements
	NegateA, NegateB       bool     // only for floating-point factors
	TransposeA, TransposeB bool     // only for .f16 and .bf16 in shared memory
}

// Factor is matrix A of a product of a warpgroup: a U64, the descriptor of a matrix in
// shared memory, or four registers.
type Factor any

// wgmmaDepth is K of a product, by the type of A.
var wgmmaDepth = map[ptx.Type]int{
	ptx.F16: 16, ptx.BF16: 16, ptx.TF32: 8, ptx.E4M3: 32, ptx.E5M2: 32, ptx.S8: 32, ptx.U8: 32, ptx.B1: 256,
}

// wgmma emits wgmma.mma_async.
func (k *Kernel) wgmma(f WgmmaForm, d Regs, a Factor, bDesc U64, scaleD Pred, mods []Mod) {
	acc, t, err := registers(d)
	if err != nil {
		k.errorf("wgmma.mma_async: the accumulator: %v", err)
		return
	}
	n := 2 * len(acc)
	if t == ptx.F16x2 {
		t, n = ptx.F16, 4*len(acc)
	}
	op := fmt.Sprintf("wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s", n, wgmmaDepth[f.A], t, f.A, f.B)
	if f.A == ptx.B1 {
		op += ".and.popc"
	}
	first, ok := k.form(op, mods)
	if !ok {
		return
	}
	desc, inShared := a.(U64)
	m := wgmmaOf(first, inShared)
	args := []arg{acc, desc, bDesc, scaleD}
	if !inShared {
		if args[1], ok = k.matrix(m, &m.Form.Params[1], a); !ok {
			return
		}
	}
	imms, err := f.immediates(m)
	if err != nil {
		k.errorf("%s: %v", m.Opcode().Text, err)
		return
	}
	k.inst(op, mods, nil, append(args, imms...))
}

// wgmmaOf is the form with the same modifiers whose A is in shared memory, or in
// registers.
func wgmmaOf(first isa.Match, inShared bool) isa.Match {
	for _, m := range isa.Lookup(first.Opcode()) {
		if (m.Form.Params[1].Name == "aDesc") == inShared {
			return m
		}
	}
	return first
}

// immediates are the constants at the end of the instruction.
func (f WgmmaForm) immediates(m isa.Match) (args []arg, err error) {
	sign, flag := map[bool]imm{false: 1, true: -1}, map[bool]imm{false: 0, true: 1}
	left := []struct {
		name, what string
		asked      bool
		value      imm
	}{
		{"immScaleA", "negates A", f.NegateA, sign[f.NegateA]},
		{"immScaleB", "negates B", f.NegateB, sign[f.NegateB]},
		{"immTransA", "transposes A", f.TransposeA, flag[f.TransposeA]},
		{"immTransB", "transposes B", f.TransposeB, flag[f.TransposeB]},
	}
	for _, l := range left {
		has := false
		for i := range m.Form.Params {
			has = has || m.Form.Params[i].Name == l.name
		}
		switch {
		case has:
			args = append(args, l.value)
		case l.asked:
			return nil, fmt.Errorf("no form of the instruction with these types and operands %s", l.what)
		}
	}
	return args, nil
}
