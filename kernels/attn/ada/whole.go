package ada

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// With [Config.Whole], all keys and values of a head have a place in shared memory, and the few rounds
// are written one after the other. So all offsets are constants, the first round needs no O before it,
// and no warp waits until another warp has read a slot: warps wait only for copies, and at the end for
// the sums and parts of the warps with the same rows.

// attendWhole computes an item.
func (g *gen) attendWhole(it part.Item) {
	a, f := g.newWarp(it), g.newFeed(it)
	a.loadQ()
	factors := g.scales.Load(it.HeadInBatch)
	f.run()
	a.openWhole()
	logit, value := factors()
	a.prepare(logit)
	a.vs = value
	g.k.If(it.Tiles.SetpGt(0), func() {
		f.wait(keysOf)
		a.scores(a.S, a.K, 0, 0, g.c.TileN) // S = Q·Kᵀ
		a.round(f, 0, a.S, a.next)
	}).Else(func() {
		a.announce()
		f.announced()
		f.waitSums()
		a.total()
	})
	a.merge()
}

// openWhole finds the warp's rows of K and V.
func (a *warp) openWhole() {
	g := a.g
	rows := func(at int) tile.Tile[build.F16] {
		t := g.tile(at, g.c.Stages*g.c.roundKeys())
		return t.Sub(g.share.MulLo(g.c.TileN), 0, t.Rows, t.Cols)
	}
	a.K, a.V = g.w.BT(rows(g.plan.rings)), g.w.B(rows(g.plan.values))
}

// masks reports whether a row may not see all keys of round n. Round 0 has the end of the sequence, and the
// causal diagonal of all rows of a block is in the last rounds, as many keys long as the block has rows.
func (g *gen) masks(n int) bool {
	return n == 0 || g.p.Causal && (n-1)*g.c.roundKeys() < g.c.Rows
}

// round computes round n, whose scores are in S, and the rounds after it. Rounds are in pairs: if there is
// a round after n, its scores are computed first, and the maxima of both rounds are found at once. O and l
// are then scaled only once in two rounds.
func (a *warp) round(f *feed, n int, S, next *tile.Frag) {
	g := a.g
	if g.masks(n) {
		a.mask(S, f.last.Sub(n))
	}
	last := func() {
		x := a.weigh(S)
		f.wait(valuesOf + n)
		a.lastRound(f, x, n)
	}
	if n+1 == g.c.Stages {
		last()
		return
	}
	g.k.If(a.it.Tiles.SetpGt(n+1), func() {
		if n == 0 {
			f.wait(keysOf + 1)
		}
		a.scores(next, a.K, (n+1)*g.c.roundKeys(), 0, g.c.TileN) // S = Q·Kᵀ
		if g.masks(n + 1) {
			a.mask(next, f.last.Sub(n+1))
		}
		t := a.softmax.Tile(S, next)
		x := a.weights(t, t.Raise())
		f.wait(valuesOf + n)
		a.addRound(x, n, 0, len(a.O))
		a.second(f, n+1, t, next, S)
	}).Else(last)
}

// second computes round n, the second of a pair, and the rounds after it. The scores of the next round
// stand in one basic block with the exponentials of this one, so that the tensor cores are busy meanwhile.
func (a *warp) second(f *feed, n int, first *part.Tile, S, next *tile.Frag) {
	g := a.g
	last := func() {
		x := a.weights(first.Next(S), nil)
		f.wait(valuesOf + n)
		a.lastRound(f, x, n)
	}
	if n+1 == g.c.Stages {
		last()
		return
	}
	g.k.If(a.it.Tiles.SetpGt(n+1), func() {
		a.scores(next, a.K, (n+1)*g.c.roundKeys(), 0, g.c.TileN) // S = Q·Kᵀ
		x := a.weights(first.Next(S), nil)
		f.wait(valuesOf + n)
		a.addRound(x, n, 0, len(a.O))
		a.round(f, n+1, next, S)
	}).Else(last)
}

// lastRound computes P·V of the last round. The totals are computed between its halves: so the sums of
// the other warps have time to come, and the tensor cores have work meanwhile.
func (a *warp) lastRound(f *feed, x weighed, n int) {
	half := len(a.O) / 2
	a.announce()
	f.announced()
	a.addRound(x, n, 0, half)
	f.waitSums()
	a.total()
	a.addRound(x, n, half, len(a.O))
}

// addRound computes O = w·O + P·V of round n for some of the groups of 32 columns. A warp has so few keys
// that the tensor cores add to O.
func (a *warp) addRound(x weighed, n, from, to int) {
	g := a.g
	V := a.V.Hoist()
	for i, O := range a.O[from:to] {
		g.k.Comment("O = w·O + P·V")
		if n > 0 && x.w != nil {
			O.MulRows(x.w)
		}
		for step, P := range x.P {
			token, column := n*g.c.roundKeys()+stepKeys*step, groupCols/2*(from+i)
			a.values(O.Frag, words32{V.Words(token, column), V.Words(token+16, column)}, P, n == 0 && step == 0)
		}
	}
}
