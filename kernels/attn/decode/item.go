package decode

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
	"github.com/GOATnote-Inc/attest/problem"
)

// item is one head of K and V of one sequence with all queries that use it, and this block's
// share of its keys.
type item struct {
	number      build.U32 // through the batch
	batch, head build.U32 // the sequence, and the head of K and V in it
	rows        build.U32 // query rows: heads of the group × Sq
	lengthQ     build.U32
	lengthKV    build.U32
	startQ      build.U32 // rows before the sequence, if sequences are packed
	startKV     build.U32

	first, end   build.U32 // the keys that at least one query sees
	from, to     build.U32 // the block's tiles of keys
	position     build.U32 // of the block among those that share the item
	parts        build.U32 // how many blocks share the item
	allEnd       build.U32 // the keys from allFirst to allEnd-1 are seen by all queries
	allFirst     build.U32
	wholeVisible bool // all queries see the same keys
}

// openItem finds the block's item: the grid is items × splits.
func (g *gen) openItem() item {
	k := g.k
	it := item{number: k.CtaidX(), rows: g.seqQ.MulLo(g.group)}
	it.batch = it.number.Div(g.headsKV)
	it.head = it.number.Sub(it.batch.MulLo(g.headsKV))
	it.startQ, it.lengthQ = g.sequence(g.p.Queries, it.batch, g.seqQ, g.lengthsQ, g.offsetsQ)
	it.startKV, it.lengthKV = g.sequence(g.p.Keys, it.batch, g.seqKV, g.lengthsKV, g.offsetsKV)
	g.seen(&it)
	g.share(&it)
	return it
}

// sequence returns the first row of a sequence in packed memory, and its length.
func (g *gen) sequence(place problem.Placement, batch, full build.U32, lengths, offsets build.Global[build.U32]) (start, length build.U32) {
	start, length = g.k.U32(0), full
	switch place {
	case problem.Padded, problem.Paged:
		length = lengths.At(batch).Ld()
	case problem.Packed:
		at := offsets.At(batch)
		start = at.Ld()
		length = at.Plus(1).Ld().Sub(start)
	}
	return start, length
}

// seen finds the keys that the queries of an item see. Later queries see later keys.
func (g *gen) seen(it *item) {
	if g.p.Mask() == "none" {
		it.first, it.end, it.allFirst, it.allEnd, it.wholeVisible = g.k.U32(0), it.lengthKV, g.k.U32(0), it.lengthKV, true
		return
	}
	last := it.lengthQ.Max(1).Sub(1)
	it.first, it.allEnd = g.visible(*it, g.k.U32(0))
	it.allFirst, it.end = g.visible(*it, last)
	it.first = it.first.Min(it.end)
}

// visible returns the keys that a query of the item sees: from first to end-1. The last query
// stands at the last key. A window reaches from left keys before to right keys after the key
// at which the query stands; causal queries have no keys after it.
func (g *gen) visible(it item, token build.U32) (first, end build.U32) {
	k := g.k
	at := build.Cast[build.S32](token.Add(it.lengthKV).Sub(it.lengthQ))
	after := at.Add(1)
	if g.p.Window.Limited() {
		after = after.Add(build.Cast[build.S32](g.right))
	}
	end = build.Cast[build.U32](after.Max(0)).Min(it.lengthKV)
	if !g.p.Window.Limited() {
		return k.U32(0), end
	}
	before := at.Sub(build.Cast[build.S32](g.left))
	return build.Cast[build.U32](before.Max(0)).Min(it.lengthKV), end
}

// share divides the tiles of an item over blocks. Blocks with a position from parts on have
// nothing to do. An item without keys has one part without tiles, which writes zeros.
//
// Chunks begin at multiples of their size from key 0 on, so that the chunks of a sequence do
// not depend on anything else.
func (g *gen) share(it *item) {
	k, n := g.k, g.c.TileN
	split := k.CtaidY()
	tile0, tiles := part.Divide(k, it.first, n), part.Divide(k, it.end.Add(n-1), n)
	count := tiles.Max(tile0).Sub(tile0)
	if g.c.Chunk == 0 {
		it.parts, it.position = g.splits.Min(count).Max(1), split
		it.from = tile0.Add(split.MulLo(count).Div(it.parts))
		it.to = tile0.Add(split.Add(1).MulLo(count).Div(it.parts))
		return
	}
	per := g.c.Chunk / n
	chunk0, chunks := part.Divide(k, tile0, per), part.Divide(k, tiles.Add(per-1), per)
	chunk := chunk0.Add(split)
	it.parts, it.position = chunks.Max(chunk0.Add(1)).Sub(chunk0), split
	it.from = chunk.MulLo(per).Max(tile0)
	it.to = chunk.Add(1).MulLo(per).Min(tiles).Max(it.from)
}

// row is one of a lane's query rows: a head of the item's group and one of its queries. Rows
// count through the queries of a head first, as they lie in memory.
type row struct {
	number     build.U32
	exists     build.Pred
	head       build.U32 // of Q, in the sequence
	token      build.U32 // the query
	first, end build.U32 // the keys that it sees
}

// newRow returns a row of an item by its number.
func (g *gen) newRow(it item, number build.U32) row {
	inGroup := number.Div(g.seqQ)
	r := row{number: number, head: it.head.MadLo(g.group, inGroup), token: number.Sub(inGroup.MulLo(g.seqQ))}
	r.exists = number.SetpLt(it.rows).And(r.token.SetpLt(it.lengthQ))
	r.first, r.end = it.first, it.end
	if !it.wholeVisible {
		r.first, r.end = g.visible(it, r.token)
	}
	return r
}

// place returns the number of a query row in Q and in O.
func (g *gen) place(it item, r row) build.U32 {
	if g.p.Layout == problem.BSHD {
		tokens := it.startQ
		if g.p.Queries != problem.Packed {
			tokens = it.batch.MulLo(g.seqQ)
		}
		return tokens.Add(r.token).MadLo(g.heads, r.head)
	}
	return g.placeByHead(it, r)
}

// placeByHead returns the number of a query row in the LSE, whose heads come before its
// queries in all layouts.
func (g *gen) placeByHead(it item, r row) build.U32 {
	if g.p.Queries == problem.Packed {
		return r.head.MadLo(g.totalQ, it.startQ.Add(r.token))
	}
	return it.batch.MadLo(g.heads, r.head).MadLo(g.seqQ, r.token)
}
