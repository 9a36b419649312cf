package hopper

import (
	"math"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// rows is the online softmax of a lane's rows, one of each a row slot:
//
//	base  what the sums are relative to, as the shift 8-c·m of a score m
//	l     the sum of P = 2^(c·S-c·m+8) over the lane's own columns
//
// All lanes of a row have the same base. Their l are added up once, at the end. c is what
// turns scores into logits to base 2, vs what a byte of V is multiplied by.
type rows struct {
	g       *gen
	turn    *tile.Turn // at the exponentials, or nil
	c, vs   *build.Var[build.F32]
	base, l []*build.Var[build.F32]
}

const (
	// lift is the power of two that P is multiplied by: P reaches from 0 to 256, where
	// e4m3 ends at 448.
	lift = 8
	// nothing is the base of a row that has seen no key: that of a score below all others.
	nothing = 3e38
	// farthest is by how many powers of two the largest P of a tile may be above those
	// that the sums are relative to. It leaves as much of the range of f32 to the sums,
	// and it is a lot: in most rows only the first tile sets the base.
	farthest = 32
)

// slots are the rows that a lane of an accumulator has.
const slots = 2

func (g *gen) newRows() rows {
	return rows{g, g.newTurn(), g.k.F32(0).Var(), g.k.F32(0).Var(), build.Vars(g.k.F32(nothing), slots), build.Vars(g.k.F32(0), slots)}
}

// begin starts an item: c = log₂e·scale·qs·ks.
func (r rows) begin(it part.Item) {
	g := r.g
	k := g.k
	r.c.Set(g.scales.Logit(it.Head))
	if !g.c.Persistent {
		r.vs.Set(g.scales.Value(it.Head))
	}
	for s := range slots {
		r.base[s].Set(k.F32(nothing))
		r.l[s].Set(k.F32(0))
	}
}

// outputScale is vs. A block of one item has read it at the beginning, while it waited for
// its tiles: at the end, everything would wait for it. Blocks that stay have other things
// to do meanwhile, and no register to spare.
func (r rows) outputScale(it part.Item) build.F32 {
	if r.g.c.Persistent {
		return r.g.scales.Value(it.Head)
	}
	return r.vs.Get()
}

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

// step takes the next tile of scores and returns P, rounded to e4m3, and the weights w
// with which the tile's sums are added to those before it:
//
//	m = rowmax S
//	P = 2^(c·S-c·m+8)
//
// With [Config.ownMaxima] m is that of the tile and w what P is multiplied by; else m is the
// largest so far and w what the sums before are multiplied by. A row that has seen nothing
// but -∞ has P = 0. begin is called before the exponentials, done after those of so many
// keys, with the last P, rescale when sums have to be multiplied.
func (r rows) step(S *tile.Frag, begin func(), done func(keys int, last build.F32), rescale func(by []build.F32)) (P tile.Bytes8, w []build.F32) {
	g := r.g
	k, c := g.k, r.c.Get()
	k.Comment("m = rowmax S, P = 2^(c·S-c·m+8), l = l + ΣP")
	own := r.shifts(S)
	shift := make([]build.F32, slots)
	for s := range shift {
		bound := k.F32(nothing)
		if !g.c.ownMaxima() {
			bound = r.base[s].Get()
		}
		shift[s] = own[s].Min(bound)
	}
	if !g.c.ownMaxima() {
		w = r.follow(shift)
	}
	begin()
	sum := make([]chains, slots)
	from := 0
	for _, keys := range g.c.parts() {
		var xs []build.F32
		for i := from; i < keys/2; i++ {
			xs = append(xs, g.c.exp2().Element(k, i, S.Get(i).FmaRn(c, shift[i/2%slots])))
		}
		P = append(P, tile.PackE4M3(xs)...)
		if !g.c.SumColumn {
			for s := range sum {
				sum[s].add(xs, s)
			}
		}
		done(keys, xs[len(xs)-1])
		if keys == g.c.weighedAfter() {
			w = r.weigh(own, rescale)
		}
		from = keys / 2
	}
	if !g.c.SumColumn {
		for s := range sum {
			r.l[s].Set(g.plus(r.l[s].Get(), tile.Add(sum[s].even, sum[s].odd), w[s]))
		}
	}
	return P, w
}

// exp2 says how the exponentials are computed.
func (c Config) exp2() part.Exp2 { return part.Exp2{Every: c.Polynomial, Polynomial: part.ForE4M3} }

// ownMaxima has P of a tile be relative to the tile's own largest scores, and not to the
// largest so far. The largest weight of each row and tile is then exact in e4m3, and none
// becomes 0 that counts among its neighbours: errors are smaller by a tenth, with outliers
// by half. It takes a branch a tile, which only pays where there are many.
func (c Config) ownMaxima() bool { return c.Turns > 0 }

// weighedAfter is after how many of a tile's keys its own maxima are weighed, which is a
// branch: where a turn ends there is one anyway, but near the end of the tile two are too
// many. 0 is never.
func (c Config) weighedAfter() int {
	if c.Turns > c.TileN/2 {
		return c.TileN
	}
	return c.Turns
}

// plus adds what a tile has, x, to what was there before, with the tile's weight.
func (g *gen) plus(sum, x, w build.F32) build.F32 {
	if g.c.ownMaxima() {
		return x.FmaRn(w, sum)
	}
	return sum.FmaRn(w, x)
}

// follow makes the sums relative to the largest scores so far, whose shifts these are.
func (r rows) follow(shift []build.F32) (w []build.F32) {
	for s, x := range shift {
		w = append(w, x.Sub(r.base[s].Get(), build.Rn).Ex2Approx(build.Ftz))
		r.base[s].Set(x)
	}
	return w
}

// weigh is what the sums of a tile with these shifts are multiplied by. If one would be too
// large, which a row's first is, the sums become relative to that tile.
func (r rows) weigh(shift []build.F32, rescale func(by []build.F32)) (w []build.F32) {
	k := r.g.k
	var above []*build.Var[build.F32] // log₂ w
	for s := range slots {
		above = append(above, r.base[s].Get().Sub(shift[s], build.Rn).Var())
	}
	far := func(x build.F32) build.Pred { return x.SetpGt(k.F32(farthest)) }
	k.If(r.any(far(biggest(above[0].Get(), above[1].Get()))), func() {
		var by []build.F32
		var begun []build.Pred
		for s := range slots {
			x, base := above[s].Get(), r.base[s].Get()
			far := far(x)
			by = append(by, x.Neg().Ex2Approx(build.Ftz).Selp(k.F32(1), far))
			begun = append(begun, base.SetpLt(k.F32(nothing)).And(far))
			r.base[s].Set(shift[s].Selp(base, far))
			above[s].Set(k.F32(0).Selp(x, far))
		}
		k.If(r.any(begun[0].Or(begun[1])), func() {
			for s := range by {
				r.l[s].Set(r.l[s].Get().Mul(by[s], build.Rn))
			}
			rescale(by)
		})
	})
	for _, x := range above {
		w = append(w, x.Get().Ex2Approx(build.Ftz))
	}
	return w
}

// any says whether it is so in any lane of the warp.
func (r rows) any(p build.Pred) build.Pred { return p.VoteSyncAny(r.g.k.U32(math.MaxUint32)) }

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

// shifts are 8-c·m for the largest scores m of a tile, for each row slot: the largest P of a
// row is a power of two, which e4m3 has exactly.
func (r rows) shifts(S *tile.Frag) (shift []build.F32) {
	c := r.c.Get()
	for _, mine := range r.laneMax(S) {
		m := build.LaneReduce(mine.Get(), 4, biggest)
		shift = append(shift, m.FmaRn(c.Neg(), r.g.k.F32(lift)))
	}
	return shift
}

// laneMax is the largest of a lane's scores, for each row slot.
//
// Of whole numbers the GPU takes the largest of three in one instruction, of floats only
// that of two. The bits of floats are in the order of their values as long as one of them
// is not negative, which it mostly is; else floats are compared. A NaN is above all.
func (r rows) laneMax(S *tile.Frag) (most []*build.Var[build.F32]) {
	k := r.g.k
	var signs build.S32
	for s := range slots {
		x := largest(S, s, build.Mov[build.S32, build.F32], biggestInt)
		most = append(most, build.Mov[build.F32](x).Var())
		if s == 0 {
			signs = x
		} else {
			signs = signs.Or(x)
		}
	}
	k.If(signs.SetpLt(k.S32(0)), func() {
		for s := range slots {
			most[s].Set(largest(S, s, func(x build.F32) build.F32 { return x }, biggest))
		}
	})
	return most
}

// largest is the largest of a lane's scores of a row slot: two chains, of even and of odd
// columns.
func largest[T any](S *tile.Frag, slot int, as func(build.F32) T, biggest func(a, b T) T) T {
	var chains [2]T
	for i := 2 * slot; i < S.Elements(); i += 4 { // two neighbours, then the next eight columns
		for e := range chains {
			x := as(S.Get(i + e))
			if i == 2*slot {
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

// sums are the rows' bases, and their l over all lanes. With columns of sums in O each lane
// has one of the four.
func (r rows) sums(O *tile.Frag) (base, l []build.F32) {
	for s := range slots {
		base = append(base, r.base[s].Get())
		mine := r.l[s].Get()
		if r.g.c.SumColumn {
			mine = O.Get(r.g.d/2 + 2*s)
		}
		l = append(l, build.LaneReduce(mine, 4, tile.Add))
	}
	return base, l
}

// finish makes of l and what it is relative to what an output is multiplied by, vs/l, and
// the LSE, ln Σe^x = (log₂ l - base)·ln 2. A row without keys has l = 0: its output is 0.
func (r rows) finish(it part.Item, base, l []build.F32) (norm, lse []build.F32) {
	g := r.g
	k := g.k
	vs := r.outputScale(it)
	for s := range slots {
		seen := l[s].SetpNeu(k.F32(0)) // or NaN
		norm = append(norm, vs.DivRn(l[s]).Selp(k.F32(0), seen))
		if g.p.LSE {
			logit := l[s].Lg2Approx().Sub(base[s], build.Rn).Mul(k.F32(math.Ln2), build.Rn)
			lse = append(lse, logit.Selp(tile.NegInf(k), seen))
		}
	}
	return norm, lse
}
