//go:build amd64 || arm64

package simd

// Run8 multiplies rows until it reaches a row that is not ordinary. The exponents of the
// factors are in 8-bit lanes.
func (s *Sweep) Run8() { sweep8(s) }

// Run16 is Run8 for exponents in 16-bit lanes.
func (s *Sweep) Run16() { sweep16(s) }

// RunHalf8 is Run8 for an f16 result, which the caller must round: C is f32, D is float64,
// and a row has one block.
func (s *Sweep) RunHalf8() { half8(s) }

//go:noescape
func half8(s *Sweep)

//go:noescape
func sweep8(s *Sweep)

//go:noescape
func sweep16(s *Sweep)

// Run multiplies pairs of rows until it reaches a pair that is not ordinary.
func (s *Narrow) Run() { narrow(s) }

//go:noescape
func narrow(s *Narrow)

// Rows8 and Rows16 survey a first factor, Cols8 and Cols16 survey a second factor. The
// exponents are in lanes of 8 or 16 bits.

func (s *Survey) Rows8()  { rows8(s) }
func (s *Survey) Rows16() { rows16(s) }
func (s *Survey) Cols8()  { cols8(s) }
func (s *Survey) Cols16() { cols16(s) }

//go:noescape
func rows8(s *Survey)

//go:noescape
func rows16(s *Survey)

//go:noescape
func cols8(s *Survey)

//go:noescape
func cols16(s *Survey)

// Dots multiplies count rows with eight columns of 16-bit integers into 32-bit sums: eight
// for each row. A word of a factor holds two neighbouring elements of a row or column. Rows
// have the given number of words and are stored one after the other. The words of the eight
// columns are side by side. count and pairs are even.
//
//go:noescape
func Dots(d, rows, cols *uint32, count, pairs int)
