package sfu

import (
	"math"
	"math/bits"
)

const (
	nan    = 0x7fffffff
	inf    = 0x7f800000
	sign   = 1 << 31
	one    = 127 << 23
	fracs  = 1<<23 - 1
	expMax = 255
)

// flush replaces a subnormal with a zero of the same sign.
func flush(x uint32) uint32 {
	if x>>23&0xff == 0 {
		return x & sign
	}
	return x
}

func isNaN(x uint32) bool { return x&^sign > inf }

// normal splits a positive finite number: value = 1.frac · 2^exp. It scales a subnormal
// number first.
func normal(x uint32) (frac uint32, exp int) {
	if x>>23 == 0 {
		n := bits.LeadingZeros32(x) - 8
		return x << n & fracs, -126 - n
	}
	return x & fracs, int(x>>23) - 127
}

// Ex2 is ex2.approx.f32: 2 to the x.
func Ex2(x uint32, ftz bool) uint32 {
	const least = 0xc2fc0000 // -126
	switch {
	case isNaN(x):
		return nan
	case x&^sign == inf:
		if x&sign != 0 {
			return 0
		}
		return inf
	case x>>23&0xff == 0:
		return one
	}
	deep := x > least && !ftz // the result is subnormal: compute 2^(x/2) and square it
	if deep {
		x -= 1 << 23
	}
	whole, frac := fixed(x)
	i, rest := ex2Poly.segment(frac)
	sum := ex2Poly.eval(&ex2Table[i], rest)
	r := scale(one|uint32(sum>>(ex2Poly.weight-23))&fracs, whole)
	if deep {
		f := math.Float32frombits(r)
		return math.Float32bits(f * f)
	}
	return r
}

// fixed splits a normal number into its floor and 23 bits of fraction. The fraction is
// truncated. For a negative number it is complemented, not negated.
func fixed(x uint32) (whole int, frac uint32) {
	exp := int(x>>23&0xff) - 127
	v := uint64(x&fracs | 1<<23)
	if exp >= 0 {
		v <<= min(exp, 20) // 20 is enough to overflow
	} else {
		v >>= min(-exp, 24)
	}
	whole, frac = int(v>>23), uint32(v)&fracs
	if x&sign != 0 {
		if frac == 0 {
			return -whole, 0
		}
		return -whole - 1, ^frac & fracs
	}
	return whole, frac
}

// scale multiplies 1.f by a power of two. A result below the normal range is zero.
func scale(x uint32, n int) uint32 {
	switch {
	case n > 127:
		return inf
	case n < -126:
		return 0
	}
	return uint32(int(x) + n<<23)
}

// ldexp multiplies a normal positive number by a power of two. A result below the normal
// range is rounded to nearest even.
func ldexp(x uint32, n int) uint32 {
	if e := int(x>>23) + n; e > 0 && e < expMax {
		return uint32(int(x) + n<<23)
	}
	return math.Float32bits(float32(math.Ldexp(float64(math.Float32frombits(x)), n)))
}

// Rcp is rcp.approx.f32: 1/x.
func Rcp(x uint32, ftz bool) uint32 {
	if ftz {
		x = flush(x)
	}
	s := x & sign
	switch {
	case isNaN(x):
		return nan
	case x&^sign == inf:
		return s
	case x&^sign == 0:
		return s | inf
	}
	frac, exp := normal(x &^ sign)
	i, rest := rcpPoly.segment(frac)
	sum := rcpPoly.eval(&rcpTable[i], rest)
	e := uint32(127)
	if sum>>rcpPoly.weight == 0 {
		e--
		sum <<= 1
	}
	r := ldexp(e<<23|uint32(sum>>(rcpPoly.weight-23))&fracs, -exp)
	if ftz {
		r = flush(r)
	}
	return s | r
}

// Rsqrt is rsqrt.approx.f32: 1/√x.
func Rsqrt(x uint32, ftz bool) uint32 {
	if ftz {
		x = flush(x)
	}
	switch {
	case isNaN(x):
		return nan
	case x&^sign == 0:
		return x | inf
	case x&sign != 0:
		return nan
	case x == inf:
		return 0
	}
	frac, exp := normal(x)
	i, rest := rsqrtPoly.segment(frac)
	if exp&1 != 0 {
		exp--
		i += 1 << rsqrtPoly.m
	} else if frac == 0 {
		return ldexp(one, -exp/2)
	}
	sum := rsqrtPoly.eval(&rsqrtTable[i], rest) << 1
	return ldexp(126<<23|uint32(sum>>(rsqrtPoly.weight-23))&fracs, -exp/2)
}

// Sqrt is sqrt.approx.f32: √x.
func Sqrt(x uint32, ftz bool) uint32 {
	if ftz {
		x = flush(x)
	}
	switch {
	case isNaN(x):
		return nan
	case x&^sign == 0:
		return x
	case x&sign != 0:
		return nan
	case x == inf:
		return inf
	}
	frac, exp := normal(x)
	i, rest := sqrtPoly.segment(frac)
	if exp&1 != 0 {
		exp--
		i += 1 << sqrtPoly.m
	}
	sum := sqrtPoly.eval(&sqrtTable[i], rest)
	return ldexp(one|uint32(sum>>(sqrtPoly.weight-23))&fracs, exp/2)
}

// lg2Cut is the number of low bits of the logarithm's sum that are dropped.
const lg2Cut = 20

// Lg2 is lg2.approx.f32: the logarithm of x to base 2.
func Lg2(x uint32, ftz bool) uint32 {
	if ftz {
		x = flush(x)
	}
	switch {
	case isNaN(x):
		return nan
	case x&^sign == 0:
		return sign | inf
	case x&sign != 0:
		return nan
	case x == inf:
		return inf
	case x == one:
		return 0
	}
	if x>>23 == 0 { // scale a subnormal number by 2^24 and subtract 24 from the result
		r := Lg2(math.Float32bits(math.Float32frombits(x)*(1<<24)), false)
		return math.Float32bits(math.Float32frombits(r) - 24)
	}
	frac, exp := normal(x)
	i, rest := lg2Poly.segment(frac)
	sum := int64(lg2Poly.eval(&lg2Table[i], rest)) + int64(exp)<<lg2Poly.weight
	s := uint32(0)
	if exp < 0 {
		s, sum = sign, -sum
	}
	return s | fromFixed(uint64(sum)&^(1<<lg2Cut-1), lg2Poly.weight)
}

// fromFixed converts a fixed-point number with weight fraction bits to a float, truncated to
// 24 bits.
func fromFixed(v uint64, weight int) uint32 {
	if v == 0 {
		return 0
	}
	top := 63 - bits.LeadingZeros64(v)
	e := uint32(127 + top - weight)
	if top >= 23 {
		return e<<23 | uint32(v>>(top-23))&fracs
	}
	return e<<23 | uint32(v<<(23-top))&fracs
}

// turns is 1/2π. The argument of sin and cos is multiplied by it, rounded towards zero, before
// it reaches the unit.
const turns = 0x3e22f983

// Sin is sin.approx.f32.
func Sin(x uint32, ftz bool) uint32 { return sinCos(x, ftz, 0) }

// Cos is cos.approx.f32.
func Cos(x uint32, ftz bool) uint32 { return sinCos(x, ftz, 1) }

func sinCos(x uint32, ftz bool, shift uint32) uint32 {
	if isNaN(x) || x&^sign == inf {
		return nan
	}
	s := x & sign
	quadrant, frac := reduce(x&^sign, ftz)
	quadrant += shift
	if shift == 1 {
		s = 0 // the cosine does not depend on the sign
	}
	if quadrant&1 != 0 {
		frac = ^frac & fracs
	}
	if quadrant&2 != 0 {
		s ^= sign
	}
	i, rest := sinPoly.segment(frac)
	sum := sinPoly.eval(&sinTable[i], rest)
	return s | fromFixed(sum, sinPoly.weight)
}

// reduce converts a positive angle to a quadrant and 23 bits of the position in the quadrant.
func reduce(x uint32, ftz bool) (quadrant, frac uint32) {
	if x>>23 == 0 {
		return 0, 0
	}
	// The product of two 24-bit significands, truncated to 24 bits.
	p := uint64(x&fracs|1<<23) * uint64(turns&fracs|1<<23)
	exp := int(x>>23) - 127 + turns>>23 - 127 // p has 46 fraction bits
	top := 63 - bits.LeadingZeros64(p)
	p &^= 1<<(top-23) - 1
	// The product in units of 2^-25 of a turn: 2 bits of quadrant, 23 of fraction.
	n := exp - 46 + 25
	var u uint64
	switch {
	case n >= 40:
		return 0, 0
	case n >= 0:
		u = p << n
	case n > -64:
		u = p >> -n
	}
	return uint32(u>>23) & 3, uint32(u) & fracs
}

// The segments of the hyperbolic tangent depend on the exponent. tanhSplit holds, for each
// exponent from tanhLeast on, the base-2 logarithm of its number of segments. Below these
// exponents tanh x is x, above them it is 1.
const (
	tanhLeast    = -8
	tanhSegments = 51
)

var tanhSplit = [...]int{0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3}

// tanhSegment returns the segment of a positive argument, and 17 bits of its position in the
// segment.
func tanhSegment(x uint32) (index, rest uint32) {
	e := int(x>>23) - 127 - tanhLeast
	for _, n := range tanhSplit[:e] {
		index += 1 << n
	}
	n := 23 - tanhSplit[e]
	return index + x&fracs>>n, x & (1<<n - 1) >> (n - 17)
}

// Tanh is tanh.approx.f32. It has no .ftz form.
func Tanh(x uint32, _ bool) uint32 {
	s, a := x&sign, x&^sign
	switch e := int(a>>23) - 127; {
	case isNaN(x):
		return nan
	case e < tanhLeast:
		return x
	case e >= tanhLeast+len(tanhSplit):
		return s | one
	}
	i, rest := tanhSegment(a)
	return s | fromFixed(tanhPoly.eval(&tanhTable[i], rest), tanhPoly.weight)
}
