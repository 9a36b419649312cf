package scalar

import "math"

// CvtIntF64 is cvt to an integer type from f64: rounded to an integer, then clamped
// to what dst can hold. The result is extended to 64 bits.
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

// nanToInt is what a NaN becomes: zero, except that a conversion with 64 bits on
// either side gives the top bit alone.
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

// RintF64 is cvt.rni.f64.f64 and its siblings: rounded to an integer that stays a
// float. A zero keeps the sign of what became it.
func RintF64(r Round, a uint64) uint64 {
	if IsNaNF64(a) {
		return nanF64(a, a, a)
	}
	return math.Float64bits(roundInt(r, math.Float64frombits(a)))
}

// RintF32 is cvt.rni.f32.f32 and its siblings.
func RintF32(r Round, a uint32) uint32 {
	if IsNaNF32(a) {
		return NaNF32
	}
	return math.Float32bits(float32(roundInt(r, float64(math.Float32frombits(a)))))
}

// RintF16 is cvt.rni.f16.f16 and its siblings.
func RintF16(r Round, a uint16) uint16 { return CvtF16F32(RintF32(r, CvtF32F16(a))) }

// RintBF16 is cvt.rni.bf16.bf16 and its siblings.
func RintBF16(r Round, a uint16) uint16 { return CvtBF16F32(RintF32(r, CvtF32BF16(a))) }
