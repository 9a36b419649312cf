package scalar

import "math"

// AddF32 is add.rn.f32.
func AddF32(a, b uint32) uint32 {
	return canonF32(math.Float32frombits(a) + math.Float32frombits(b))
}

// SubF32 is sub.rn.f32.
func SubF32(a, b uint32) uint32 {
	return canonF32(math.Float32frombits(a) - math.Float32frombits(b))
}

// MulF32 is mul.rn.f32.
func MulF32(a, b uint32) uint32 {
	return canonF32(math.Float32frombits(a) * math.Float32frombits(b))
}

// DivF32 is div.rn.f32.
func DivF32(a, b uint32) uint32 {
	return canonF32(math.Float32frombits(a) / math.Float32frombits(b))
}

// RcpF32 is rcp.rn.f32.
func RcpF32(a uint32) uint32 { return canonF32(1 / math.Float32frombits(a)) }

// SqrtF32 is sqrt.rn.f32. It rounds the root in f64 again. An f64 has more than twice the
// precision of f32, so the second rounding gives the right result.
func SqrtF32(a uint32) uint32 {
	return canonF32(float32(math.Sqrt(float64(math.Float32frombits(a)))))
}

func canonF32(x float32) uint32 {
	if x != x {
		return NaNF32
	}
	return math.Float32bits(x)
}

// FmaF32 is fma.rn.f32 (and mad.rn.f32, which is the same).
//
// The product is exact in f64, so the sum is rounded once, to 53 bits. The second rounding,
// to 24 bits, is wrong only if the first rounding gave a number half way between two f32.
// The slow path handles these sums, and results that are not normal f32 numbers.
func FmaF32(a, b, c uint32) uint32 {
	s := float64(math.Float32frombits(a))*float64(math.Float32frombits(b)) + float64(math.Float32frombits(c))
	u := math.Float64bits(s)
	if u&(1<<29-1) == 1<<28 || u<<1-minNormalF32<<1 >= normalsF32<<1 {
		return fmaF32(a, b, c, s)
	}
	return math.Float32bits(float32(s))
}

const (
	minNormalF32 = (1023 - 126) << 52 // 2^-126, the smallest normal f32, as an f64
	normalsF32   = 254 << 52          // from there to infinity
)

func fmaF32(a, b, c uint32, s float64) uint32 {
	switch {
	case s == 0:
		// The sum cannot underflow in f64, so this zero is exact.
		return math.Float32bits(float32(s))
	case IsNaNF32(a) || IsNaNF32(b) || IsNaNF32(c):
		return NaNF32
	}
	return uint32(fmtF32.fma(RN, uint64(a), uint64(b), uint64(c)))
}

// AddF32R is add.f32 in any rounding.
func AddF32R(r Round, a, b uint32) uint32 { return FmaF32R(r, a, 0x3f800000, b) }

// SubF32R is sub.f32 in any rounding.
func SubF32R(r Round, a, b uint32) uint32 { return AddF32R(r, a, b^0x80000000) }

// MulF32R is mul.f32 in any rounding.
func MulF32R(r Round, a, b uint32) uint32 {
	p := float64(math.Float32frombits(a)) * float64(math.Float32frombits(b))
	if d, ok := directF32(r, math.Float64bits(p)); ok {
		return d
	}
	if IsNaNF32(a) || IsNaNF32(b) {
		return NaNF32
	}
	return uint32(fmtF32.mul(r, uint64(a), uint64(b)))
}

// FmaF32R is fma.f32 in any rounding.
func FmaF32R(r Round, a, b, c uint32) uint32 {
	p, z := float64(math.Float32frombits(a))*float64(math.Float32frombits(b)), float64(math.Float32frombits(c))
	if d, ok := directF32(r, addOdd(p, z)); ok {
		return d
	}
	if IsNaNF32(a) || IsNaNF32(b) || IsNaNF32(c) {
		return NaNF32
	}
	return uint32(fmtF32.fma(r, uint64(a), uint64(b), uint64(c)))
}

// addOdd returns x+y rounded to odd: truncated to 53 bits, with the last bit set if bits were
// lost. This can be rounded correctly to 24 bits in any rounding mode.
func addOdd(x, y float64) uint64 {
	s := x + y
	t := s - x
	lost := (x - (s - t)) + (y - t)
	u := math.Float64bits(s)
	if lost != 0 && u&1 == 0 {
		// Step from the even number to the odd neighbour on the side of the lost part.
		u += uint64(int64(math.Float64bits(lost)^u)>>63) | 1
	}
	return u
}

// directF32 rounds an f64 that is exact, or a result of addOdd, to a normal f32. ok is false
// for other results and for rounding to nearest, which need the general implementation.
func directF32(r Round, u uint64) (d uint32, ok bool) {
	if r == RN || r == RNA || u<<1-minNormalF32<<1 >= (normalsF32-1<<52)<<1 {
		return 0, false
	}
	d = uint32(u>>63)<<31 | uint32((u<<1>>1-rebiasF32)>>29)
	if u&(1<<29-1) != 0 && (r == RP && u>>63 == 0 || r == RM && u>>63 != 0) {
		d++
	}
	return d, true
}

// DivF32R is div.f32 in any rounding.
func DivF32R(r Round, a, b uint32) uint32 {
	if IsNaNF32(a) || IsNaNF32(b) {
		return NaNF32
	}
	return uint32(fmtF32.div(r, uint64(a), uint64(b)))
}

// RcpF32R is rcp.f32 in any rounding.
func RcpF32R(r Round, a uint32) uint32 { return DivF32R(r, 0x3f800000, a) }

// SqrtF32R is sqrt.f32 in any rounding.
func SqrtF32R(r Round, a uint32) uint32 {
	if IsNaNF32(a) {
		return NaNF32
	}
	return uint32(fmtF32.sqrt(r, uint64(a)))
}
