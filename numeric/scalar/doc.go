// Package scalar implements the scalar arithmetic of PTX, exact to the bit.
//
// A value is the bits of a register: uint16 for f16 and bf16, uint32 for f32 and tf32,
// uint64 for f64, uint8 for e4m3 and e5m2. It is not a Go float, because converting a NaN to
// a Go float may change its payload.
//
// Names follow PTX, the instruction first and then the type: [FmaF32] is fma.rn.f32,
// [CvtF16F32] is cvt.rn.f16.f32 (destination first, as in PTX). A function without a
// rounding mode rounds to nearest even and is fast. The function with the suffix R has a
// parameter of type [Round] and uses a general implementation, which is slow.
//
// Modifiers are separate functions. A decoder composes the modifiers of an instruction, and
// instructions without modifiers do not pay for them:
//
//	add.rn.ftz.sat.f32  SatF32(FtzF32(AddF32(FtzF32(a), FtzF32(b))))
//	fma.rn.relu.f16     ReluF16(FmaF16(a, b, c))
//	neg.f16x2           two calls of NegF16
//
// Flushing the result of a product needs more than that: see [FmaFtzF32].
//
// PTX does not define some results, for example which NaN an operation returns, and the
// result of a division by zero. The rules of the hardware for these are in nan.go and
// divide.go. Every function was compared with an H200; testdata holds digests of the results
// of the H200.
//
// Operations that Go computes as PTX does have no function here: integers wrap, and a shift
// by the width or more gives zero or the sign.
package scalar
