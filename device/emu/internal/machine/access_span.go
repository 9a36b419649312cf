package machine

import (
	"encoding/binary"
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Nearly all accesses of a warp fall into one piece of memory: one allocation, or the
// shared memory of the block. The addresses of the lanes are then checked together and
// become offsets into that piece.

// Span returns the memory that holds the n bytes at each address of the lanes m, with
// the offsets in f.Warp.Offsets. It returns nil if the bytes do not lie in one piece, or if
// an address is at fault.
func (a *Address) Span(f *Frame, m uint32, n int, write bool) []byte {
	mem, base := a.Piece(f, bits.TrailingZeros32(m), write)
	if len(mem) < n {
		return nil
	}
	offsets, delta, all := &f.Warp.Offsets, a.Off-base, m
	last, unaligned := uint64(len(mem)-n), uint64(n-1)
	switch {
	case a.Base < 0:
		if delta > last || delta&unaligned != 0 {
			return nil
		}
		for l := range offsets {
			offsets[l] = delta
		}
	case a.Wide && m == FullMask:
		for l, r := range &f.R64[a.Base] {
			o := r + delta
			offsets[l] = o
			if o > last || o&unaligned != 0 {
				return nil
			}
		}
	case !a.Wide && m == FullMask && base == 0:
		for l, r := range &f.R32[a.Base] {
			o := uint64(r + uint32(a.Off))
			offsets[l] = o
			if o > last || o&unaligned != 0 {
				return nil
			}
		}
	default:
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			o := a.At(f, l) - base
			offsets[l] = o
			if o > last || o&unaligned != 0 {
				return nil
			}
		}
	}
	if f.Block.Watch != nil {
		f.AnnounceSpan(a, all, n, write, base)
	}
	return mem
}

// Piece returns the piece of memory that a lane's address falls into and the address
// of its first byte. That address is aligned to the size of the largest access. Piece
// returns nil for memory that is private to a lane, and for addresses at fault.
func (a *Address) Piece(f *Frame, lane int, write bool) (mem []byte, base uint64) {
	switch {
	case a.Entry && write:
		return nil, 0
	case a.Entry:
		return f.Block.params, 0
	case a.Space == ptx.Shared:
		return f.Block.Shared, 0
	case a.Space == ptx.Local || a.Space == ptx.Param:
		return nil, 0
	}
	addr := a.At(f, lane)
	if a.Space == ptx.Generic {
		switch addr >> memory.WindowBits {
		case memory.SharedBase >> memory.WindowBits:
			return f.Block.Shared, memory.SharedBase
		case memory.LocalBase >> memory.WindowBits, memory.ParamBase >> memory.WindowBits:
			return nil, 0
		}
	}
	c := f.Warp.cache
	if c == nil || addr-c.Addr >= uint64(len(c.Data)) {
		if c = f.Block.Launch.Memory.Find(addr); c == nil {
			return nil, 0
		}
		f.Warp.cache = c
	}
	if write && c.ReadOnly {
		return nil, 0
	}
	return c.Data, c.Addr
}

// Mover moves one element of each lane of m between a register and memory. A lane's
// element is at its offset in f.Warp.Offsets plus at.
type Mover func(f *Frame, m uint32, mem []byte, at uint64, c Cell)

// LoadMover returns the mover of a load of n bytes, or nil if the register
// needs the general path.
func LoadMover(n int, c Cell) Mover {
	switch {
	case c.Signed > 0:
		return nil
	case n == 4 && c.Width == W32:
		return load32
	case n == 8 && c.Width == W64:
		return load64
	case n == 2 && c.Width == W32:
		return load16
	case n == 1 && c.Width == W32:
		return load8
	}
	return nil
}

func load32(f *Frame, m uint32, mem []byte, at uint64, c Cell) {
	r, offsets := &f.R32[c.Slot], &f.Warp.Offsets
	if m == FullMask {
		for l := range r {
			r[l] = binary.LittleEndian.Uint32(mem[offsets[l]+at:])
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		r[l] = binary.LittleEndian.Uint32(mem[offsets[l]+at:])
	}
}

func load64(f *Frame, m uint32, mem []byte, at uint64, c Cell) {
	r, offsets := &f.R64[c.Slot], &f.Warp.Offsets
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		r[l] = binary.LittleEndian.Uint64(mem[offsets[l]+at:])
	}
}

func load16(f *Frame, m uint32, mem []byte, at uint64, c Cell) {
	r, offsets := &f.R32[c.Slot], &f.Warp.Offsets
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		r[l] = uint32(binary.LittleEndian.Uint16(mem[offsets[l]+at:]))
	}
}

func load8(f *Frame, m uint32, mem []byte, at uint64, c Cell) {
	r, offsets := &f.R32[c.Slot], &f.Warp.Offsets
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		r[l] = uint32(mem[offsets[l]+at])
	}
}

// StoreMover returns the mover of a store of n bytes.
func StoreMover(n int, c Cell) Mover {
	switch {
	case n == 4 && c.Width == W32:
		return store32
	case n == 8 && c.Width == W64:
		return store64
	case n == 2 && c.Width == W32:
		return store16
	case n == 1 && c.Width == W32:
		return store8
	}
	return nil
}

func store32(f *Frame, m uint32, mem []byte, at uint64, c Cell) {
	r, offsets := &f.R32[c.Slot], &f.Warp.Offsets
	if m == FullMask {
		for l, v := range r {
			binary.LittleEndian.PutUint32(mem[offsets[l]+at:], v)
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		binary.LittleEndian.PutUint32(mem[offsets[l]+at:], r[l])
	}
}

func store64(f *Frame, m uint32, mem []byte, at uint64, c Cell) {
	r, offsets := &f.R64[c.Slot], &f.Warp.Offsets
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		binary.LittleEndian.PutUint64(mem[offsets[l]+at:], r[l])
	}
}

func store16(f *Frame, m uint32, mem []byte, at uint64, c Cell) {
	r, offsets := &f.R32[c.Slot], &f.Warp.Offsets
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		binary.LittleEndian.PutUint16(mem[offsets[l]+at:], uint16(r[l]))
	}
}

func store8(f *Frame, m uint32, mem []byte, at uint64, c Cell) {
	r, offsets := &f.R32[c.Slot], &f.Warp.Offsets
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		mem[offsets[l]+at] = byte(r[l])
	}
}
