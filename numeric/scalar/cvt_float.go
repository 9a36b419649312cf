package scalar

import "math"

// CvtF32F16 is cvt.f32.f16, which is exact.
func CvtF32F16(a uint16) uint32 {
	sign, mag := uint32(a&0x8000)<<16, uint32(a&0x7fff)
	switch {
	case mag-0x400 < 0x7800:
		return sign | (mag<<13 + (127-15)<<23)
	case mag < 0x400:
		// The unit of a subnormal f16 is 2^-24.
		return sign | math.Float32bits(float32(mag)*0x1p-24)
	case mag == 0x7c00:
		return sign | 0x7f800000
	}
	return NaNF32
}

// CvtF32BF16 is cvt.f32.bf16, which is exact. It is a shift and preserves the bits of a NaN.
func CvtF32BF16(a uint16) uint32 { return uint32(a) << 16 }

// CvtF64F32 is cvt.f64.f32, which is exact.
func CvtF64F32(a uint32) uint64 {
	if IsNaNF32(a) {
		return nanWiden(&fmtF32, uint64(a))
	}
	return math.Float64bits(float64(math.Float32frombits(a)))
}

// CvtF64F16 is cvt.f64.f16, which is exact.
func CvtF64F16(a uint16) uint64 {
	if IsNaNF16(a) {
		return nanWiden(&fmtF16, uint64(a))
	}
	return CvtF64F32(CvtF32F16(a))
}

// CvtF64BF16 is cvt.f64.bf16, which is exact.
func CvtF64BF16(a uint16) uint64 { return CvtF64F32(uint32(a) << 16) }

// CvtF32F64 is cvt.rn.f32.f64.
func CvtF32F64(a uint64) uint32 {
	if IsNaNF64(a) {
		return uint32(nanNarrow(&fmtF32, a))
	}
	return math.Float32bits(float32(math.Float64frombits(a)))
}

// CvtF16F32 is cvt.rn.f16.f32.
func CvtF16F32(a uint32) uint16 {
	sign, mag := uint16(a>>16)&0x8000, a&0x7fffffff
	switch {
	case mag-minNormalF16inF32 < normalsF16inF32:
		// A carry increments the exponent. From the largest exponent it gives infinity.
		return sign | uint16((mag-(127-15)<<23+1<<12-1+mag>>13&1)>>13)
	case mag < minNormalF16inF32:
		// The last bit of an f32 near 1/2 has the same value as the last bit of a subnormal
		// f16, so the addition rounds.
		return sign | uint16(math.Float32bits(math.Float32frombits(mag)+0.5)-0x3f000000)
	case mag > 0x7f800000:
		return NaNF16
	}
	return sign | 0x7c00
}

const (
	minNormalF16inF32 = (127 - 14) << 23 // 2^-14 as an f32
	normalsF16inF32   = 30 << 23         // from there to 2^16
)

// CvtBF16F32 is cvt.rn.bf16.f32.
func CvtBF16F32(a uint32) uint16 {
	if IsNaNF32(a) {
		return NaNBF16
	}
	return uint16((a + 0x7fff + a>>16&1) >> 16)
}

// tf32Drop is the number of fraction bits that an f32 has and a tf32 does not. A register
// holds a tf32 as the f32 of the same value.
const tf32Drop = 13

// CvtTF32F32 is cvt.rn.tf32.f32 and cvt.rz.tf32.f32.
func CvtTF32F32(r Round, a uint32) uint32 {
	return uint32(convert(r, &fmtTF32, &fmtF32, uint64(a))) << tf32Drop
}

// CvtRnaTF32F32 is cvt.rna.tf32.f32. It adds to the bits and masks them: a NaN loses the low
// bits of its payload and may thereby become an infinity.
func CvtRnaTF32F32(a uint32) uint32 {
	if a&0x7fffffff < 0x7f800000 {
		a += 1 << (tf32Drop - 1)
	}
	return a >> tf32Drop << tf32Drop
}

// SatfiniteTF32 is .satfinite of cvt.rna.tf32.f32: an infinity becomes the largest finite
// number. The bits of a NaN are decremented as well.
func SatfiniteTF32(a uint32) uint32 {
	if a&0x7fffffff >= 0x7f800000 {
		return a - 1<<tf32Drop
	}
	return a
}

// CvtF16F16 is cvt.f16.f16. It replaces a NaN. cvt.f32.f32 and cvt.f64.f64 are moves and
// preserve the bits of a NaN.
func CvtF16F16(a uint16) uint16 { return canonical16(IsNaNF16(a), a) }

// The conversions below support any rounding mode. It has no effect on a widening
// conversion.

// CvtF32F64R is cvt.f32.f64 in any rounding.
func CvtF32F64R(r Round, a uint64) uint32 { return uint32(narrowF64(r, &fmtF32, a)) }

// CvtF16F64R is cvt.f16.f64 in any rounding.
func CvtF16F64R(r Round, a uint64) uint16 { return uint16(narrowF64(r, &fmtF16, a)) }

// CvtBF16F64R is cvt.bf16.f64 in any rounding.
func CvtBF16F64R(r Round, a uint64) uint16 { return uint16(narrowF64(r, &fmtBF16, a)) }

// CvtF16F32R is cvt.f16.f32 in any rounding.
func CvtF16F32R(r Round, a uint32) uint16 { return uint16(convert(r, &fmtF16, &fmtF32, uint64(a))) }

// CvtBF16F32R is cvt.bf16.f32 in any rounding.
func CvtBF16F32R(r Round, a uint32) uint16 { return uint16(convert(r, &fmtBF16, &fmtF32, uint64(a))) }

// CvtF16BF16R is cvt.f16.bf16 in any rounding.
func CvtF16BF16R(r Round, a uint16) uint16 { return uint16(convert(r, &fmtF16, &fmtBF16, uint64(a))) }

// CvtBF16F16R is cvt.bf16.f16 in any rounding.
func CvtBF16F16R(r Round, a uint16) uint16 { return uint16(convert(r, &fmtBF16, &fmtF16, uint64(a))) }

func narrowF64(r Round, to *format, a uint64) uint64 {
	v := fmtF64.unpack(a)
	if v.kind == nan {
		return nanNarrow(to, a)
	}
	return to.pack(r, v)
}
