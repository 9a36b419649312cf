package ada

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// The rows of a head follow each other in memory, so a tile of rows is one run of bytes.
// cp.async copies it in units of 16 bytes; unit i belongs to thread i mod crew. All threads of a
// block copy Q. The warps that have the same share of the keys are a team: they copy the keys
// and values of their share, and wait only for each other.

// unitBytes is the number of bytes that one cp.async copies.
const unitBytes = 16

// copier copies tiles of rows from global to shared memory with a number of threads.
type copier struct {
	g       *gen
	thread  build.U32
	threads int
	units   []unit
}

// unit is one of a thread's units in every tile.
type unit struct {
	bytes int                     // its distance from the thread's first unit in global memory
	at    build.Shared[build.F16] // its place in the first tile
	below int                     // only threads below this number have the unit
}

// newCopier returns a copier of tiles like to. Only threads that make up whole rows copy, so a
// thread's units are in the same column and whole rows apart.
func (g *gen) newCopier(thread build.U32, threads int, to tile.Tile[build.F16]) copier {
	c := copier{g: g, thread: thread, threads: threads}
	perRow := g.d / unitBytes
	crew, units := threads/perRow*perRow, to.Rows*perRow
	row := part.Divide(g.k, thread, perRow)
	col := thread.Sub(row.MulLo(perRow)).MulLo(unitBytes / 2)
	first := to.Cursor(row, col)
	for n := 0; n < units; n += crew {
		at, down := first, n/perRow
		if down%8 != 0 && !pitched(g.d) { // these rows have another swizzle
			at, down = to.Cursor(row.Add(down), col), 0
		}
		c.units = append(c.units, unit{n * unitBytes, at.At(down, 0), min(units-n, crew)})
	}
	return c
}

// head returns the place of the thread's first unit in the rows from row0 on of a head, whose heads
// have rows rows.
func (c copier) head(p build.Global[build.B8], head, rows, row0 build.U32) build.Global[build.B8] {
	g := c.g
	at := p.Addr().Add(head.MulWide(rows.MulLo(g.d)))
	return build.GlobalAt[build.B8](at).At(row0.MulLo(g.d).Add(c.thread.MulLo(unitBytes)))
}

// each runs do for each of the thread's units.
func (c copier) each(do func(u unit)) {
	for _, u := range c.units {
		if u.below < c.threads {
			c.g.k.If(c.thread.SetpLt(u.below), func() { do(u) })
		} else {
			do(u)
		}
	}
}

// untilEnd returns the size argument of cp.async for the thread's units in the tile of rows from
// row0 on, of a head with rows rows. Rows beyond the end become zeros, so that no thread reads
// uninitialised shared memory.
func (c copier) untilEnd(row0, rows build.U32) func(u unit) build.U32 {
	g := c.g
	first, end := row0.MulLo(g.d).Add(c.thread.MulLo(unitBytes)), rows.MulLo(g.d)
	return func(u unit) build.U32 {
		return g.k.U32(unitBytes).Selp(0, first.Add(u.bytes).SetpLt(end))
	}
}

// ring is a team's ring of K and V for one item. A slot holds the team's keys of a round and its
// values of a round. Rounds go from the last keys to the first, so only the first round has rows
// beyond the end.
//
// Scores are computed a round ahead. So a group of copies has the values of a round and the keys of
// the next round; the first group, which also has Q, has only keys.
type ring struct {
	*tile.Async
	copier
	it   part.Item
	k, v build.Global[build.B8] // the thread's first unit of the team's rows in round 0
}

// openRing starts the copies of Q and of the first rounds. early runs between the first group and
// the others.
func (g *gen) openRing(it part.Item, early func()) *ring {
	k, head := g.k, g.headKV(it)
	team := 32 * g.c.rowGroups()
	thread, row := g.tid, k.U32(0)
	if g.c.Shares > 1 {
		share := part.Divide(k, g.tid, team)
		thread, row = g.tid.Sub(share.MulLo(team)), share.MulLo(g.c.TileN)
	}
	c := g.newCopier(thread, team, g.ownTile(0))
	r := &ring{
		Async: tile.NewAsyncAhead(k, g.c.Stages), copier: c, it: it,
		k: c.head(g.kk, head, g.seqKV, row), v: c.head(g.v, head, g.seqKV, row),
	}
	last := it.Tiles.Sub(1)
	size := r.untilEnd(last.MulLo(g.c.roundKeys()).Add(row), g.seqKV)
	r.copyQ()
	k.If(it.Tiles.SetpGt(0), func() { r.copyK(last, k.U32(0), size) })
	k.CpAsyncCommitGroup()
	early()
	first := true
	r.Fill(func(n, slot build.U32) {
		k.If(n.SetpLt(it.Tiles), func() {
			if first {
				r.copyV(last, slot, size)
			} else {
				r.copyV(last.Sub(n), slot, nil)
			}
		})
		k.If(n.Add(1).SetpLt(it.Tiles), func() { r.copyK(last.Sub(n).Sub(1), r.next(slot), nil) })
		first = false
	})
	return r
}

// next returns the slot after slot.
func (r *ring) next(slot build.U32) build.U32 { return tile.After(r.g.k, slot, r.g.c.Stages) }

// copyQ starts the copies of Q by all threads of the block.
func (r *ring) copyQ() {
	g, it := r.g, r.it
	all := g.newCopier(g.tid, g.c.threads(), g.tile(g.plan.q, g.c.Rows))
	from, size := all.head(g.q, it.Head, g.seqQ, it.Row0), all.untilEnd(it.Row0, g.seqQ)
	all.each(func(u unit) { g.k.CpAsyncCgSrcSize(u.at, from.Plus(u.bytes), unitBytes, size(u)) })
}

// waitFirst waits until this thread's part of Q and of the first keys has arrived. The groups of the
// first rounds may still be on their way.
func (r *ring) waitFirst() { r.g.k.CpAsyncWaitGroup(r.Ahead()) }

// sync is a barrier of the team.
func (r *ring) sync() {
	if r.g.c.Shares == 1 {
		r.g.k.SyncThreads()
		return
	}
	r.g.k.BarSyncThreads(r.g.share.Add(1), r.threads)
}

// offset returns the distance of a slot from slot 0, in bytes.
func (r *ring) offset(slot build.U32) build.U32 { return slot.MulLo(2 * r.g.plan.tile) }

// copyK and copyV start the copies of round j to a slot. size, if it is not nil, is the size argument
// of cp.async.
func (r *ring) copyK(j, slot build.U32, size func(unit) build.U32) { r.copy(r.k, 0, j, slot, size) }
func (r *ring) copyV(j, slot build.U32, size func(unit) build.U32) {
	r.copy(r.v, r.g.plan.tile, j, slot, size)
}

// copy copies to a tile that is apart bytes after the tile of K in the slot.
func (r *ring) copy(from build.Global[build.B8], apart int, j, slot build.U32, size func(unit) build.U32) {
	g := r.g
	source := from.At(j.MulLo(g.c.roundKeys() * g.d))
	offset := r.offset(slot)
	r.each(func(u unit) {
		to := build.SharedAs[build.B8](build.SharedAs[build.B8](u.at, apart).At(offset), 0)
		if size != nil {
			g.k.CpAsyncCgSrcSize(to, source.Plus(u.bytes), unitBytes, size(u))
		} else {
			g.k.CpAsyncCg(to, source.Plus(u.bytes), unitBytes)
		}
	})
}

// refill starts the copies of a later round while round j is computed, as far as there is one. It
// commits a group in any case: otherwise Wait would count wrong.
func (r *ring) refill(j build.U32) {
	r.Refill(func(ahead, slot build.U32) {
		k := r.g.k
		k.If(j.SetpGe(ahead), func() { r.copyV(j.Sub(ahead), slot, nil) })
		k.If(j.SetpGt(ahead), func() { r.copyK(j.Sub(ahead).Sub(1), r.next(slot), nil) })
	})
}
