package scalar

import "math"

// The CPU and the GPU return different NaNs: see nanF64.

// AddF64 is add.rn.f64.
func AddF64(a, b uint64) uint64 {
	x := math.Float64frombits(a) + math.Float64frombits(b)
	if x != x {
		return nanF64(b, a, a)
	}
	return math.Float64bits(x)
}

// SubF64 is sub.rn.f64.
func SubF64(a, b uint64) uint64 {
	x := math.Float64frombits(a) - math.Float64frombits(b)
	if x != x {
		return nanF64(b, a, a)
	}
	return math.Float64bits(x)
}

// MulF64 is mul.rn.f64.
func MulF64(a, b uint64) uint64 {
	x := math.Float64frombits(a) * math.Float64frombits(b)
	if x != x {
		return nanF64(b, a, a)
	}
	return math.Float64bits(x)
}

// FmaF64 is fma.rn.f64 (and mad.rn.f64, which is the same).
func FmaF64(a, b, c uint64) uint64 {
	x := math.FMA(math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c))
	if x != x {
		return nanF64(b, c, a)
	}
	return math.Float64bits(x)
}

// DivF64 is div.rn.f64.
func DivF64(a, b uint64) uint64 {
	x := math.Float64frombits(a) / math.Float64frombits(b)
	if x != x {
		return nanF64(a, b, b)
	}
	return math.Float64bits(x)
}

// RcpF64 is rcp.rn.f64.
func RcpF64(a uint64) uint64 { return settleF64(1/math.Float64frombits(a), a) }

// SqrtF64 is sqrt.rn.f64.
func SqrtF64(a uint64) uint64 { return settleF64(math.Sqrt(math.Float64frombits(a)), a) }

// settleF64 returns the bits of x, the result of an operation on a, or the GPU's NaN if x is
// a NaN.
func settleF64(x float64, a uint64) uint64 {
	if x != x {
		return nanF64(a, a, a)
	}
	return math.Float64bits(x)
}

// AddF64R is add.f64 in any rounding.
func AddF64R(r Round, a, b uint64) uint64 {
	if IsNaNF64(a) || IsNaNF64(b) {
		return nanF64(b, a, a)
	}
	return fmtF64.add(r, a, b)
}

// SubF64R is sub.f64 in any rounding.
func SubF64R(r Round, a, b uint64) uint64 {
	if IsNaNF64(a) || IsNaNF64(b) {
		return nanF64(b, a, a)
	}
	return fmtF64.add(r, a, b^1<<63)
}

// MulF64R is mul.f64 in any rounding.
func MulF64R(r Round, a, b uint64) uint64 {
	if IsNaNF64(a) || IsNaNF64(b) {
		return nanF64(b, a, a)
	}
	return fmtF64.mul(r, a, b)
}

// FmaF64R is fma.f64 in any rounding.
func FmaF64R(r Round, a, b, c uint64) uint64 {
	if IsNaNF64(a) || IsNaNF64(b) || IsNaNF64(c) {
		return nanF64(b, c, a)
	}
	return fmtF64.fma(r, a, b, c)
}

// DivF64R is div.f64 in any rounding.
func DivF64R(r Round, a, b uint64) uint64 {
	if IsNaNF64(a) || IsNaNF64(b) {
		return nanF64(a, b, b)
	}
	return fmtF64.div(r, a, b)
}

// RcpF64R is rcp.f64 in any rounding.
func RcpF64R(r Round, a uint64) uint64 {
	if IsNaNF64(a) {
		return nanF64(a, a, a)
	}
	return fmtF64.div(r, 0x3ff0000000000000, a)
}

// SqrtF64R is sqrt.f64 in any rounding.
func SqrtF64R(r Round, a uint64) uint64 {
	if IsNaNF64(a) {
		return nanF64(a, a, a)
	}
	return fmtF64.sqrt(r, a)
}
