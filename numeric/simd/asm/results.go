package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// results generates WidenF16 and RoundF16, which convert rows of eight accumulators and results.
func results() {
	TEXT("WidenF16", NOSPLIT, "func(to, c *uint32, step, rows int)")
	Doc("WidenF16 converts rows of f16 to f32.")
	to, c := Load(Param("to"), GP64()), Load(Param("c"), GP64())
	step, rows := Load(Param("step"), GP64()), Load(Param("rows"), GP64())
	Label("row")
	v := YMM()
	VMOVDQU(operand.Mem{Base: c}, v)
	VPACKUSDW(v, v, v)
	VPERMQ(operand.U8(0xd8), v, v)
	VCVTPH2PS(v.AsX(), v)
	VMOVUPS(v, operand.Mem{Base: to})
	ADDQ(operand.U8(32), to)
	ADDQ(step, c)
	DECQ(rows)
	JNZ(operand.LabelRef("row"))
	VZEROUPPER()
	RET()

	minus := splat("RoundF16Minus", 0x8000800080008000)
	TEXT("RoundF16", NOSPLIT, "func(d *uint32, step int, x *float64, rows int)")
	Doc("RoundF16 rounds rows of float64 to f16.")
	d, x := Load(Param("d"), GP64()), Load(Param("x"), GP64())
	step, rows = Load(Param("step"), GP64()), Load(Param("rows"), GP64())
	set, restore := rounding(towardsZero)
	set()
	Label("row")
	low, high := truncatedToOdd(operand.Mem{Base: x}), truncatedToOdd(operand.Mem{Base: x, Disp: 32})
	both, h, zero := YMM(), XMM(), XMM()
	VINSERTF128(operand.U8(1), high, low.AsY(), both)
	VCVTPS2PH(operand.U8(0), both, h)
	VPCMPEQW(minus, h, zero)
	VPANDN(h, zero, h) // a zero has no sign
	VPMOVZXWD(h, both)
	VMOVDQU(both, operand.Mem{Base: d})
	ADDQ(operand.U8(64), x)
	ADDQ(step, d)
	DECQ(rows)
	JNZ(operand.LabelRef("row"))
	restore()
	VZEROUPPER()
	RET()
}

// truncatedToOdd converts four float64 to f32, under the control word towardsZero. A number that is not exact gets
// an odd last bit, so that rounding it again gives the nearest f16.
func truncatedToOdd(from operand.Mem) reg.VecVirtual {
	x, back, f, inexact, t := YMM(), YMM(), XMM(), YMM(), XMM()
	VMOVUPD(from, x)
	VCVTPD2PSY(x, f)
	VCVTPS2PD(f, back)
	VCMPPD(operand.U8(4), x, back, inexact)
	VEXTRACTF128(operand.U8(1), inexact, t)
	VSHUFPS(operand.U8(0x88), t, inexact.AsX(), t)
	VPSRLD(operand.U8(31), t, t)
	VPOR(t, f, f)
	return f
}
