// Command asm writes the assembly of package simd.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64")
	detect()
	detectWide()
	sweep("sweep8", 8, false)
	sweep("sweep16", 16, false)
	sweep("half8", 8, true)
	twinSweep("twin8", 8, false, 0)
	twinSweep("twin8by16", 8, false, 16)
	twinSweep("twin16", 16, false, 0)
	twinSweep("twinHalf8", 8, true, 0)
	wideSweep("wide8", 8, false)
	wideSweep("wide16", 16, false)
	wideSweep("wideHalf8", 8, true)
	surveyRows("rows8", 8)
	surveyRows("rows16", 16)
	surveyCols("cols8", 8)
	surveyCols("cols16", 16)
	lanesOps()
	f16s()
	bf16s()
	extremes()
	approxFunctions()
	dots()
	narrow()
	interleaves()
	results()
	Generate()
}

// detect generates the function that reports whether the processor and the operating system
// support AVX2, FMA and the conversions of f16.
func detect() {
	TEXT("detect", NOSPLIT, "func() bool")
	Doc("detect reports whether the processor has AVX2, FMA and F16C, and the system keeps their registers.")
	const fmaOSXSaveAVXF16C = 1<<12 | 1<<27 | 1<<28 | 1<<29
	XORL(reg.EAX, reg.EAX)
	CPUID()
	CMPL(reg.EAX, operand.U32(7))
	JLT(operand.LabelRef("no"))
	MOVL(operand.U32(1), reg.EAX)
	XORL(reg.ECX, reg.ECX)
	CPUID()
	need(reg.ECX, fmaOSXSaveAVXF16C)
	MOVL(operand.U32(7), reg.EAX)
	XORL(reg.ECX, reg.ECX)
	CPUID()
	need(reg.EBX, 1<<5)
	XORL(reg.ECX, reg.ECX)
	XGETBV()
	need(reg.EAX, 6)
	answer()
}

// detectWide generates the function that reports whether the processor and the operating system
// support AVX-512 with VPOPCNTQ, as Intel's servers do since Ice Lake and AMD's since Zen 4. It is
// called only if detect returns true.
func detectWide() {
	TEXT("detectWide", NOSPLIT, "func() bool")
	Doc("detectWide reports whether the processor has AVX-512 F, DQ, BW, VL and VPOPCNTDQ, and the system keeps their registers.")
	MOVL(operand.U32(7), reg.EAX)
	XORL(reg.ECX, reg.ECX)
	CPUID()
	need(reg.EBX, 1<<16|1<<17|1<<30|1<<31)
	need(reg.ECX, 1<<14)
	XORL(reg.ECX, reg.ECX)
	XGETBV()
	need(reg.EAX, 0xe6)
	answer()
}

// need jumps to the negative answer unless all the bits are set in r.
func need(r reg.Register, bits uint32) {
	ANDL(operand.U32(bits), r)
	CMPL(r, operand.U32(bits))
	JNE(operand.LabelRef("no"))
}

// answer returns true, and false at the label to which need jumps.
func answer() {
	yes, err := ReturnIndex(0).Resolve()
	if err != nil {
		panic(err)
	}
	MOVB(operand.U8(1), yes.Addr)
	RET()
	Label("no")
	MOVB(operand.U8(0), yes.Addr)
	RET()
}
