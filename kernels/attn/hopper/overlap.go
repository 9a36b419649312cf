package hopper

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// overlapped computes an item with [Config.Overlap]. It starts Q·Kᵀ of a tile, then P·V of the tile
// before it, and computes the exponentials while P·V runs. The first tile has no P·V before it and
// the last P·V no tile after it, so both are outside of the loop: a product under a branch in the
// loop would make ptxas wait for each product.
func (a *consumer) overlapped(it part.Item, Q tile.KMajor, skipped build.U32) {
	g, wg, k := a.g, a.wg, a.g.k
	k.If(skipped.SetpLt(it.Tiles), func() {
		a.waitTurn()
		a.startScores(Q)
		a.passTurn()
		wg.Wait(0)
		P, _ := a.nextWeights(it, it.First.Add(it.Tiles).Sub(1).Sub(skipped), true)
		held := newHeld(P)
		g.work.EachTile(it, skipped.Add(1), 1, func(j build.U32) {
			a.waitTurn()
			a.startScores(Q)
			a.startInPlace(held.weights(), a.V.Wait())
			a.passTurn()
			wg.Wait(1) // S
			P, w := a.nextWeights(it, j, g.p.Causal)
			wg.Wait(0) // P·V
			a.passValues()
			a.rescale(w)
			held.set(P)
		})
		a.startInPlace(held.weights(), a.V.Wait())
		wg.Wait(0)
		a.passValues()
	})
}

// startScores starts S = Q·Kᵀ.
func (a *consumer) startScores(Q tile.KMajor) {
	g, wg := a.g, a.wg
	slot := a.K.Wait()
	wg.Fence()
	wg.MMA(a.S, "S = Q·Kᵀ", float8(g.p), Q, float8(g.p), a.K.At(slot), false)
	wg.Commit()
}

// nextWeights computes P of the tile whose scores are ready, and the factor w of the sums before it. The
// tile may have keys that a row does not see only if it is the first one of the item or the problem
// is causal.
func (a *consumer) nextWeights(it part.Item, j build.U32, masked bool) (P tile.Bytes8, w []build.F32) {
	g, wg, k, at := a.g, a.wg, a.g.k, a.g.c.schedule()
	a.K.Signal(wg.Warp) // the loader may overwrite K
	if g.queriesAwaited() {
		k.If(j.SetpEq(it.First), func() { a.queries(it).Signal(wg.Warp) })
	}
	if masked {
		g.mask.Apply(a.S, wg.Thread, j.MulLo(g.c.TileN), it.Row0.Add(g.groupRow()))
	}
	t := a.softmax.Tile(a.S)
	w = t.Raise()
	if at.pingPong {
		a.waitPingPong()
	}
	P, last := at.weights(t, 0, at.first)
	if at.pingPong {
		if at.early {
			last = k.F32(1)
		}
		a.pingPong.Pass(wg.Warp, last)
	}
	if at.first < g.c.TileN {
		rest, _ := at.weights(t, at.first, g.c.TileN)
		P = append(P, rest...)
	}
	t.AddSums(w)
	a.K.Next()
	return P, w
}

// waitTurn waits until the warpgroup before has started its products, with OrderProducts.
func (a *consumer) waitTurn() {
	if a.g.c.OrderProducts {
		a.waitPingPong()
	}
}

// passTurn lets the next warpgroup start its products, with OrderProducts.
func (a *consumer) passTurn() {
	if a.g.c.OrderProducts {
		a.pingPong.Pass(a.wg.Warp, a.g.k.F32(1))
	}
}

// passValues hands the slot of V back and moves on to the next one.
func (a *consumer) passValues() {
	a.V.Signal(a.wg.Warp) // the transposing warps may overwrite V
	a.V.Next()
}

// held is P from one round of the loop to the next.
type held [][4]*build.Var[build.B32]

func newHeld(P tile.Bytes8) held {
	h := make(held, len(P))
	for i := range P {
		for e, x := range P[i] {
			h[i][e] = build.NewVar(x)
		}
	}
	return h
}

func (h held) set(P tile.Bytes8) {
	for i := range P {
		for e, x := range P[i] {
			h[i][e].Set(x)
		}
	}
}

func (h held) weights() tile.Bytes8 {
	P := make(tile.Bytes8, len(h))
	for i := range h {
		for e, x := range h[i] {
			P[i][e] = x.Get()
		}
	}
	return P
}
