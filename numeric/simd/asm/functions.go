package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	fracs = 1<<23 - 1
	sign  = 1 << 31
	one   = 127 << 23
	inf   = 0xff << 23
	nan   = 0x7fffffff
)

func approxFunctions() {
	approxEx2()
	approxRcp()
	approxRoots()
	approxLg2()
	approxSinCos()
	approxTanh()
}

// segment splits a 23-bit fraction into the segment, of bits bits, and the rest.
func segment(frac reg.VecVirtual, bits uint8, restMask operand.Mem) (index, rest reg.VecVirtual) {
	index, rest = YMM(), YMM()
	VPSRLD(operand.U8(23-bits), frac, index)
	VPAND(restMask, frac, rest)
	return index, rest
}

// isNaN returns the lanes in which the f32 x is a NaN.
func isNaN(x reg.VecVirtual) reg.VecVirtual {
	m := YMM()
	VCMPPS(operand.U8(3), x, x, m)
	return m
}

// approxEx2 generates Ex2. All bits of mode are set if subnormal results are computed, and
// clear with .ftz.
func approxEx2() {
	approx(ex2, []uint32{fracs, 1 << 23, 0xff, 127, 8, 0xc2fc0000, one, inf, nan, 1<<17 - 1, 1<<32 - 126, 127},
		nil, func(f *approximator, x reg.VecVirtual) (result, left reg.VecVirtual) {
			// If the result is subnormal, compute 2^(x/2) and square it.
			deep, by, unordered := YMM(), YMM(), isNaN(x)
			VPCMPGTD(f.word(0xc2fc0000), x, deep)
			VPAND(x, deep, deep)
			VPSRAD(operand.U8(31), deep, deep)
			VPAND(f.mode, deep, deep)
			VPAND(f.word(1<<23), deep, by)
			VPSUBD(by, x, x)
			whole, frac := floor(f, x)
			index, rest := segment(frac, 6, f.word(1<<17-1))
			r, high, low := f.significand(index, rest), YMM(), YMM()
			VPAND(f.word(fracs), r, r)
			VPOR(f.word(one), r, r)
			VPCMPGTD(f.word(127), whole, high)
			VMOVDQU(f.word(1<<32-126), low)
			VPCMPGTD(whole, low, low)
			VPSLLD(operand.U8(23), whole, whole)
			VPADDD(whole, r, r)
			VBLENDVPS(high, f.word(inf), r, r)
			VPANDN(r, low, r)
			square := YMM()
			VMULPS(r, r, square)
			VBLENDVPS(deep, square, r, r)
			VBLENDVPS(unordered, f.word(nan), r, r)
			return r, nil
		})
}

// floor splits x into its floor and 23 bits of fraction, as the unit does: the fraction is
// truncated, and for a negative number it is complemented. A number that is at least 2^8
// becomes one between 2^8 and 2^9.
func floor(f *approximator, x reg.VecVirtual) (whole, frac reg.VecVirtual) {
	exp, v, right, negative, none := YMM(), YMM(), YMM(), YMM(), YMM()
	whole, frac = YMM(), YMM()
	VPSRLD(operand.U8(23), x, exp)
	VPAND(f.word(0xff), exp, exp)
	VPSUBD(f.word(127), exp, exp)
	VPMINSD(f.word(8), exp, exp)
	VPAND(f.word(fracs), x, v)
	VPOR(f.word(1<<23), v, v)
	VPXOR(none, none, none)
	VPSUBD(exp, none, right)
	// A shift by a negative number gives zero.
	VPSRLVD(right, v, right)
	VPSLLVD(exp, v, v)
	VPOR(right, v, v)
	VPSRLD(operand.U8(23), v, whole)
	VPAND(f.word(fracs), v, frac)
	// The floor of a negative number is -whole, less one if there is a fraction: the
	// complement of whole. Then the fraction is complemented.
	VPSRAD(operand.U8(31), x, negative)
	VPCMPEQD(none, frac, none)
	VPAND(negative, none, none)
	VPXOR(negative, whole, whole)
	VPSUBD(none, whole, whole)
	VPANDN(negative, none, negative)
	VPXOR(negative, frac, frac)
	VPAND(f.word(fracs), frac, frac)
	return whole, frac
}

// ordinary returns the lanes whose exponents are not those of a normal number.
func ordinary(f *approximator, x reg.VecVirtual) (exp, left reg.VecVirtual) {
	exp, left = YMM(), YMM()
	high := YMM()
	VPSRLD(operand.U8(23), x, exp)
	VPAND(f.word(0xff), exp, exp)
	VPXOR(left, left, left)
	VPCMPEQD(left, exp, left)
	VPCMPEQD(f.word(0xff), exp, high)
	VPOR(high, left, left)
	return exp, left
}

// approxRcp generates Rcp. It leaves arguments and results that are not normal numbers.
func approxRcp() {
	approx(rcp, []uint32{fracs, 0xff, 1 << 23, 1<<16 - 1, 253, sign}, nil,
		func(f *approximator, x reg.VecVirtual) (result, left reg.VecVirtual) {
			exp, left := ordinary(f, x)
			frac := YMM()
			VPAND(f.word(fracs), x, frac)
			index, rest := segment(frac, 7, f.word(1<<16-1))
			// The sum is between 1/2 and 1. One more bit is needed if it is less than 1.
			even, odd := f.eval(index, rest)
			VPSRLQ(operand.U8(f.weight-24), even, even)
			VPSRLQ(operand.U8(f.weight-24), odd, odd)
			r, small, t := merge(even, odd), YMM(), YMM()
			VPSRLD(operand.U8(24), r, small) // 1 if the sum is 1, else 0
			VPSRLVD(small, r, r)
			VPAND(f.word(fracs), r, r)
			// The exponent is 126 - (exp - 127), plus one if the sum is 1.
			VMOVDQU(f.word(253), t)
			VPSUBD(exp, t, t)
			VPADDD(small, t, t)
			VPXOR(small, small, small)
			VPCMPGTD(small, t, small)
			VPCMPEQD(exp, exp, exp)
			VPANDN(exp, small, small)
			VPOR(small, left, left)
			VPSLLD(operand.U8(23), t, t)
			VPOR(t, r, r)
			VPAND(f.word(sign), x, t)
			VPOR(t, r, r)
			return r, left
		})
}

// approxRoots generates Sqrt and Rsqrt. They leave arguments that are not positive normal
// numbers. Rsqrt also leaves even powers of two.
func approxRoots() {
	for _, p := range []interpolation{sqrt, rsqrt} {
		inverse := p.minus1
		approx(p, []uint32{fracs, 0xff, 127, 1, 1<<17 - 1, one, 126 << 23}, nil,
			func(f *approximator, x reg.VecVirtual) (result, left reg.VecVirtual) {
				exp, left := ordinary(f, x)
				frac, odd, t := YMM(), YMM(), YMM()
				VPOR(x, left, left) // negative numbers
				VPAND(f.word(fracs), x, frac)
				VPSUBD(f.word(127), exp, exp)
				VPAND(f.word(1), exp, odd)
				if inverse {
					VPXOR(t, t, t)
					VPSLLD(operand.U8(31), odd, odd)
					VPOR(odd, frac, odd)
					VPCMPEQD(t, odd, t)
					VPOR(t, left, left)
					VPAND(f.word(1), exp, odd)
				}
				VPSUBD(odd, exp, exp)
				VPSLLD(operand.U8(6), odd, odd)
				index, rest := segment(frac, 6, f.word(1<<17-1))
				VPADDD(odd, index, index)
				VPSRAD(operand.U8(1), exp, exp)
				VPSLLD(operand.U8(23), exp, exp)
				if !inverse {
					r := f.significand(index, rest)
					VPAND(f.word(fracs), r, r)
					VPADDD(f.word(one), r, r)
					VPADDD(exp, r, r)
					return r, left
				}
				even, odds := f.eval(index, rest)
				VPSRLQ(operand.U8(f.weight-24), even, even)
				VPSRLQ(operand.U8(f.weight-24), odds, odds)
				r := merge(even, odds)
				VPAND(f.word(fracs), r, r)
				VPADDD(f.word(126<<23), r, r)
				VPSUBD(exp, r, r)
				return r, left
			})
	}
}

// exponentsOf returns the constant of fromFixed for a weight.
func exponentsOf(weight uint8) uint64 { return uint64(1023-127+int(weight)) << 23 }

var magicQuad = math.Float64bits(magic)

// approxLg2 generates Lg2. It leaves arguments that are not positive normal numbers, and 1.
func approxLg2() {
	const cut = 3 // low bits of the sum that are dropped
	exponents := exponentsOf(lg2.weight)
	approx(lg2, []uint32{fracs, 0xff, 127, 1<<17 - 1, one, sign}, []uint64{magicQuad, exponents},
		func(f *approximator, x reg.VecVirtual) (result, left reg.VecVirtual) {
			exp, left := ordinary(f, x)
			frac, t := YMM(), YMM()
			VPOR(x, left, left)
			VPCMPEQD(f.word(one), x, t)
			VPOR(t, left, left)
			VPAND(f.word(fracs), x, frac)
			VPSUBD(f.word(127), exp, exp)
			index, rest := segment(frac, 6, f.word(1<<17-1))
			even, odd := f.eval(index, rest)
			for i, v := range []reg.VecVirtual{even, odd} {
				whole, minus := YMM(), YMM()
				// The exponent as a multiple of one, with its sign.
				if i == 0 {
					VPSLLQ(operand.U8(32), exp, whole)
				} else {
					VMOVDQA(exp, whole)
				}
				VPSRAD(operand.U8(31), whole, minus)
				VPSHUFD(operand.U8(0xf5), minus, minus)
				VPSHUFD(operand.U8(0xf5), whole, whole)
				VPBLENDD(operand.U8(0xaa), minus, whole, whole)
				VPSLLQ(operand.U8(f.weight), whole, whole)
				VPADDQ(whole, v, v)
				VPXOR(minus, v, v)
				VPSUBQ(minus, v, v)
				VPSRLQ(operand.U8(cut), v, v)
				VPSLLQ(operand.U8(cut), v, v)
			}
			r := fromFixed(even, odd, f.quad(magicQuad), f.quad(exponents))
			VPAND(f.word(sign), exp, exp)
			VPOR(exp, r, r)
			return r, left
		})
}

// approxSinCos generates SinCos: the sine, or with mode 1 the cosine.
func approxSinCos() {
	const turns = 0x3e22f983 // 1/2π
	exponents := exponentsOf(sin.weight)
	approx(sin, []uint32{fracs, 0xff, 1 << 23, turns&fracs | 1<<23, 1<<25 - 1, nan, inf, sign, 1<<17 - 1, 127 + 127 - turns>>23 + 46 - 25},
		[]uint64{magicQuad, exponents, fracs, 1<<25 - 1}, func(f *approximator, x reg.VecVirtual) (result, left reg.VecVirtual) {
			sig, exp, mag, special := YMM(), YMM(), YMM(), YMM()
			VPAND(f.word(nan), x, mag)
			VPSRLD(operand.U8(23), mag, exp)
			VPCMPEQD(f.word(0xff), exp, special)
			VPAND(f.word(fracs), mag, sig)
			VPOR(f.word(1<<23), sig, sig)
			VPSUBD(f.word(127+127-turns>>23+46-25), exp, exp)
			var u [2]reg.VecVirtual
			for i := range u {
				u[i] = f.turn(sig, exp, turns)
				if i == 0 {
					VPSRLQ(operand.U8(32), sig, sig)
					VPSRLQ(operand.U8(32), exp, exp)
				}
			}
			frac := merge(u[0], u[1])
			quadrant, odd, s := YMM(), YMM(), YMM()
			VPSRLD(operand.U8(23), frac, quadrant)
			VPADDD(f.mode, quadrant, quadrant)
			VPAND(f.word(fracs), frac, frac)
			VPSLLD(operand.U8(31), quadrant, odd)
			VPSRAD(operand.U8(31), odd, odd)
			VPAND(f.word(fracs), odd, odd)
			VPXOR(odd, frac, frac)
			// The sine has the sign of its argument, the cosine has not. The second half of a
			// turn changes the sign.
			VPSLLD(operand.U8(31), f.mode, s)
			VPANDN(x, s, s)
			VPSLLD(operand.U8(30), quadrant, quadrant)
			VPXOR(quadrant, s, s)
			VPAND(f.word(sign), s, s)
			index, rest := segment(frac, 6, f.word(1<<17-1))
			even, odds := f.eval(index, rest)
			r := fromFixed(even, odds, f.quad(magicQuad), f.quad(exponents))
			VPOR(s, r, r)
			VBLENDVPS(special, f.word(nan), r, r)
			return r, nil
		})
}

// turn multiplies the significands of the even lanes by 1/2π, truncates the product to 24
// bits, and returns 25 bits: the quadrant and the position in it.
func (f *approximator) turn(sig, exp reg.VecVirtual, turns uint32) reg.VecVirtual {
	p, top, n, right, zero := YMM(), YMM(), YMM(), YMM(), YMM()
	VPMULUDQ(f.word(turns&fracs|1<<23), sig, p)
	VPSRLQ(operand.U8(47), p, top)
	VPSLLQ(operand.U8(23), top, top)
	VPADDQ(f.quad(fracs), top, top)
	VPANDN(p, top, p)
	// The number of places to the left, as a 64-bit number. A shift by a negative number
	// gives zero.
	VPSHUFD(operand.U8(0xa0), exp, n)
	VPSRAD(operand.U8(31), n, right)
	VPBLENDD(operand.U8(0xaa), right, n, n)
	VPXOR(zero, zero, zero)
	VPSUBQ(n, zero, right)
	VPSRLVQ(right, p, right)
	VPSLLVQ(n, p, p)
	VPOR(right, p, p)
	VPAND(f.quad(1<<25-1), p, p)
	return p
}

// The segments of tanh: see package sfu.
const tanhLeast = -8

var tanhSplit = []int{0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3}

// approxTanh generates Tanh.
func approxTanh() {
	bases, splits := GLOBL("TanhBases", NOPTR|RODATA), operand.Mem{}
	base := 0
	for i := range 32 {
		DATA(i, operand.U8(base))
		if i%16 < len(tanhSplit) {
			base += 1 << tanhSplit[i%16]
		}
		if i == 15 {
			base = 0
		}
	}
	splits = GLOBL("TanhSplits", NOPTR|RODATA)
	for i := range 32 {
		n := 0
		if i%16 < len(tanhSplit) {
			n = tanhSplit[i%16]
		}
		DATA(i, operand.U8(n))
	}
	exponents := exponentsOf(tanh.weight)
	last := uint32(len(tanhSplit) - 1)
	approx(tanh, []uint32{nan, fracs, 127 + tanhLeast, 0x80808000, 9, 23, 0, last, one, sign}, []uint64{magicQuad, exponents},
		func(f *approximator, x reg.VecVirtual) (result, left reg.VecVirtual) {
			e, small, large, at, n, unordered := YMM(), YMM(), YMM(), YMM(), YMM(), isNaN(x)
			VPAND(f.word(nan), x, e)
			VPSRLD(operand.U8(23), e, e)
			VPSUBD(f.word(127+tanhLeast), e, e)
			VPCMPGTD(f.word(last), e, large)
			VPXOR(small, small, small)
			VPCMPGTD(e, small, small)
			VPMAXSD(f.word(0), e, e)
			VPMINSD(f.word(last), e, e)
			VPOR(f.word(0x80808000), e, e)
			VMOVDQU(bases, at)
			VPSHUFB(e, at, at)
			VMOVDQU(splits, n)
			VPSHUFB(e, n, n)
			index, rest := YMM(), YMM()
			VPADDD(f.word(9), n, rest)
			VPSLLVD(rest, x, rest)
			VPSRLD(operand.U8(15), rest, rest)
			VMOVDQU(f.word(23), index)
			VPSUBD(n, index, index)
			VPAND(f.word(fracs), x, n)
			VPSRLVD(index, n, index)
			VPADDD(at, index, index)
			even, odd := f.eval(index, rest)
			r, s := fromFixed(even, odd, f.quad(magicQuad), f.quad(exponents)), YMM()
			VBLENDVPS(large, f.word(one), r, r)
			VPAND(f.word(sign), x, s)
			VPOR(s, r, r)
			VBLENDVPS(small, x, r, r)
			VBLENDVPS(unordered, f.word(nan), r, r)
			return r, nil
		})
}
