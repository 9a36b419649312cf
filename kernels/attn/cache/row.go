package cache

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/problem"
)

// pair is two elements of a row. A lane has every 32nd pair, from its own number on. The two columns that an
// angle rotates are one pair: with rotated halves, pair i has the columns i and i+R/2 of the R rotated
// columns. All other pairs are neighbours.
type pair struct {
	number  build.U32
	columns [2]build.U32
	x       [2]build.F32
	exists  build.Pred // the zero value if all lanes have the pair
}

// pairs returns the pairs of a lane of a row with d columns.
func (g *gen) pairs(d int, halves bool) (list []pair) {
	for first := 0; first < d/2; first += 32 {
		p := pair{number: g.lane.Add(first)}
		if first+32 > d/2 {
			p.exists = p.number.SetpLt(d / 2)
		}
		p.columns[0] = p.number.Shl(1)
		p.columns[1] = p.columns[0].Add(1)
		if angles := g.p.ropeDim() / 2; halves && first < angles {
			lower, upper := p.number, p.number.Add(angles)
			if first+32 > angles {
				rotated := p.number.SetpLt(angles)
				lower, upper = lower.Selp(p.columns[0], rotated), upper.Selp(p.columns[1], rotated)
			}
			p.columns = [2]build.U32{lower, upper}
		}
		list = append(list, p)
	}
	return list
}

// when runs do for the lanes that have the pair.
func (p *pair) when(k *build.Kernel, do func()) {
	if p.exists == (build.Pred{}) {
		do()
		return
	}
	k.If(p.exists, do)
}

// load returns the lane's elements of the new row. Elements of pairs that a lane does not have are 0.
func (g *gen) load(from build.Global[build.B8], d int, halves bool) []pair {
	row := g.token.MadLo(g.heads, g.head).MulWide(2 * d)
	list := g.pairs(d, halves)
	for i := range list {
		p := &list[i]
		x := build.Vars(g.k.F32(0), len(p.x))
		p.when(g.k, func() {
			for e := range x {
				at := build.GlobalAt[build.B16](from.Addr().Add(row).Add(p.columns[e].Shl(1).CvtU64())).Ld()
				if g.p.Input == problem.BF16 { // the upper half of an f32
					x[e].Set(build.Cast[build.F32](build.Pack2[build.B32](g.k.B16(0), at)))
				} else {
					x[e].Set(build.Cast[build.F16](at).CvtF32())
				}
			}
		})
		p.x = [2]build.F32{x[0].Get(), x[1].Get()}
	}
	return list
}

// rotate rotates the first pairs of K by the angles of a position: (x, y) becomes
// (x·cos - y·sin, y·cos + x·sin), each with one rounding after the first product.
func (g *gen) rotate(list []pair, position build.U32) {
	g.k.Comment("K = rotate K")
	angles := g.p.ropeDim() / 2
	table := position.MulWide(angles * 4)
	for i := range list {
		p, first := &list[i], 32*i
		if first >= angles {
			return
		}
		at := table.Add(p.number.Shl(2).CvtU64())
		turn := func() [2]build.F32 {
			cos := build.GlobalAt[build.F32](g.cos.Addr().Add(at)).Ld()
			sin := build.GlobalAt[build.F32](g.sin.Addr().Add(at)).Ld()
			x, y := p.x[0], p.x[1]
			return [2]build.F32{x.FmaRn(cos, y.Mul(sin, build.Rn).Neg()), y.FmaRn(cos, x.Mul(sin, build.Rn))}
		}
		if first+32 <= angles {
			p.x = turn()
			continue
		}
		x := [2]*build.Var[build.F32]{build.NewVar(p.x[0]), build.NewVar(p.x[1])}
		g.k.If(p.number.SetpLt(angles), func() {
			for e, turned := range turn() {
				x[e].Set(turned)
			}
		})
		p.x = [2]build.F32{x[0].Get(), x[1].Get()}
	}
}

// largest returns the largest number of the cache's format.
func (g *gen) largest() float32 {
	codec, _ := g.p.Format.FP8()
	return float32(codec.Max())
}

// scale returns the scale of the row. A row of zeros, or of numbers that are so small that the
// scale would not be a normal number, has the scale 1.
func (g *gen) scale(of build.Global[build.F32], to build.U32, list []pair) build.F32 {
	k := g.k
	switch g.p.Scaling {
	case problem.PerTensor:
		return of.Ld()
	case problem.PerHead:
		return of.At(g.head).Ld()
	}
	most := k.F32(0)
	for _, p := range list {
		for _, v := range p.x {
			most = most.Max(v.Abs())
		}
	}
	most = build.WarpReduce(most, func(a, b build.F32) build.F32 { return a.Max(b) })
	s := most.DivRn(g.largest())
	s = s.Selp(1, s.SetpGe(0x1p-126))
	k.If(g.lane.SetpEq(0), func() { of.At(to).St(s) })
	return s
}

// store quantises a row with the scale s and writes it to the cache.
func (g *gen) store(row build.U64, list []pair, s build.F32, halves bool) {
	for i := range list {
		p := &list[i]
		p.when(g.k, func() {
			both := g.narrow(p.x[0].DivRn(s), p.x[1].DivRn(s))
			if !halves {
				build.GlobalAt[build.B16](row.Add(p.columns[0].CvtU64())).St(build.Cast[build.B16](both.CvtU16()))
				return
			}
			for e, column := range p.columns {
				build.GlobalAt[build.U8](row.Add(column.CvtU64())).St(both.Shr(8 * e).CvtU8())
			}
		})
	}
}

// narrow rounds two numbers to the cache's format, lo in the lower byte.
func (g *gen) narrow(lo, hi build.F32) build.U32 {
	if g.p.Format == problem.E5M2 {
		return build.Cast[build.U16](hi.CvtRnSatfiniteE5M2x2(lo)).CvtU32()
	}
	return build.Cast[build.U16](hi.CvtRnSatfiniteE4M3x2(lo)).CvtU32()
}
