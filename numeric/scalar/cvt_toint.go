package scalar

import "math"

// CvtIntF64 is cvt from f64 to an integer type: it rounds to an integer, then clamps to the
// range of dst. The result is extended to 64 bits.
func CvtIntF64(r Round, dst Int, a uint64) uint64 {
	if IsNaNF64(a) {
		return nanToInt(dst, true)
	}
	return toInt(r, dst, math.Float64frombits(a))
}

// CvtIntF32 is cvt to an integer type from f32.
func CvtIntF32(r Round, dst Int, a uint32) uint64 {
	if IsNaNF32(a) {
		return nanToInt(dst, false)
	}
	return toInt(r, dst, float64(math.Float32frombits(a)))
}

// CvtIntF16 is cvt to an integer type from f16.
func CvtIntF16(r Round, dst Int, a uint16) uint64 { return CvtIntF32(r, dst, CvtF32F16(a)) }

// CvtIntBF16 is cvt to an integer type from bf16.
func CvtIntBF16(r Round, dst Int, a uint16) uint64 { return CvtIntF32(r, dst, CvtF32BF16(a)) }

// nanToInt returns the result for a NaN: zero, or only the top bit if the source or the
// destination has 64 bits.
func nanToInt(dst Int, fromF64 bool) uint64 {
	if fromF64 || dst.Bits() == 64 {
		return dst.Extend(1 << (dst.Bits() - 1))
	}
	return 0
}

func toInt(r Round, dst Int, x float64) uint64 {
	x = roundInt(r, x)
	if !dst.Signed() {
		switch {
		case x <= 0:
			return 0
		case x >= math.Ldexp(1, dst.Bits()):
			return dst.max()
		}
		return uint64(x)
	}
	limit := float64(uint64(1) << (dst.Bits() - 1))
	switch {
	case x < -limit:
		return dst.min()
	case x >= limit:
		return dst.max()
	}
	return uint64(int64(x))
}

func roundInt(r Round, x float64) float64 {
	switch r {
	case RN:
		return math.RoundToEven(x)
	case RM:
		return math.Floor(x)
	case RP:
		return math.Ceil(x)
	case RNA:
		return math.Round(x)
	}
	return math.Trunc(x)
}

// RintF64 is cvt.rni.f64.f64, or the same conversion with .rzi, .rmi or .rpi: it rounds to
// an integer in the float format. A zero has the sign of the operand.
func RintF64(r Round, a uint64) uint64 {
	if IsNaNF64(a) {
		return nanF64(a, a, a)
	}
	return math.Float64bits(roundInt(r, math.Float64frombits(a)))
}

// RintF32 is RintF64 for f32.
func RintF32(r Round, a uint32) uint32 {
	if IsNaNF32(a) {
		return NaNF32
	}
	return math.Float32bits(float32(roundInt(r, float64(math.Float32frombits(a)))))
}

// RintF16 is RintF64 for f16.
func RintF16(r Round, a uint16) uint16 { return CvtF16F32(RintF32(r, CvtF32F16(a))) }

// RintBF16 is RintF64 for bf16.
func RintBF16(r Round, a uint16) uint16 { return CvtBF16F32(RintF32(r, CvtF32BF16(a))) }
