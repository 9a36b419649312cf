package ada

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// The rows of a head follow each other in memory, so a tile of rows is one run of bytes.
// cp.async copies it in units of 16 bytes. The warps that have the same share of the keys are a
// team: they copy the keys and values of their share, and wait only for each other.

// unitBytes is the number of bytes that one cp.async copies.
const unitBytes = 16

// copier copies tiles of rows from global to shared memory with a number of threads.
type copier struct {
	g      *gen
	thread build.U32
	copies *build.Pred // whether the thread copies; nil if all threads do
	units  []unit
}

// unit is one of a thread's units in every tile.
type unit struct {
	bytes int                     // its distance from the thread's first unit in global memory
	at    build.Shared[build.F16] // its place in the first tile
}

// newCopier returns a copier of tiles like to. All threads that copy have the same number of units,
// which are in the same column and whole rows apart.
func (g *gen) newCopier(thread build.U32, threads int, to tile.Tile[build.F16]) copier {
	c := copier{g: g, thread: thread}
	perRow := g.d / unitBytes
	rows := rowsAtOnce(to.Rows, g.d, threads)
	if rows*perRow < threads {
		p := thread.SetpLt(rows * perRow)
		c.copies = &p
	}
	row := part.Divide(g.k, thread, perRow)
	col := thread.Sub(row.MulLo(perRow)).MulLo(unitBytes / 2)
	first := to.Cursor(row, col)
	for n := range to.Rows / rows {
		at, down := first, n*rows
		if down%8 != 0 && !pitched(g.d) { // these rows have another swizzle
			at, down = to.Cursor(row.Add(down), col), 0
		}
		c.units = append(c.units, unit{n * rows * g.d, at.At(down, 0)})
	}
	return c
}

// rowsAtOnce returns how many of a tile's rows threads copy at a time: a divisor of all rows.
func rowsAtOnce(rows, d, threads int) int {
	n := 1
	for rows%n != 0 || rows/n*d/unitBytes > threads {
		n++
	}
	return rows / n
}

// head returns the place of the thread's first unit in the rows from row0 on of a head, whose heads
// have rows rows.
func (c copier) head(p build.Global[build.B8], head, rows, row0 build.U32) build.Global[build.B8] {
	return build.GlobalAt[build.B8](p.Addr().Add(c.offset(head, rows, row0)))
}

// offset returns the distance of that place from the first row of the first head.
func (c copier) offset(head, rows, row0 build.U32) build.U64 {
	g := c.g
	return head.MulWide(rows.MulLo(g.d)).Add(row0.MulLo(g.d).Add(c.thread.MulLo(unitBytes)).CvtU64())
}

// when runs do in the threads that copy, if p holds. A nil p always holds.
func (c copier) when(p *build.Pred, do func()) {
	switch {
	case p == nil && c.copies == nil:
		do()
	case p == nil:
		c.g.k.If(*c.copies, do)
	case c.copies == nil:
		c.g.k.If(*p, do)
	default:
		c.g.k.If(p.And(*c.copies), do)
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
// the next round; the first group has only keys, and Q if it goes to shared memory.
type ring struct {
	copier
	it   part.Item
	from build.U64             // bytes from the first key, and from the first value, to the thread's first unit of the team's rows in KV tile 0
	last build.U32             // the number of the KV tile of round 0
	size func(unit) build.U32  // the sizes of copies in round 0
	slot *build.Var[build.U32] // the slot of this round, in bytes from slot 0
}

// openRing starts the copies of the first group.
func (g *gen) openRing(it part.Item) *ring {
	k, head := g.k, g.headKV(it)
	thread, row := g.tid, k.U32(0)
	if g.c.Shares > 1 {
		thread, row = g.group.MadLo(32, g.w.Lane), g.share.MulLo(g.c.TileN)
	}
	c := g.newCopier(thread, 32*g.c.rowGroups(), g.ownTile(0))
	r := &ring{
		copier: c, it: it, last: it.Tiles.Sub(1),
		from: c.offset(head, g.seqKV, row), slot: build.NewVar(k.U32(0)),
	}
	r.size = r.untilEnd(r.last.MulLo(g.c.roundKeys()).Add(row), g.seqKV)
	if !g.c.keepsQ(g.d) {
		r.copyQ()
	}
	any := it.Tiles.SetpGt(0)
	r.when(&any, func() {
		from := r.tile(g.kk, r.last)
		for _, u := range r.units {
			k.CpAsyncCgSrcSize(u.at, from.Plus(u.bytes), unitBytes, r.size(u))
		}
	})
	k.CpAsyncCommitGroup()
	return r
}

// tile returns the place of the thread's first unit in KV tile j of K or of V. Both have the same offsets, and
// the loop keeps only those in registers.
func (r *ring) tile(p build.Global[build.B8], j build.U32) build.Global[build.B8] {
	at := j.MadWide(r.g.c.roundKeys()*r.g.d, r.from)
	return build.GlobalAt[build.B8](p.Addr().Add(at))
}

// ahead returns the number of groups that are in flight while a round is computed.
func (r *ring) ahead() int { return r.g.c.Stages - 1 }

// fill starts the copies of the groups from to to-1, which come after the first.
func (r *ring) fill(from, to int) {
	k := r.g.k
	slot := func(n int) build.U32 { return k.U32(uint32(n % r.g.c.Stages * r.g.plan.tile)) }
	for n := from; n < to; n++ {
		size := r.size
		if n > 0 {
			size = nil
		}
		r.copyGroup(r.last.Sub(n), r.it.Tiles.SetpGt(n), r.it.Tiles.SetpGt(n+1), slot(n), slot(n+1), size)
	}
}

// copyGroup starts the copies of the values of KV tile j and of the keys of tile j-1, if there are
// such tiles, to their slots. size, if it is not nil, returns the sizes of the copies of values. It
// commits a group in any case: otherwise a wait would count wrong.
func (r *ring) copyGroup(j build.U32, values, keys build.Pred, valueSlot, keySlot build.U32, size func(unit) build.U32) {
	g, k := r.g, r.g.k
	perRound := g.c.roundKeys() * g.d
	place := func(u unit, at int, slot build.U32) build.Shared[build.B8] {
		return build.SharedAs[build.B8](build.SharedAs[build.B8](u.at, at).At(slot), 0)
	}
	r.when(&values, func() {
		from := r.tile(g.v, j)
		for _, u := range r.units {
			if to := place(u, g.plan.values, valueSlot); size != nil {
				k.CpAsyncCgSrcSize(to, from.Plus(u.bytes), unitBytes, size(u))
			} else {
				k.CpAsyncCg(to, from.Plus(u.bytes), unitBytes)
			}
		}
		k.If(keys, func() {
			from := r.tile(g.kk, j)
			for _, u := range r.units {
				k.CpAsyncCg(place(u, 0, keySlot), from.Plus(u.bytes-perRound), unitBytes)
			}
		})
	})
	k.CpAsyncCommitGroup()
}

// arrive waits until V of this round and K of the next round have arrived, and until the team has finished
// the round before.
func (r *ring) arrive() {
	r.g.k.CpAsyncWaitGroup(r.ahead() - 1)
	r.sync()
}

// refillsLate reports whether the copies of a later group start between Q·Kᵀ and P·V of a round instead of before
// both. They start under a condition, and ptxas does not mix the products before it with those after it. That
// saves registers, which are short with 128 columns and more.
func (c Config) refillsLate(d int) bool { return d > 96 }

// refill starts the copies of a later group while the round of tile j is computed, as far as there is one. It
// comes after arrive: the copies overwrite V of the round before and K of this round.
func (r *ring) refill(j build.U32) {
	n := r.ahead()
	r.copyGroup(j.Sub(n), j.SetpGe(n), j.SetpGt(n), r.before(), r.slot.Get(), nil)
}

// next returns the slot of the next round.
func (r *ring) next() build.U32 {
	k, tile, stages := r.g.k, r.g.plan.tile, r.g.c.Stages
	after := r.slot.Get().Add(tile)
	if stages == 2 && tile&(tile-1) == 0 {
		return r.slot.Get().Xor(tile)
	}
	return k.U32(0).Selp(after, after.SetpEq(stages*tile))
}

// before returns the slot of the round before.
func (r *ring) before() build.U32 {
	k, tile, stages := r.g.k, r.g.plan.tile, r.g.c.Stages
	if stages == 2 {
		return r.next()
	}
	slot := r.slot.Get()
	return k.U32(uint32((stages-1)*tile)).Selp(slot.Sub(tile), slot.SetpEq(0))
}

// copyQ starts the copies of Q by all threads of the block.
func (r *ring) copyQ() {
	g, it := r.g, r.it
	all := g.newCopier(g.tid, g.c.threads(), g.tile(g.plan.q, g.c.Rows))
	from, size := all.head(g.q, it.Head, g.seqQ, it.Row0), all.untilEnd(it.Row0, g.seqQ)
	all.when(nil, func() {
		for _, u := range all.units {
			g.k.CpAsyncCgSrcSize(u.at, from.Plus(u.bytes), unitBytes, size(u))
		}
	})
}

// start continues after openRing until the keys of the first round, and Q if it goes to shared
// memory, have arrived. Later copies start only when all warps have started the first ones: otherwise
// what is needed last would delay what is needed first. meanwhile runs while the copies are on their
// way.
func (r *ring) start(meanwhile func()) {
	k, c := r.g.k, r.g.c
	if c.Shares > 1 {
		k.SyncThreads()
	}
	r.fill(0, 1)
	meanwhile()
	k.CpAsyncWaitGroup(1)
	if c.keepsQ(r.g.d) {
		r.sync()
	} else {
		k.SyncThreads() // all threads have copied Q
	}
}

// sync is a barrier of the team.
func (r *ring) sync() {
	if r.g.c.Shares == 1 {
		r.g.k.SyncThreads()
		return
	}
	r.g.k.BarSyncThreads(r.g.share.Add(1), 32*r.g.c.rowGroups())
}
