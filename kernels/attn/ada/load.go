package ada

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// The rows of a head follow each other in memory, so a tile of rows is one run of bytes.
// cp.async copies it in units of 16 bytes; unit i belongs to thread i mod crew.

// unitBytes is the number of bytes that one cp.async copies.
const unitBytes = 16

// crew returns how many threads of a block copy: all that make up whole rows, so that a thread's
// units are in the same column and whole rows apart.
func (c Config) crew(d int) int {
	perRow := d / unitBytes
	return c.threads() / perRow * perRow
}

// head returns the place of a head in Q, K or V, whose heads have rows rows.
func (g *gen) head(p build.Global[build.B8], head, rows build.U32) build.Global[build.B8] {
	return build.GlobalAt[build.B8](p.Addr().Add(head.MulWide(rows.MulLo(g.d))))
}

// copyRows starts the copy of the rows of a head from row0 on to a shared tile. The head has rows
// rows. Rows beyond its end become zeros, so that no thread reads uninitialised shared memory.
func (g *gen) copyRows(from build.Global[build.B8], row0, rows build.U32, to tile.Tile[build.F16]) {
	k, crew := g.k, g.c.crew(g.d)
	perRow := g.d / unitBytes
	row := part.Divide(k, g.tid, perRow)
	col := g.tid.Sub(row.MulLo(perRow)).MulLo(unitBytes / 2)
	first := row0.MulLo(g.d).Add(g.tid.MulLo(unitBytes))
	end := rows.MulLo(g.d)
	source, place := from.At(first), to.Cursor(row, col)
	units := to.Rows * perRow
	for unit := 0; unit < units; unit += crew {
		down := unit / perRow
		copy := func() {
			at := place
			if down%8 != 0 && !pitched(g.d) { // these rows have another swizzle
				at, down = to.Cursor(row.Add(down), col), 0
			}
			inside := first.Add(unit * unitBytes).SetpLt(end)
			k.CpAsyncCgSrcSize(at.At(down, 0), source.Plus(unit*unitBytes), unitBytes, k.U32(unitBytes).Selp(0, inside))
		}
		if n := min(units-unit, crew); n < g.c.threads() {
			k.If(g.tid.SetpLt(n), copy)
		} else {
			copy()
		}
	}
}

// ring is the ring of K and V for one item. A slot holds the keys of a round. Rounds go from the
// last keys to the first.
type ring struct {
	*tile.Async
	g      *gen
	it     part.Item
	k, v   build.Global[build.B8]
	toK    tile.Tile[build.F16] // in slot 0
	toV    tile.Tile[build.F16]
	offset tile.Buffers
}

// openRing starts the copies of Q and of the first rounds. Q is a group of its own, before the
// others.
func (g *gen) openRing(it part.Item) *ring {
	keys := g.c.roundKeys()
	head := g.headKV(it)
	r := &ring{
		Async: tile.NewAsyncAhead(g.k, g.c.Stages), g: g, it: it,
		k: g.head(g.kk, head, g.seqKV), v: g.head(g.v, head, g.seqKV),
		toK: g.tile(g.plan.k, keys), toV: g.tile(g.plan.v, keys),
		offset: tile.NewBuffers(g.k, g.mem, g.plan.kTile, g.c.Stages),
	}
	g.copyRows(g.head(g.q, it.Head, g.seqQ), it.Row0, g.seqQ, g.tile(g.plan.q, g.c.Rows))
	g.k.CpAsyncCommitGroup()
	r.Fill(func(n, slot build.U32) {
		g.k.If(n.SetpLt(it.Tiles), func() { r.copy(it.Tiles.Sub(1).Sub(n), slot) })
	})
	return r
}

// waitQ waits until this thread's part of Q has arrived. The groups of the first rounds may still
// be on their way.
func (r *ring) waitQ() { r.g.k.CpAsyncWaitGroup(r.Ahead()) }

// copy starts the copies of round j to a slot.
func (r *ring) copy(j, slot build.U32) {
	g := r.g
	offset, row := r.offset.Offset(slot), j.MulLo(g.c.roundKeys())
	g.copyRows(r.k, row, g.seqKV, r.toK.Plus(offset))
	g.copyRows(r.v, row, g.seqKV, r.toV.Plus(offset))
}

// refill starts the copies of a later round while round j is computed, if there is one. It
// commits a group in any case: otherwise Wait would count wrong.
func (r *ring) refill(j build.U32) {
	r.Refill(func(ahead, slot build.U32) {
		r.g.k.If(j.SetpGe(ahead), func() { r.copy(j.Sub(ahead), slot) })
	})
}
