package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// upwards is a control word that rounds towards positive infinity.
const upwards = 0x5f80

// halvesLoop generates a function on the 64 halves of the 32 lanes of a warp. body computes
// the result for the bytes of one step of the loop. at returns the operand with an index.
func halvesLoop(name string, operands, step int, arguments string, begin func(), body func(at func(i int) operand.Mem) reg.VecVirtual, end func()) {
	args := "d, a, b"
	if operands == 3 {
		args += ", c"
	}
	TEXT(name, NOSPLIT, "func("+args+" *[32]uint32"+arguments+")")
	var pointers []reg.Register
	for _, p := range []string{"a", "b", "c"}[:operands] {
		pointers = append(pointers, Load(Param(p), GP64()))
	}
	d, index := Load(Param("d"), GP64()), GP64()
	begin()
	XORQ(index, index)
	Label("next")
	v := body(func(i int) operand.Mem { return operand.Mem{Base: pointers[i], Index: index, Scale: 1} })
	VMOVDQU(v, operand.Mem{Base: d, Index: index, Scale: 1})
	ADDQ(operand.U8(step), index)
	CMPQ(index, operand.U8(128))
	JNE(operand.LabelRef("next"))
	end()
	VZEROUPPER()
	RET()
}

// rounding sets the rounding mode of a function, and returns the function that restores it.
func rounding(mode uint32) (set, restore func()) {
	var saved, control operand.Mem
	set = func() {
		saved, control = AllocLocal(4), AllocLocal(4)
		VSTMXCSR(saved)
		MOVL(operand.U32(mode), control)
		VLDMXCSR(control)
	}
	return set, func() { VLDMXCSR(saved) }
}

func none() {}

// odd computes x·y + z rounded to odd, under the control word upwards: if the exact sum lies
// between two f32, the result is the one with an odd last bit. Rounding this result again to
// a type with a shorter significand gives the nearest number of that type.
//
// The negated sum of the negated terms is rounded downwards.
func odd(x, y, z reg.VecVirtual, minus operand.Mem) reg.VecVirtual {
	up, down, isOdd := YMM(), YMM(), YMM()
	VMOVAPS(z, up)
	VMOVAPS(z, down)
	VFMADD231PS(y, x, up)
	VFNMSUB231PS(y, x, down)
	VXORPS(minus, down, down)
	VPSLLD(operand.U8(31), down, isOdd)
	VBLENDVPS(isOdd, down, up, up)
	return up
}

// canonical replaces the NaNs of v.
func canonical(v reg.VecVirtual, nan operand.Mem) {
	isNaN := YMM()
	VCMPPS(operand.U8(3), v, v, isNaN)
	VBLENDVPS(isNaN, nan, v, v)
}

// float is an operation on f32.
type float struct {
	name     string
	operands int
	compute  func(v []reg.VecVirtual, minus operand.Mem) reg.VecVirtual
}

var floats = []float{
	{"Add", 2, func(v []reg.VecVirtual, _ operand.Mem) reg.VecVirtual { VADDPS(v[1], v[0], v[0]); return v[0] }},
	{"Sub", 2, func(v []reg.VecVirtual, _ operand.Mem) reg.VecVirtual { VSUBPS(v[1], v[0], v[0]); return v[0] }},
	{"Mul", 2, func(v []reg.VecVirtual, _ operand.Mem) reg.VecVirtual { VMULPS(v[1], v[0], v[0]); return v[0] }},
	{"Fma", 3, func(v []reg.VecVirtual, minus operand.Mem) reg.VecVirtual { return odd(v[0], v[1], v[2], minus) }},
}

// f16s generates arithmetic on f16. The f32 results of sums and products are exact, or have
// so many bits that the second rounding gives the right result.
func f16s() {
	for _, f := range floats {
		name := f.name + "F16x2"
		nan, minus := splat(name+"NaN", 0x7fffffff_7fffffff), splat(name+"Minus", 0x80000000_80000000)
		begin, end := none, none
		if f.operands == 3 {
			begin, end = rounding(upwards)
		}
		halvesLoop(name, f.operands, 16, "", begin, func(at func(i int) operand.Mem) reg.VecVirtual {
			v := make([]reg.VecVirtual, f.operands)
			for i := range v {
				v[i] = YMM()
				VCVTPH2PS(at(i), v[i])
			}
			r := f.compute(v, minus)
			canonical(r, nan)
			to := XMM()
			VCVTPS2PH(operand.U8(0), r, to)
			return to
		}, end)
	}
}

// bf16s generates arithmetic on bf16. It computes the upper and the lower halves apart.
func bf16s() {
	for _, f := range floats {
		name := f.name + "BF16x2"
		nan, minus := splat(name+"NaN", 0x7fffffff_7fffffff), splat(name+"Minus", 0x80000000_80000000)
		half, upper := splat(name+"Half", 0x7fff_00007fff), splat(name+"Upper", 0xffff0000_ffff0000)
		begin, end := none, none
		if f.operands == 3 {
			begin, end = rounding(upwards)
		}
		halvesLoop(name, f.operands, 32, "", begin, func(at func(i int) operand.Mem) reg.VecVirtual {
			lo, hi := make([]reg.VecVirtual, f.operands), make([]reg.VecVirtual, f.operands)
			for i := range lo {
				lo[i], hi[i] = YMM(), YMM()
				VMOVDQU(at(i), hi[i])
				VPSLLD(operand.U8(16), hi[i], lo[i])
				VPAND(upper, hi[i], hi[i])
			}
			l, h := f.compute(lo, minus), f.compute(hi, minus)
			nearestBF16(l, nan, half)
			nearestBF16(h, nan, half)
			VPSRLD(operand.U8(16), l, l)
			VPBLENDW(operand.U8(0xaa), h, l, l)
			return l
		}, end)
	}
}

// nearestBF16 rounds f32 to bf16 in the upper halves. The lower halves are not defined.
func nearestBF16(v reg.VecVirtual, nan, half operand.Mem) {
	canonical(v, nan)
	isNaN, even := YMM(), YMM()
	// A NaN must not be rounded, because it would overflow.
	VCMPPS(operand.U8(3), v, v, isNaN)
	VPSLLD(operand.U8(15), v, even)
	VPSRLD(operand.U8(31), even, even)
	VPADDD(half, even, even)
	VPANDN(even, isNaN, even)
	VPADDD(even, v, v)
}

// extremes generates the minimum and the maximum of f16 and of bf16. The argument inf holds
// the bits of infinity. If one operand is a NaN, the result is the other operand; with nan,
// it is the canonical NaN.
func extremes() {
	for _, op := range []struct {
		name string
		op   func(...operand.Op)
	}{{"Min16x2", VPMINSW}, {"Max16x2", VPMAXSW}} {
		extreme(op.name, op.op, false)
		extreme(op.name+"NaN", op.op, true)
	}
}

func extreme(name string, op func(...operand.Op), nan bool) {
	abs := splat(name+"Abs", 0x7fff7fff_7fff7fff)
	inf := YMM()
	begin := func() {
		x := XMM()
		VMOVD(Load(Param("inf"), GP32()), x)
		VPBROADCASTW(x, inf)
	}
	halvesLoop(name, 2, 32, ", inf uint32", begin, func(at func(i int) operand.Mem) reg.VecVirtual {
		var v, ordered, isNaN [2]reg.VecVirtual
		for i := range v {
			v[i], ordered[i], isNaN[i] = YMM(), YMM(), YMM()
			VMOVDQU(at(i), v[i])
			VPAND(abs, v[i], isNaN[i])
			VPCMPGTW(inf, isNaN[i], isNaN[i])
			flipNegative(v[i], ordered[i])
		}
		r := YMM()
		op(ordered[1], ordered[0], r)
		flipNegative(r, r)
		if nan {
			VPOR(isNaN[1], isNaN[0], isNaN[0])
			VPBLENDVB(isNaN[0], abs, r, r)
			return r
		}
		VPBLENDVB(isNaN[1], v[0], r, r)
		VPBLENDVB(isNaN[1], abs, v[1], v[1])
		VPBLENDVB(isNaN[0], v[1], r, r)
		return r
	}, none)
}

// flipNegative maps the bits of numbers to integers with the same order, and back.
func flipNegative(v, to reg.VecVirtual) {
	flip := YMM()
	VPSRAW(operand.U8(15), v, flip)
	VPSRLW(operand.U8(1), flip, flip)
	VPXOR(v, flip, to)
}
