package difffuzz

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// This file keeps kernels to what an assembler has to translate faithfully: it leaves
// out what PTX does not settle, and what assemblers are known to get wrong.

// registersOnly reports whether an instruction must not have constants: an assembler
// wants none, or computes an approximate function of one more exactly than the GPU (D24).
func registersOnly(m isa.Match) bool {
	op := m.Form.Op
	return op == "cvt" || strings.HasPrefix(op, "vabsdiff") || m.Has("approx") || m.Has("full")
}

// leftOut is the entry of DEVIATIONS.md by which kernels never have an instruction, "" for
// most. A set with a float for its result is written as one with an integer, and what
// converts that is at times lost (D21); half of a sum in shared memory is not done (D15); a
// load loses its policy (D32).
func leftOut(m isa.Match) string {
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

// same reports whether an instruction is the minimum or maximum of a float with itself,
// which assemblers take for a move, whereas it makes NaNs the canonical one.
func same(m isa.Match, args []string) bool {
	op, t := m.Form.Op, m.Type(&m.Form.Params[0])
	if op != "min" && op != "max" || t.Integer() {
		return false
	}
	sources := slices.Sorted(slices.Values(args[1:]))
	return len(slices.Compact(sources)) < len(args)-1
}

// anyNaN reports whether PTX leaves open which NaN the instruction gives: of two NaNs of
// f64 that of either operand, since an assembler may swap them, and of a sign that is
// changed the NaN of the operand or another.
func anyNaN(m isa.Match) bool {
	t := m.Type(&m.Form.Params[0])
	switch m.Form.Op {
	case "add", "sub", "mul", "fma", "mad", "min", "max":
		return t == ptx.F64
	case "neg", "abs":
		return !t.Integer()
	}
	return false
}

// infinities are by the bits of a type the largest numbers that are no NaN.
var infinities = map[ptx.Type]uint64{ptx.F64: 0x7ff << 52, ptx.F32: 0x7f800000, ptx.F16: 0x7c00, ptx.BF16: 0x7f80}

// halves are the types of which a packed one has two.
var halves = map[ptx.Type]ptx.Type{ptx.F16x2: ptx.F16, ptx.BF16x2: ptx.BF16}

// oneNaN makes all NaNs in a register the same.
func (n *Node) oneNaN(t ptx.Type, reg string) {
	if half, packed := halves[t]; packed {
		n.with(".reg .b16 %lo, %hi;")
		n.Insts = append(n.Insts, inst("mov.b32", "{%lo, %hi}", reg))
		n.oneNaN(half, "%lo")
		n.oneNaN(half, "%hi")
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

// apart reports whether a product may have its accumulators in c and its results in d.
// Those of fp8 are put together from others on sm_90, and then a register must not be a
// result and, in another place, an accumulator (D25).
func apart(m isa.Match, d, c string) bool {
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
