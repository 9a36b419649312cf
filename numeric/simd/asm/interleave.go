package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// interleaves generates Interleave, Deinterleave and Spread.
func interleaves() {
	spread()
	TEXT("Interleave", NOSPLIT, "func(rows *uint32, step int, even, odd *[32]uint32)")
	rows, step := Load(Param("rows"), GP64()), Load(Param("step"), GP64())
	even, odd := Load(Param("even"), GP64()), Load(Param("odd"), GP64())
	for r := range 8 {
		x, y, z := XMM(), XMM(), XMM()
		VMOVUPS(operand.Mem{Base: even, Disp: 16 * r}, x)
		VMOVUPS(operand.Mem{Base: odd, Disp: 16 * r}, y)
		VUNPCKLPS(y, x, z)
		VUNPCKHPS(y, x, x)
		VMOVUPS(z, operand.Mem{Base: rows})
		VMOVUPS(x, operand.Mem{Base: rows, Disp: 16})
		if r < 7 {
			ADDQ(step, rows)
		}
	}
	RET()

	TEXT("Deinterleave", NOSPLIT, "func(even, odd *[32]uint32, rows *uint32, step int)")
	rows, step = Load(Param("rows"), GP64()), Load(Param("step"), GP64())
	even, odd = Load(Param("even"), GP64()), Load(Param("odd"), GP64())
	for r := range 8 {
		x, y, z := XMM(), XMM(), XMM()
		VMOVUPS(operand.Mem{Base: rows}, x)
		VMOVUPS(operand.Mem{Base: rows, Disp: 16}, y)
		VSHUFPS(operand.U8(0x88), y, x, z)
		VSHUFPS(operand.U8(0xdd), y, x, x)
		VMOVUPS(z, operand.Mem{Base: even, Disp: 16 * r})
		VMOVUPS(x, operand.Mem{Base: odd, Disp: 16 * r})
		if r < 7 {
			ADDQ(step, rows)
		}
	}
	RET()
}

func spread() {
	TEXT("Spread", NOSPLIT, "func(rows *uint32, step int, lanes *[32]uint32)")
	rows, step, lanes := Load(Param("rows"), GP64()), Load(Param("step"), GP64()), Load(Param("lanes"), GP64())
	for r := range 8 {
		x := XMM()
		VMOVUPS(operand.Mem{Base: lanes, Disp: 16 * r}, x)
		VMOVUPS(x, operand.Mem{Base: rows})
		if r < 7 {
			ADDQ(step, rows)
		}
	}
	RET()
}
