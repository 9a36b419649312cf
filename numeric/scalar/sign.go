package scalar

// NegF32 is neg.f32.
func NegF32(a uint32) uint32 { return canonicalF32(a ^ 0x80000000) }

// AbsF32 is abs.f32.
func AbsF32(a uint32) uint32 { return canonicalF32(a &^ 0x80000000) }

// canonicalF32 returns a, or the canonical NaN if a is a NaN. Operations that only change the
// sign need it, because the hardware computes them in the adder, which replaces a NaN.
func canonicalF32(a uint32) uint32 {
	if IsNaNF32(a) {
		return NaNF32
	}
	return a
}

// NegF64 is neg.f64. A NaN keeps its sign.
func NegF64(a uint64) uint64 {
	if IsNaNF64(a) {
		return nanF64(a, a, a)
	}
	return a ^ 1<<63
}

// AbsF64 is abs.f64. A NaN keeps its sign.
func AbsF64(a uint64) uint64 {
	if IsNaNF64(a) {
		return nanF64(a, a, a)
	}
	return a &^ (1 << 63)
}

// NegF16 is neg.f16.
func NegF16(a uint16) uint16 { return canonical16(IsNaNF16(a), a^0x8000) }

// AbsF16 is abs.f16.
func AbsF16(a uint16) uint16 { return canonical16(IsNaNF16(a), a&0x7fff) }

// NegBF16 is neg.bf16.
func NegBF16(a uint16) uint16 { return canonical16(IsNaNBF16(a), a^0x8000) }

// AbsBF16 is abs.bf16.
func AbsBF16(a uint16) uint16 { return canonical16(IsNaNBF16(a), a&0x7fff) }

func canonical16(isNaN bool, a uint16) uint16 {
	if isNaN {
		return NaNF16
	}
	return a
}

// CopysignF32 is copysign.f32: the sign of a and the magnitude of b. It preserves the bits of
// a NaN.
func CopysignF32(a, b uint32) uint32 { return a&0x80000000 | b&0x7fffffff }

// CopysignF64 is copysign.f64.
func CopysignF64(a, b uint64) uint64 { return a&(1<<63) | b&(1<<63-1) }

// Property is a property of a number that testp tests.
type Property uint8

// The properties. As in PTX, zero counts as normal.
const (
	Finite Property = iota
	Infinite
	Number
	NotANumber
	Normal
	Subnormal
)

// TestpF32 is testp.f32.
func TestpF32(p Property, a uint32) bool { return testp(p, &fmtF32, uint64(a&0x7fffffff)) }

// TestpF64 is testp.f64.
func TestpF64(p Property, a uint64) bool { return testp(p, &fmtF64, a&(1<<63-1)) }

func testp(p Property, f *format, mag uint64) bool {
	subnormal := mag != 0 && mag < 1<<f.frac
	switch p {
	case Finite:
		return mag < f.inf
	case Infinite:
		return mag == f.inf
	case Number:
		return mag <= f.inf
	case NotANumber:
		return mag > f.inf
	case Normal:
		return mag < f.inf && !subnormal
	}
	return subnormal
}
