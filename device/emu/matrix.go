package emu

import (
	"fmt"
	"slices"

	"attest/device/emu/tensor"
	"attest/device/emu/tensor/layout"
	"attest/ptx"
)

// aligned makes an instruction one that all lanes of a warp execute together.
func aligned(d *decoder, o *op, run exec) {
	o.kind, o.index, o.run = opSync, d.const32(fullMask), run
}

// registers are the registers of a fragment and where their elements, or words of
// them, are in a matrix that is kept as a list. The place is the sum of one by
// register and one by lane.
type registers struct {
	slots []slot
	reg   []uint16 // by register, or by half of one
	lane  [32]uint16
}

// places finds where the elements of a fragment are, n of them per place, when
// index says where in the list an element is.
func places(at layout.Map, count, n int, index func(layout.Pos) int) (r registers) {
	for i := range count {
		r.reg = append(r.reg, uint16(index(at(0, i*n))))
	}
	for l := range r.lane {
		r.lane[l] = uint16(index(at(l, 0))) - r.reg[0]
		for i := range count {
			if int(r.reg[i]+r.lane[l]) != index(at(l, i*n)) {
				panic(fmt.Sprintf("emu: element %d of lane %d is not where its neighbours say", i*n, l))
			}
		}
	}
	return r
}

// byRow and byColumn count the places of a matrix in words of per elements.
func byRow(cols, per int) func(layout.Pos) int {
	return func(p layout.Pos) int { return (p.Row*cols + p.Col) / per }
}

func byColumn(rows, per int) func(layout.Pos) int {
	return func(p layout.Pos) int { return (p.Col*rows + p.Row) / per }
}

// load collects the words of 32-bit registers.
func (r *registers) load(f *frame, words []uint32) {
	for i, s := range r.slots {
		v, at := &f.r32[s], words[r.reg[i]:]
		for l := range v {
			at[r.lane[l]] = v[l]
		}
	}
}

// store is the opposite of load.
func (r *registers) store(f *frame, m uint32, words []uint32) {
	for i, s := range r.slots {
		v, at := &f.r32[s], words[r.reg[i]:]
		for l := range v {
			if m>>l&1 != 0 {
				v[l] = at[r.lane[l]]
			}
		}
	}
}

// loadHalves collects 16-bit elements, two a register, one a word.
func (r *registers) loadHalves(f *frame, words []uint32) {
	for i, s := range r.slots {
		v, lo, hi := &f.r32[s], words[r.reg[2*i]:], words[r.reg[2*i+1]:]
		for l := range v {
			lo[r.lane[l]], hi[r.lane[l]] = v[l]&0xffff, v[l]>>16
		}
	}
}

func (r *registers) storeHalves(f *frame, m uint32, words []uint32) {
	for i, s := range r.slots {
		v, lo, hi := &f.r32[s], words[r.reg[2*i]:], words[r.reg[2*i+1]:]
		for l := range v {
			if m>>l&1 != 0 {
				v[l] = lo[r.lane[l]] | hi[r.lane[l]]<<16
			}
		}
	}
}

// sources are the slots of a vector of 32-bit sources.
func (d *decoder) sources(o *ptx.Operand) (s []slot) {
	for _, e := range d.vector(o) {
		s = append(s, d.src32(e, ptx.B32))
	}
	return s
}

// results are the slots of a vector of results of a type.
func (d *decoder) results(o *ptx.Operand, t ptx.Type) (s []slot) {
	for _, e := range d.vector(o) {
		s = append(s, d.dst(e, t))
	}
	return s
}

// matrixScratch is room for one product: the factors as packed words and decoded,
// and the accumulator.
type matrixScratch struct {
	a, b, c []uint32
	rows    tensor.Rows
	cols    tensor.Cols
	seen    []uint32      // the words that cols was made from,
	seenBy  *tensor.Float // and for which product

	integer, integerOf *tensor.Integer
}

// size makes room for n words in each factor and the accumulator.
func (s *matrixScratch) size(a, b, c int) {
	s.a, s.b, s.c = resize(s.a, a), resize(s.b, b), resize(s.c, c)
}

func resize(s []uint32, n int) []uint32 {
	if cap(s) < n {
		return make([]uint32, n)
	}
	return s[:n]
}

// product is a matrix product: c += a·b with the factors in s.a and s.b, rows of a
// and columns of b one after the other in packed words, and the accumulator in s.c,
// one element a word by rows. Without keep c counts as zero.
type product interface {
	multiply(s *matrixScratch, m, n, k int, keep bool)
}

// floatProduct is a product of floating-point factors.
type floatProduct struct{ *tensor.Float }

func (p floatProduct) multiply(s *matrixScratch, m, n, k int, keep bool) {
	p.LoadA(&s.rows, m, k, s.a)
	if s.seenBy != p.Float || !slices.Equal(s.seen, s.b) { // warps of a group share the second factor
		p.LoadB(&s.cols, n, k, s.b)
		s.seen, s.seenBy = append(s.seen[:0], s.b...), p.Float
	}
	c := s.c
	if !keep {
		c = nil
	}
	p.MulAdd(s.c, &s.rows, &s.cols, c)
}

// intProduct is a product of whole numbers or of bits.
type intProduct struct{ *tensor.Integer }

func (p intProduct) multiply(s *matrixScratch, m, n, k int, keep bool) {
	if s.integerOf != p.Integer { // it has room of its own, and blocks run in parallel
		own := *p.Integer
		s.integer, s.integerOf = &own, p.Integer
	}
	c := s.c
	if !keep {
		c = nil
	}
	s.integer.MulAdd(s.c, m, n, k, s.a, s.b, c)
}

// kinds are the types that package tensor multiplies, by their names.
var kinds = map[string]tensor.Kind{
	"f16": tensor.F16, "bf16": tensor.BF16, "tf32": tensor.TF32, "e4m3": tensor.E4M3, "e5m2": tensor.E5M2, "f32": tensor.F32,
	"s8": tensor.S8, "u8": tensor.U8, "s4": tensor.S4, "u4": tensor.U4, "b1": tensor.B1,
}

// arch is the generation of a target's tensor cores.
func arch(t ptx.Target) tensor.Arch {
	switch {
	case t.SM >= 90:
		return tensor.Hopper
	case t.SM >= 89:
		return tensor.Ada
	}
	return tensor.Ampere
}

// product chooses the arithmetic of an instruction by the types of its factors and
// its result.
func (d *decoder) product(x *inst, inst tensor.Inst, a, b, result string) product {
	if result == "s32" {
		op := tensor.XOR
		if x.has("and") {
			op = tensor.AND
		}
		p, err := tensor.NewInteger(kinds[a], kinds[b], op, x.has("satfinite"))
		if err != nil {
			d.fail("%v", err)
		}
		return intProduct{p}
	}
	p, err := tensor.NewFloat(arch(d.p.target), inst, kinds[a], kinds[b], kinds[result])
	if err != nil {
		d.fail("%v", err)
	}
	return floatProduct{p}
}

// shape is M, N and K in an instruction's modifiers.
func (x *inst) shape() (s layout.Shape) {
	for _, m := range x.in.Op.Mods {
		if n, _ := fmt.Sscanf(m, "m%dn%dk%d", &s.M, &s.N, &s.K); n == 3 {
			return s
		}
	}
	return s
}

// types are the types of matrices in an instruction's modifiers, in their order.
func (x *inst) types() (ts []string) {
	for _, m := range x.in.Op.Mods {
		if _, ok := kinds[m]; ok || m == "f64" || m == "s32" {
			ts = append(ts, m)
		}
	}
	return ts
}
