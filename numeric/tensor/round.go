package tensor

import "math"

// The canonical NaN of a result.
const (
	nanF32 = 0x7fffffff
	nanF16 = 0x7fff
)

// cutF32 returns x truncated towards zero to an f32 with frac bits of fraction, as a float64.
// A number that is too large becomes infinite.
func cutF32(x float64, frac int) float64 {
	if a := math.Abs(x); a < 0x1p-126 && a != 0 {
		// Below the normal range, the unit is the unit of the smallest normal number. A
		// result of zero has no sign.
		cut := math.Ldexp(math.Trunc(math.Ldexp(a, 126+frac)), -126-frac)
		if x < 0 && cut != 0 {
			return -cut
		}
		return cut
	}
	x = math.Float64frombits(math.Float64bits(x) &^ (1<<(52-frac) - 1))
	if math.Abs(x) >= 0x1p128 {
		return math.Inf(sign(x))
	}
	return x
}

func sign(x float64) int {
	if math.Signbit(x) {
		return -1
	}
	return 1
}

// bitsF32 returns the bits of x, which must have the value of an f32.
func bitsF32(x float64) uint32 {
	if x != x {
		return nanF32
	}
	return math.Float32bits(float32(x))
}

// bitsF16 returns the bits of x rounded to the nearest f16, ties to even.
func bitsF16(x float64) uint32 {
	u := math.Float64bits(x)
	s, u := uint32(u>>48&0x8000), u&(1<<63-1)
	const cut, rebias = 52 - 10, (1023 - 15) << 52
	switch {
	case u > 0x7ff<<52:
		return nanF16
	case u < 0x3f1<<52: // 2^-14
		// The last bit of a float64 near 2^28 has the value of the last bit of a subnormal f16,
		// so the addition rounds. A result of zero has no sign.
		r := uint32(math.Float64bits(math.Float64frombits(u)+0x1p28) & 0x7ff)
		if r == 0 {
			return 0
		}
		return s | r
	case u >= 0x40f<<52: // 2^16
		return s | 0x7c00
	}
	// A carry out of the fraction increments the exponent. From the largest exponent it gives
	// infinity.
	return s | uint32((u+1<<(cut-1)-1+u>>cut&1-rebias)>>cut)
}
