package scalar

import "math"

// Sums and products of two f16 are computed in f32 and rounded again. An f32 has at least
// two bits more than twice the precision of f16, so the second rounding gives the right
// result.

// AddF16 is add.rn.f16.
func AddF16(a, b uint16) uint16 { return roundF16(floatF16(a) + floatF16(b)) }

// SubF16 is sub.rn.f16.
func SubF16(a, b uint16) uint16 { return roundF16(floatF16(a) - floatF16(b)) }

// MulF16 is mul.rn.f16.
func MulF16(a, b uint16) uint16 { return roundF16(floatF16(a) * floatF16(b)) }

// FmaF16 is fma.rn.f16.
//
// The product is exact in f64. The sum may be inexact. In that case one term is so much
// smaller than the other that the sum is not near a tie of f16, or the result overflows.
func FmaF16(a, b, c uint16) uint16 {
	s := float64(floatF16(a))*float64(floatF16(b)) + float64(floatF16(c))
	u := math.Float64bits(s)
	if u<<1-minNormalF16<<1 >= normalsF16<<1 {
		return fmaF16(s)
	}
	// The sign is the top bit in both formats. A carry out of the fraction increments the
	// exponent. From the largest exponent it gives infinity.
	const cut = 52 - 10
	return uint16(u>>48)&0x8000 | uint16((u<<1>>1+1<<(cut-1)-1+u>>cut&1-rebiasF16)>>cut)
}

const (
	minNormalF16 = (1023 - 14) << 52 // 2^-14, the smallest normal f16, as an f64
	normalsF16   = 30 << 52          // from there to 2^16
	rebiasF16    = (1023 - 15) << 52
)

// fmaF16 rounds a sum that is not in the range of normal f16. Below that range the sum is
// exact, because its last bit has at least the value 2^-48.
func fmaF16(s float64) uint16 {
	if s != s {
		return NaNF16
	}
	return uint16(convert(RN, &fmtF16, &fmtF64, math.Float64bits(s)))
}

func floatF16(a uint16) float32 { return math.Float32frombits(CvtF32F16(a)) }

func roundF16(x float32) uint16 { return CvtF16F32(math.Float32bits(x)) }

// OutOfBounds is the NaN that marks a value out of bounds, in both 16-bit formats. Tensor copies
// that fill with NaN write it, and fma.oob recognises it.
const OutOfBounds = 0x7ff7

// isOob reports whether a is OutOfBounds, with either sign.
func isOob(a uint16) bool { return a&0x7fff == OutOfBounds }

// FmaOobF16 is fma.rn.oob.f16: the result is positive zero if a factor is the NaN that marks
// a value out of bounds.
func FmaOobF16(a, b, c uint16) uint16 {
	if isOob(a) || isOob(b) {
		return 0
	}
	return FmaF16(a, b, c)
}
