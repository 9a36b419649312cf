package hopper

import (
	"attest/build"
	"attest/build/tile"
)

// ahead has Q·Kᵀ of the next tile under way while the exponentials of this one are taken.
//
// The scores of even and of odd tiles have registers of their own, so the loop does two
// tiles in a round. Every product is waited for in the round that it is started in: the
// assembler makes products wait for each other where one is under way from one round to
// the next.
func (a *attention) ahead(it item) {
	g := a.g
	k, last := g.k, it.first.Add(it.tiles).Sub(g.k.U32(1))
	even, odd := a.S, a.wg.Accumulator(g.c.TileN)
	k.If(it.tiles.SetpGt(k.U32(0)), func() {
		a.scores(even) // of the first
		a.wg.Wait(0)
		a.release(a.k)
		k.Loop(k.U32(2), it.tiles, k.U32(2), func(i build.U32) {
			j := last.Sub(i)
			a.oneAhead(it, j.Add(k.U32(2)), even, odd)
			a.oneAhead(it, j.Add(k.U32(1)), odd, even)
		})
		// One or two are left, the first one's scores in even.
		k.If(it.tiles.And(k.U32(1)).SetpEq(k.U32(0)), func() {
			a.oneAhead(it, it.first.Add(k.U32(1)), even, odd)
			even.Map2(odd, func(_, x build.F32, _ int, _ tile.Pos) build.F32 { return x })
		})
		a.oneAhead(it, it.first, even, nil)
	})
}

// oneAhead does tile j, whose scores are in S, and starts those of the next.
func (a *attention) oneAhead(it item, j build.U32, S, next *tile.Frag) {
	if next != nil {
		a.scores(next) // S = Q·Kᵀ
	}
	P, alpha := a.softmax(S, it, j) // P = 2^(c·S-c·m'+8), l = α·l + ΣP
	a.values(P)                     // T = P·V
	a.wg.Wait(0)
	if next != nil {
		a.release(a.k)
	}
	a.release(a.v)
	a.add(alpha) // O = α·O + T
}
