package hopper

import (
	"math"

	"attest/build"
	"attest/build/tile"
)

// rows is the online softmax of a lane's rows, one of each a row slot:
//
//	m  the largest score so far
//	l  the sum of P = 2^(c·S-c·m+8) over the lane's own columns
//
// All lanes of a row have the same m. Their l are added up once, at the end. c is what
// turns scores into logits to base 2, vs what a byte of V is multiplied by.
type rows struct {
	g     *gen
	turn  *tile.Turn // at the exponentials, or nil
	c, vs *build.Var[build.F32]
	m, l  []*build.Var[build.F32]
}

// lift is the power of two that P is multiplied by: P reaches from 0 to 256, where e4m3
// ends at 448.
const lift = 8

// slots are the rows that a lane of an accumulator has.
const slots = 2

func (g *gen) newRows() rows {
	return rows{g, g.newTurn(), g.k.F32(0).Var(), g.k.F32(0).Var(), build.Vars(tile.NegInf(g.k), slots), build.Vars(g.k.F32(0), slots)}
}

// begin starts an item: c = log₂e·scale·qs·ks.
func (r rows) begin(it item) {
	g := r.g
	k := g.k
	qs, ks := g.qs.At(it.head.Rem(g.perBatch)).Ld(), g.ks.At(g.scaleKV(it)).Ld()
	r.c.Set(g.scale.Mul(k.F32(math.Log2E), build.Rn).Mul(qs, build.Rn).Mul(ks, build.Rn))
	if !g.c.Persistent {
		r.vs.Set(g.vs.At(g.scaleKV(it)).Ld())
	}
	for s := range slots {
		r.m[s].Set(tile.NegInf(k))
		r.l[s].Set(k.F32(0))
	}
}

// outputScale is vs. A block of one item has read it at the beginning, while it waited for
// its tiles: at the end, everything would wait for it. Blocks that stay have other things
// to do meanwhile, and no register to spare.
func (r rows) outputScale(it item) build.F32 {
	if r.g.c.Persistent {
		return r.g.vs.At(r.g.scaleKV(it)).Ld()
	}
	return r.vs.Get()
}

// scaleKV is the head of K and V that an item shares, counted in one of the batch.
func (g *gen) scaleKV(it item) build.U32 { return it.head.Rem(g.perBatch).Div(g.shared) }

// stepKeys are the keys that a product sums up at a time.
const stepKeys = 32

// parts are how many keys of a tile are done before P is rounded: at a turn's end, and in
// the end. Sums that are added up in registers are best taken a step at a time, where no
// turns cut the tile.
func (c Config) parts() (parts []int) {
	switch {
	case c.Turns > 0 && c.Turns < c.TileN:
		return []int{c.Turns, c.TileN}
	case c.Turns > 0 || c.SumColumn:
		return []int{c.TileN}
	}
	for keys := stepKeys; keys <= c.TileN; keys += stepKeys {
		parts = append(parts, keys)
	}
	return parts
}

// step takes the next tile of scores and returns P, rounded to e4m3, and α, by which
// the sums of earlier tiles shrink:
//
//	m' = max(m, rowmax S)
//	α = 2^(c·m-c·m')
//	P = 2^(c·S-c·m'+8)
//	l = α·l + ΣP
//
// A row that has seen nothing but -∞ subtracts 0. begin is called before the exponentials,
// done after those of so many keys, with the last P.
func (r rows) step(S *tile.Frag, begin func(), done func(keys int, last build.F32)) (P tile.Bytes8, alpha []build.F32) {
	g := r.g
	k, c := g.k, r.c.Get()
	k.Comment("m' = max(m, rowmax S), α = 2^(c·m-c·m'), P = 2^(c·S-c·m'+8), l = α·l + ΣP")
	var shift []build.F32 // 8-c·m'
	mine := r.laneMax(S)
	for s := range slots {
		m := r.m[s].Get()
		most := build.LaneReduce(mine[s].Get(), 4, biggest)
		r.m[s].Set(most)
		shift = append(shift, g.shift(finite(k, most), c))
		alpha = append(alpha, g.shrink(m, c, shift[s]))
	}
	begin()
	sum := make([]chains, slots)
	from := 0
	for _, keys := range g.c.parts() {
		var xs []build.F32
		for i := from; i < keys/2; i++ {
			xs = append(xs, g.exp2(i, S.Get(i).FmaRn(c, shift[i/2%slots])))
		}
		P = append(P, tile.PackE4M3(xs)...)
		if !g.c.SumColumn {
			for s := range sum {
				sum[s].add(xs, s)
			}
		}
		done(keys, xs[len(xs)-1])
		from = keys / 2
	}
	if !g.c.SumColumn {
		for s := range sum {
			r.l[s].Set(r.l[s].Get().FmaRn(alpha[s], tile.Add(sum[s].even, sum[s].odd)))
		}
	}
	return P, alpha
}

// chains add up P of a lane's own columns of a row: even and odd ones apart, for two chains
// of additions are half as long as one.
type chains struct {
	even, odd build.F32
	begun     bool
}

// add goes on with the elements of a row slot.
func (c *chains) add(P []build.F32, slot int) {
	for i := 2 * slot; i < len(P); i += 4 {
		if !c.begun {
			c.even, c.odd, c.begun = P[i], P[i+1], true
			continue
		}
		c.even, c.odd = tile.Add(c.even, P[i]), tile.Add(c.odd, P[i+1])
	}
}

func biggest(a, b build.F32) build.F32    { return a.Max(b) }
func biggestInt(a, b build.S32) build.S32 { return a.Max(b) }

// laneMax is the largest of m and of a lane's scores, for each row slot.
//
// Of whole numbers the GPU takes the largest of three in one instruction, of floats only
// that of two. The bits of floats are in the order of their values as long as one of them
// is not negative, which it mostly is; else floats are compared. A NaN is above all.
func (r rows) laneMax(S *tile.Frag) (most []*build.Var[build.F32]) {
	k := r.g.k
	var signs build.S32
	for s := range slots {
		x := build.Mov[build.S32](r.m[s].Get())
		x = largest(S, s, x, build.Mov[build.S32, build.F32], biggestInt)
		most = append(most, build.Mov[build.F32](x).Var())
		if s == 0 {
			signs = x
		} else {
			signs = signs.Or(x)
		}
	}
	k.If(signs.SetpLt(k.S32(0)), func() {
		for s := range slots {
			most[s].Set(largest(S, s, r.m[s].Get(), func(x build.F32) build.F32 { return x }, biggest))
		}
	})
	return most
}

// largest is the largest of m and of a lane's scores of a row slot: two chains, of even
// and of odd columns.
func largest[T any](S *tile.Frag, slot int, m T, as func(build.F32) T, biggest func(a, b T) T) T {
	chains := [2]T{m}
	for i := 2 * slot; i < S.Elements(); i += 4 { // two neighbours, then the next eight columns
		for e := range chains {
			x := as(S.Get(i + e))
			if i+e == 2*slot+1 {
				chains[e] = x
			} else {
				chains[e] = biggest(chains[e], x)
			}
		}
	}
	return biggest(chains[0], chains[1])
}

// finite is x, or 0 for -∞. A NaN stays one.
func finite(k *build.Kernel, x build.F32) build.F32 {
	return x.Selp(k.F32(0), x.SetpGtu(tile.NegInf(k)))
}

// shift is 8-c·m: the largest P of a row is a power of two, which e4m3 has exactly.
func (g *gen) shift(m, c build.F32) build.F32 { return m.FmaRn(c.Neg(), g.k.F32(lift)) }

// shrink is what a sum of P with the maximum m is multiplied by when P's shift becomes
// another: 2^(shift-(8-c·m)). For m = -∞, where nothing was added, it is 0.
func (g *gen) shrink(m, c, shift build.F32) build.F32 {
	return shift.Sub(g.shift(m, c), build.Rn).Ex2Approx(build.Ftz)
}

// sums are the rows' m, and their l over all lanes. With columns of sums in O each lane
// has one of the four.
func (r rows) sums(O *tile.Frag) (m, l []build.F32) {
	for s := range slots {
		m = append(m, r.m[s].Get())
		mine := r.l[s].Get()
		if r.g.c.SumColumn {
			mine = O.Get(r.g.d/2 + 2*s)
		}
		l = append(l, build.LaneReduce(mine, 4, tile.Add))
	}
	return m, l
}

// finish makes of m and l what an output is multiplied by, vs/l, and the LSE,
// ln Σe^x = (c·m - 8 + log₂ l)·ln 2. A row without keys has m = -∞: its output is 0.
func (r rows) finish(it item, m, l []build.F32) (norm, lse []build.F32) {
	g := r.g
	k, c := g.k, r.c.Get()
	vs := r.outputScale(it)
	for s := range slots {
		seen := m[s].SetpGtu(tile.NegInf(k)) // or NaN
		norm = append(norm, vs.DivRn(l[s]).Selp(k.F32(0), seen))
		if g.p.LSE {
			logit := l[s].Lg2Approx().Sub(g.shift(m[s], c), build.Rn).Mul(k.F32(math.Ln2), build.Rn)
			lse = append(lse, logit.Selp(tile.NegInf(k), seen))
		}
	}
	return norm, lse
}
