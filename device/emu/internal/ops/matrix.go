package ops

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
)

// aligned makes o an instruction that all lanes of a warp execute together.
func aligned(d *decoder, o *op, run exec) {
	o.Kind, o.Index, o.Run = machine.OpSync, d.Const32(machine.FullMask), run
}

// registers are the registers of a fragment, and the places of their elements (or words of
// elements) in a matrix that is stored as a list. A place is the sum of an offset by
// register and an offset by lane.
type registers struct {
	slots []slot
	reg   []uint16 // by register, or by half of one
	lane  [32]uint16
	// step is the distance of rows in the arrangement that nearly all fragments have: lane l
	// of a register holds element l%4 of row l/4. If paired is set, it holds elements 2(l%4)
	// and 2(l%4)+1 of the row in two neighbouring registers. step is 0 in other arrangements.
	step   int
	paired bool
}

// places computes the places of the elements of a fragment, n elements per place. index
// returns the place of an element in the list.
func places(at layout.Map, count, n int, index func(layout.Pos) int) (r registers) {
	for i := range count {
		r.reg = append(r.reg, uint16(index(at(0, i*n))))
	}
	for l := range r.lane {
		r.lane[l] = uint16(index(at(l, 0))) - r.reg[0]
		for i := range count {
			if int(r.reg[i]+r.lane[l]) != index(at(l, i*n)) {
				panic(fmt.Sprintf("emu: the place of element %d of lane %d is not a sum of offsets by register and lane", i*n, l))
			}
		}
	}
	r.arrange()
	return r
}

// byRow and byColumn return the index of a place in a matrix that is stored by rows or by
// columns, in words of per elements.
func byRow(cols, per int) func(layout.Pos) int {
	return func(p layout.Pos) int { return (p.Row*cols + p.Col) / per }
}

func byColumn(rows, per int) func(layout.Pos) int {
	return func(p layout.Pos) int { return (p.Col*rows + p.Row) / per }
}

// loadHalves collects 16-bit elements, two per register, one per word.
func (r *registers) loadHalves(f *frame, words []uint32) {
	for i, s := range r.slots {
		v, lo, hi := &f.R32[s], words[r.reg[2*i]:], words[r.reg[2*i+1]:]
		for l := range v {
			lo[r.lane[l]], hi[r.lane[l]] = v[l]&0xffff, v[l]>>16
		}
	}
}

func (r *registers) storeHalves(f *frame, m uint32, words []uint32) {
	for i, s := range r.slots {
		v, lo, hi := &f.R32[s], words[r.reg[2*i]:], words[r.reg[2*i+1]:]
		for l := range v {
			if m>>l&1 != 0 {
				v[l] = lo[r.lane[l]] | hi[r.lane[l]]<<16
			}
		}
	}
}

// Shape returns M, N and K in an instruction's modifiers.
func Shape(x *inst) (s layout.Shape) {
	for _, m := range x.Op.Mods {
		if n, _ := fmt.Sscanf(m, "m%dn%dk%d", &s.M, &s.N, &s.K); n == 3 {
			return s
		}
	}
	return s
}

// Types returns the types of matrices in an instruction's modifiers, in their order.
func Types(x *inst) (ts []string) {
	for _, m := range x.Op.Mods {
		if _, ok := kinds[m]; ok || m == "f64" || m == "s32" {
			ts = append(ts, m)
		}
	}
	return ts
}
