package hopper

import "github.com/GOATnote-Inc/attest/build"

// exp2 is 2^x for x up to 8, of a lane's element i: most on the special function units,
// which do 16 a clock, and some by a polynomial on the FMA units, which do 128 and have
// time to spare.
func (g *gen) exp2(i int, x build.F32) build.F32 {
	if n := g.c.Polynomial; n > 0 && i%n == n-1 {
		return g.polynomialExp2(x)
	}
	return x.Ex2Approx(build.Ftz)
}

// exp2Poly approximates 2^f on [-½, ½] to 1.7e-3 of its value: a thirtieth of what
// rounding to e4m3 costs.
var exp2Poly = [3]float32{1.00044314, 0.70344801, 0.23842894}

// polynomialExp2 is 2^x on the FMA units: with i the whole number nearest x and f = x-i
// it is 2^f by a polynomial times 2^i by its exponent. Adding 1.5·2^23+127 rounds x and
// leaves i+127, the exponent's code, in the low bits of the sum. Below -40, where P has
// long rounded to zero, the result is that of -40. A NaN stays one.
func (g *gen) polynomialExp2(x build.F32) build.F32 {
	k := g.k
	const magic = 1.5*(1<<23) + 127
	x = x.Max(k.F32(-40), build.NaN)
	code := x.Add(k.F32(magic), build.Rn)
	f := x.Sub(code.Sub(k.F32(magic), build.Rn), build.Rn)
	p := k.F32(exp2Poly[2]).FmaRn(f, k.F32(exp2Poly[1])).FmaRn(f, k.F32(exp2Poly[0]))
	return p.Mul(build.Cast[build.F32](build.Cast[build.U32](code).Shl(k.U32(23))), build.Rn)
}
