package stages

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// The rows of a tile of K or V follow each other in memory, so a tile is one run of bytes. It
// is copied in units of 16 bytes; unit i belongs to thread i mod threads. A thread decodes
// the units that it copied itself, so it waits only for its own cp.async, and barriers are
// needed only for the decoded tile.

// unitBytes is the number of bytes that one cp.async copies.
const unitBytes = 16

// crew is the threads that copy a tile together. The units of a thread are whole rows apart,
// so their distances are constants.
type crew struct {
	first   build.U32 // offset of the thread's first unit, in bytes
	threads int
}

// crewOf returns a crew whose threads are numbered from 0 by id.
func (g *gen) crewOf(id build.U32, threads int) crew {
	return crew{id.MulLo(unitBytes), threads}
}

// block returns the crew of all threads of a kernel without producers.
func (g *gen) block() crew { return g.crewOf(g.tid, g.c.threads()) }

// lanes returns the crew of the lanes of a warp.
func (g *gen) lanes() crew { return g.crewOf(g.w.Lane, 32) }

// units runs do for each unit of the thread in a tile, with its distance from the first one
// in bytes.
func (g *gen) units(c crew, bytes int, do func(off int)) {
	k := g.k
	stride := unitBytes * c.threads
	for off := 0; off < bytes; off += stride {
		if off+stride <= bytes {
			do(off)
			continue
		}
		k.If(c.first.SetpLt(bytes-off), func() { do(off) })
	}
}

// copyTile starts the copy of KV tile j of a head to raw. Bytes beyond the end of the head
// become zeros, so that no thread reads uninitialised shared memory.
func (g *gen) copyTile(c crew, src build.Global[build.B8], j build.U32, raw build.Shared[build.B8]) {
	k := g.k
	first := j.MadLo(g.plan.raw, c.first)
	from, to := src.At(first), raw.At(c.first)
	g.units(c, g.plan.raw, func(off int) {
		inside := first.Add(off).SetpLt(g.headBytes)
		k.CpAsyncCgSrcSize(to.Plus(off), from.Plus(off), unitBytes, k.U32(unitBytes).Selp(0, inside))
	})
}

// decodeTile decodes the thread's own units of a raw tile to a tile of f16.
func (g *gen) decodeTile(c crew, raw build.Shared[build.B8], to tile.Tile[build.F16]) {
	from := build.SharedAs[build.B32](raw.At(c.first), 0)
	place := g.placeIn(c, to)
	g.units(c, g.plan.raw, func(off int) {
		at := from.Plus(off / 4)
		words := func(i int) build.B32 { return at.Plus(i).Ld() }
		if g.c.VectorDequant {
			all := at.LdV4()
			words = func(i int) build.B32 { return all[i] }
		}
		g.put(words, place, off, g.decode)
	})
}

// loadTile loads and decodes the rows of a head from row0 on without cp.async. Q is always
// loaded this way, K and V if there is no ring.
func (g *gen) loadTile(c crew, src build.Global[build.B8], row0 build.U32, to tile.Tile[build.F16], decode decoder) {
	k := g.k
	first := row0.MadLo(g.d, c.first)
	from := build.GlobalAt[build.B32](src.At(first).Addr())
	place := g.placeIn(c, g.alone(to))
	g.units(c, to.Rows*g.d, func(off int) {
		words := build.Vars(k.B32(0), 4)
		k.If(first.Add(off).SetpLt(g.headBytes), func() {
			at := from.Plus(off / 4)
			if g.c.VectorDequant {
				for i, w := range at.LdV4() {
					words[i].Set(w)
				}
				return
			}
			for i := range words {
				words[i].Set(at.Plus(i).Ld())
			}
		})
		g.put(func(i int) build.B32 { return words[i].Get() }, place, off, decode)
	})
}

// place returns where a decoded unit of the thread goes: off is the unit's distance from the
// thread's first one in bytes, cols a column within the unit.
type place func(off, cols int) build.Shared[build.B32]

// alone returns a tile that is not a slot of a ring at an offset of 0, like one that is.
// ptxas removes the addition of 0. It is there because evidence refers to kernels by their
// text.
func (g *gen) alone(t tile.Tile[build.F16]) tile.Tile[build.F16] { return t.Plus(g.k.U32(0)) }

// placeIn returns the places of a crew's units in a tile.
func (g *gen) placeIn(c crew, to tile.Tile[build.F16]) place {
	d := uint32(g.d)
	row, col := c.first.Div(d), c.first.And(d-1)
	first := to.Cursor(row, col)
	return func(off, cols int) build.Shared[build.B32] {
		rows, at := off/g.d, first
		if g.c.Swizzle && rows%8 != 0 { // these rows have another permutation
			at, rows = to.Cursor(row.Add(rows), col), 0
		}
		return build.SharedAs[build.B32](at.At(rows, cols), 0)
	}
}

// decoder decodes four bytes to two pairs of f16.
type decoder func(build.B32) [2]build.B32

// put decodes the four words of a unit and stores them as f16, 8 or 16 bytes at a time.
func (g *gen) put(word func(int) build.B32, at place, off int, decode decoder) {
	for i := 0; i < 4; i += 2 {
		a, cols := decode(word(i)), 4*i
		if !g.c.VectorDequant {
			at(off, cols).StV2(a)
			at(off, cols+4).StV2(decode(word(i + 1)))
			continue
		}
		b := decode(word(i + 1))
		at(off, cols).StV4([4]build.B32{a[0], a[1], b[0], b[1]})
	}
}

// ring is the cp.async ring of K and V bytes for one crew.
type ring struct {
	g     *gen
	async *tile.Async
	crew  crew
	it    part.Item
	k, v  bool // which of the two it loads
	srcK  build.Global[build.B8]
	srcV  build.Global[build.B8]
	rawK  tile.Buffers
	rawV  tile.Buffers
}

// openRing starts the copies of an item's first tiles.
func (g *gen) openRing(c crew, it part.Item, bringsK, bringsV bool) *ring {
	r := &ring{
		g: g, async: tile.NewAsync(g.k, g.c.Stages), crew: c, it: it, k: bringsK, v: bringsV,
		rawK: g.rawBuffers(g.plan.rawK), rawV: g.rawBuffers(g.plan.rawV),
	}
	if r.k {
		r.srcK = g.head(it, g.kk)
	}
	if r.v {
		r.srcV = g.head(it, g.v)
	}
	r.async.Fill(r.copy)
	return r
}

// copy starts the copies of the item's n-th tile to a slot. It skips tiles beyond the last
// one, which would only be zeros.
func (r *ring) copy(n, slot build.U32) {
	g := r.g
	g.k.If(n.SetpLt(r.it.Tiles), func() {
		if r.k {
			g.copyTile(r.crew, r.srcK, r.it.Tile(n), r.rawK.At(slot))
		}
		if r.v {
			g.copyTile(r.crew, r.srcV, r.it.Tile(n), r.rawV.At(slot))
		}
	})
}

// rawBuffers returns the slots of a cp.async ring, from byte at of shared memory on.
func (g *gen) rawBuffers(at int) tile.Buffers {
	return tile.NewBuffers(g.k, build.SharedAs[build.B8](g.shared, at), g.plan.raw, g.c.Stages)
}

// next refills the buffer that round n has used. It commits a group even if no tile is left
// to copy: otherwise the kernel would read its last tile while it is still being copied.
func (r *ring) next(n build.U32) {
	r.async.Refill(func(ahead, slot build.U32) { r.copy(n.Add(ahead), slot) })
}
