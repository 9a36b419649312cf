package simd

import "unsafe"

// Sweep is rows of a decoded matrix to be multiplied with a panel of eight columns
// into an f32 or f16 result. The factors are those of package tensor, which knows what they
// mean; all pointers are to the first of the elements that the loop walks along.
type Sweep struct {
	Rows   int64 // at least one
	Done   int64 // how many rows were finished: the next one is not ordinary
	Blocks int64 // of a row
	Length int64 // of a block: a multiple of four

	AExps  *uint64
	X      *float64
	ASigns *uint64
	ALow   *int32

	BExps  *uint64
	Y      *float64 // eight columns for each element
	BSigns *uint64
	BLow   *int32

	C            *uint32 // eight elements of a row
	D            unsafe.Pointer
	CStep, DStep int64 // bytes from one row to the next

	Keep int64  // bits kept below the largest exponent
	Cut  uint64 // the bits of a float64 that results keep

	// Exponents, as a float64 has them: the least one that terms are aligned to, and
	// that of the smallest normal number of C's type.
	Floor, Least int64
}
