package stages

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/problem"
)

// Decoding makes halves of bytes, without rounding:
//
//	u8    u-128, a whole number; the step 448/127 goes into the scales
//	e4m3  cvt.rn.f16x2.e4m3x2
//	e5m2  the upper byte of a half

// decodeConstants puts constants into registers for the whole kernel.
func (g *gen) decodeConstants() {
	k := g.k
	switch g.p.Format {
	case problem.U8, problem.U8Legacy:
		g.letter = k.B32(0x64646464).Var().Get() // 0x64uu is the half 1024+u
		g.bias = k.B32(0x64806480).Var().Get()   // 1024+128, twice
	case problem.E5M2:
		g.zero = k.B32(0).Var().Get()
	}
}

// arithmetic decodes four bytes to two pairs of halves.
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
		biased := build.Cast[build.F16x2](word.Prmt(g.letter, pick))
		halves[i] = build.Cast[build.B32](biased.Sub(build.Cast[build.F16x2](g.bias)))
	}
	return halves
}

// table is the lookup table in shared memory.
func (g *gen) table() build.Shared[build.B16] { return build.SharedAs[build.B16](g.shared, g.plan.lut) }

// fillTable writes every byte's half, two at a time.
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

// queries decodes Q with the sign of the logits' scale. Q is read once and never uses
// the table.
func (g *gen) queries(flip build.B32) decoder {
	return func(word build.B32) [2]build.B32 {
		h := g.arithmetic(word)
		return [2]build.B32{h[0].Xor(flip), h[1].Xor(flip)}
	}
}

// decode is how K and V are decoded.
func (g *gen) decode(word build.B32) [2]build.B32 {
	if g.c.LUT {
		return g.lookUp(word)
	}
	return g.arithmetic(word)
}
