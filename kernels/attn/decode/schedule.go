package decode

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
	"github.com/GOATnote-Inc/attest/problem"
)

// A block finds its item and its share of the item's keys in one of two ways.
//
// If all sequences are equally long, if the blocks compute fixed chunks, or if there are many
// query rows, the grid is items × splits, and the host has chosen the number of splits.
//
// Otherwise only memory holds the lengths. The grid has as many blocks as parts of the smallest
// size that a schedule tries can be, and each block reads all lengths, which takes less than a microsecond for 256 sequences: it finds
// a number of tiles such that parts of at most this size keep the GPU busy, gives each sequence
// as many parts as it needs, and counts through the parts to find its own. A long sequence then
// has many parts, and a short one has one. All blocks compute the same schedule.

// balanced reports whether blocks find their shares from the lengths of the sequences.
func (c Config) balanced(p problem.Attention) bool {
	return c.Chunk == 0 && !c.RowBlocks && p.Keys != problem.Uniform
}

// leastTiles is the least number of tiles per team in a part. Merging a smaller part takes longer
// than computing it.
const leastTiles = 4

// sizes are the sizes of parts that a schedule tries, relative to the size at which the tiles
// would fill the GPU once if they could be divided at will. Larger parts suit sequences that do
// not divide evenly, smaller ones sequences of very different lengths.
var sizes = []float32{2, 1.5, 1.25, 1.125, 1, 0.75, 0.5}

// openItem finds the block's item: its sequence, its head of K and V, and its query rows.
func (g *gen) openItem() item {
	if g.c.balanced(g.p) {
		return g.openBalanced()
	}
	k := g.k
	x := k.CtaidX()
	it := item{number: x, counter: x, rows: g.seqQ.MulLo(g.group)}
	if g.c.RowBlocks { // the last rows come first: with a causal mask they see most keys
		block := x.Div(g.items)
		it.number = x.Sub(block.MulLo(g.items))
		it.firstRow = g.rowBlocks.Sub(block).Sub(1).MulLo(g.c.tileRows())
		it.endRow = it.firstRow.Add(g.c.tileRows()).Min(it.rows)
	}
	it.batch = it.number.Div(g.headsKV)
	it.head = it.number.Sub(it.batch.MulLo(g.headsKV))
	g.lengths(&it)
	g.seen(&it)
	it.slot = x.MulLo(g.splits)
	g.share(&it)
	return it
}

// share divides the tiles of an item over the blocks of one row of the grid. A block whose position
// is parts or larger has no work. An item without keys has one part without tiles, which writes
// zeros.
//
// Chunks begin at multiples of their size, counted from key 0, so that the chunks of a sequence do
// not depend on anything else.
func (g *gen) share(it *item) {
	k := g.k
	split := k.CtaidY()
	tile0, tiles := g.tiles(*it)
	if g.c.Chunk == 0 {
		count := tiles.Max(tile0).Sub(tile0)
		it.parts, it.position = g.splits.Min(count).Max(1), split
		it.divide(tile0, count, it.parts)
		return
	}
	per := g.c.Chunk / g.c.TileN
	chunk0, chunks := part.Divide(k, tile0, per), part.Divide(k, tiles.Add(per-1), per)
	chunk := chunk0.Add(split)
	it.parts, it.position = chunks.Max(chunk0.Add(1)).Sub(chunk0), split
	it.from = chunk.MulLo(per).Max(tile0)
	it.to = chunk.Add(1).MulLo(per).Min(tiles).Max(it.from)
}

// tiles returns the first tile that a query of the item sees, and the tile after the last one.
func (g *gen) tiles(it item) (first, end build.U32) {
	n := g.c.TileN
	return part.Divide(g.k, it.first, n), part.Divide(g.k, it.end.Add(n-1), n)
}

// divide gives the block its part of count tiles.
func (it *item) divide(first, count, parts build.U32) {
	it.from = first.Add(it.position.MulLo(count).Div(parts))
	it.to = first.Add(it.position.Add(1).MulLo(count).Div(parts))
}

// openBalanced finds the block's item and part from the lengths of all sequences. One warp does
// it for the block.
func (g *gen) openBalanced() item {
	k := g.k
	found := build.SharedAs[build.U32](g.shared, g.plan.last)
	k.If(g.warp.SetpEq(0), func() {
		k.If(g.lane.SetpEq(0), func() { found.StV4([4]build.U32{k.U32(0), k.U32(0), k.U32(0), k.U32(0)}) }) // the block has no part until one is found
		size := g.partSize()
		g.w.Sync() // the lane that finds the part writes after lane 0
		g.findPart(found, size)
	})
	k.SyncThreads()
	x, result := k.CtaidX(), found.LdV4()
	it := item{rows: g.seqQ.MulLo(g.group), batch: result[0], parts: result[2]}
	inSequence, divisor := result[1], it.parts.Max(1) // a block without a part does nothing
	it.head = inSequence.Div(divisor)
	it.position = inSequence.Sub(it.head.MulLo(it.parts))
	it.number = it.batch.MadLo(g.headsKV, it.head)
	it.counter, it.slot = it.number, x.Sub(it.position)
	g.lengths(&it)
	g.seen(&it)
	tile0, tiles := g.tiles(it)
	it.divide(tile0, tiles.Max(tile0).Sub(tile0), divisor)
	return it
}

// sequenceTiles returns the number of tiles of a sequence that its queries see, at least 1, and 0
// beyond the last sequence.
func (g *gen) sequenceTiles(batch build.U32) build.U32 {
	it := item{batch: batch.Min(g.batches.Sub(1))}
	g.lengths(&it)
	g.seen(&it)
	tile0, tiles := g.tiles(it)
	return tiles.Max(tile0.Add(1)).Sub(tile0).Selp(0, batch.SetpLt(g.batches))
}

// partSize returns the most tiles of a part. Each lane looks at every 32nd sequence.
func (g *gen) partSize() build.U32 {
	k, all := g.k, g.k.FullMask()
	k.Comment("the size of parts: that with the least waves × size")
	total, longest := build.NewVar(k.U32(0)), build.NewVar(k.U32(0))
	k.Loop(g.lane, g.batches, 32, func(b build.U32) {
		n := g.sequenceTiles(b)
		total.Set(total.Get().Add(n))
		longest.Set(longest.Get().Max(n))
	})
	tiles := total.Get().ReduxSyncAdd(all).MulLo(g.headsKV)
	least := k.F32(float32(leastTiles * g.c.teams()))
	even := tiles.CvtRnF32().DivRn(g.slots.CvtRnF32())
	smallest := g.smallestPart(longest.Get().ReduxSyncMax(all)).Max(least)
	var size, per []build.F32
	for _, s := range sizes {
		x := even.Mul(s, build.Rn).Max(smallest)
		size, per = append(size, x), append(per, x.RcpRn())
	}
	counts := build.Vars(k.U32(0), len(sizes))
	k.Loop(g.lane, g.batches, 32, func(b build.U32) {
		n := g.sequenceTiles(b).CvtRnF32()
		for i, c := range counts {
			c.Set(c.Get().Add(n.Mul(per[i], build.Rn).CvtRpiU32()))
		}
	})
	best, cost := build.NewVar(size[0]), build.NewVar(k.F32(0))
	for i, c := range counts {
		blocks := c.Get().ReduxSyncAdd(all).MulLo(g.headsKV)
		waves := blocks.Add(g.slots).Sub(1).Div(g.slots).CvtRnF32()
		own := size[i].Add(least, build.Rn).Mul(waves, build.Rn) // a part costs as much as its tiles and a few more
		if i == 0 {
			cost.Set(own)
			continue
		}
		better := own.SetpLt(cost.Get())
		best.Set(size[i].Selp(best.Get(), better))
		cost.Set(own.Selp(cost.Get(), better))
	}
	return best.Get().CvtRpiU32()
}

// smallestPart returns the fewest tiles of a part with which merging the parts of a sequence takes no
// longer than computing one of them: see [Config.square].
func (g *gen) smallestPart(tiles build.U32) build.F32 {
	key, row := g.c.costs(g.p)
	rows := g.seqQ.MulLo(g.group).CvtRnF32()
	return tiles.CvtRnF32().Mul(rows, build.Rn).Mul(float32(row)/float32(key*g.c.TileN), build.Rn).SqrtRn()
}

// findPart counts through the parts of all sequences to the block's own. The lane with its
// sequence writes the sequence, the number of the part in the sequence, and the number of parts
// of each head.
func (g *gen) findPart(to build.Shared[build.U32], size build.U32) {
	k, all := g.k, g.k.FullMask()
	k.Comment("the block's part")
	x, before := k.CtaidX(), build.NewVar(k.U32(0))
	k.Loop(0, g.batches, 32, func(first build.U32) {
		b := first.Add(g.lane)
		parts := g.sequenceTiles(b).Add(size).Sub(1).Div(size)
		blocks := parts.MulLo(g.headsKV)
		sum := blocks // the blocks of this lane's sequence and of those before it
		for d := 1; d < 32; d *= 2 {
			sum = sum.Add(sum.ShflSyncUp(d, 0, all).Selp(0, g.lane.SetpGe(d)))
		}
		start := before.Get().Add(sum).Sub(blocks)
		k.If(x.SetpGe(start).And(x.SetpLt(start.Add(blocks))), func() {
			to.StV4([4]build.U32{b, x.Sub(start), parts, k.U32(0)})
		})
		before.Set(before.Get().Add(sum.ShflSyncIdx(31, 31, all)))
	})
}
