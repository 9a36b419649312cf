package simd

// Narrow multiplies pairs of rows with sixteen columns of 32 elements whose sums fit in an
// f32. Package tensor defines the form of the factors. All pointers point to the first
// element that the loop accesses.
type Narrow struct {
	Pairs int64 // pairs of rows; at least one
	Done  int64 // result: the number of pairs before the first pair that is not ordinary

	AExps  *uint64
	X      *float32
	ASigns *[2]uint32

	BExps  *uint64 // the exponents of two panels of eight columns
	Y      *float32
	BSigns *[16]uint32 // by panel

	C            *uint32 // sixteen elements of a row
	D            *uint32
	CStep, DStep int64 // bytes from one row to the next
}
