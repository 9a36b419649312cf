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

// matrixLines are lines along the contraction, rows of a or columns of b, of a factor in shared
// memory.
type matrixLines struct {
	first, count int
	words        int  // the words of a line: 8, or 16 for the second factor of a sparse product
	transposed   bool // the other dimension is contiguous in memory, which is possible only for 16-bit elements
}

// load reads lines of the factor, one after the other.
func (d matrixDesc) load(from machine.Origin, words []uint32, l matrixLines) {
	if l.transposed {
		d.loadTransposed(from, words, l)
		return
	}
	if l.words == 8 && d.span() > 16 && (d.start()|d.stride())%32 == 0 {
		d.loadPairs(from, words, l)
		return
	}
	for i := range l.count {
		for u := range l.words / 4 {
			unit := d.unit(from, d.addr(l.first+i, u))
			putUnit((*[4]uint32)(words[l.words*i+4*u:]), (*[16]byte)(unit))
		}
	}
}

// loadPairs reads lines of two units in an atom with a swizzle, as most products have. Both units
// are then in the same 32 bytes, and the swizzle may exchange them. It computes addr and place
// with the parts that do not change outside of the loop.
func (d matrixDesc) loadPairs(from machine.Origin, words []uint32, l matrixLines) {
	shared, base, span, stride, lines := from.Frame.Block.Shared, d.base(), d.span(), d.stride(), d.span()/16-1
	words = words[:8*l.count]
	for line := l.first; len(words) >= 8; line++ {
		at := d.start() + line>>3*stride + line&7*span
		at ^= ((at>>7 - base) & lines) << 4
		pair := at &^ 31
		if pair < 0 || pair+32 > len(shared) {
			d.unit(from, d.addr(line, 0)) // reports the error, if the first unit is out of bounds
			d.unit(from, d.addr(line, 1))
		}
		from := (*[32]byte)(shared[pair:])
		putUnit((*[4]uint32)(words), (*[16]byte)(from[at&16:]))
		putUnit((*[4]uint32)(words[4:]), (*[16]byte)(from[at&16^16:]))
		words = words[8:]
	}
}

// addr returns the unswizzled address of 16 bytes of a line. An atom has eight lines of span bytes.
// The next atom is one stride further. Without a swizzle, the 16-byte columns are one leading offset
// apart. A line that is longer than the atom continues one leading offset further.
func (d matrixDesc) addr(line, unit int) int {
	units := d.span() / 16
	return d.start() + line/8*d.stride() + line%8*d.span() + unit/units*d.leading() + unit%units*16
}

func putUnit(words *[4]uint32, unit *[16]byte) {
	lo, hi := binary.LittleEndian.Uint64(unit[:]), binary.LittleEndian.Uint64(unit[8:])
	words[0], words[1], words[2], words[3] = uint32(lo), uint32(lo>>32), uint32(hi), uint32(hi>>32)
}

// loadTransposed reads two steps of the contraction per word of a line. A step consists of 16-byte
// units, each with elements of eight lines.
func (d matrixDesc) loadTransposed(from machine.Origin, words []uint32, l matrixLines) {
	for line := 0; line < l.count; line += 8 {
		for w := range l.words {
			lo, hi := d.unit(from, d.addrTransposed(l.first+line, 2*w)), d.unit(from, d.addrTransposed(l.first+line, 2*w+1))
			putPairs(words[line*l.words+w:], l.words, (*[16]byte)(lo), (*[16]byte)(hi))
		}
	}
}

// addrTransposed returns the unswizzled address of the elements of eight lines in one step. An atom
// has eight steps of span bytes. With a swizzle, the next atom along the lines is one leading offset
// away, and the next eight steps are one stride away. Without a swizzle, the two offsets are
// exchanged.
func (d matrixDesc) addrTransposed(line, step int) int {
	units := d.span() / 16
	along, deeper := d.leading(), d.stride()
	if units == 1 {
		along, deeper = deeper, along
	}
	u := line / 8
	return d.start() + u%units*16 + u/units*along + step%8*d.span() + step/8*deeper
}

// putPairs packs the elements of two steps into words of eight lines, which are next words apart.
func putPairs(words []uint32, next int, lo, hi *[16]byte) {
	_ = words[7*next]
	for e := range 8 {
		words[next*e] = uint32(binary.LittleEndian.Uint16(lo[2*e:])) | uint32(binary.LittleEndian.Uint16(hi[2*e:]))<<16
	}
}

// units returns the offsets in shared memory at which load reads 16 bytes each.
func (d matrixDesc) units(from machine.Origin, l matrixLines) []int32 {
	all := make([]int32, 0, l.count*l.words/4)
	add := func(addr int) {
		d.unit(from, addr) // checks the bounds
		all = append(all, int32(d.place(addr)))
	}
	for line := 0; line < l.count; line++ {
		switch {
		case !l.transposed:
			for u := range l.words / 4 {
				add(d.addr(l.first+line, u))
			}
		case line%8 == 0:
			for step := range 2 * l.words {
				add(d.addrTransposed(l.first+line, step))
			}
		}
	}
	return all
}
