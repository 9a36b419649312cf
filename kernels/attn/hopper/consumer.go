package hopper

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// consume is the role of a computing warpgroup: 64 query rows against every KV tile of one
// item after the other. While one warpgroup multiplies, the others of the SM compute their
// exponentials.
func (g *gen) consume() {
	g.setRegisters(g.c.registers().consumer)
	a := g.newConsumer()
	k, c, wg, at := g.k, g.c, g.wg, g.c.schedule()
	S, O := a.S, a.O
	inputs := float8(g.p)

	g.eachItem(func(it part.Item) {
		a.begin(it) // c, vs; l = 0, O = 0
		if c.Split > 1 {
			k.BarrierClusterWait() // the other block has initialised its mbarriers
		}
		queries := a.queries(it)
		Q := queries.At(g.queriesArrived(queries)) // Q has arrived

		skipped := a.passUnseen(it)
		g.work.EachTile(it, skipped, c.perBlock(), func(j build.U32) {
			slot := a.K.Wait() // K has arrived
			wg.Fence()
			wg.MMA(S, "S = Q·Kᵀ", inputs, Q, inputs, a.K.At(slot), false)
			wg.Commit()
			wg.Wait(0)
			a.K.Signal(wg.Warp) // the loader may overwrite K
			if g.queriesAwaited() {
				k.If(j.SetpEq(it.First), func() { a.queries(it).Signal(wg.Warp) }) // and Q after the last tile
			}

			g.mask.Apply(S, wg.Thread, j.MulLo(c.TileN), it.Row0.Add(g.groupRow()))
			t := a.softmax.Tile(S) // m = rowmax S
			var w []build.F32
			switch {
			case !c.TileMaxima:
				w = t.Raise() // m' = max(m, m₀), w = 2^(c·m₀ - c·m'), m₀ = m = m'
			case at.weightFirst:
				w = t.Weight(O) // w = 2^(c·m - c·m₀)
			}
			if at.pingPong {
				a.waitPingPong() // one warpgroup at a time begins its exponentials
			}
			P, last := at.weights(t, 0, at.first) // P = 2^(c·S - c·m + 8), first keys
			if at.early {
				a.V.Wait()                         // V has arrived
				a.pingPong.Pass(wg.Warp, k.F32(1)) // the next warpgroup begins its exponentials
			}
			if at.weightEarly {
				w = t.Weight(O) // w = 2^(c·m - c·m₀)
			}
			if at.first < c.TileN {
				var rest tile.Bytes8
				rest, last = at.weights(t, at.first, c.TileN) // remaining keys
				P = append(P, rest...)
			}
			if at.pingPong && !at.early {
				a.pingPong.Pass(wg.Warp, last)
			}
			if w == nil {
				w = t.Weight(O) // w = 2^(c·m - c·m₀)
			}
			t.AddSums(w) // l = l + w·ΣP, or w·l + ΣP after Raise; nothing with SumsInV, where T holds ΣP

			slot = a.V.Slot()
			if !at.early {
				a.V.Wait() // V has arrived
			}
			a.addProduct(P, slot, w, func() { // O = O + w·P·V, or w·O + P·V after Raise
				a.V.Signal(wg.Warp)    // the transposing warps may overwrite V
				a.K.Skip(c.perBlock()) // past the tiles of the warpgroup that shares these rows; V moves with K
			})
		})
		if g.queriesAwaited() {
			k.If(it.Tiles.SetpEq(skipped), func() { a.queries(it).Signal(wg.Warp) })
		} else {
			if c.Descriptors {
				a.vs.Set(g.valueFactor(it))
			}
			a.queries(it).Signal(wg.Warp) // the loader may overwrite Q
		}
		a.end(it) // O = vs·O/l
	})
}

// skipsTiles reports whether a warpgroup of a block may see fewer KV tiles than another one: under a
// causal mask, if the block has more rows than a tile has keys.
func (c Config) skipsTiles(causal bool) bool {
	return causal && c.rows() > c.TileN && c.perBlock() == 1
}

// passUnseen passes over the item's last KV tiles that the warpgroup's rows do not see, and returns how
// many tiles of the item the warpgroup skips. It uses the rings and the ping-pong as if it computed
// them: it waits for each tile, because a barrier counts the arrivals of one round at a time.
func (a *consumer) passUnseen(it part.Item) (skipped build.U32) {
	g := a.g
	if !g.c.skipsTiles(g.p.Causal) {
		return g.inBlock()
	}
	k := g.k
	unseen := g.work.Unseen(it, it.Row0.Add(g.groupRow()), warpgroupRows)
	k.Loop(0, unseen, 1, func(build.U32) {
		a.K.Wait()
		a.K.Signal(a.wg.Warp)
		if g.c.PingPong > 0 {
			a.waitPingPong()
			a.pingPong.Pass(a.wg.Warp, k.F32(1))
		}
		a.V.Wait()
		a.V.Signal(a.wg.Warp)
		a.K.Skip(1) // V moves with K
	})
	return unseen
}

// consumer is the state of a computing warpgroup.
type consumer struct {
	g        *gen
	wg       tile.Warpgroup
	pingPong *tile.Member // nil without ping-pong
	Q        tile.KMajor  // the warpgroup's 64 rows in the first slot
	K, V     tile.Tiles[tile.KMajor]
	S        *tile.Frag
	T        []*tile.Frag // the products with V that are in flight
	O        part.Accumulator
	c, vs    *build.Var[build.F32] // the factors of scores and of the output
	softmax  *part.Softmax
}

func (g *gen) newConsumer() *consumer {
	k := g.k
	// In a register: otherwise ptxas computes the address of the symbol again in each round,
	// from the block's place in its cluster.
	g.placeShared(build.SharedAt[build.B8](g.uniform(g.mem.Addr())))
	mine := g.groupRow().MulLo(g.d)
	keys := g.ringK.Consumer()
	cols := g.c.columns(g.dv)
	a := &consumer{
		g: g, wg: g.wg,
		Q: tile.NewKMajor(k, g.ringQ.First(), warpgroupRows, g.d).Plus(mine),
		K: tile.TilesOf(keys, tile.NewKMajor(k, g.ringK.First(), g.c.TileN, g.d)),
		V: tile.TilesOf(g.ringV.ConsumerWith(keys), g.valueTile()),
		S: g.wg.Accumulator(g.c.TileN), T: g.productAccumulators(),
		// Of the extra columns that hold row sums, each lane keeps its first.
		O:        part.Accumulator{Frag: g.wg.Accumulator(cols), Kept: g.dv + 1, SlotBySlot: g.c.ProductColumns > 0},
		pingPong: g.pingPongMember(),
		c:        build.NewVar(k.F32(0)), vs: build.NewVar(k.F32(0)),
	}
	a.softmax = part.NewSoftmax(k, g.c.numerics(), a.c, slots)
	if g.c.perBlock() > 1 { // the second warpgroup of a pair begins with the second tile
		a.K.Begin(g.inBlock())
	}
	return a
}

// pingPongMember returns the warp's place among the warps of the same number in the other
// warpgroups, which share its quarter of the SM, or nil without ping-pong.
func (g *gen) pingPongMember() *tile.Member {
	if g.c.PingPong == 0 {
		return nil
	}
	warp := g.uniform(g.wg.Thread.Shr(5))
	// If warpgroups split keys, some have one tile more than others. They come first in a
	// round, so none of them waits for a warpgroup that has finished.
	return g.pingPong.Member(g.group.Sub(1).MadLo(4, warp), 4)
}

// waitPingPong waits until the warpgroup before has handed the exponentials over. Where a
// warpgroup uses two slots of a ring, the slot tells an even round from an odd one, which
// saves a register.
func (a *consumer) waitPingPong() {
	if c := a.g.c; c.Stages == 2*c.perBlock() {
		a.pingPong.WaitIn(part.Divide(a.g.k, a.K.Slot(), c.perBlock()))
		return
	}
	a.pingPong.Wait()
}

// begin starts an item. A block that is not persistent reads vs here, while it waits for its
// tiles; at the end it would have to wait for the read.
func (a *consumer) begin(it part.Item) {
	g := a.g
	a.c.Set(g.logitFactor(it))
	if !g.c.Persistent {
		a.vs.Set(g.scales.Value(it.Head))
	}
	a.softmax.Restart()
	a.O.Fill(g.k.F32(0))
}

// outputScale returns vs. A persistent block reads it at the end of an item, which saves a
// register; the copies of its next item are already running.
func (a *consumer) outputScale(it part.Item) build.F32 {
	if a.g.c.Persistent && !a.g.c.Descriptors {
		return a.g.scales.Value(it.Head)
	}
	return a.vs.Get()
}

// queriesAwaited reports whether the queries of the next item wait for the only slot of Q. A
// consumer then frees the slot after its last product with Q, and not at the end of the item.
func (g *gen) queriesAwaited() bool { return g.c.Persistent && g.c.slots(ringQ, g.d) == 1 }

// queriesArrived waits for the queries of an item and returns their slot. A warp that has read the
// item's descriptor has waited for them.
func (g *gen) queriesArrived(queries tile.Tiles[tile.KMajor]) build.U32 {
	if g.c.Descriptors {
		return queries.Slot()
	}
	return queries.Wait()
}

// queries returns the ring of Q at an item's slot. The caller computes it again each time,
// because there is no register to hold it while tiles are computed.
func (a *consumer) queries(it part.Item) tile.Tiles[tile.KMajor] {
	return tile.TilesOf(a.g.ringQ.ConsumerAt(it.Number), a.Q)
}

// end writes O, or merges it with the warpgroups that have other keys of the same rows.
func (a *consumer) end(it part.Item) {
	g := a.g
	reference, l := a.softmax.Sums(a.O.Frag, g.dv)
	if g.c.sharers() > 1 {
		a.exchange(it, reference, l)
		return
	}
	if g.c.Balanced {
		a.endPart(it, reference, l)
		return
	}
	a.store(it, reference, l)
}

// store writes O = vs·O/l and the log-sum-exp.
func (a *consumer) store(it part.Item, reference, l []build.F32) {
	g := a.g
	norm, lse := a.softmax.Normalise(a.outputScale(it), reference, l, g.p.LSE)
	g.out.StoreInterleaved(a.outputRows(it, g.k.U32(0)), a.O.Frag, g.dv, norm)
	a.storeLSE(it, lse)
}
