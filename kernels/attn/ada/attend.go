package ada

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// attend computes an item: each warp has 16 query rows and every KV tile of its share. Scores are
// computed a round ahead: the tensor cores then have the scores of a round and P·V of the round
// before to do while other warps compute exponentials.
func (g *gen) attend(it part.Item) {
	k := g.k
	a := g.newWarp(it)
	ring := g.openRing(it, a.loadScales) // copies of Q, K and V begin
	ring.waitFirst()
	k.SyncThreads() // Q and the keys of the first round have arrived
	a.loadQ()
	k.If(it.Tiles.SetpGt(0), func() { a.scores(a.S, ring.offset(ring.Slot())) }) // S = Q·Kᵀ

	g.work.EachTile(it, k.U32(0), 1, func(j build.U32) {
		ring.Wait() // this thread's part of V of round j, and of K of the next round, has arrived
		ring.sync() // all parts have arrived, and the team has finished the round before
		slot := ring.Slot()
		ring.refill(j) // overwrites V of the round before and K of this round
		K := ring.offset(a.nextKeys(ring, slot, j))
		g.mask.Apply(a.S, g.w.Lane, j.MulLo(g.c.roundKeys()).Add(g.share.MulLo(g.c.TileN)), a.row)
		if g.c.Ahead {
			a.scores(a.next, K) // S = Q·Kᵀ of the next round
		}
		t := a.softmax.Tile(a.S) // m = rowmax S
		w := t.Raise()           // m' = max(m, m₀), w = 2^(c·m₀ - c·m'), m₀ = m = m'
		P := t.Exp(0, g.c.TileN) // P = 2^(c·S - c·m + 8)
		t.Sum(P)
		t.AddSums(w) // l = w·l + ΣP
		weights := g.mul.weights(P)
		if !g.c.Ahead {
			k.If(j.SetpGt(0), func() { a.scores(a.S, K) }) // S = Q·Kᵀ of the next round
		}
		a.output(ring.offset(slot), weights, w) // O = w·O + P·V
		a.advance()
	})
	a.end(ring)
}

// lift multiplies P by 2^8: P reaches from 0 to 256, where e4m3 ends at 448.
const lift = 8

// slots is the number of rows of an accumulator in which a lane has elements.
const slots = 2

// warp is the state of a warp for one item.
type warp struct {
	g       *gen
	it      part.Item
	row     build.U32 // the first of its query rows
	q       tile.ATile
	flip    build.B32 // changes the signs of Q if the factor of the scores is negative
	Q       []left    // the fragments of Q, one for each 32 columns, if Q stays in registers
	K, V    tile.B
	S, next *tile.Frag         // scores of this round, and with Ahead those of the next round
	O       []part.Accumulator // 32 columns each
	softmax *part.Softmax
	vs      build.F32
}

func (g *gen) newWarp(it part.Item) *warp {
	a := &warp{
		g: g, it: it, row: g.row0(it),
		q: g.w.A(g.tile(g.plan.q, g.c.Rows).Sub(g.group.MulLo(warpRows), 0, warpRows, g.d/2)),
		K: g.w.BT(g.ownTile(0)), V: g.w.B(g.ownTile(g.plan.tile)), S: g.w.Accumulator(g.c.TileN),
	}
	if g.c.Ahead {
		a.next = g.w.Accumulator(g.c.TileN)
	}
	for range g.d / groupCols {
		a.O = append(a.O, part.Accumulator{Frag: g.w.Accumulator(groupCols), Kept: groupCols})
	}
	return a
}

// loadScales reads the scales of the head.
func (a *warp) loadScales() {
	g := a.g
	c := g.scales.Logit(a.it.Head)
	a.vs = g.scales.Value(a.it.Head)
	a.flip = g.k.B32(0x80808080).Selp(0, c.SetpLt(0))
	a.softmax = part.NewSoftmax(g.k, part.Numerics{Lift: lift}, build.NewVar(part.Magnitude(c)), slots)
}

// loadQ reads Q into registers, if there are enough.
func (a *warp) loadQ() {
	if !a.g.c.keepsQ(a.g.d) {
		return
	}
	for i := range a.g.d / 32 {
		a.Q = append(a.Q, a.query(i))
	}
}

// query returns columns 32·i to 32·i+31 of Q.
func (a *warp) query(i int) left {
	if a.Q != nil && i < len(a.Q) {
		return a.Q[i]
	}
	words := a.q.Words(i)
	for w := range words {
		words[w] = words[w].Xor(a.flip)
	}
	return a.g.mul.left(words)
}

// nextKeys returns the slot with the keys of the next round. With Ahead, the last round computes
// its own scores again, because a branch around them would keep them apart from the exponentials.
func (a *warp) nextKeys(r *ring, slot, j build.U32) build.U32 {
	next := r.next(slot)
	if !a.g.c.Ahead {
		return next
	}
	return next.Selp(slot, j.SetpGt(0))
}

// advance makes the scores of the next round those of this round.
func (a *warp) advance() {
	if a.next == nil {
		return
	}
	for i := range a.S.Elements() {
		a.S.Set(i, a.next.Get(i))
	}
}

// scores computes S = Q·Kᵀ from the keys in a slot, which begins at an offset in bytes.
func (a *warp) scores(S *tile.Frag, slot build.U32) {
	g := a.g
	form, _ := g.mul.forms()
	K := a.K.Plus(slot).Hoist()
	g.k.Comment("S = Q·Kᵀ")
	for i := range g.d / 32 {
		Q := a.query(i)
		for n := 0; n < g.c.TileN; n += 16 {
			words := K.Words(16*i, n)
			g.multiply(S, n/8, form, Q, g.mul.right([2]build.B32{words[0], words[1]}), i == 0)
			g.multiply(S, n/8+1, form, Q, g.mul.right([2]build.B32{words[2], words[3]}), i == 0)
		}
	}
}

// output computes O = w·O + P·V, 32 columns at a time. Sums of FP8 products keep 14 bits on Ada,
// so T = P·V is a fresh accumulator for each tile, and one fma adds it to O in f32.
func (a *warp) output(slot build.U32, P []left, w []build.F32) {
	g := a.g
	V := a.V.Plus(slot).Hoist()
	for i, O := range a.O {
		T := g.w.Accumulator(groupCols)
		g.k.Comment("T = P·V")
		for step := range P {
			a.values(T, V, 32*step, groupCols/2*i, P[step], step == 0)
		}
		O.ScaleAdd(g.k, w, T)
	}
}

// values adds the products of P with 32 tokens and 32 columns of V to T. ldmatrix transposes
// two-byte words, so a register has the values of two tokens in two neighbouring columns. prmt
// sorts them: even columns for one product, odd columns for the next.
func (a *warp) values(T *tile.Frag, V tile.B, token, words int, P left, fresh bool) {
	g := a.g
	_, form := g.mul.forms()
	upper, lower := V.Words(token, words), V.Words(token+16, words) // 16 tokens each
	for half := range 2 {                                           // 16 columns each
		for odd, pick := range []uint32{0x6420, 0x7531} {
			b := [2]build.B32{
				upper[2*half].Prmt(upper[2*half+1], pick),
				lower[2*half].Prmt(lower[2*half+1], pick),
			}
			g.multiply(T, 2*half+odd, form, P, g.mul.right(b), fresh)
		}
	}
}
