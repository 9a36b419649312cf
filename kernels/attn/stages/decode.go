package stages

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/problem"
)

// Decoding converts bytes to f16 without rounding:
//
//	u8    u-128, an integer; the step 448/127 is a factor of the scales
//	e4m3  cvt.rn.f16x2.e4m3x2
//	e5m2  the byte is the upper half of the f16

// decodeConstants loads the constants of decoding into registers for the whole kernel.
func (g *gen) decodeConstants() {
	k := g.k
	switch g.p.Format {
	case problem.U8, problem.U8Legacy:
		g.exponent = build.NewVar(k.B32(0x64646464)).Get() // 0x64uu is the f16 1024+u
		g.bias = build.NewVar(k.B32(0x64806480)).Get()     // 1024+128, twice
	case problem.E5M2:
		g.zero = build.NewVar(k.B32(0)).Get()
	}
}

// arithmetic decodes four bytes to two pairs of f16.
func (g *gen) arithmetic(word build.B32) [2]build.B32 {
	switch g.p.Format {
	case problem.E4M3:
		lo, hi := build.Unpack2[build.E4M3x2](word)
		return [2]build.B32{build.Cast[build.B32](lo.CvtRnF16x2()), build.Cast[build.B32](hi.CvtRnF16x2())}
	case problem.E5M2: // a byte of zeros below each byte
		return [2]build.B32{word.Prmt(g.zero, 0x1404), word.Prmt(g.zero, 0x3424)}
	}
	var halves [2]build.B32 // (1024+u) - (1024+128)
	for i, pick := range []uint32{0x4140, 0x4342} {
		biased := build.Cast[build.F16x2](word.Prmt(g.exponent, pick))
		halves[i] = build.Cast[build.B32](biased.Sub(build.Cast[build.F16x2](g.bias)))
	}
	return halves
}

// table returns the lookup table in shared memory.
func (g *gen) table() build.Shared[build.B16] { return build.SharedAs[build.B16](g.shared, g.plan.lut) }

// fillTable writes the f16 of every byte, two at a time.
func (g *gen) fillTable() {
	k, threads := g.k, uint32(g.c.threads())
	k.Loop(g.tid.Shl(1), lutEntries, 2*threads, func(even build.U32) {
		both := even.Or(even.Add(1).Shl(8))
		pair := g.arithmetic(build.Cast[build.B32](both))[0]
		build.SharedAs[build.B32](g.table().At(even), 0).St(pair)
	})
}

// lookUp decodes four bytes through the table.
func (g *gen) lookUp(word build.B32) [2]build.B32 {
	w := build.Cast[build.U32](word)
	entry := func(i uint32) build.B16 { return g.table().At(w.Bfe(8*i, 8)).Ld() }
	return [2]build.B32{
		build.Pack2[build.B32](entry(0), entry(1)),
		build.Pack2[build.B32](entry(2), entry(3)),
	}
}

// queries returns the decoder of Q, which flips signs if the factor of the scores is
// negative. Q is read once, so it does not use the table.
func (g *gen) queries(flip build.B32) decoder {
	return func(word build.B32) [2]build.B32 {
		h := g.arithmetic(word)
		return [2]build.B32{h[0].Xor(flip), h[1].Xor(flip)}
	}
}

// decode decodes four bytes of K or V.
func (g *gen) decode(word build.B32) [2]build.B32 {
	if g.c.LUT {
		return g.lookUp(word)
	}
	return g.arithmetic(word)
}
