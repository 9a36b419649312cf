package ops

import (
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/numeric/sfu"
)

// The approximate functions of f64 read only the high word of their operand, even for a
// NaN, and compute only the high word of the result. They are the functions of f32 on the
// same significand, with the result truncated to the bits of the high word.

const (
	bias64, bias32 = 1023, 127
	frac64, frac32 = 20, 23 // bits of the significand in the high word of an f64, and in an f32
	inf64          = 0x7ff << 52
	nanHigh        = 0x7fffffff << 32
)

// isNaNHigh reports whether a is a NaN by its high word alone.
func isNaNHigh(a uint64) bool { return a>>32<<33 > inf64<<1 }

// rcpHigh computes rcp.approx.ftz.f64.
func rcpHigh(a uint64) uint64 {
	sign, exp := a&(1<<63), int(a>>52)&0x7ff
	switch {
	case isNaNHigh(a):
		return nanHigh
	case exp == 0:
		return sign | inf64
	case exp == 0x7ff:
		return sign
	}
	return sign | joinHigh(sfu.Rcp(significand(a, 0), true), -(exp-bias64))
}

// rsqrtHigh computes rsqrt.approx.ftz.f64. If the exponent is odd, a factor of two moves to
// the significand, so that the remaining exponent is even and can be halved.
func rsqrtHigh(a uint64) uint64 {
	sign, exp := a&(1<<63), int(a>>52)&0x7ff
	switch {
	case exp == 0:
		return sign | inf64
	case isNaNHigh(a) || sign != 0:
		return nanHigh
	case exp == 0x7ff:
		return 0
	}
	odd := (exp - bias64) & 1
	return joinHigh(sfu.Rsqrt(significand(a, odd), true), -(exp-bias64-odd)/2)
}

// significand returns the significand of the high word of a as an f32 with the given
// exponent.
func significand(a uint64, exp int) uint32 {
	return uint32(bias32+exp)<<frac32 | uint32(a>>32)&(1<<frac64-1)<<(frac32-frac64)
}

// joinHigh returns the positive f32 x times 2 to the exp, as the high word of an f64. A
// result that is not normal is zero.
func joinHigh(x uint32, exp int) uint64 {
	e := int(x>>frac32) - bias32 + exp + bias64
	if e <= 0 {
		return 0
	}
	return (uint64(e)<<frac64 | uint64(x)&(1<<frac32-1)>>(frac32-frac64)) << 32
}

// rsqrtF64 computes rsqrt.approx.f64: rsqrtHigh and the refinement step that ptxas adds.
func rsqrtF64(a uint64) uint64 {
	const scale, unscale = 0x4350000000000000, 0x41a0000000000000 // 2^54 and 2^27
	switch {
	case scalar.IsNaNF64(a):
		return scalar.AddF64(a, a)
	case a<<1 == 0:
		return a | inf64
	case a>>63 != 0:
		return scalar.NaNF64
	case a == inf64:
		return 0
	case a>>52 == 0:
		return scalar.MulF64(refineRsqrt(scalar.MulF64(a, scale)), unscale)
	}
	return refineRsqrt(a)
}

func refineRsqrt(a uint64) uint64 {
	const one, half, threeEighths = 0x3ff0000000000000, 0x3fe0000000000000, 0x3fd8000000000000
	y := rsqrtHigh(a)
	e := scalar.FmaF64(a, scalar.MulF64(y, y)^1<<63, one)
	return scalar.FmaF64(scalar.FmaF64(e, threeEighths, half), scalar.MulF64(y, e), y)
}
