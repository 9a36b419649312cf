package scalar

import "math/bits"

// The flag CC.CF of an extended-precision chain is 0 or 1: what add.cc and mad.cc
// carry out and what sub.cc borrows. A mad.cc takes the half of the product it wants
// and adds it with these: its carry is that of the addition alone.
//
// The hardware keeps the complement of a borrow, which shows only in a chain that
// mixes: an addc after a sub.cc adds one where there was none, and a subc after an
// add.cc subtracts one where nothing was carried.

// AddC32 is add.cc (cf = 0) and addc.cc of 32 bits.
func AddC32(a, b, cf uint32) (d, cfOut uint32) { return bits.Add32(a, b, cf) }

// AddC64 is add.cc (cf = 0) and addc.cc of 64 bits.
func AddC64(a, b uint64, cf uint32) (d uint64, cfOut uint32) {
	d, c := bits.Add64(a, b, uint64(cf))
	return d, uint32(c)
}

// SubC32 is sub.cc (cf = 0) and subc.cc of 32 bits.
func SubC32(a, b, cf uint32) (d, cfOut uint32) { return bits.Sub32(a, b, cf) }

// SubC64 is sub.cc (cf = 0) and subc.cc of 64 bits.
func SubC64(a, b uint64, cf uint32) (d uint64, cfOut uint32) {
	d, c := bits.Sub64(a, b, uint64(cf))
	return d, uint32(c)
}
