package part

import "github.com/GOATnote-Inc/attest/build"

// Exp2 computes powers of two. The special function units do 16 per clock and SM, the
// FMA units 128 operations: a kernel that waits for the former can give a share of its
// exponentials to the latter.
type Exp2 struct {
	// Every computes one exponential in this many by Polynomial: 0 computes none, 1 all.
	Every      int
	Polynomial Polynomial
}

// Element returns 2^x for element i of a lane. The elements i with i%Every == Every-1 use
// the polynomial.
func (e Exp2) Element(k *build.Kernel, i int, x build.F32) build.F32 {
	if e.Every > 0 && i%e.Every == e.Every-1 {
		return e.Polynomial.Exp2(k, x)
	}
	return x.Ex2Approx(build.Ftz)
}

// Factor returns 2^x for the factor of a row. It uses the polynomial only when all
// elements do: there are few such factors.
func (e Exp2) Factor(k *build.Kernel, x build.F32) build.F32 {
	if e.Every == 1 {
		return e.Polynomial.Exp2(k, x)
	}
	return x.Ex2Approx(build.Ftz)
}

// Polynomial approximates 2^f on [-½, ½] by its coefficients, the constant first. From
// Least down, 2^x is that of Least.
type Polynomial struct {
	Coefficients []float32
	Least        float32
}

// Polynomials by the type that weights are rounded to.
var (
	// ForE4M3 has an error of 1.7e-3 of the value: a thirtieth of what rounding to e4m3
	// costs. Weights below 2^-40 have long rounded to zero.
	ForE4M3 = Polynomial{[]float32{1.00044314, 0.70344801, 0.23842894}, -40}
	// ForF16 has an error of 3e-6 of the value: less than a hundredth of what rounding to
	// f16 costs. Its constant is 1, so that 2^0 is exact, and from -127 down the result
	// is 0.
	ForF16 = Polynomial{[]float32{1, 0.69312419, 0.24024099, 0.05590642, 0.00958286}, -127}
)

// Exp2 returns 2^x for x up to about 100. With i the integer nearest to x and f = x-i,
// 2^f comes from the polynomial and 2^i from an exponent field. Adding 1.5·2^23+127 rounds
// x and leaves i+127, the biased exponent, in the low bits of the sum. A NaN stays a NaN:
// max.NaN keeps it, and it is in f.
func (p Polynomial) Exp2(k *build.Kernel, x build.F32) build.F32 {
	const magic = 1.5*(1<<23) + 127
	x = x.Max(p.Least, build.NaN)
	biased := x.Add(magic, build.Rn)
	f := x.Sub(biased.Sub(magic, build.Rn), build.Rn)
	last := len(p.Coefficients) - 1
	y := k.F32(p.Coefficients[last])
	for i := last - 1; i >= 0; i-- {
		y = y.FmaRn(f, p.Coefficients[i])
	}
	return y.Mul(build.Cast[build.F32](build.Cast[build.U32](biased).Shl(23)), build.Rn)
}
