package hopper

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
	"github.com/GOATnote-Inc/attest/ptx"
)

// attention is what a consumer warpgroup keeps through an item.
type attention struct {
	g        *gen
	wg       tile.Warpgroup
	k, v     *tile.Side
	Q0, K, V tile.KMajor // the first slot of each ring; Q0 is the warpgroup's 64 rows
	Q        tile.KMajor // those of the item
	S, T, O  *tile.Frag
	rows     rows
}

// consume is a computing warpgroup.
func (g *gen) consume() {
	g.take(g.c.registers().consumer)
	// The address of a symbol would be worked out anew, from the block's place in its
	// cluster, in each round.
	g.lieAt(build.SharedAt[build.B8](g.uniform(g.mem.Addr())))
	a := g.newAttention()
	g.work.Each(func(it part.Item) {
		a.begin(it)
		a.inTurn(it)
		a.end(it)
	})
}

func (g *gen) newAttention() *attention {
	k := g.k
	place := func(at int) build.Shared[build.B8] { return build.SharedAs[build.B8](g.mem, at) }
	mine := g.groupRow().MulLo(k.U32(uint32(g.d)))
	keys := g.ringK.Consumer()
	a := &attention{
		g: g, wg: g.wg,
		k: keys, v: g.ringV.ConsumerWith(keys),
		Q0: tile.NewKMajor(k, place(g.plan.q), warpgroupRows, g.d).Plus(mine),
		K:  tile.NewKMajor(k, place(g.plan.k), g.c.TileN, g.d),
		V:  g.valueTile(),
		S:  g.wg.Accumulator(g.c.TileN), T: g.wg.Accumulator(g.c.columns(g.d)), O: g.wg.Accumulator(g.c.columns(g.d)),
		rows: g.newRows(),
	}
	if g.c.perBlock() > 1 { // the second begins with the second tile
		a.k.Begin(g.inBlock())
	}
	return a
}

// newTurn is the warp's place among those of the same number in the other warpgroups,
// which share its part of the SM.
func (g *gen) newTurn() *tile.Turn {
	if g.c.Turns == 0 {
		return nil
	}
	k := g.k
	warp := g.uniform(g.wg.Thread.Shr(k.U32(5)))
	// Where warpgroups share keys, some have a tile more than others. They come first
	// in a round, so none of them waits for a turn that others no longer take.
	return g.turns.Member(g.group.Sub(k.U32(1)).MadLo(k.U32(4), warp), 4)
}

// begin starts an item: nothing seen, and the queries are there.
func (a *attention) begin(it part.Item) {
	a.rows.begin(it)
	a.O.Fill(a.g.k.F32(0))
	if a.g.c.Split > 1 {
		a.g.k.BarrierClusterWait() // the other block's barriers are there as well
	}
	slot := a.queries(it).Wait()
	a.Q = a.Q0.Plus(slot.MulLo(a.g.k.U32(uint32(a.g.plan.qTile))))
}

// queries is the ring of Q at an item's slot, worked out when it is needed: through the
// rounds there is no register for it.
func (a *attention) queries(it part.Item) *tile.Side { return a.g.ringQ.ConsumerAt(it.Number) }

// inTurn does one tile of keys and values after the other. While a warpgroup
// multiplies, the others of the SM take their exponentials.
func (a *attention) inTurn(it part.Item) {
	a.g.work.EachTile(it, a.g.inBlock(), a.g.c.perBlock(), func(j build.U32) {
		a.scores(a.S) // S = Q·Kᵀ
		a.wg.Wait(0)
		a.k.Signal(a.wg.Warp)
		P, w := a.softmax(a.S, it, j) // P = 2^(c·S-c·m+8), l = l + w·ΣP
		a.values(P)                   // T = P·V
		a.wg.Wait(0)
		a.v.Signal(a.wg.Warp)
		a.k.Skip(a.g.c.perBlock()) // a half skips the other's tiles
		a.add(w)                   // O = O + w·T
	})
}

// waitForTurn waits until the exponentials are the warp's turn. Where a ring goes round in
// two rounds, its slot tells one round from the next, and no register has to.
func (a *attention) waitForTurn() {
	switch c := a.g.c; {
	case c.Turns == 0:
	case c.Stages == 2*c.perBlock():
		a.rows.turn.WaitIn(part.Divide(a.g.k, a.k.Slot(), c.perBlock()))
	default:
		a.rows.turn.Wait()
	}
}

// handOn hands the turn on when so many keys are done as a turn has. The values are
// waited for at the same time, for they are there by then: that is a branch, across which
// the assembler moves no exponentials. A turn of all keys ends with the last of them, P,
// wherever the assembler takes it: mostly at a third.
func (a *attention) handOn(keys int, P build.F32) {
	switch c := a.g.c; {
	case keys != c.Turns:
	case keys < c.TileN:
		a.v.Wait()
		a.rows.turn.Pass(a.wg.Warp, a.g.k.F32(1))
	default:
		a.rows.turn.Pass(a.wg.Warp, P)
	}
}

// scores starts S = Q·Kᵀ.
func (a *attention) scores(S *tile.Frag) {
	f := a.g.p.float8()
	slot := a.k.Wait()
	a.wg.Fence()
	a.wg.MMA(S, "S = Q·Kᵀ", f, a.Q, f, a.K.Plus(a.g.slotBytes(slot)), false)
	a.wg.Commit()
}

// values starts T = P·V.
func (a *attention) values(P tile.Bytes8) {
	slot := a.v.Slot()
	if c := a.g.c; c.Turns == 0 || c.Turns == c.TileN {
		a.v.Wait()
	}
	a.wg.Fence()
	a.wg.MMAFromRegisters(a.T, "T = P·V", ptx.E4M3, P, a.g.p.float8(), a.V.Plus(slot.MulLo(a.g.k.U32(uint32(a.g.plan.vTile)))), false)
	a.wg.Commit()
}

// softmax masks the scores of tile j and turns them into P.
func (a *attention) softmax(S *tile.Frag, it part.Item, j build.U32) (P tile.Bytes8, w []build.F32) {
	key0 := j.MulLo(a.g.k.U32(uint32(a.g.c.TileN)))
	a.g.mask.Apply(S, a.wg.Thread, key0, it.Row0.Add(a.g.groupRow()))
	return a.rows.step(S, a.waitForTurn, a.handOn, a.rescale)
}

// add is O = O + w·T, in f32.
func (a *attention) add(w []build.F32) {
	a.O.Map2(a.T, func(o, t build.F32, slot int, at tile.Pos) build.F32 {
		if !a.kept(at) {
			return o
		}
		return a.g.plus(o, t, w[slot])
	})
}

// rescale is O = O·by, for another base.
func (a *attention) rescale(by []build.F32) {
	a.O.Map(func(o build.F32, slot int, at tile.Pos) build.F32 {
		if !a.kept(at) {
			return o
		}
		return o.Mul(by[slot], build.Rn)
	})
}

// kept says which columns of O are: of the columns of sums only the first, and not the zeros
// beside it, for they would take registers.
func (a *attention) kept(at tile.Pos) bool { return at.Col <= a.g.d }

// end hands the queries back and writes O, by itself or together with those that have
// other keys.
func (a *attention) end(it part.Item) {
	a.queries(it).Signal(a.wg.Warp)
	base, l := a.rows.sums(a.O)
	if a.g.c.sharers() > 1 {
		a.exchange(it, base, l)
		return
	}
	norm, lse := a.rows.finish(it, base, l)
	a.g.out.StoreInterleaved(a.outputRows(it, a.g.k.U32(0)), a.O, a.g.d, norm)
	a.storeLSE(it, lse)
}

// slotBytes is how far a slot's tile of K or raw V is from the first.
func (g *gen) slotBytes(slot build.U32) build.U32 {
	return slot.MulLo(g.k.U32(uint32(g.plan.tile)))
}
