package simd

// Survey is a computation on a decoded factor: it finds the exponents, signs and smallest
// exponents of its blocks, in the form of package tensor.
type Survey struct {
	Tiles  int64 // number of blocks of rows, or of panels of columns; at least one
	Length int64 // elements of a block; a multiple of four

	Val   *float64
	Large *float64 // only for rows: the values in the form that the sums need
	Exps  *uint64
	Signs *uint64
	Low   *int32

	MinExp int64 // the exponent of subnormal numbers, as an exponent of a float64
}
