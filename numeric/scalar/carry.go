package scalar

import "math/bits"

// The flag CC.CF of extended-precision arithmetic is 0 or 1: the carry of add.cc and mad.cc,
// and the borrow of sub.cc. mad.cc selects one half of the product and adds it with these
// functions: its carry is the carry of the addition alone.
//
// The hardware stores the complement of a borrow. Programs see this only if they mix
// additions and subtractions: an addc after a sub.cc adds one if there was no borrow, and a
// subc after an add.cc subtracts one if there was no carry.

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
