package simd

import "unsafe"

// Sweep multiplies rows of a decoded matrix with a panel of eight columns into an f32 or f16
// result. Package tensor defines the form of the factors. All pointers point to the first
// element that the loop accesses.
type Sweep struct {
	Rows   int64 // at least one
	Done   int64 // result: the number of rows before the first row that is not ordinary
	Blocks int64 // blocks of a row
	Length int64 // elements of a block; a multiple of four

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
	Cut  uint64 // mask of the bits of a float64 that results keep

	// Floor is the smallest exponent to which terms are aligned. Least is the exponent of the
	// smallest normal number of C's type. Both are exponents of a float64.
	Floor, Least int64
}
