package main

const (
	fracs = 1<<23 - 1
	sign  = 1 << 31
	one   = 127 << 23
	inf   = 0xff << 23
	nan   = 0x7fffffff
)

// approxFunctions generates the approximate functions, by the same steps as for amd64.
func (p *program) approxFunctions() {
	p.approx(ex2, approxEx2)
	p.approx(rcp, approxRcp)
	p.approx(sqrt, func(f *approximator, x v) (result, left v) { return approxRoot(f, x, false) })
	p.approx(rsqrt, func(f *approximator, x v) (result, left v) { return approxRoot(f, x, true) })
	p.approx(lg2, approxLg2)
	p.approx(sin, approxSinCos)
	p.approx(tanh, approxTanh)
}

// segment splits a 23-bit fraction into the segment, of bits bits, and the rest.
func segment(f *approximator, frac v, bits int) (index, rest v) {
	index, rest = f.fresh(), f.fresh()
	f.shift("USHR", 23-bits, "S4", index, frac)
	f.and(rest, frac, 1<<(23-bits)-1)
	return index, rest
}

// approxEx2 computes Ex2. All bits of mode are set if subnormal results are computed, and
// clear with .ftz.
func approxEx2(f *approximator, x v) (result, left v) {
	// If the result is subnormal, compute 2^(x/2) and square it.
	deep, ordered, t := f.fresh(), f.fresh(), f.fresh()
	f.three("FCMEQ", "S4", ordered, x, x)
	f.three("CMGT", "S4", deep, x, f.word(0xc2fc0000))
	f.three("AND", "B16", deep, deep, x)
	f.two("CMLT0", "S4", deep, deep)
	f.three("AND", "B16", deep, deep, modeV)
	f.and(t, deep, 1<<23)
	f.three("SUB", "S4", x, x, t)
	whole, frac := floor(f, x)
	index, rest := segment(f, frac, 6)
	r := f.fixed(index, rest, 23)
	f.and(r, r, fracs)
	f.or(r, r, one)
	high, low := frac, index
	f.three("CMGT", "S4", high, whole, f.word(127))
	f.three("CMGT", "S4", low, f.word(1<<32-126), whole)
	f.shift("SHL", 23, "S4", whole, whole)
	f.three("ADD", "S4", r, r, whole)
	f.three("BIT", "B16", r, f.word(inf), high)
	f.three("BIC", "B16", r, r, low)
	f.three("FMUL", "S4", t, r, r)
	f.three("BIT", "B16", r, t, deep)
	f.three("BIF", "B16", r, f.word(nan), ordered)
	return r, -1
}

// floor splits x into its floor and 23 bits of fraction, as the unit does: the fraction is
// truncated, and for a negative number it is complemented. A number that is at least 2^8
// becomes one between 2^8 and 2^9.
func floor(f *approximator, x v) (whole, frac v) {
	whole, frac = f.fresh(), f.fresh()
	defer f.scope()()
	exp, n, negative, none := f.fresh(), f.fresh(), f.fresh(), f.fresh()
	f.shift("USHR", 23, "S4", exp, x)
	f.and(exp, exp, 0xff)
	f.sub(exp, exp, 127)
	f.three("SMIN", "S4", exp, exp, f.word(8))
	f.and(n, x, fracs)
	f.or(n, n, 1<<23)
	f.three("USHL", "S4", n, n, exp) // to the right if exp is negative
	f.shift("USHR", 23, "S4", whole, n)
	f.and(frac, n, fracs)
	// The floor of a negative number is -whole, less one if there is a fraction: the
	// complement of whole. Then the fraction is complemented.
	f.two("CMLT0", "S4", negative, x)
	f.zero(none)
	f.three("CMEQ", "S4", none, frac, none)
	f.three("AND", "B16", none, none, negative)
	f.three("EOR", "B16", whole, whole, negative)
	f.three("SUB", "S4", whole, whole, none)
	f.three("BIC", "B16", negative, negative, none)
	f.three("EOR", "B16", frac, frac, negative)
	f.and(frac, frac, fracs)
	return whole, frac
}

// ordinary returns the exponents, and the lanes whose exponents are not those of a normal number.
func ordinary(f *approximator, x v) (exp, left v) {
	exp, left = f.fresh(), f.fresh()
	defer f.scope()()
	t := f.fresh()
	f.shift("USHR", 23, "S4", exp, x)
	f.and(exp, exp, 0xff)
	f.zero(left)
	f.three("CMEQ", "S4", left, exp, left)
	f.three("CMEQ", "S4", t, exp, f.word(0xff))
	f.three("ORR", "B16", left, left, t)
	return exp, left
}

// approxRcp computes Rcp. It leaves arguments and results that are not normal numbers.
func approxRcp(f *approximator, x v) (result, left v) {
	exp, left := ordinary(f, x)
	frac, small, t, zero := f.fresh(), f.fresh(), f.fresh(), f.fresh()
	f.and(frac, x, fracs)
	index, rest := segment(f, frac, 7)
	// The sum is between 1/2 and 1. One more bit is needed if it is less than 1.
	r := f.fixed(index, rest, 24)
	f.shift("USHR", 24, "S4", small, r) // 1 if the sum is 1, else 0
	f.zero(zero)
	f.three("SUB", "S4", t, zero, small)
	f.three("USHL", "S4", r, r, t)
	f.and(r, r, fracs)
	// The exponent is 126 - (exp - 127), plus one if the sum is 1.
	f.three("SUB", "S4", t, f.word(253), exp)
	f.three("ADD", "S4", t, t, small)
	f.three("CMGE", "S4", small, zero, t)
	f.three("ORR", "B16", left, left, small)
	f.shift("SHL", 23, "S4", t, t)
	f.three("ORR", "B16", r, r, t)
	f.and(t, x, sign)
	f.three("ORR", "B16", r, r, t)
	return r, left
}

// approxRoot computes Sqrt or, if inverse is set, Rsqrt. It leaves arguments that are not positive normal
// numbers. Rsqrt also leaves even powers of two.
func approxRoot(f *approximator, x v, inverse bool) (result, left v) {
	exp, left := ordinary(f, x)
	frac, odd, t := f.fresh(), f.fresh(), f.fresh()
	f.three("ORR", "B16", left, left, x) // negative numbers
	f.and(frac, x, fracs)
	f.sub(exp, exp, 127)
	f.and(odd, exp, 1)
	if inverse {
		f.shift("SHL", 31, "S4", t, odd)
		f.three("ORR", "B16", t, t, frac)
		f.three("CMEQ", "S4", t, t, f.word(0))
		f.three("ORR", "B16", left, left, t)
	}
	f.three("SUB", "S4", exp, exp, odd)
	f.shift("SHL", 6, "S4", odd, odd)
	index, rest := segment(f, frac, 6)
	f.three("ADD", "S4", index, index, odd)
	f.shift("SHL", 22, "S4", exp, exp) // half of the exponent, which is even
	if inverse {
		r := f.fixed(index, rest, 24)
		f.and(r, r, fracs)
		f.add(r, r, 126<<23)
		f.three("SUB", "S4", r, r, exp)
		return r, left
	}
	r := f.fixed(index, rest, 23)
	f.and(r, r, fracs)
	f.add(r, r, one)
	f.three("ADD", "S4", r, r, exp)
	return r, left
}

// approxLg2 computes Lg2. It leaves arguments that are not positive normal numbers, and 1.
func approxLg2(f *approximator, x v) (result, left v) {
	const cut = 3 // low bits of the sum that are dropped
	exp, left := ordinary(f, x)
	frac, t := f.fresh(), f.fresh()
	f.three("ORR", "B16", left, left, x)
	f.three("CMEQ", "S4", t, x, f.word(one))
	f.three("ORR", "B16", left, left, t)
	f.and(frac, x, fracs)
	f.sub(exp, exp, 127)
	index, rest := segment(f, frac, 6)
	s := f.eval(index, rest)
	whole, minus := frac, t
	for h, r := range s {
		// The exponent as a multiple of one, with its sign.
		f.two([]string{"SXTL", "SXTL2"}[h], []string{"S2", "S4"}[h], whole, exp)
		f.two("CMLT0", "D2", minus, whole)
		f.shift("SHL", f.weight, "D2", whole, whole)
		f.three("ADD", "D2", r, r, whole)
		f.three("EOR", "B16", r, r, minus)
		f.three("SUB", "D2", r, r, minus)
		f.shift("USHR", cut, "D2", r, r)
		f.shift("SHL", cut, "D2", r, r)
	}
	r := f.fromFixed(s)
	f.and(exp, exp, sign)
	f.three("ORR", "B16", r, r, exp)
	return r, left
}

// approxSinCos computes the sine, or with mode 1 the cosine.
func approxSinCos(f *approximator, x v) (result, left v) {
	const turns = 0x3e22f983 // 1/2π
	sig, exp, special, s := f.fresh(), f.fresh(), f.fresh(), f.fresh()
	f.and(sig, x, nan)
	f.shift("USHR", 23, "S4", exp, sig)
	f.three("CMEQ", "S4", special, exp, f.word(0xff))
	f.and(sig, sig, fracs)
	f.or(sig, sig, 1<<23)
	f.sub(exp, exp, 127+127-turns>>23+46-25)
	f.three("SMAX", "S4", exp, exp, f.word(1<<32-64)) // a shift has at most eight bits
	u := f.products(sig, f.word(turns&fracs|1<<23))
	for h, p := range u {
		f.turn(p, exp, h)
	}
	frac, quadrant, odd := f.merge(u), u[1], sig
	f.shift("USHR", 23, "S4", quadrant, frac)
	f.three("ADD", "S4", quadrant, quadrant, modeV)
	f.and(frac, frac, fracs)
	f.shift("SHL", 31, "S4", odd, quadrant)
	f.two("CMLT0", "S4", odd, odd)
	f.and(odd, odd, fracs)
	f.three("EOR", "B16", frac, frac, odd)
	// The sine has the sign of its argument, the cosine has not. The second half of a
	// turn changes the sign.
	f.shift("SHL", 31, "S4", s, modeV)
	f.three("BIC", "B16", s, x, s)
	f.shift("SHL", 30, "S4", quadrant, quadrant)
	f.three("EOR", "B16", s, s, quadrant)
	f.and(s, s, sign)
	index, rest := segment(f, frac, 6)
	r := f.fromFixed(f.eval(index, rest))
	f.three("ORR", "B16", r, r, s)
	f.three("BIT", "B16", r, f.word(nan), special)
	return r, -1
}

// turn truncates a product of 1/2π to 24 bits, and makes it 25 bits: the quadrant and the position in it.
// h is the half of exp that belongs to the product.
func (f *approximator) turn(p, exp v, h int) {
	defer f.scope()()
	top := f.fresh()
	f.shift("USHR", 47, "D2", top, p)
	f.shift("SHL", 23, "D2", top, top)
	f.three("ADD", "D2", top, top, f.quad(fracs))
	f.three("BIC", "B16", p, p, top)
	f.two([]string{"SXTL", "SXTL2"}[h], []string{"S2", "S4"}[h], top, exp)
	f.three("USHL", "D2", p, p, top) // to the right if exp is negative
	f.three("AND", "B16", p, p, f.quad(1<<25-1))
}

// The segments of tanh: see package sfu.
const tanhLeast = -8

var tanhSplit = []int{0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3}

// approxTanh computes Tanh.
func approxTanh(f *approximator, x v) (result, left v) {
	const last = 10
	var bases, splits [2]uint64
	base := uint64(0)
	for i, n := range tanhSplit {
		bases[i/8] |= base << (i % 8 * 8)
		splits[i/8] |= uint64(n) << (i % 8 * 8)
		base += 1 << n
	}
	e, small, large, at, n, ordered := f.fresh(), f.fresh(), f.fresh(), f.fresh(), f.fresh(), f.fresh()
	f.three("FCMEQ", "S4", ordered, x, x)
	f.and(e, x, nan)
	f.shift("USHR", 23, "S4", e, e)
	f.sub(e, e, 127+tanhLeast)
	f.three("CMGT", "S4", large, e, f.word(last))
	f.two("CMLT0", "S4", small, e)
	f.three("SMAX", "S4", e, e, f.word(0))
	f.three("SMIN", "S4", e, e, f.word(last))
	f.or(e, e, 0x80808000) // these bytes become zero
	f.op("VTBL %v.B16, [%v.B16], %v.B16", e, f.bytes16(bases), at)
	f.op("VTBL %v.B16, [%v.B16], %v.B16", e, f.bytes16(splits), n)
	rest, index := f.fresh(), f.fresh()
	f.add(rest, n, 9)
	f.three("USHL", "S4", rest, x, rest)
	f.shift("USHR", 15, "S4", rest, rest)
	f.sub(n, n, 23)
	f.and(index, x, fracs)
	f.three("USHL", "S4", index, index, n) // to the right
	f.three("ADD", "S4", index, index, at)
	r := f.fromFixed(f.eval(index, rest))
	f.three("BIT", "B16", r, f.word(one), large)
	f.and(at, x, sign)
	f.three("ORR", "B16", r, r, at)
	f.three("BIT", "B16", r, x, small)
	f.three("BIF", "B16", r, f.word(nan), ordered)
	return r, -1
}
