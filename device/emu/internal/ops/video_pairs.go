package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	for suffix, size := range map[string]int{"2": 16, "4": 8} {
		for op, do := range pairOps {
			build(op+suffix, func(d *decoder, x *inst) exec { return buildPairs(d, x, size, do) })
		}
		build("vset"+suffix, func(d *decoder, x *inst) exec {
			cmp := x.Mod("cmp")
			return buildPairs(d, x, size, func(a, b int64) int64 { return compared(cmp, a, b) })
		})
	}
}

// digits returns the digits of a selector, the last first, or what stands for a missing selector.
func digits(o *ptx.Operand, missing []int) []int {
	if o.Flags&ptx.Selector == 0 {
		return missing
	}
	word := o.Elems[0].Sym.Name
	var list []int
	for i := len(word) - 1; i > 0; i-- {
		list = append(list, int(word[i]-'0'))
	}
	return list
}

// buildPairs builds an instruction on two halves or four bytes. The parts of the operands a and b
// are picked from both registers. Without .add, the parts of the result that the mask leaves out come
// from c. With .add, the results that the mask names are added to c.
func buildPairs(d *decoder, x *inst, size int, do func(a, b int64) int64) exec {
	n := 32 / size
	low, high := make([]int, n), make([]int, n)
	for i := range n {
		low[i], high[i] = i, n+i
	}
	pickA, pickB := digits(x.Arg("a"), low), digits(x.Arg("b"), high)
	taken := make([]bool, n)
	for _, i := range digits(x.Arg("d"), low) {
		taken[i] = true
	}
	a, b, c := d.Src32(x.Arg("a"), ptx.B32), d.Src32(x.Arg("b"), ptx.B32), d.Src32(x.Arg("c"), ptx.B32)
	to := d.Dst(x.Arg("d"), ptx.B32)
	signedA, signedB, signed := x.Mod("atype") == "s32", x.Mod("btype") == "s32", x.Mod("dtype") == "s32"
	sat, sum := x.Has("sat"), x.Has("add")
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			both := uint64(f.R32[b][l])<<32 | uint64(f.R32[a][l])
			r := f.R32[c][l]
			for i := range n {
				if !taken[i] {
					continue
				}
				t := do(extend(uint32(both>>(pickA[i]*size)), size, signedA), extend(uint32(both>>(pickB[i]*size)), size, signedB))
				part := lanePart{i * size, size}
				switch {
				case sum:
					r += uint32(t)
				case sat:
					r = part.put(r, part.clamp(t, signed))
				default:
					r = part.put(r, t)
				}
			}
			f.R32[to][l] = r
		})
	}
}
