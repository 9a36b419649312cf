package emu

import (
	"encoding/binary"
	"math/bits"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Nearly all accesses of a warp fall into one piece of memory: one allocation, or
// the block's shared memory. Then the lanes' addresses are checked together and
// become offsets into it.

// span is the memory that holds the n bytes at each address of the lanes m, with
// the offsets in f.w.offsets; nil when they do not lie in one piece, or one of them
// is at fault.
func (a *address) span(f *frame, m uint32, n int, write bool) []byte {
	mem, base := a.piece(f, bits.TrailingZeros32(m), write)
	if len(mem) < n {
		return nil
	}
	offsets, delta, all := &f.w.offsets, a.off-base, m
	last, unaligned := uint64(len(mem)-n), uint64(n-1)
	switch {
	case a.base < 0:
		if delta > last || delta&unaligned != 0 {
			return nil
		}
		for l := range offsets {
			offsets[l] = delta
		}
	case a.wide && m == fullMask:
		for l, r := range &f.r64[a.base] {
			o := r + delta
			offsets[l] = o
			if o > last || o&unaligned != 0 {
				return nil
			}
		}
	case !a.wide && m == fullMask && base == 0:
		for l, r := range &f.r32[a.base] {
			o := uint64(r + uint32(a.off))
			offsets[l] = o
			if o > last || o&unaligned != 0 {
				return nil
			}
		}
	default:
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			o := a.at(f, l) - base
			offsets[l] = o
			if o > last || o&unaligned != 0 {
				return nil
			}
		}
	}
	if f.b.watch != nil {
		f.spanned(a, all, n, write, base)
	}
	return mem
}

// piece is the piece of memory that a lane's address falls into and the address
// of its first byte, which is aligned to more than any access. nil stands for
// memory that each lane has for itself, and for addresses at fault.
func (a *address) piece(f *frame, lane int, write bool) (mem []byte, base uint64) {
	switch {
	case a.entry:
		return f.b.params, 0
	case a.space == ptx.Shared:
		return f.b.shared, 0
	case a.space == ptx.Local || a.space == ptx.Param:
		return nil, 0
	}
	addr := a.at(f, lane)
	if a.space == ptx.Generic {
		switch addr >> windowBits {
		case sharedBase >> windowBits:
			return f.b.shared, sharedBase
		case localBase >> windowBits, paramBase >> windowBits:
			return nil, 0
		}
	}
	c := f.w.cache
	if c == nil || addr-c.addr >= uint64(len(c.data)) {
		if c = f.b.launch.mem.find(addr); c == nil {
			return nil, 0
		}
		f.w.cache = c
	}
	if write && c.readOnly {
		return nil, 0
	}
	return c.data, c.addr
}

// mover moves one element of lanes m between a register and memory, at f.w.offsets
// and some bytes further.
type mover func(f *frame, m uint32, mem []byte, at uint64, c cell)

// loader is the mover of a load of n bytes, or nil when there is none for the
// register.
func loader(n int, c cell) mover {
	switch {
	case c.signed > 0:
		return nil
	case n == 4 && c.width == w32:
		return load32
	case n == 8 && c.width == w64:
		return load64
	case n == 2 && c.width == w32:
		return load16
	case n == 1 && c.width == w32:
		return load8
	}
	return nil
}

func load32(f *frame, m uint32, mem []byte, at uint64, c cell) {
	r, offsets := &f.r32[c.s], &f.w.offsets
	if m == fullMask {
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

func load64(f *frame, m uint32, mem []byte, at uint64, c cell) {
	r, offsets := &f.r64[c.s], &f.w.offsets
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		r[l] = binary.LittleEndian.Uint64(mem[offsets[l]+at:])
	}
}

func load16(f *frame, m uint32, mem []byte, at uint64, c cell) {
	r, offsets := &f.r32[c.s], &f.w.offsets
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		r[l] = uint32(binary.LittleEndian.Uint16(mem[offsets[l]+at:]))
	}
}

func load8(f *frame, m uint32, mem []byte, at uint64, c cell) {
	r, offsets := &f.r32[c.s], &f.w.offsets
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		r[l] = uint32(mem[offsets[l]+at])
	}
}

// storer is the mover of a store of n bytes.
func storer(n int, c cell) mover {
	switch {
	case n == 4 && c.width == w32:
		return store32
	case n == 8 && c.width == w64:
		return store64
	case n == 2 && c.width == w32:
		return store16
	case n == 1 && c.width == w32:
		return store8
	}
	return nil
}

func store32(f *frame, m uint32, mem []byte, at uint64, c cell) {
	r, offsets := &f.r32[c.s], &f.w.offsets
	if m == fullMask {
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

func store64(f *frame, m uint32, mem []byte, at uint64, c cell) {
	r, offsets := &f.r64[c.s], &f.w.offsets
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		binary.LittleEndian.PutUint64(mem[offsets[l]+at:], r[l])
	}
}

func store16(f *frame, m uint32, mem []byte, at uint64, c cell) {
	r, offsets := &f.r32[c.s], &f.w.offsets
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		binary.LittleEndian.PutUint16(mem[offsets[l]+at:], uint16(r[l]))
	}
}

func store8(f *frame, m uint32, mem []byte, at uint64, c cell) {
	r, offsets := &f.r32[c.s], &f.w.offsets
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		mem[offsets[l]+at] = byte(r[l])
	}
}
