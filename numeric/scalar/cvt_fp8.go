package scalar

import "math"

// Magnitudes at the upper end of the 8-bit formats.
const (
	fmtE4M3Max = 0x7e // 448; above it only the NaN
	fmtE5M2Max = 0x7b // 57344
	fmtE5M2Inf = 0x7c
)

// CvtE4M3F32 is one half of cvt.rn.satfinite.e4m3x2.f32.
func CvtE4M3F32(a uint32) uint8 {
	const (
		minNormal = (127 - 6) << 23
		cut       = 23 - 3
		// The last bit of an f32 near 2^14 has the value 2^-9, which is the unit of a
		// subnormal e4m3, so the addition rounds.
		aligner     = 0x1p14
		alignerBits = (127 + 14) << 23
	)
	sign, mag := uint8(a>>24)&0x80, a&0x7fffffff
	switch {
	case mag < minNormal:
		return sign | uint8(math.Float32bits(math.Float32frombits(mag)+aligner)-alignerBits)
	case mag > 0x7f800000:
		return NaNE4M3
	}
	return sign | uint8(min((mag-(127-7)<<23+1<<(cut-1)-1+mag>>cut&1)>>cut, fmtE4M3Max))
}

// CvtE5M2F32 is one half of cvt.rn.satfinite.e5m2x2.f32.
func CvtE5M2F32(a uint32) uint8 {
	const (
		minNormal = (127 - 14) << 23
		cut       = 23 - 2
		// The same for e5m2: the unit of a subnormal number is 2^-16.
		aligner     = 0x1p7
		alignerBits = (127 + 7) << 23
	)
	sign, mag := uint8(a>>24)&0x80, a&0x7fffffff
	switch {
	case mag < minNormal:
		return sign | uint8(math.Float32bits(math.Float32frombits(mag)+aligner)-alignerBits)
	case mag > 0x7f800000:
		return NaNE5M2
	}
	return sign | uint8(min((mag-(127-15)<<23+1<<(cut-1)-1+mag>>cut&1)>>cut, fmtE5M2Max))
}

// CvtE4M3F16 is one half of cvt.rn.satfinite.e4m3x2.f16x2.
func CvtE4M3F16(a uint16) uint8 { return CvtE4M3F32(CvtF32F16(a)) }

// CvtE5M2F16 is one half of cvt.rn.satfinite.e5m2x2.f16x2.
func CvtE5M2F16(a uint16) uint8 { return CvtE5M2F32(CvtF32F16(a)) }

// CvtF16E4M3 is one half of cvt.rn.f16x2.e4m3x2, which is exact.
func CvtF16E4M3(a uint8) uint16 { return f16ofE4M3[a] }

// CvtF16E5M2 is one half of cvt.rn.f16x2.e5m2x2, which is exact: an e5m2 is the upper half
// of an f16.
func CvtF16E5M2(a uint8) uint16 {
	if a&0x7f > fmtE5M2Inf {
		return NaNF16
	}
	return uint16(a) << 8
}

var f16ofE4M3 = func() (table [256]uint16) {
	for i := range table {
		table[i] = uint16(convert(RN, &fmtF16, &fmtE4M3, uint64(i)))
	}
	return table
}()
