package ops

import (
	"encoding/binary"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
)

// matrixDesc is the descriptor of a wgmma factor in shared memory. It holds the start
// address from bit 0, the byte offset of the leading dimension from bit 16, and the byte
// offset of the stride dimension from bit 32, all without their low four bits. The base
// offset is at bit 49. The swizzle is at bit 62: none, 128, 64 or 32 bytes.
type matrixDesc uint64

func (d matrixDesc) start() int { return int(d&0x3fff) << 4 }

func (d matrixDesc) leading() int { return int(d>>16&0x3fff) << 4 }

func (d matrixDesc) stride() int { return int(d>>32&0x3fff) << 4 }

func (d matrixDesc) base() int { return int(d >> 49 & 7) }

// span returns the bytes per row of the swizzle's atom. Without a swizzle it returns the
// bytes per row of a core matrix.
func (d matrixDesc) span() int { return [...]int{16, 128, 64, 32}[d>>62] }

// place returns the address to which the swizzle moves the 16 bytes at addr. The base
// offset is the 128-byte line with which the pattern starts.
func (d matrixDesc) place(addr int) int {
	lines := d.span()/16 - 1
	return addr ^ ((addr>>7-d.base())&lines)<<4
}

// unit returns the 16 bytes of shared memory at an unswizzled address.
func (d matrixDesc) unit(from machine.Origin, addr int) []byte {
	b := from.Frame.Block
	addr = d.place(addr)
	if addr < 0 || addr+16 > len(b.Shared) {
		from.Frame.Warp.PC = from.PC
		from.Frame.RaiseAs("oob-shared", from.Lane, "matrix descriptor %#016x reaches shared address %#x, past its %d bytes", uint64(d), addr, len(b.Shared))
	}
	return b.Shared[addr:][:16]
}

// load reads lines of 32 bytes along the contraction, from line first on: rows of a or
// columns of b. If transposed is set, the other dimension is contiguous in memory, which is
// possible only for 16-bit elements.
func (d matrixDesc) load(from machine.Origin, words []uint32, first, lines int, transposed bool) {
	if transposed {
		d.loadTransposed(from, words, first, lines)
		return
	}
	// An atom has eight lines of span bytes. The next atom is one stride further. Without a
	// swizzle, the 16-byte columns are one leading offset apart.
	next := 16
	if d.span() == 16 {
		next = d.leading()
	}
	for i := range lines {
		line := first + i
		addr := d.start() + line/8*d.stride() + line%8*d.span()
		putUnit(words[8*i:], d.unit(from, addr))
		putUnit(words[8*i+4:], d.unit(from, addr+next))
	}
}

func putUnit(words []uint32, unit []byte) {
	for i := range 4 {
		words[i] = binary.LittleEndian.Uint32(unit[4*i:])
	}
}

// loadTransposed reads 16 steps of the contraction. A step consists of 16-byte units, each
// with elements of eight lines. An atom has eight steps of span bytes. With a swizzle, the
// next atom along the lines is one leading offset away, and the next eight steps are one
// stride away. Without a swizzle, the two offsets are exchanged.
func (d matrixDesc) loadTransposed(from machine.Origin, words []uint32, first, lines int) {
	units := d.span() / 16
	along, deeper := d.leading(), d.stride()
	if units == 1 {
		along, deeper = deeper, along
	}
	for line := first; line < first+lines; line += 8 {
		u := line / 8
		addr := d.start() + u%units*16 + u/units*along
		to := (*[64]uint32)(words[(line-first)*8:])
		for k := 0; k < 16; k += 2 {
			at := addr + k%8*d.span() + k/8*deeper
			putPairs(to[k/2:], (*[16]byte)(d.unit(from, at)), (*[16]byte)(d.unit(from, at+d.span())))
		}
	}
}

// putPairs packs the elements of two steps into words, which are eight words apart.
func putPairs(words []uint32, lo, hi *[16]byte) {
	_ = words[8*7]
	for e := range 8 {
		words[8*e] = uint32(binary.LittleEndian.Uint16(lo[2*e:])) | uint32(binary.LittleEndian.Uint16(hi[2*e:]))<<16
	}
}

// units returns the offsets in shared memory at which load reads 16 bytes each.
func (d matrixDesc) units(from machine.Origin, first, lines int, transposed bool) []int32 {
	all := make([]int32, 0, 2*lines)
	add := func(addr int) {
		d.unit(from, addr) // checks the bounds
		all = append(all, int32(d.place(addr)))
	}
	if !transposed {
		next := 16
		if d.span() == 16 {
			next = d.leading()
		}
		for line := first; line < first+lines; line++ {
			addr := d.start() + line/8*d.stride() + line%8*d.span()
			add(addr)
			add(addr + next)
		}
		return all
	}
	units := d.span() / 16
	along, deeper := d.leading(), d.stride()
	if units == 1 {
		along, deeper = deeper, along
	}
	for u := first / 8; u < (first+lines)/8; u++ {
		addr := d.start() + u%units*16 + u/units*along
		for k := range 16 {
			add(addr + k%8*d.span() + k/8*deeper)
		}
	}
	return all
}
