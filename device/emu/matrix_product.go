package emu

import (
	"slices"
	"sync"

	"github.com/GOATnote-Inc/attest/numeric/tensor"
	"github.com/GOATnote-Inc/attest/ptx"
)

// matrixScratch is room for one product: the factors as packed words and decoded,
// and the accumulator.
type matrixScratch struct {
	a, b, c []uint32
	rows    decoded[tensor.Rows]
	cols    decoded[tensor.Cols]

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
	rows, found := s.rows.find(p.Float, s.a)
	if !found {
		p.LoadA(rows, m, k, s.a)
	}
	cols, found := s.cols.find(p.Float, s.b)
	if !found {
		p.LoadB(cols, n, k, s.b)
	}
	c := s.c
	if !keep {
		c = nil
	}
	p.MulAdd(s.c, rows, cols, c)
}

// decoded is the factors that were decoded last. Programs multiply a fragment with
// several others in a row, and the four warps of a group have their second factors in
// common, but each goes through a whole group of products before the next one's turn.
type decoded[T any] struct {
	entries [16]struct {
		by    *tensor.Float
		words []uint32
		value T
	}
	next int
}

// find is the decoded factor that is packed in words, or else room for it.
func (d *decoded[T]) find(by *tensor.Float, words []uint32) (value *T, found bool) {
	for i := range d.entries {
		if e := &d.entries[i]; e.by == by && slices.Equal(e.words, words) {
			return &e.value, true
		}
	}
	e := &d.entries[d.next]
	d.next = (d.next + 1) % len(d.entries)
	e.by, e.words = by, append(e.words[:0], words...)
	return &e.value, false
}

// floats are the products that were asked for; equal ones are the same.
var floats sync.Map

// floatOf is the product of a target's instruction and types.
func floatOf(arch tensor.Arch, inst tensor.Inst, a, b, d tensor.Kind) (*tensor.Float, error) {
	key := [...]uint8{uint8(arch), uint8(inst), uint8(a), uint8(b), uint8(d)}
	if p, ok := floats.Load(key); ok {
		return p.(*tensor.Float), nil
	}
	p, err := tensor.NewFloat(arch, inst, a, b, d)
	if err != nil {
		return nil, err
	}
	shared, _ := floats.LoadOrStore(key, p)
	return shared.(*tensor.Float), nil
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
		if x.Has("and") {
			op = tensor.AND
		}
		p, err := tensor.NewInteger(kinds[a], kinds[b], op, x.Has("satfinite"))
		if err != nil {
			d.fail("%v", err)
		}
		return intProduct{p}
	}
	p, err := floatOf(arch(d.p.target), inst, kinds[a], kinds[b], kinds[result])
	if err != nil {
		d.fail("%v", err)
	}
	return floatProduct{p}
}
