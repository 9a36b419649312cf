//go:build amd64 || arm64

package simd

// These functions compute f32 operations on the 32 lanes of a warp, given as bits, rounded to
// nearest. A result that is a NaN is 0x7fffffff. d may be one of the operands.
//
// The functions with Daz (denormals are zero) read subnormal operands as zeros with the same
// sign. They return a mask of the lanes whose result is not zero and at most the smallest
// normal number in magnitude.

//go:noescape
func AddF32(d, a, b *[32]uint32)

//go:noescape
func MulF32(d, a, b *[32]uint32)

//go:noescape
func FmaF32(d, a, b, c *[32]uint32)

//go:noescape
func AddF32Daz(d, a, b *[32]uint32) uint32

//go:noescape
func MulF32Daz(d, a, b *[32]uint32) uint32

//go:noescape
func FmaF32Daz(d, a, b, c *[32]uint32) uint32

// These functions compute on both halves of the 32 lanes of a warp, rounded to nearest. A
// result that is a NaN is 0x7fff. d may be one of the operands.

//go:noescape
func AddF16x2(d, a, b *[32]uint32)

//go:noescape
func SubF16x2(d, a, b *[32]uint32)

//go:noescape
func MulF16x2(d, a, b *[32]uint32)

//go:noescape
func FmaF16x2(d, a, b, c *[32]uint32)

//go:noescape
func AddBF16x2(d, a, b *[32]uint32)

//go:noescape
func SubBF16x2(d, a, b *[32]uint32)

//go:noescape
func MulBF16x2(d, a, b *[32]uint32)

//go:noescape
func FmaBF16x2(d, a, b, c *[32]uint32)

// These functions compute the minimum or maximum of f16 or bf16. inf holds the bits of
// infinity. If one operand is a NaN, the result is the other operand. The functions with NaN
// in their names return 0x7fff in this case.

//go:noescape
func Min16x2(d, a, b *[32]uint32, inf uint32)

//go:noescape
func Max16x2(d, a, b *[32]uint32, inf uint32)

//go:noescape
func Min16x2NaN(d, a, b *[32]uint32, inf uint32)

//go:noescape
func Max16x2NaN(d, a, b *[32]uint32, inf uint32)

// Interleave writes eight rows of eight words, step bytes apart. Row r holds the lanes from
// 4r to 4r+3 of even and of odd in turns.
//
//go:noescape
func Interleave(rows *uint32, step int, even, odd *[32]uint32)

// Deinterleave is the inverse of Interleave.
//
//go:noescape
func Deinterleave(even, odd *[32]uint32, rows *uint32, step int)

// Spread writes eight rows of four words, step bytes apart. Row r holds the lanes from 4r to 4r+3.
//
//go:noescape
func Spread(rows *uint32, step int, lanes *[32]uint32)

// WidenF16 converts rows of eight f16, step bytes apart and one for each word, to f32. The rows of the
// result are stored one after the other.
//
//go:noescape
func WidenF16(to, c *uint32, step, rows int)

// RoundF16 rounds rows of eight finite numbers, stored one after the other, to the nearest f16. The rows of the
// result are step bytes apart. A result of zero is positive.
//
//go:noescape
func RoundF16(d *uint32, step int, x *float64, rows int)
