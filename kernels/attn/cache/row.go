package cache

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/problem"
)

// A lane has n = D/32 elements of a row: neighbours, or, if RoPE rotates halves, n/2 neighbours of
// each half. The two columns that an angle rotates are then in one lane.

// column returns the column of the lane's e-th element.
func (g *gen) column(e int) build.U32 {
	if g.p.Rope != problem.RotateHalves {
		return g.lane.MadLo(g.n, g.k.U32(uint32(e)))
	}
	half := g.n / 2
	return g.lane.MadLo(half, g.k.U32(uint32(e%half+e/half*g.p.D/2)))
}

// load returns the lane's elements of the new row.
func (g *gen) load(from build.Global[build.B8]) []build.F32 {
	row := g.token.MadLo(g.heads, g.head).MulWide(2 * g.p.D)
	x := make([]build.F32, g.n)
	for e := range x {
		at := build.GlobalAt[build.B16](from.Addr().Add(row).Add(g.column(e).Shl(1).CvtU64())).Ld()
		if g.p.Input == problem.BF16 { // the upper half of an f32
			x[e] = build.Cast[build.F32](build.Pack2[build.B32](g.k.B16(0), at))
		} else {
			x[e] = build.Cast[build.F16](at).CvtF32()
		}
	}
	return x
}

// rotate rotates pairs of elements by the angles of a position: (x, y) becomes
// (x·cos - y·sin, y·cos + x·sin), each with one rounding after the first product.
func (g *gen) rotate(x []build.F32, position build.U32) {
	g.k.Comment("K = rotate K")
	angles := position.MulWide(g.p.D / 2 * 4)
	for i := range g.n / 2 {
		first, second := 2*i, 2*i+1
		if g.p.Rope == problem.RotateHalves {
			first, second = i, i+g.n/2
		}
		at := angles.Add(g.lane.MadLo(g.n/2, g.k.U32(uint32(i))).Shl(2).CvtU64())
		cos := build.GlobalAt[build.F32](g.cos.Addr().Add(at)).Ld()
		sin := build.GlobalAt[build.F32](g.sin.Addr().Add(at)).Ld()
		a, b := x[first], x[second]
		x[first] = a.FmaRn(cos, b.Mul(sin, build.Rn).Neg())
		x[second] = b.FmaRn(cos, a.Mul(sin, build.Rn))
	}
}

// largest returns the largest number of the cache's format.
func (g *gen) largest() float32 {
	codec, _ := g.p.Format.FP8()
	return float32(codec.Max())
}

// scale returns the scale of the row. A row of zeros, or of numbers that are so small that the
// scale would not be a normal number, has the scale 1.
func (g *gen) scale(of build.Global[build.F32], to build.U32, x []build.F32) build.F32 {
	k := g.k
	switch g.p.Scaling {
	case problem.PerTensor:
		return of.Ld()
	case problem.PerHead:
		return of.At(g.head).Ld()
	}
	most := k.F32(0)
	for _, v := range x {
		most = most.Max(v.Abs())
	}
	most = build.WarpReduce(most, func(a, b build.F32) build.F32 { return a.Max(b) })
	s := most.DivRn(g.largest())
	s = s.Selp(1, s.SetpGe(0x1p-126))
	k.If(g.lane.SetpEq(0), func() { of.At(to).St(s) })
	return s
}

// store quantises a row with the scale s and writes it to the cache.
func (g *gen) store(cache build.Global[build.B8], to build.U32, x []build.F32, s build.F32) {
	row := cache.Addr().Add(to.MulWide(g.p.D))
	for e := 0; e < g.n; e += 2 {
		lo, hi := x[e].DivRn(s), x[e+1].DivRn(s)
		pair := g.narrow(lo, hi)
		if g.p.Rope == problem.RotateHalves && g.n == 2 { // one byte of each half
			g.storeByte(row, 0, pair)
			g.storeByte(row, 1, pair.Shr(8))
			continue
		}
		at := build.GlobalAt[build.B16](row.Add(g.column(e).CvtU64()))
		at.St(build.Cast[build.B16](pair.CvtU16()))
	}
}

// narrow rounds two numbers to the cache's format, lo in the lower byte.
func (g *gen) narrow(lo, hi build.F32) build.U32 {
	if g.p.Format == problem.E5M2 {
		return build.Cast[build.U16](hi.CvtRnSatfiniteE5M2x2(lo)).CvtU32()
	}
	return build.Cast[build.U16](hi.CvtRnSatfiniteE4M3x2(lo)).CvtU32()
}

// storeByte writes the lowest byte of x as the lane's e-th element.
func (g *gen) storeByte(row build.U64, e int, x build.U32) {
	build.GlobalAt[build.U8](row.Add(g.column(e).CvtU64())).St(x.CvtU8())
}
