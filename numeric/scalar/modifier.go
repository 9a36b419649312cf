package scalar

// FtzF32 is .ftz: a subnormal becomes a zero with the same sign. Apply it to each operand
// and to the result of a sum. For products see [MulFtzF32].
func FtzF32(a uint32) uint32 {
	if a&0x7f800000 == 0 {
		return a & 0x80000000
	}
	return a
}

// FtzF16 is .ftz for f16. bf16 has no .ftz.
func FtzF16(a uint16) uint16 {
	if a&0x7c00 == 0 {
		return a & 0x8000
	}
	return a
}

// SatF32 is .sat: the result clamped to [0, 1]. A NaN and a negative zero become
// positive zero.
func SatF32(a uint32) uint32 {
	switch {
	case a>>31 != 0 || a > 0x7f800000:
		return 0
	case a > 0x3f800000:
		return 0x3f800000
	}
	return a
}

// SatF64 is .sat of a conversion to f64.
func SatF64(a uint64) uint64 {
	switch {
	case a>>63 != 0 || a > 0x7ff0000000000000:
		return 0
	case a > 0x3ff0000000000000:
		return 0x3ff0000000000000
	}
	return a
}

// SatF16 is .sat for f16.
func SatF16(a uint16) uint16 { return sat16(a, 0x7c00, 0x3c00) }

// SatBF16 is .sat for bf16. Only conversions to bf16 have it.
func SatBF16(a uint16) uint16 { return sat16(a, 0x7f80, 0x3f80) }

func sat16(a, inf, one uint16) uint16 {
	switch {
	case a>>15 != 0 || a > inf:
		return 0
	case a > one:
		return one
	}
	return a
}

// ReluF16 is .relu: a negative number becomes positive zero, and a NaN becomes the canonical
// NaN.
func ReluF16(a uint16) uint16 {
	if IsNaNF16(a) {
		return NaNF16
	}
	return relu(a, 15)
}

// ReluBF16 is .relu for bf16.
func ReluBF16(a uint16) uint16 {
	if IsNaNBF16(a) {
		return NaNBF16
	}
	return relu(a, 15)
}

// ReluTF32 is .relu for tf32.
func ReluTF32(a uint32) uint32 {
	if IsNaNF32(a) {
		return NaNTF32
	}
	return relu(a, 31)
}

// ReluE4M3 is .relu for e4m3.
func ReluE4M3(a uint8) uint8 {
	if a&0x7f > fmtE4M3Max {
		return NaNE4M3
	}
	return relu(a, 7)
}

// ReluE5M2 is .relu for e5m2.
func ReluE5M2(a uint8) uint8 {
	if a&0x7f > fmtE5M2Inf {
		return NaNE5M2
	}
	return relu(a, 7)
}

func relu[T uint8 | uint16 | uint32](a T, sign int) T {
	if a>>sign != 0 {
		return 0
	}
	return a
}

// SatfiniteF16 is .satfinite: an infinity becomes the largest finite number.
func SatfiniteF16(a uint16) uint16 { return satfinite(a, 0x7c00) }

// SatfiniteBF16 is .satfinite for bf16.
func SatfiniteBF16(a uint16) uint16 { return satfinite(a, 0x7f80) }

func satfinite(a, inf uint16) uint16 {
	if a&0x7fff == inf {
		return a - 1
	}
	return a
}
