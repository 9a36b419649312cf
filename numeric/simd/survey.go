package simd

// Survey is what is to be found out about a decoded factor: the exponents, signs and
// least exponents of its blocks, as package tensor keeps them.
type Survey struct {
	Tiles  int64 // blocks of rows, or panels of columns: at least one
	Length int64 // of a block: a multiple of four

	Val   *float64
	Large *float64 // of rows: the values as sums want them
	Exps  *uint64
	Signs *uint64
	Low   *int32

	MinExp int64 // of a subnormal number, as an exponent of a float64
}
