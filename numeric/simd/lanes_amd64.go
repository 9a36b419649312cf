package simd

// f32 operations on the 32 lanes of a warp, as bits, rounded to nearest. Any NaN
// comes out as 0x7fffffff. d may be one of the operands.
//
// Those with Daz read subnormal operands as zeros of their sign, and return a mask of
// the lanes whose result is other than zero and at most the smallest normal number.

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
