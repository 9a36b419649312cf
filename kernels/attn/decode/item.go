package decode

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/problem"
)

// item is one head of K and V of one sequence with queries that use it, and this block's share
// of its keys.
type item struct {
	number      build.U32 // the index of the head of K and V in the whole batch
	batch, head build.U32 // the sequence, and the head of K and V in it
	rows        build.U32 // query rows of the head: heads of the group × Sq
	firstRow    build.U32 // the first row of this item, if the rows of a head are divided into several items
	endRow      build.U32
	lengthQ     build.U32
	lengthKV    build.U32
	startQ      build.U32 // the rows of Q before the sequence, if sequences are packed
	startKV     build.U32

	first, end   build.U32 // the keys that at least one query sees
	from, to     build.U32 // the block's tiles of keys
	position     build.U32 // the position of the block among those that share the item
	parts        build.U32 // the number of blocks that share the item
	slot         build.U32 // the index of the first partial result of these blocks
	counter      build.U32 // the counter of the blocks that have written their partial results
	allEnd       build.U32 // the keys from allFirst to allEnd-1 are seen by all queries
	allFirst     build.U32
	wholeVisible bool // all queries see the same keys
}

// lengths finds the lengths of the item's sequence and where it begins.
func (g *gen) lengths(it *item) {
	it.startQ, it.lengthQ = g.sequence(g.p.Queries, it.batch, g.seqQ, g.lengthsQ, g.offsetsQ)
	it.startKV, it.lengthKV = g.sequence(g.p.Keys, it.batch, g.seqKV, g.lengthsKV, g.offsetsKV)
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
	k := g.k
	if mask := g.p.Mask(); mask == "none" || g.p.Masked {
		it.first, it.end, it.allFirst, it.allEnd, it.wholeVisible = k.U32(0), it.lengthKV, k.U32(0), it.lengthKV, true
		if g.c.RowBlocks {
			first, _ := g.tokens(*it)
			it.end = it.end.Selp(0, first.SetpLt(it.lengthQ))
		}
		return
	}
	if !g.c.RowBlocks {
		last := it.lengthQ.Max(1).Sub(1)
		it.first, it.allEnd = g.visible(*it, k.U32(0))
		it.allFirst, it.end = g.visible(*it, last)
		it.first = it.first.Min(it.end)
		return
	}
	first, last := g.tokens(*it)
	it.first, it.allEnd = g.visible(*it, first)
	it.allFirst, it.end = g.visible(*it, last)
	it.end = it.end.Selp(0, first.SetpLt(it.lengthQ)) // no row exists
	it.first = it.first.Min(it.end)
}

// tokens returns the first and the last query of the item's rows. The rows of several heads have
// all queries. The first one may be beyond the sequence.
func (g *gen) tokens(it item) (first, last build.U32) {
	lastRow := it.endRow.Sub(1)
	firstHead, lastHead := it.firstRow.Div(g.seqQ), lastRow.Div(g.seqQ)
	one := firstHead.SetpEq(lastHead)
	first = it.firstRow.Sub(firstHead.MulLo(g.seqQ)).Selp(0, one)
	last = lastRow.Sub(lastHead.MulLo(g.seqQ)).Selp(g.seqQ.Sub(1), one)
	return first, last.Min(it.lengthQ.Max(1).Sub(1))
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

// row is one of a lane's query rows: a head of the item's group and one of its queries. Rows
// count through the queries of a head first, as they lie in memory.
type row struct {
	number     build.U32
	exists     build.Pred
	head       build.U32 // the head of Q in the sequence
	token      build.U32 // the query
	first, end build.U32 // the keys that it sees
}

// newRow returns a row of an item by its number.
func (g *gen) newRow(it item, number build.U32) row {
	inGroup := number.Div(g.seqQ)
	r := row{number: number, head: it.head.MadLo(g.group, inGroup), token: number.Sub(inGroup.MulLo(g.seqQ))}
	end := it.rows
	if g.c.RowBlocks {
		end = it.endRow
	}
	r.exists = number.SetpLt(end).And(r.token.SetpLt(it.lengthQ))
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
