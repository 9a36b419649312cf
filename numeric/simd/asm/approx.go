package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// interpolation describes a function of package sfu. All terms of its sum are multiples of a
// power of two, and this package computes the sum divided by that power:
//
//	C0·2^shift0 ± C1·x·2^shift1 ± C2·s·2^shift2 + bias
//
// where s is the truncated square of x, divided by 2^19. The bit of the sum with the value 1
// is bit weight.
type interpolation struct {
	name                   string
	shift0, shift1, shift2 uint8
	minus1, minus2         bool
	double                 bool // s is the square of 2x
	bias                   uint64
	weight                 uint8
}

var (
	ex2   = interpolation{name: "Ex2", shift0: 13, bias: 0x37e2, weight: 38}
	rcp   = interpolation{name: "Rcp", shift0: 13, minus1: true, double: true, bias: 0x67e7, weight: 39}
	rsqrt = interpolation{name: "Rsqrt", shift0: 14, shift2: 2, minus1: true, bias: 0xffff, weight: 40}
	sqrt  = interpolation{name: "Sqrt", shift0: 15, shift2: 1, minus2: true, bias: 0xffff, weight: 40}
	lg2   = interpolation{name: "Lg2", shift0: 13, shift1: 1, shift2: 2, minus2: true, bias: 0x868b, weight: 39}
	sin   = interpolation{name: "SinCos", shift0: 12, minus2: true, weight: 37}
	tanh  = interpolation{name: "Tanh", shift0: 15, shift2: 1, minus2: true, weight: 39}
)

// approximator holds the state of the function that is being generated.
type approximator struct {
	interpolation
	table     reg.Register
	mode      reg.VecVirtual // the argument mode in all lanes
	constants map[uint64]operand.Mem
}

// word returns a constant in all eight lanes of 32 bits, quad one in all four of 64 bits.
func (f *approximator) word(v uint32) operand.Mem { return f.quad(uint64(v)<<32 | uint64(v)) }

func (f *approximator) quad(v uint64) operand.Mem {
	m, ok := f.constants[v]
	if !ok {
		panic("the constant is not declared")
	}
	return m
}

// approx generates a function that computes eight lanes at a time. compute returns the result
// and, as a vector of masks or nil, the lanes that it cannot compute.
func approx(p interpolation, words []uint32, quads []uint64, compute func(f *approximator, x reg.VecVirtual) (result, left reg.VecVirtual)) {
	f := &approximator{interpolation: p, constants: map[uint64]operand.Mem{}}
	for _, w := range append(words, squareConstants...) {
		quads = append(quads, uint64(w)<<32|uint64(w))
	}
	quads = append(quads, p.bias)
	for i, q := range quads {
		if _, ok := f.constants[q]; !ok {
			f.constants[q] = splat(p.name+"Constant"+strconv.Itoa(i), q)
		}
	}
	TEXT(p.name, NOSPLIT, "func(d, a *[32]uint32, table *uint32, mode uint32) uint32")
	d, a, mode := Load(Param("d"), GP64()), Load(Param("a"), GP64()), XMM()
	f.table = Load(Param("table"), GP64())
	f.mode = YMM()
	VMOVD(Load(Param("mode"), GP32()), mode)
	VPBROADCASTD(mode, f.mode)
	all := GP32()
	XORL(all, all)
	index := reg.RCX
	XORQ(index, index)
	Label("next")
	x := YMM()
	VMOVDQU(operand.Mem{Base: a, Index: index, Scale: 4}, x)
	result, left := compute(f, x)
	VMOVDQU(result, operand.Mem{Base: d, Index: index, Scale: 4})
	if left != nil {
		bits := GP32()
		VMOVMSKPS(left, bits)
		SHLL(reg.CL, bits)
		ORL(bits, all)
	}
	ADDQ(operand.U8(8), index)
	CMPQ(index, operand.U8(32))
	JNE(operand.LabelRef("next"))
	VZEROUPPER()
	Store(all, ReturnIndex(0))
	RET()
}

// squareConstants are the constants of lost.
var squareConstants = []uint32{0xff, 3, 4, 8, 16, 32, 64, 128, 0x3ff, 0x100, 0x200}

// lost returns the sum of the partial products of x², x < 2^17, that the squarer omits. Let u
// be the low eight bits of x, and v the others. The squarer omits all products of two bits of
// u, the products of bit i of u with v modulo 2^(10-i), and three products of the low bits of
// v. All factors fit in 16 bits.
func (f *approximator) lost(x reg.VecVirtual) reg.VecVirtual {
	u, v, sum, t := YMM(), YMM(), YMM(), YMM()
	VPAND(f.word(0xff), x, u)
	VPSRLD(operand.U8(8), x, v)
	VPAND(f.word(3), u, t)
	VPMULLW(v, t, sum)
	for i := 2; i < 8; i++ {
		row := YMM()
		VPAND(f.word(1<<i), u, row)
		VPMULLW(v, row, row)
		VPAND(f.word(0x3ff), row, row)
		VPADDW(row, sum, sum)
	}
	VPSLLD(operand.U8(9), sum, sum)
	VPMULLW(u, u, u)
	VPADDD(u, sum, sum)
	bit8, bit9 := YMM(), YMM()
	VPAND(f.word(0x100), x, bit8)
	VPAND(f.word(0x200), x, bit9)
	VPSLLD(operand.U8(8), bit8, t)
	VPADDD(t, sum, sum)
	VPSLLD(operand.U8(9), bit9, t)
	VPADDD(t, sum, sum)
	VPADDD(bit8, bit8, bit8)
	VPAND(bit9, bit8, bit8)
	VPSLLD(operand.U8(9), bit8, bit8)
	VPADDD(bit8, sum, sum)
	return sum
}

// eval returns the sums of the even and the odd lanes. index is the segment, x the position
// in the segment.
func (f *approximator) eval(index, x reg.VecVirtual) (even, odd reg.VecVirtual) {
	square := x
	if f.double {
		square = YMM()
		VPADDD(x, x, square)
	}
	lost, at := f.lost(square), YMM()
	VPADDD(index, index, at)
	VPADDD(index, at, at)
	var c [3]reg.VecVirtual
	for i := range c {
		mask := YMM()
		c[i] = YMM()
		VPCMPEQD(mask, mask, mask)
		VPXOR(c[i], c[i], c[i])
		VPGATHERDD(mask, operand.Mem{Base: f.table, Disp: 4 * i, Index: at, Scale: 4}, c[i])
	}
	even = f.sum(c, square, x, lost)
	for _, v := range append(c[:], lost, x) {
		VPSRLQ(operand.U8(32), v, v)
	}
	if f.double {
		VPADDD(x, x, square)
	}
	return even, f.sum(c, square, x, lost)
}

// sum computes the sums of the even lanes.
func (f *approximator) sum(c [3]reg.VecVirtual, square, x, lost reg.VecVirtual) reg.VecVirtual {
	s, t, to := YMM(), YMM(), YMM()
	VPMULUDQ(square, square, s)
	VPSLLQ(operand.U8(32), lost, t)
	VPSRLQ(operand.U8(32), t, t)
	VPSUBQ(t, s, s)
	VPSRLQ(operand.U8(19), s, s)
	VPMULUDQ(c[2], s, s)
	shift(s, f.shift2)
	VPMULUDQ(c[1], x, t)
	shift(t, f.shift1)
	VPSLLQ(operand.U8(32), c[0], to)
	VPSRLQ(operand.U8(32-f.shift0), to, to)
	add(f.minus1, t, to)
	add(f.minus2, s, to)
	if f.bias != 0 {
		VPADDQ(f.quad(f.bias), to, to)
	}
	return to
}

func shift(v reg.VecVirtual, n uint8) {
	if n != 0 {
		VPSLLQ(operand.U8(n), v, v)
	}
}

func add(minus bool, term, sum reg.VecVirtual) {
	if minus {
		VPSUBQ(term, sum, sum)
	} else {
		VPADDQ(term, sum, sum)
	}
}

// merge combines the low words of even and odd lanes.
func merge(even, odd reg.VecVirtual) reg.VecVirtual {
	VPSLLQ(operand.U8(32), odd, odd)
	VPBLENDD(operand.U8(0xaa), odd, even, even)
	return even
}

// significand returns the sums as numbers with 23 bits after the point.
func (f *approximator) significand(index, x reg.VecVirtual) reg.VecVirtual {
	even, odd := f.eval(index, x)
	VPSRLQ(operand.U8(f.weight-23), even, even)
	VPSRLQ(operand.U8(f.weight-23), odd, odd)
	return merge(even, odd)
}

// fromFixed returns sums of 52 bits as f32, rounded towards zero. In a sum with 2^52, the low
// bits of an f64 are an integer. exponents holds the difference of the exponents of the two
// formats, including the weight, in the position of the exponents of an f32.
func fromFixed(even, odd reg.VecVirtual, magic, exponents operand.Mem) reg.VecVirtual {
	for _, v := range []reg.VecVirtual{even, odd} {
		zero := YMM()
		VPXOR(zero, zero, zero)
		VPCMPEQQ(v, zero, zero)
		VPOR(magic, v, v)
		VSUBPD(magic, v, v)
		VPSRLQ(operand.U8(29), v, v)
		VPSUBQ(exponents, v, v)
		VPANDN(v, zero, v)
	}
	return merge(even, odd)
}
