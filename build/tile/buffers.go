package tile

import "github.com/GOATnote-Inc/attest/build"

// Buffers are the slots of a ring: pieces of shared memory of the same size, one after
// the other.
type Buffers struct {
	k     *build.Kernel
	mem   build.Shared[build.B8]
	bytes int
	slots int
}

// NewBuffers returns slots buffers of bytes bytes each, from mem on.
func NewBuffers(k *build.Kernel, mem build.Shared[build.B8], bytes, slots int) Buffers {
	if bytes < 1 || slots < 1 {
		k.Errorf("%d buffers of %d bytes: both numbers must be above zero", slots, bytes)
	}
	return Buffers{k, mem, bytes, slots}
}

// First returns the buffer of slot 0. The tile for [TilesOf] must be there.
func (b Buffers) First() build.Shared[build.B8] { return b.mem }

// At returns the address of a slot's buffer.
func (b Buffers) At(slot build.Int) build.Shared[build.B8] {
	switch n := slot.(type) {
	case int:
		if n < 0 || n >= b.slots {
			b.k.Errorf("slot %d of a ring of %d slots", n, b.slots)
		}
		return b.mem.Plus(n * b.bytes)
	default:
		return b.mem.At(b.Offset(b.k.AsU32(slot)))
	}
}

// Offset returns the distance of a slot from slot 0, in bytes.
func (b Buffers) Offset(slot build.U32) build.U32 { return slot.MulLo(b.bytes) }

// Part returns the address of byte from in the buffer at an offset that [Buffers.Offset]
// returned. Several copies into one slot share the offset.
func (b Buffers) Part(offset build.U32, from int) build.Shared[build.B8] {
	if from < 0 || from >= b.bytes {
		b.k.Errorf("byte %d of a slot of %d bytes", from, b.bytes)
	}
	return b.mem.Plus(from).At(offset)
}

// Movable is a view of shared memory that can be moved: a [Tile], a [Cursor], a factor
// [B] of mma.sync, a factor [KMajor] of wgmma.
type Movable[V any] interface {
	// Plus returns the same view, bytes bytes further on.
	Plus(bytes build.U32) V
}

// Tiles is one side of a ring together with what its slots hold. A consumer's loop is
//
//	slot := K.Wait()
//	w.MMA(S, "S = Q·Kᵀ", Q, K.At(slot))
//	K.Signal(w)
//	K.Next()
type Tiles[V Movable[V]] struct {
	*Side
	first V
}

// TilesOf returns a side whose slots hold tiles like first, the tile in slot 0.
func TilesOf[V Movable[V]](s *Side, first V) Tiles[V] { return Tiles[V]{s, first} }

// At returns the tile in a slot, usually the slot that Wait returned.
func (t Tiles[V]) At(slot build.U32) V { return t.first.Plus(t.r.Offset(slot)) }
