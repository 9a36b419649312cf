package scalar

import "math/bits"

// This file is the general implementation for all formats and rounding modes. Operands must
// not be NaN. A result is exact, or rounds in the same way as the exact result.

var invalid = value{kind: nan}

func mulValue(a, b value) value {
	neg := a.neg != b.neg
	switch {
	case a.kind == infinite || b.kind == infinite:
		if a.kind == zero || b.kind == zero {
			return invalid
		}
		return value{kind: infinite, neg: neg}
	case a.kind == zero || b.kind == zero:
		return value{kind: zero, neg: neg}
	}
	hi, lo := bits.Mul64(a.hi, b.hi)
	exp := a.exp + b.exp + 1
	if hi>>63 == 0 {
		hi, lo = hi<<1|lo>>63, lo<<1
		exp--
	}
	return value{neg: neg, exp: exp, hi: hi, lo: lo}
}

// addValue returns a+b. If the terms cancel to zero, the rounding mode determines the sign.
// At most one term may have more than 106 bits. Bits are then lost only if the terms cannot
// cancel.
func addValue(r Round, a, b value) value {
	switch {
	case a.kind == infinite && b.kind == infinite && a.neg != b.neg:
		return invalid
	case a.kind == infinite:
		return a
	case b.kind == infinite:
		return b
	case a.kind == zero && b.kind == zero:
		if a.neg != b.neg {
			a.neg = r == RM
		}
		return a
	case a.kind == zero:
		return b
	case b.kind == zero:
		return a
	}
	if a.exp < b.exp || a.exp == b.exp && (a.hi < b.hi || a.hi == b.hi && a.lo < b.lo) {
		a, b = b, a
	}
	if a.neg == b.neg {
		return addMagnitudes(a, b)
	}
	return subMagnitudes(r, a, b)
}

func addMagnitudes(a, b value) value {
	hi, lo := shiftRightJam(b.hi, b.lo, uint(a.exp-b.exp))
	lo, carry := bits.Add64(a.lo, lo, 0)
	hi, carry = bits.Add64(a.hi, hi, carry)
	if carry != 0 {
		hi, lo = hi>>1|1<<63, hi<<63|lo>>1|lo&1
		a.exp++
	}
	a.hi, a.lo = hi, lo
	return a
}

// subMagnitudes returns a-b for |a| ≥ |b|.
func subMagnitudes(r Round, a, b value) value {
	hi, lo := shiftRightJam(b.hi, b.lo, uint(a.exp-b.exp))
	lo, borrow := bits.Sub64(a.lo, lo, 0)
	hi, _ = bits.Sub64(a.hi, hi, borrow)
	if hi|lo == 0 {
		return value{kind: zero, neg: r == RM}
	}
	if hi == 0 {
		hi, lo = lo, 0
		a.exp -= 64
	}
	n := bits.LeadingZeros64(hi)
	a.hi, a.lo = hi<<n|lo>>(64-n), lo<<n
	a.exp -= n
	return a
}

// shiftRightJam shifts right and sets the last bit if a set bit was lost.
func shiftRightJam(hi, lo uint64, n uint) (uint64, uint64) {
	switch {
	case n == 0:
		return hi, lo
	case n < 64:
		return hi >> n, hi<<(64-n) | lo>>n | jam(lo<<(64-n))
	case n < 128:
		return 0, hi>>(n-64) | jam(hi<<(128-n)|lo)
	}
	return 0, 1
}

func jam(lost uint64) uint64 {
	if lost != 0 {
		return 1
	}
	return 0
}

func divValue(a, b value) value {
	neg := a.neg != b.neg
	switch {
	case a.kind == b.kind && a.kind != finite:
		return invalid
	case a.kind == infinite || b.kind == zero:
		return value{kind: infinite, neg: neg}
	case a.kind == zero || b.kind == infinite:
		return value{kind: zero, neg: neg}
	}
	// Halve the dividend, so that the quotient is between 1/4 and 1 and fits in 64 bits. It
	// has at least 62 significant bits, which is enough for all formats.
	hi, rem := bits.Div64(a.hi>>1, a.hi<<63, b.hi)
	exp := a.exp - b.exp
	if hi>>63 == 0 {
		hi <<= 1
		exp--
	}
	return value{neg: neg, exp: exp, hi: hi, lo: rem}
}

func sqrtValue(a value) value {
	switch {
	case a.kind == zero:
		return a
	case a.neg:
		return invalid
	case a.kind == infinite:
		return a
	}
	// An even exponent can be halved exactly. For an odd exponent, a factor of two moves into
	// the significand.
	hi, lo := a.hi, uint64(0)
	if a.exp&1 == 0 {
		hi, lo = a.hi>>1, a.hi<<63
	}
	root, exact := sqrt128(hi, lo)
	v := value{exp: a.exp >> 1, hi: root}
	if !exact {
		v.lo = 1
	}
	return v
}

// sqrt128 returns the integer square root of hi:lo, which must be at least 2^126, and whether
// it is exact. It computes one bit at a time, from the top.
func sqrt128(hi, lo uint64) (root uint64, exact bool) {
	for bit := uint64(1) << 63; bit != 0; bit >>= 1 {
		try := root | bit
		h, l := bits.Mul64(try, try)
		if h < hi || h == hi && l <= lo {
			root = try
		}
	}
	h, l := bits.Mul64(root, root)
	return root, h == hi && l == lo
}

// The operations on bits. No operand may be a NaN: callers handle NaNs, because the rules
// differ between formats.

func (f *format) add(r Round, a, b uint64) uint64 {
	return f.pack(r, addValue(r, f.unpack(a), f.unpack(b)))
}

func (f *format) mul(r Round, a, b uint64) uint64 {
	return f.pack(r, mulValue(f.unpack(a), f.unpack(b)))
}

func (f *format) fma(r Round, a, b, c uint64) uint64 {
	p := mulValue(f.unpack(a), f.unpack(b))
	if p.kind == nan {
		return f.nan
	}
	return f.pack(r, addValue(r, p, f.unpack(c)))
}

func (f *format) div(r Round, a, b uint64) uint64 {
	return f.pack(r, divValue(f.unpack(a), f.unpack(b)))
}

func (f *format) sqrt(r Round, a uint64) uint64 {
	return f.pack(r, sqrtValue(f.unpack(a)))
}
