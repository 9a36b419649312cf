package stages

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// kv loads and decodes one tile of K and of V at a time for the whole block.
type kv struct {
	g    *gen
	it   part.Item
	K, V tile.Tile[build.F16]
	crew crew
	ring *ring // nil without cp.async
}

func (g *gen) openKV(it part.Item, K, V tile.Tile[build.F16]) kv {
	b := kv{g: g, it: it, K: K, V: V, crew: g.block()}
	if g.c.Stages > 0 {
		b.ring = g.openRing(b.crew, it, true, true)
	}
	return b
}

// wait waits until the bytes of the next tile that this thread copied have arrived. Without
// a ring there is nothing to wait for.
func (b kv) wait() {
	if b.ring != nil {
		b.ring.async.Wait()
	}
}

// decode decodes the item's n-th tile into K and V: from the ring, or straight from global
// memory.
func (b kv) decode(n build.U32) {
	g := b.g
	if b.ring == nil {
		row0 := b.it.Tile(n).MulLo(g.c.TileN)
		g.loadTile(b.crew, g.head(b.it, g.kk), row0, b.K, g.decode)
		g.loadTile(b.crew, g.head(b.it, g.v), row0, b.V, g.decode)
		return
	}
	slot := b.ring.async.Slot()
	g.decodeTile(b.crew, b.ring.rawK.At(slot), g.alone(b.K))
	g.decodeTile(b.crew, b.ring.rawV.At(slot), g.alone(b.V))
}

// refill starts the copy of a later tile into the slot that round n has read.
func (b kv) refill(n build.U32) {
	if b.ring != nil {
		b.ring.next(n)
	}
}
