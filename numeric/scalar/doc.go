// Package num is the scalar arithmetic of PTX, exact to the bit.
//
// A value is the bits of a register: uint16 for f16 and bf16, uint32 for f32 and
// tf32, uint64 for f64, uint8 for e4m3 and e5m2. Go's own float types would lose
// the payload of a NaN on the way, and registers hold bits.
//
// Names are PTX's, the instruction first and then the type: [FmaF32] is
// fma.rn.f32, [CvtF16F32] is cvt.rn.f16.f32 (destination first, as PTX has it).
// A function without a rounding mode rounds to nearest even and is the fast one.
// Its sibling with the suffix R takes the [Round] and goes through one slow,
// general core.
//
// Modifiers are functions of their own, so that a decoder composes what an
// instruction asks for and the common case pays for none of it:
//
//	add.rn.ftz.sat.f32  SatF32(FtzF32(AddF32(FtzF32(a), FtzF32(b))))
//	fma.rn.relu.f16     ReluF16(FmaF16(a, b, c))
//	neg.f16x2           two calls of NegF16
//
// Flushing the result of a product takes more than that: see [FmaFtzF32].
//
// Where the hardware decides what PTX leaves open (which NaN, what a division by
// zero gives) the rule is one function in nan.go or divide.go. Every function was
// compared with an H200, instruction by instruction; testdata keeps the digests of
// what it answered.
//
// What Go already does as PTX wants has no function here: integers wrap, and a
// shift by the width or more gives zero or the sign, which is PTX's clamping.
package scalar
