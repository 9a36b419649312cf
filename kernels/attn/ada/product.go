package ada

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// The operands of a product that sums over 32 bytes. On bytes it is one mma.sync, on f16 two:
// the operands have the registers of each.
type (
	left  [][4]build.B32
	right [][2]build.B32
)

// products turns bytes into operands of mma.sync. A word has four bytes of a lane that are
// summed over.
type products interface {
	// left and right return operands for words that ldmatrix has loaded.
	left(words [4]build.B32) left
	right(words [2]build.B32) right
	// weights returns P as operands A, one for each 32 keys. P is in the order of an
	// accumulator, and V is in the same order.
	weights(P []build.F32) []left
	// forms returns the instructions of Q·Kᵀ and of P·V.
	forms() (scores, output build.MmaForm)
	// step is the factor by which values are larger than what the instructions multiply.
	step() float64
	// precision is the format to which P is rounded.
	precision() problem.Format
}

// products returns the products of a configuration.
func (c Config) products(p problem.Attention) products {
	if c.Widen {
		return widened{p.Format}
	}
	return native{float8(p)}
}

// multiply emits the instructions of one product: rows of a, and the n-th eight columns of d.
func (g *gen) multiply(d *tile.Frag, n int, f build.MmaForm, a left, b right, fresh bool) {
	for i := range a {
		g.w.Step(d, n, f, a[i], b[i], fresh && i == 0)
	}
}

// native gives bytes to the tensor cores as they are, with mma.sync.m16n8k32.
type native struct{ format ptx.Type }

func (native) left(words [4]build.B32) left   { return left{words} }
func (native) right(words [2]build.B32) right { return right{words} }

func (native) weights(P []build.F32) (list []left) {
	for _, words := range tile.PackE4M3(P) {
		list = append(list, left{words})
	}
	return list
}

func (n native) forms() (scores, output build.MmaForm) {
	form := func(a ptx.Type) build.MmaForm {
		return build.MmaForm{Shape: build.M16n8k32, D: ptx.F32, A: a, B: n.format}
	}
	return form(n.format), form(ptx.E4M3)
}

func (native) step() float64             { return 1 }
func (native) precision() problem.Format { return problem.E4M3 }

// widened converts bytes to f16 for mma.sync.m16n8k16. The two halves of a word go to the same
// places in both operands, so it does not matter which bytes one instruction sums over.
type widened struct{ format problem.Format }

func (x widened) left(w [4]build.B32) left {
	var h [4][2]build.B32
	for i := range w {
		h[i] = x.halves(w[i])
	}
	return left{{h[0][0], h[1][0], h[0][1], h[1][1]}, {h[2][0], h[3][0], h[2][1], h[3][1]}}
}

func (x widened) right(w [2]build.B32) right { return right{x.halves(w[0]), x.halves(w[1])} }

func (widened) weights(P []build.F32) (list []left) {
	for i := 0; i < len(P); i += 16 {
		var two left
		for step := i; step < i+16; step += 8 {
			var words [4]build.B32
			for w := range words {
				words[w] = build.Cast[build.B32](P[step+2*w+1].CvtRnF16x2(P[step+2*w]))
			}
			two = append(two, words)
		}
		list = append(list, two)
	}
	return list
}

func (widened) forms() (scores, output build.MmaForm) {
	form := build.MmaForm{Shape: build.M16n8k16, D: ptx.F32, A: ptx.F16, B: ptx.F16}
	return form, form
}

// step is 256 for e4m3, which has a bias of 7 and f16 one of 15. Its bits in an
// f16 are 2^-8 of the value.
func (x widened) step() float64 {
	if x.format == problem.E4M3 {
		return 256
	}
	return 1
}

func (widened) precision() problem.Format { return problem.F16 }

// halves converts four bytes to two pairs of f16. e5m2 is the upper half of an f16. The exponent
// and fraction of e4m3 go to bits 7 to 13, and the sign to bit 15. Its NaN has all these bits
// set: it sets bit 14 as well, which makes it a NaN of f16.
func (x widened) halves(word build.B32) (h [2]build.B32) {
	upper := [2]uint32{0x1404, 0x3424} // prmt: a byte of zeros below each byte
	if x.format == problem.E5M2 {
		for i, pick := range upper {
			h[i] = word.Prmt(0, pick)
		}
		return h
	}
	bits := build.Cast[build.U32](word)
	magnitude := bits.And(0x7f7f7f7f)
	marked := magnitude.Or(magnitude.Add(0x01010101).And(0x80808080))
	for i, pick := range upper {
		exponent := build.Cast[build.U32](build.Cast[build.B32](marked).Prmt(0, pick)).Shr(1)
		sign := build.Cast[build.U32](word.Prmt(0, pick)).And(0x80008000)
		h[i] = build.Cast[build.B32](exponent.Or(sign))
	}
	return h
}
