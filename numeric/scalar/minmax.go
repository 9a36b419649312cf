package scalar

import "math"

// If one operand is a NaN, the minimum or maximum is the other operand. With .NaN it is the
// canonical NaN. Negative zero is less than positive zero, as in Go. With .xorsign.abs the
// magnitudes are compared, and the sign of the result is the product of the signs.

// MinF32 is min.f32.
func MinF32(a, b uint32) uint32 {
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	switch {
	case x != x:
		return canonF32(y)
	case y != y:
		return a
	}
	return math.Float32bits(min(x, y))
}

// MaxF32 is max.f32.
func MaxF32(a, b uint32) uint32 {
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	switch {
	case x != x:
		return canonF32(y)
	case y != y:
		return a
	}
	return math.Float32bits(max(x, y))
}

// MinNaNF32 is min.NaN.f32.
func MinNaNF32(a, b uint32) uint32 {
	return canonF32(min(math.Float32frombits(a), math.Float32frombits(b)))
}

// MaxNaNF32 is max.NaN.f32.
func MaxNaNF32(a, b uint32) uint32 {
	return canonF32(max(math.Float32frombits(a), math.Float32frombits(b)))
}

// XorSignF32 returns the result of .xorsign.abs. d is the minimum or maximum of |a| and |b|.
func XorSignF32(d, a, b uint32) uint32 {
	if IsNaNF32(d) {
		return d
	}
	return d&0x7fffffff | (a^b)&0x80000000
}

// MinF64 is min.f64.
func MinF64(a, b uint64) uint64 {
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	switch {
	case x != x:
		return otherF64(a, b)
	case y != y:
		return a
	}
	return math.Float64bits(min(x, y))
}

// MaxF64 is max.f64.
func MaxF64(a, b uint64) uint64 {
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	switch {
	case x != x:
		return otherF64(a, b)
	case y != y:
		return a
	}
	return math.Float64bits(max(x, y))
}

// The 16-bit formats differ only in the bits of NaNs.

// MinF16 is min.f16.
func MinF16(a, b uint16) uint16 {
	if IsNaNF16(a) || IsNaNF16(b) {
		return other16(IsNaNF16(a), IsNaNF16(b), a, b)
	}
	return choose(order16(a) < order16(b), a, b)
}

// MaxF16 is max.f16.
func MaxF16(a, b uint16) uint16 {
	if IsNaNF16(a) || IsNaNF16(b) {
		return other16(IsNaNF16(a), IsNaNF16(b), a, b)
	}
	return choose(order16(a) > order16(b), a, b)
}

// MinNaNF16 is min.NaN.f16.
func MinNaNF16(a, b uint16) uint16 {
	if IsNaNF16(a) || IsNaNF16(b) {
		return NaNF16
	}
	return choose(order16(a) < order16(b), a, b)
}

// MaxNaNF16 is max.NaN.f16.
func MaxNaNF16(a, b uint16) uint16 {
	if IsNaNF16(a) || IsNaNF16(b) {
		return NaNF16
	}
	return choose(order16(a) > order16(b), a, b)
}

// XorSignF16 returns the result of .xorsign.abs. d is the minimum or maximum of |a| and |b|.
func XorSignF16(d, a, b uint16) uint16 {
	if IsNaNF16(d) {
		return d
	}
	return d&0x7fff | (a^b)&0x8000
}

// MinBF16 is min.bf16.
func MinBF16(a, b uint16) uint16 {
	if IsNaNBF16(a) || IsNaNBF16(b) {
		return other16(IsNaNBF16(a), IsNaNBF16(b), a, b)
	}
	return choose(order16(a) < order16(b), a, b)
}

// MaxBF16 is max.bf16.
func MaxBF16(a, b uint16) uint16 {
	if IsNaNBF16(a) || IsNaNBF16(b) {
		return other16(IsNaNBF16(a), IsNaNBF16(b), a, b)
	}
	return choose(order16(a) > order16(b), a, b)
}

// MinNaNBF16 is min.NaN.bf16.
func MinNaNBF16(a, b uint16) uint16 {
	if IsNaNBF16(a) || IsNaNBF16(b) {
		return NaNBF16
	}
	return choose(order16(a) < order16(b), a, b)
}

// MaxNaNBF16 is max.NaN.bf16.
func MaxNaNBF16(a, b uint16) uint16 {
	if IsNaNBF16(a) || IsNaNBF16(b) {
		return NaNBF16
	}
	return choose(order16(a) > order16(b), a, b)
}

// XorSignBF16 returns the result of .xorsign.abs. d is the minimum or maximum of |a| and
// |b|.
func XorSignBF16(d, a, b uint16) uint16 {
	if IsNaNBF16(d) {
		return d
	}
	return d&0x7fff | (a^b)&0x8000
}

// otherF64 returns the operand that is not the NaN.
func otherF64(a, b uint64) uint64 {
	if IsNaNF64(b) {
		return nanF64(b, b, b)
	}
	return b
}

// other16 returns the operand that is not a NaN. If both are NaNs, it returns the canonical
// NaN, which is the same for f16 and bf16.
func other16(nanA, nanB bool, a, b uint16) uint16 {
	switch {
	case !nanB:
		return b
	case !nanA:
		return a
	}
	return NaNF16
}

// order16 maps the bits of a number to an integer with the same order. Negative zero comes
// before positive zero.
func order16(a uint16) int16 { return int16(a) ^ int16(a)>>15&0x7fff }

func choose(first bool, a, b uint16) uint16 {
	if first {
		return a
	}
	return b
}
