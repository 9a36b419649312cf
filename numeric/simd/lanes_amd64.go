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
