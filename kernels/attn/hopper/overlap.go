package hopper

import (
	"attest/build"
	"attest/build/tile"
)

// overlapped has two products under way: Q·Kᵀ of a tile and P·V of the tile before it,
// which goes on while the exponentials of this one are taken.
func (a *attention) overlapped(it item) {
	g := a.g
	k, last := g.k, it.first.Add(it.tiles).Sub(g.k.U32(1))
	k.If(it.tiles.SetpGt(k.U32(0)), func() {
		a.scores(a.S) // S = Q·Kᵀ of the first
		a.wg.Wait(0)
		a.release(a.k)
		P0, alpha0 := a.softmax(a.S, it, last)
		P, alpha := hold(P0), holdAll(alpha0)

		k.Loop(k.U32(1), it.tiles, k.U32(1), func(i build.U32) {
			a.scores(a.S)     // S = Q·Kᵀ
			a.values(P.get()) // T = P·V of the tile before
			a.wg.Wait(1)      // S is there
			a.release(a.k)
			a.mask(a.S, it, last.Sub(i))
			xs, next := a.rows.step(a.S) // 2^(c·S-c·m'+8), l = α·l + ΣP
			// The next keys should be there by now. The assembler moves waits for
			// products up as far as it can, but not across a branch.
			k.If(i.Add(k.U32(1)).SetpLt(it.tiles), func() { a.k.Wait() })
			a.wg.Wait(0) // T is there
			a.release(a.v)
			a.add(getAll(alpha)) // O = α·O + T
			P.set(tile.PackE4M3(xs))
			setAll(alpha, next)
		})
		a.values(P.get()) // T = P·V of the last
		a.wg.Wait(0)
		a.release(a.v)
		a.add(getAll(alpha))
	})
}

// held is P from one round to the next.
type held [][4]*build.Var[build.B32]

func hold(P tile.Bytes8) held {
	h := make(held, len(P))
	for i := range P {
		for w := range P[i] {
			h[i][w] = P[i][w].Var()
		}
	}
	return h
}

func (h held) get() tile.Bytes8 {
	P := make(tile.Bytes8, len(h))
	for i := range h {
		for w := range h[i] {
			P[i][w] = h[i][w].Get()
		}
	}
	return P
}

func (h held) set(P tile.Bytes8) {
	for i := range h {
		for w := range h[i] {
			h[i][w].Set(P[i][w])
		}
	}
}

func holdAll(xs []build.F32) []*build.Var[build.F32] {
	vs := make([]*build.Var[build.F32], len(xs))
	for i, x := range xs {
		vs[i] = x.Var()
	}
	return vs
}

func getAll(vs []*build.Var[build.F32]) []build.F32 {
	xs := make([]build.F32, len(vs))
	for i, v := range vs {
		xs[i] = v.Get()
	}
	return xs
}

func setAll(vs []*build.Var[build.F32], xs []build.F32) {
	for i := range vs {
		vs[i].Set(xs[i])
	}
}
