package stages

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// With producer warps, the compute warps only multiply and compute exponentials. Producers
// copy bytes with cp.async, decode them and pass decoded tiles on through a ring of four
// slots, which hold K, V, K and V. One producer loads both, two load one each. There is no
// barrier of the whole block; the mbarriers of the slots say which are full or empty.

// openSlots initialises the barriers. A warp arrives once for all its lanes.
func (g *gen) openSlots() {
	k := g.k
	decoded := tile.NewBuffers(k, build.SharedAs[build.B8](g.shared, g.plan.k), g.plan.half, slots)
	g.ring = tile.NewRing(decoded, build.SharedAs[build.B64](g.shared, g.plan.ring))
	k.If(g.tid.SetpEq(0), func() { g.ring.Init(1, g.c.computeWarps()) })
}

// specialised runs the role of each warp. Each role computes the same items, and its position
// in the ring continues from one item to the next.
func (g *gen) specialised() {
	k := g.k
	firstProducer := k.U32(uint32(g.c.computeWarps()))
	k.If(g.warpID.SetpLt(firstProducer), func() {
		slot := g.ring.Consumer()
		g.work.Each(func(it part.Item) { g.consume(it, slot) })
	}).Else(func() {
		if g.c.Producers == 1 {
			slot := g.ring.Producer()
			g.work.Each(func(it part.Item) { g.produceBoth(it, slot) })
			return
		}
		k.If(g.warpID.SetpEq(firstProducer), func() {
			slot := g.ring.Producer()
			g.work.Each(func(it part.Item) { g.produceK(it, slot) })
		}).Else(func() {
			slot := g.ring.Producer()
			slot.Next() // V has every other slot, from the second on
			g.work.Each(func(it part.Item) { g.produceV(it, slot) })
		})
	})
}

// consume computes an item in a compute warp.
func (g *gen) consume(it part.Item, slot *tile.Side) {
	k := g.k
	a := g.newAttention(it)
	first := g.half(g.plan.k, g.c.TileN, g.d)
	K, V := tile.TilesOf(slot, g.w.BT(first)), tile.TilesOf(slot, g.w.B(first))
	k.Loop(0, it.Tiles, 1, func(n build.U32) {
		a.scores(K.At(K.Wait())) // S = Q·Kᵀ, once K is there
		K.Signal(g.w)            // a producer may fill the slot again
		K.Next()
		a.softmax(n)             // P = 2^(c·S-c·m), l = w·l + ΣP, U = w·U
		a.output(V.At(V.Wait())) // U += P·V, once V is there
		V.Signal(g.w)
		V.Next()
	})
	a.end()
}

// produceBoth loads an item in the only producer warp.
func (g *gen) produceBoth(it part.Item, slot *tile.Side) {
	r := g.openRing(g.lanes(), it, true, true)
	g.k.Loop(0, it.Tiles, 1, func(n build.U32) {
		r.async.Wait() // this lane's bytes of K and V have arrived
		raw := r.async.Slot()
		g.decodeTile(r.crew, r.rawK.At(raw), g.decoded(slot).At(slot.Wait())) // K, once the slot is empty
		slot.Signal(g.w)                                                      // K is there
		slot.Next()
		g.decodeTile(r.crew, r.rawV.At(raw), g.decoded(slot).At(slot.Wait())) // V, once the slot is empty
		slot.Signal(g.w)                                                      // V is there
		slot.Next()
		r.next(n) // the copy of a later tile begins
	})
}

// produceK loads the keys of an item. The other producer fills every other slot.
func (g *gen) produceK(it part.Item, slot *tile.Side) {
	r := g.openRing(g.lanes(), it, true, false)
	g.k.Loop(0, it.Tiles, 1, func(n build.U32) {
		r.async.Wait() // this lane's bytes of K have arrived
		g.decodeTile(r.crew, r.rawK.At(r.async.Slot()), g.decoded(slot).At(slot.Wait()))
		slot.Signal(g.w) // K is there
		slot.Next()
		slot.Next()
		r.next(n) // the copy of a later tile begins
	})
}

// produceV loads the values of an item. The other producer fills every other slot.
func (g *gen) produceV(it part.Item, slot *tile.Side) {
	r := g.openRing(g.lanes(), it, false, true)
	g.k.Loop(0, it.Tiles, 1, func(n build.U32) {
		r.async.Wait() // this lane's bytes of V have arrived
		g.decodeTile(r.crew, r.rawV.At(r.async.Slot()), g.decoded(slot).At(slot.Wait()))
		slot.Signal(g.w) // V is there
		slot.Next()
		slot.Next()
		r.next(n) // the copy of a later tile begins
	})
}

// decoded returns the slots of decoded tiles.
func (g *gen) decoded(slot *tile.Side) tile.Tiles[tile.Tile[build.F16]] {
	return tile.TilesOf(slot, g.half(g.plan.k, g.c.TileN, g.d))
}
