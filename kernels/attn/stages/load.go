package stages

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// Tiles of K and V are rows that follow each other in memory, so a tile is one run of
// bytes. It moves in units of 16 bytes, unit i to the thread i mod threads. A thread
// decodes the units that it copied itself: its own wait for cp.async is enough, and
// barriers are needed only for the decoded tile.

// unitBytes is what one cp.async brings.
const unitBytes = 16

// crew is who moves a tile: a number of threads. They go through it together, so that
// all of a thread's units are whole rows apart: known distances.
type crew struct {
	first   build.U32 // byte of the thread's first unit
	threads int
}

// crewOf is a crew whose threads are numbered from 0 by id.
func (g *gen) crewOf(id build.U32, threads int) crew {
	return crew{id.MulLo(unitBytes), threads}
}

// block is all threads of a kernel without producers, lanes those of a warp.
func (g *gen) block() crew { return g.crewOf(g.tid, g.c.threads()) }
func (g *gen) lanes() crew { return g.crewOf(g.w.Lane, 32) }

// units runs do for the thread's units of a tile: how many bytes each is from the
// first.
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

// copyTile starts the copy of KV tile j of a head to raw. What lies beyond the head's
// end becomes zero bytes, so that nobody reads what was never written.
func (g *gen) copyTile(c crew, src build.Global[build.B8], j build.U32, raw build.Shared[build.B8]) {
	k := g.k
	first := j.MadLo(g.plan.raw, c.first)
	from, to := src.At(first), raw.At(c.first)
	g.units(c, g.plan.raw, func(off int) {
		inside := first.Add(off).SetpLt(g.headBytes)
		k.CpAsyncCgSrcSize(to.Plus(off), from.Plus(off), unitBytes, k.U32(unitBytes).Selp(0, inside))
	})
}

// decodeTile decodes the thread's own units of a raw tile to a tile of halves.
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

// loadTile loads and decodes rows from row0 on of a head without cp.async: K and V
// when there is no ring, and always Q.
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

// place is where the halves of the thread's unit off bytes from its first go, so many
// columns into it.
type place func(off, cols int) build.Shared[build.B32]

// alone is a tile that is not a slot of a ring, seen as one: at an offset of 0. Adding the 0
// is an instruction that ptxas removes. It stays because evidence refers to kernels by
// their text.
func (g *gen) alone(t tile.Tile[build.F16]) tile.Tile[build.F16] { return t.Plus(g.k.U32(0)) }

func (g *gen) placeIn(c crew, to tile.Tile[build.F16]) place {
	d := uint32(g.d)
	row, col := c.first.Div(d), c.first.And(d-1)
	first := to.Cursor(row, col)
	return func(off, cols int) build.Shared[build.B32] {
		rows, at := off/g.d, first
		if g.c.Swizzle && rows%8 != 0 { // these rows are turned differently
			at, rows = to.Cursor(row.Add(rows), col), 0
		}
		return build.SharedAs[build.B32](at.At(rows, cols), 0)
	}
}

// decoder makes two pairs of halves of four bytes.
type decoder func(build.B32) [2]build.B32

// put decodes a unit's four words and stores the halves, 8 or 16 bytes at a time.
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

// copy starts the copies of tile j to a slot. A tile beyond the last is all beyond
// the head's end and becomes zeros; skipping it is cheaper.
func (r *ring) copy(j, slot build.U32) {
	g := r.g
	g.k.If(j.SetpLt(r.it.Tiles), func() {
		if r.k {
			g.copyTile(r.crew, r.srcK, j, r.rawK.At(slot))
		}
		if r.v {
			g.copyTile(r.crew, r.srcV, j, r.rawV.At(slot))
		}
	})
}

// rawBuffers are the slots of a cp.async ring, from byte at of shared memory on.
func (g *gen) rawBuffers(at int) tile.Buffers {
	return tile.NewBuffers(g.k, build.SharedAs[build.B8](g.shared, at), g.plan.raw, g.c.Stages)
}

// next refills the buffer that round j has used, and commits a group also when there
// is nothing left to copy. The three-stage kernel that came before this one did not:
// it then read its last tile while that was still on its way, and was wrong about one
// time in six.
func (r *ring) next(j build.U32) {
	r.async.Refill(func(ahead, slot build.U32) { r.copy(j.Add(ahead), slot) })
}
