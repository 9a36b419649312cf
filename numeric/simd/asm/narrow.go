package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The constants of package tensor that the loop uses: see narrow.go there.
const (
	narrowKeep   = 13 // bits kept below the largest exponent
	narrowLength = 32
	narrowStart  = 0x1.8p23
	// The smallest and the largest exponent of a term, biased as in an f32, for which the unit
	// and the sums are normal numbers.
	narrowLeast = narrowKeep + 1
	narrowMost  = 254 - 23 + narrowKeep - 1
)

// narrower holds the registers of the loop of Narrow, which multiplies two rows with two
// panels of eight columns at a time. A unit is a row and a panel.
type narrower struct {
	s                   reg.GPVirtual // the argument
	aExps, x, aSigns    reg.GPVirtual
	c, d                reg.GPVirtual
	starts              operand.Mem // by unit
	bad                 reg.VecVirtual
	some, rebias, one   operand.Mem
	least, most, keep   operand.Mem
	twice, start        operand.Mem
	nibbles, low4, cut  operand.Mem
	onesBytes, onesWord operand.Mem
}

func words(name string, v uint32) operand.Mem { return splat(name, uint64(v)<<32|uint64(v)) }

func (w *narrower) constants() {
	w.nibbles = popcounts("narrowNibbles")
	w.some, w.rebias, w.one = words("narrowSome", 63), words("narrowRebias", 127-2*(32+14)), words("narrowOne", 1)
	w.least, w.most, w.keep = words("narrowLeast", narrowLeast), words("narrowMost", narrowMost), words("narrowKeep", narrowKeep)
	w.twice, w.start = words("narrowTwice", 2*127), words("narrowStart", math.Float32bits(narrowStart))
	w.low4, w.cut = words("narrowLow4", 0x0f0f0f0f), words("narrowCut", 1<<32-1<<(23-narrowKeep))
	w.onesBytes, w.onesWord = words("narrowOnesBytes", 0x01010101), words("narrowOnesWords", 0x00010001)
}

// field returns a field of the argument.
func (w *narrower) field(name string) operand.Mem {
	for i, f := range []string{"Pairs", "Done", "AExps", "X", "ASigns", "BExps", "Y", "BSigns", "C", "D", "CStep", "DStep"} {
		if f == name {
			return operand.Mem{Base: w.s, Disp: i * 8}
		}
	}
	panic("no field " + name)
}

func (w *narrower) load(name string) reg.GPVirtual {
	r := GP64()
	MOVQ(w.field(name), r)
	return r
}

func narrow() {
	w := &narrower{}
	w.constants()
	TEXT("narrow", NOSPLIT, "func(s *byte)")
	Doc("narrow multiplies pairs of rows with two panels of eight columns.")
	w.s = Load(Param("s"), GP64()).(reg.GPVirtual)
	saved, rounding := AllocLocal(4), AllocLocal(4)
	w.starts = AllocLocal(4 * 32)
	VSTMXCSR(saved)
	MOVL(operand.U32(towardsZero), rounding)
	VLDMXCSR(rounding)
	w.aExps, w.x, w.aSigns = w.load("AExps"), w.load("X"), w.load("ASigns")
	bExps, y, bSigns := w.load("BExps"), w.load("Y"), w.load("BSigns")
	w.c, w.d = w.load("C"), w.load("D")

	Label("rows")
	best := w.maxima(bExps)
	w.bad = YMM()
	VPXOR(w.bad, w.bad, w.bad)
	var first [4]reg.VecVirtual
	for u := range first {
		first[u] = w.prepare(u, best[u], bSigns)
	}
	VPTEST(w.bad, w.bad)
	JNZ(operand.LabelRef("end"))
	w.sums(first, y)
	ADDQ(operand.I32(2*8*narrowLength), w.aExps)
	ADDQ(operand.I32(2*4*narrowLength), w.x)
	ADDQ(operand.U8(2*8), w.aSigns)
	step := w.load("CStep")
	LEAQ(operand.Mem{Base: w.c, Index: step, Scale: 2}, w.c)
	step = w.load("DStep")
	LEAQ(operand.Mem{Base: w.d, Index: step, Scale: 2}, w.d)
	INCQ(w.field("Done"))
	DECQ(w.field("Pairs"))
	JNZ(operand.LabelRef("rows"))
	Label("end")
	VLDMXCSR(saved)
	VZEROUPPER()
	RET()
}

// maxima returns the largest sums of biased exponents of each unit, one for each column.
func (w *narrower) maxima(bExps reg.GPVirtual) (best [4]reg.VecVirtual) {
	for u := range best {
		best[u] = YMM()
		VPXOR(best[u], best[u], best[u])
	}
	at := GP64()
	XORQ(at, at)
	Label("max")
	for p := range 2 {
		exps := YMM()
		VMOVDQU(operand.Mem{Base: bExps, Index: at, Scale: 1, Disp: p * 8 * narrowLength}, exps)
		for r := range 2 {
			sum := YMM()
			VPADDB(operand.Mem{Base: w.aExps, Index: at, Scale: 1, Disp: r * 8 * narrowLength}, exps, sum)
			VPMAXUB(sum, best[2*r+p], best[2*r+p])
		}
	}
	ADDQ(operand.U8(32), at)
	CMPQ(at, operand.U32(8*narrowLength))
	JNE(operand.LabelRef("max"))
	return best
}

// prepare computes the unit of the sums of a row and a panel. It returns the start of the
// first half of each sum: 1.5·2^23 units, plus the truncated accumulator, plus one unit for
// each negative product. It stores the start of the second half. Columns that it cannot
// compute are marked in bad.
func (w *narrower) prepare(u int, best reg.VecVirtual, bSigns reg.GPVirtual) reg.VecVirtual {
	r, p := u/2, u%2
	x, y, m, t := XMM(), XMM(), YMM(), YMM()
	VEXTRACTI128(operand.U8(1), best, x)
	VPMAXUB(x, best.AsX(), x)
	VPSHUFD(operand.U8(0xee), x, y)
	VPMAXUB(x, y, x)
	VPMOVZXBD(x, m)
	VPCMPGTD(w.some, m, t)
	VPADDD(w.rebias, m, m)
	VPAND(t, m, m)

	// The exponent of the accumulator. A subnormal number has the exponent of the smallest
	// normal number.
	c, e, zero := YMM(), YMM(), YMM()
	from := operand.Mem{Base: w.c, Disp: 32 * p}
	if r == 1 {
		step := w.load("CStep")
		from = operand.Mem{Base: w.c, Index: step, Scale: 1, Disp: 32 * p}
	}
	VMOVUPS(from, c)
	VPADDD(c, c, e)
	VPXOR(zero, zero, zero)
	VPCMPEQD(zero, e, t)
	VPANDN(w.one, t, t)
	VPSRLD(operand.U8(24), e, e)
	VPMAXSD(t, e, e)
	VPMAXSD(e, m, m)

	// If all terms are zero, any unit will do.
	VPCMPGTD(w.most, m, t)
	VPOR(t, w.bad, w.bad)
	VPCMPGTD(zero, m, zero)
	VMOVDQU(w.least, t)
	VPCMPGTD(m, t, t)
	VPAND(zero, t, t)
	VPOR(t, w.bad, w.bad)
	VPMAXSD(w.least, m, m)
	VPSUBD(w.keep, m, m)

	VMOVDQU(w.twice, t)
	VPSUBD(m, t, t)
	VPSLLD(operand.U8(23), t, t)
	VPSLLD(operand.U8(23), m, m)
	VMULPS(t, c, c)
	VROUNDPS(operand.U8(3), c, c)
	negs := w.negatives(r, p, bSigns)
	VADDPS(negs, c, c)
	VADDPS(w.start, c, c)
	VMULPS(m, c, c)
	VMULPS(w.start, m, m)
	VMOVUPS(m, w.starts.Offset(32*u))
	return c
}

// negatives counts the negative products. The signs of a row or column are two words: the
// negative elements and the elements that are not zero.
func (w *narrower) negatives(r, p int, bSigns reg.GPVirtual) reg.VecVirtual {
	v, t, low := YMM(), YMM(), YMM()
	VPBROADCASTD(operand.Mem{Base: w.aSigns, Disp: 8 * r}, v)
	VPXOR(operand.Mem{Base: bSigns, Disp: 64 * p}, v, v)
	VPBROADCASTD(operand.Mem{Base: w.aSigns, Disp: 8*r + 4}, t)
	VPAND(operand.Mem{Base: bSigns, Disp: 64*p + 32}, t, t)
	VPAND(t, v, v)
	VPSRLD(operand.U8(4), v, t)
	VPAND(w.low4, v, v)
	VPAND(w.low4, t, t)
	VMOVDQU(w.nibbles, low)
	VPSHUFB(v, low, v)
	VPSHUFB(t, low, t)
	VPADDB(t, v, v)
	VPMADDUBSW(w.onesBytes, v, v)
	VPMADDWD(w.onesWord, v, v)
	VCVTDQ2PS(v, v)
	return v
}

// sums adds the floors of the products and stores the results, truncated to the precision of
// a result. Each sum has two halves, to hide the latency of an addition.
func (w *narrower) sums(first [4]reg.VecVirtual, y reg.GPVirtual) {
	var second [4]reg.VecVirtual
	for u := range second {
		second[u] = YMM()
		VMOVUPS(w.starts.Offset(32*u), second[u])
	}
	at := GP64()
	XORQ(at, at)
	Label("sum")
	for i, half := range [2][4]reg.VecVirtual{first, second} {
		var cols [2]reg.VecVirtual
		for p := range cols {
			cols[p] = YMM()
			VMOVUPS(operand.Mem{Base: y, Index: at, Scale: 8, Disp: 32*i + p*32*narrowLength}, cols[p])
		}
		for r := range 2 {
			x := YMM()
			VBROADCASTSS(operand.Mem{Base: w.x, Index: at, Scale: 1, Disp: 4*i + r*4*narrowLength}, x)
			for p, col := range cols {
				VFMADD231PS(col, x, half[2*r+p])
			}
		}
	}
	ADDQ(operand.U8(8), at)
	CMPQ(at, operand.U32(4*narrowLength))
	JNE(operand.LabelRef("sum"))
	step := w.load("DStep")
	for u := range first {
		start := YMM()
		VMOVUPS(w.starts.Offset(32*u), start)
		VSUBPS(start, first[u], first[u])
		VSUBPS(start, second[u], second[u])
		VADDPS(second[u], first[u], first[u])
		VPAND(w.cut, first[u], first[u])
		to := operand.Mem{Base: w.d, Disp: 32 * (u % 2)}
		if u >= 2 {
			to = operand.Mem{Base: w.d, Index: step, Scale: 1, Disp: 32 * (u % 2)}
		}
		VMOVUPS(first[u], to)
	}
}
