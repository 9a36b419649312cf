package scalar

import (
	"math"
	"math/bits"
)

// Int is an integer type of PTX.
type Int uint8

// The integer types. The low two bits give the width, the third the signedness.
const (
	U8 Int = iota
	U16
	U32
	U64
	S8
	S16
	S32
	S64
)

// Bits returns the width in bits.
func (t Int) Bits() int { return 8 << (t & 3) }

// Signed reports whether the type has negative values.
func (t Int) Signed() bool { return t >= S8 }

// String returns the name in PTX without the dot.
func (t Int) String() string {
	if t > S64 {
		return "Int(?)"
	}
	return [...]string{"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"}[t]
}

// Extend extends the low bits of x, a value of the type, to 64 bits with its sign or with
// zeros.
func (t Int) Extend(x uint64) uint64 {
	n := 64 - t.Bits()
	if t.Signed() {
		return uint64(int64(x<<n) >> n)
	}
	return x << n >> n
}

// max returns the largest value of the type.
func (t Int) max() uint64 {
	if t.Signed() {
		return 1<<(t.Bits()-1) - 1
	}
	return math.MaxUint64 >> (64 - t.Bits())
}

// min returns the smallest value of the type, extended to 64 bits.
func (t Int) min() uint64 {
	if t.Signed() {
		return ^t.max()
	}
	return 0
}

// CvtInt is cvt between integer types. The low bits of x are a value of type src. The result
// is a value of type dst, extended to 64 bits as PTX extends it in a wider register.
func CvtInt(dst, src Int, x uint64) uint64 { return dst.Extend(src.Extend(x)) }

// CvtIntSat is cvt.sat between integer types: a value outside the range of dst is clamped.
func CvtIntSat(dst, src Int, x uint64) uint64 {
	x = src.Extend(x)
	if src.Signed() && int64(x) < 0 {
		if !dst.Signed() {
			return 0
		}
		return uint64(max(int64(x), int64(dst.min())))
	}
	return min(x, dst.max())
}

// CvtF32Int is cvt.rn.f32 from an integer type.
func CvtF32Int(src Int, x uint64) uint32 {
	x = src.Extend(x)
	if src.Signed() {
		return math.Float32bits(float32(int64(x)))
	}
	return math.Float32bits(float32(x))
}

// CvtF64Int is cvt.rn.f64 from an integer type.
func CvtF64Int(src Int, x uint64) uint64 {
	x = src.Extend(x)
	if src.Signed() {
		return math.Float64bits(float64(int64(x)))
	}
	return math.Float64bits(float64(x))
}

// CvtF64IntR is cvt.f64 from an integer type in any rounding.
func CvtF64IntR(r Round, src Int, x uint64) uint64 { return fmtF64.pack(r, intValue(src, x)) }

// CvtF32IntR is cvt.f32 from an integer type in any rounding.
func CvtF32IntR(r Round, src Int, x uint64) uint32 { return uint32(fmtF32.pack(r, intValue(src, x))) }

// CvtF16IntR is cvt.f16 from an integer type in any rounding.
func CvtF16IntR(r Round, src Int, x uint64) uint16 { return uint16(fmtF16.pack(r, intValue(src, x))) }

// CvtBF16IntR is cvt.bf16 from an integer type in any rounding.
func CvtBF16IntR(r Round, src Int, x uint64) uint16 {
	return uint16(fmtBF16.pack(r, intValue(src, x)))
}

func intValue(src Int, x uint64) value {
	x = src.Extend(x)
	if x == 0 {
		return value{kind: zero}
	}
	v := value{neg: src.Signed() && int64(x) < 0}
	if v.neg {
		x = -x
	}
	lead := bits.LeadingZeros64(x)
	v.exp, v.hi = 63-lead, x<<lead
	return v
}
