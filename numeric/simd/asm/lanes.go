package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// daz is a control word that rounds to nearest and reads subnormal operands as zero.
const daz = 0x1f80 | 1<<6

// lanesOp generates an f32 operation on the 32 lanes of a warp: d = a op b, or d = a·b + c. A
// result that is a NaN becomes the canonical NaN. With flush, subnormal operands count as
// zero, and the function returns the mask of the lanes whose result is not zero and not
// larger than the smallest normal number. The caller computes these lanes again.
func lanesOp(name string, operands int, flush bool, op func(a, b, c operand.Op, d reg.VecVirtual)) {
	args := "d, a, b"
	if operands == 3 {
		args += ", c"
	}
	signature := "func(" + args + " *[32]uint32)"
	if flush {
		signature += " uint32"
	}
	nan, abs := splat(name+"NaN", 0x7fffffff_7fffffff), splat(name+"Abs", 0x7fffffff_7fffffff)
	least := splat(name+"Least", 0x00800001_00800001)
	TEXT(name, NOSPLIT, signature)
	d, a, b := Load(Param("d"), GP64()), Load(Param("a"), GP64()), Load(Param("b"), GP64())
	var c reg.Register
	if operands == 3 {
		c = Load(Param("c"), GP64())
	}
	saved, control, left := AllocLocal(4), AllocLocal(4), GP32()
	if flush {
		VSTMXCSR(saved)
		MOVL(operand.U32(daz), control)
		VLDMXCSR(control)
		XORL(left, left)
	}
	for i := range 4 {
		at := func(r reg.Register) operand.Mem { return operand.Mem{Base: r, Disp: 32 * i} }
		x, isNaN, to := YMM(), YMM(), YMM()
		VMOVUPS(at(a), x)
		if operands == 3 {
			op(x, at(b), at(c), to)
		} else {
			op(x, at(b), nil, to)
		}
		VCMPPS(operand.U8(3), to, to, isNaN)
		VBLENDVPS(isNaN, nan, to, to)
		if flush {
			markSmall(to, abs, least, left, i)
		}
		VMOVUPS(to, at(d))
	}
	if flush {
		VLDMXCSR(saved)
		Store(left, ReturnIndex(0))
	}
	VZEROUPPER()
	RET()
}

// markSmall sets the bits of left for the elements of v that are small but not zero.
func markSmall(v reg.VecVirtual, abs, least operand.Mem, left reg.GPVirtual, part int) {
	size, small, zero, bits := YMM(), YMM(), YMM(), GP32()
	VPAND(abs, v, size)
	VMOVDQU(least, small)
	VPCMPGTD(size, small, small)
	VPXOR(zero, zero, zero)
	VPCMPEQD(zero, size, zero)
	VPANDN(small, zero, small)
	VMOVMSKPS(small, bits)
	SHLL(operand.U8(8*part), bits)
	ORL(bits, left)
}

func lanesOps() {
	add := func(a, b, _ operand.Op, d reg.VecVirtual) { VADDPS(b, a, d) }
	mul := func(a, b, _ operand.Op, d reg.VecVirtual) { VMULPS(b, a, d) }
	fma := func(a, b, c operand.Op, d reg.VecVirtual) {
		VMOVUPS(c, d)
		VFMADD231PS(b, a, d)
	}
	for _, o := range []struct {
		name     string
		operands int
		op       func(a, b, c operand.Op, d reg.VecVirtual)
	}{{"AddF32", 2, add}, {"MulF32", 2, mul}, {"FmaF32", 3, fma}} {
		lanesOp(o.name, o.operands, false, o.op)
		lanesOp(o.name+"Daz", o.operands, true, o.op)
	}
}
