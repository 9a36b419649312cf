package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dots generates Dots, which multiplies rows of 16-bit integers with eight columns. It
// computes two rows at a time in two sums each, to hide the latency of the instructions.
func dots() {
	TEXT("Dots", NOSPLIT, "func(d, rows, cols *uint32, count, pairs int)")
	Doc("Dots multiplies rows with eight columns.")
	d, row := Load(Param("d"), GP64()), Load(Param("rows"), GP64())
	count, pairs := Load(Param("count"), GP64()), Load(Param("pairs"), GP64())
	next, end := GP64(), GP64()
	Label("rows")
	col, at := Load(Param("cols"), GP64()), GP64()
	LEAQ(operand.Mem{Base: row, Index: pairs, Scale: 4}, next)
	MOVQ(next, end)
	MOVQ(row, at)
	var sums [2][2]reg.VecVirtual
	for r := range sums {
		for s := range sums[r] {
			sums[r][s] = YMM()
			VPXOR(sums[r][s], sums[r][s], sums[r][s])
		}
	}
	Label("pairs")
	for s := range 2 {
		y := YMM()
		VMOVDQU(operand.Mem{Base: col, Disp: 32 * s}, y)
		for r := range sums {
			x := YMM()
			from := operand.Mem{Base: at, Disp: 4 * s}
			if r == 1 {
				from = operand.Mem{Base: at, Index: pairs, Scale: 4, Disp: 4 * s}
			}
			VPBROADCASTD(from, x)
			VPMADDWD(y, x, x)
			VPADDD(x, sums[r][s], sums[r][s])
		}
	}
	ADDQ(operand.U8(64), col)
	ADDQ(operand.U8(8), at)
	CMPQ(at, end)
	JNE(operand.LabelRef("pairs"))
	for r := range sums {
		VPADDD(sums[r][1], sums[r][0], sums[r][0])
		VMOVDQU(sums[r][0], operand.Mem{Base: d, Disp: 32 * r})
	}
	ADDQ(operand.U8(64), d)
	LEAQ(operand.Mem{Base: next, Index: pairs, Scale: 4}, row)
	SUBQ(operand.U8(2), count)
	JNZ(operand.LabelRef("rows"))
	VZEROUPPER()
	RET()
}
