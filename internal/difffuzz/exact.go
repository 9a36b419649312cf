package difffuzz

import (
	"fmt"
	"slices"
	"sort"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// This file excludes instructions whose result PTX does not define exactly, and
// instructions that ptxas is known to compile incorrectly.

// registersOnly reports whether an instruction must not have constant operands: ptxas does
// not accept them, or computes an approximate function of a constant more exactly than the
// GPU (D24).
func registersOnly(m isa.Match) bool {
	op := m.Form.Op
	return op == "cvt" || m.Has("approx") || m.Has("full")
}

// excludedBy returns the entry of DEVIATIONS.md because of which kernels never contain an
// instruction, or "". D21: ptxas compiles set with a float result to a comparison with an
// integer result and a conversion, and sometimes loses the conversion. D15: an addition of
// f16x2 in shared memory changes only one half. D32: a load loses its cache policy.
func excludedBy(m isa.Match) string {
	switch m.Form.Op {
	case "set":
		if _, float := infinities[m.Type(&m.Form.Params[0])]; float {
			return "D21"
		}
	case "ld":
		if m.Has("acquire") && m.Has("L2::cache_hint") {
			return "D32"
		}
	case "atom", "red":
		if m.Has("f16x2") && m.Has("add") && !m.Has("global") && !hasSlot(m.Form, "vec") {
			return "D15"
		}
	}
	return ""
}

// minMaxOfItself reports whether an instruction is the minimum or maximum of a float with
// itself. ptxas compiles it to a move, but the instruction must canonicalise NaNs.
func minMaxOfItself(m isa.Match, args []string) bool {
	op, t := m.Form.Op, m.Type(&m.Form.Params[0])
	if op != "min" && op != "max" || t.Integer() {
		return false
	}
	sources := slices.Clone(args[1:])
	sort.Strings(sources)
	return len(slices.Compact(sources)) < len(args)-1
}

// nanUnspecified reports whether PTX does not specify which NaN the instruction returns.
// For two f64 NaNs it may be either operand, because ptxas may swap them. For neg and abs it
// may be the operand's NaN or another one.
func nanUnspecified(m isa.Match) bool {
	t := m.Type(&m.Form.Params[0])
	switch m.Form.Op {
	case "add", "sub", "mul", "fma", "mad", "min", "max":
		return t == ptx.F64
	case "neg", "abs":
		return !t.Integer()
	}
	return false
}

// infinities holds the bits of +∞ by type. Magnitudes with larger bits are NaNs.
var infinities = map[ptx.Type]uint64{ptx.F64: 0x7ff << 52, ptx.F32: 0x7f800000, ptx.F16: 0x7c00, ptx.BF16: 0x7f80}

// halves maps a packed type to the type of its two halves.
var halves = map[ptx.Type]ptx.Type{ptx.F16x2: ptx.F16, ptx.BF16x2: ptx.BF16}

// canonicalNaN adds instructions that replace every NaN in a register with the same NaN.
func (n *Node) canonicalNaN(t ptx.Type, reg string) {
	if half, packed := halves[t]; packed {
		n.with(".reg .b16 %lo, %hi;")
		n.Insts = append(n.Insts, inst("mov.b32", "{%lo, %hi}", reg))
		n.canonicalNaN(half, "%lo")
		n.canonicalNaN(half, "%hi")
		n.Insts = append(n.Insts, inst("mov.b32", reg, "{%lo, %hi}"))
		return
	}
	inf, size := infinities[t], t.Bits()
	all := uint64(1)<<(size-1) - 1
	if regs := []string{".reg .pred %nan;", fmt.Sprintf(".reg .b%d %%bare;", size)}; !slices.Contains(n.Regs, regs[0]) {
		n.with(regs...)
	}
	n.Insts = append(n.Insts,
		inst(fmt.Sprintf("and.b%d", size), "%bare", reg, fmt.Sprint(all)),
		inst(fmt.Sprintf("setp.gt.u%d", size), "%nan", "%bare", fmt.Sprint(inf)),
		inst(fmt.Sprintf("selp.b%d", size), reg, fmt.Sprint(all), reg, "%nan"))
}

// separateAccumulator reports whether a product may have its accumulators in the registers
// c and its results in the registers d. On sm_90, an fp8 product is a sequence of other
// instructions. There, a register must not be an accumulator and a result at different
// positions (D25).
func separateAccumulator(m isa.Match, d, c string) bool {
	if !m.Has("e4m3") && !m.Has("e5m2") {
		return true
	}
	results, accumulators := pool.FindAllString(d, -1), pool.FindAllString(c, -1)
	for i, r := range accumulators {
		if at := slices.Index(results, r); at >= 0 && at != i {
			return false
		}
	}
	return true
}
