package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The loops on twins multiply two rows at a time with a panel of eight columns. They are the loops for
// AVX-512 (see wide.go) with the instructions of AVX2.
// Compared with the loops of sweep.go, the rows share the loads of the columns, and the chain of
// operations that depend on each other is shorter.

// twin holds the registers of such a loop. The eight columns of a row are a pair of vectors.
type twin struct {
	sweeper
	length        int           // the length of a block, or 0 for the one in the argument
	stride, count reg.GPVirtual // bytes of values of a row, blocks of a row
	blocks        operand.Mem   // blocks that are left
	acc           [wideRows]reg.VecVirtual
	larger, first operand.Mem // constants in 64-bit elements
	lane, some    operand.Mem // constants in 32-bit elements
	rebias, most  operand.Mem
	keep, floor   operand.Mem // local variables: see begin
	nibbles, low4 operand.Mem
	least, noFast operand.Mem
	zeros         operand.Mem
}

// twinSweep generates the loop. Rows must be a multiple of two.
func twinSweep(name string, laneBits int, half bool, length int) {
	w := &twin{sweeper: sweeper{lanes: lanesOf(laneBits), half: half}, length: length}
	w.constants(name)
	TEXT(name, NOSPLIT, "func(s *byte)")
	Doc(name + " multiplies pairs of rows whose exponents have lanes of " + map[int]string{8: "8", 16: "16"}[laneBits] + " bits.")
	w.s = Load(Param("s"), GP64()).(reg.GPVirtual)
	saved, rounding := AllocLocal(4), AllocLocal(4)
	w.blocks, w.keep, w.least, w.floor = AllocLocal(8), AllocLocal(32), AllocLocal(32), AllocLocal(32)
	VSTMXCSR(saved)
	MOVL(operand.U32(towardsZero), rounding)
	VLDMXCSR(rounding)
	w.begin(name)
	w.checkColumns()

	Label("rows")
	w.c = w.load("C")
	zero := YMM()
	VXORPS(zero, zero, zero)
	for r := range w.acc {
		w.acc[r] = YMM()
		VADDPS(operand.Mem{Base: w.c}, zero, w.acc[r]) // a zero is positive then
		ADDQ(w.field("CStep"), w.c)
	}
	MOVQ(w.c, w.field("C"))
	w.bExps, w.y, w.bSigns = w.load("BExps"), w.load("Y"), w.load("BSigns")
	MOVQ(w.count, w.blocks)
	Label("block")
	sums := w.add(w.units())
	if !half {
		cut := YMM()
		VPBROADCASTQ(w.field("Cut"), cut)
		for r, s := range sums {
			low, high := XMM(), XMM()
			every(func(h int) { VPAND(cut, s[h], s[h]) })
			VCVTPD2PSY(s[0], low)
			VCVTPD2PSY(s[1], high)
			VINSERTF128(operand.U8(1), high, low.AsY(), w.acc[r])
		}
	}
	DECQ(w.blocks)
	JNZ(operand.LabelRef("block"))
	w.store(sums)
	for _, at := range []reg.GPVirtual{w.aExps, w.x} {
		ADDQ(w.stride, at)
	}
	LEAQ(operand.Mem{Base: w.aSigns, Index: w.count, Scale: 8}, w.aSigns)
	LEAQ(operand.Mem{Base: w.aLow, Index: w.count, Scale: 4}, w.aLow)
	ADDQ(operand.U8(wideRows), w.field("Done"))
	SUBQ(operand.U8(wideRows), w.field("Rows"))
	JNZ(operand.LabelRef("rows"))
	Label("end")
	VLDMXCSR(saved)
	VZEROUPPER()
	RET()
}

// constants stores constants in memory.
func (w *twin) constants(name string) {
	w.larger = splat(name+"Larger", largerBits)
	w.first = splat(name+"First", math.Float64bits(start)-(1023-leastUnit)<<52)
	every, some := uint32(0x7f), uint32(0x3f)
	if w.bits == 16 {
		every, some = 0x7fff, 0x3ff
	}
	w.lane, w.some = words(name+"Lane", every), words(name+"Some", some)
	w.rebias, w.most = words(name+"Rebias", uint32(2*w.bias-127)), words(name+"Range", wideRange)
	w.nibbles, w.low4 = popcounts(name+"Nibbles"), words(name+"Low4", 0x0f0f0f0f)
	w.noFast, w.zeros = words(name+"NoFast", 1<<32+noFast), words(name+"Zeros", 0)
}

// begin loads pointers, and stores constants that depend on the argument: exponents here are biased
// as in an f32, and that of a unit is less by leastUnit.
func (w *twin) begin(name string) {
	toF32, least := words(name+"ToF32", 1023-127), words(name+"LeastUnit", leastUnit)
	v := YMM()
	VPBROADCASTD(w.field("Keep"), v)
	VPADDD(least, v, v)
	VPSUBD(toF32, v, v)
	VMOVDQU(v, w.keep)
	for _, c := range []struct {
		name string
		to   operand.Mem
	}{{"Least", w.least}, {"Floor", w.floor}} {
		VPBROADCASTD(w.field(c.name), v)
		VPSUBD(toF32, v, v)
		VMOVDQU(v, c.to)
	}
	w.aExps, w.x, w.aSigns, w.aLow = w.load("AExps"), w.load("X"), w.load("ASigns"), w.load("ALow")
	w.count, w.stride = w.load("Blocks"), w.load("Length")
	IMULQ(w.count, w.stride)
	SHLQ(operand.U8(3), w.stride)
}

// checkColumns leaves the loop if a column has an infinity or a NaN.
func (w *twin) checkColumns() {
	bad := YMM()
	at, n := w.load("BLow"), GP64()
	MOVQ(w.count, n)
	Label("low")
	VMOVDQU(operand.Mem{Base: at}, bad)
	VPCMPEQD(w.noFast, bad, bad)
	VPTEST(bad, bad)
	JNZ(operand.LabelRef("end"))
	ADDQ(operand.U8(32), at)
	DECQ(n)
	JNZ(operand.LabelRef("low"))
}

// row returns the place of row r in an array with elements of scale bytes for each block.
func (w *twin) row(base reg.GPVirtual, r int, scale uint8) operand.Mem {
	if r == 0 {
		return operand.Mem{Base: base}
	}
	return operand.Mem{Base: base, Index: w.count, Scale: scale}
}

// value returns the place of a word of row r.
func (w *twin) value(base reg.GPVirtual, r, disp int) operand.Mem {
	if r == 0 {
		return operand.Mem{Base: base, Disp: disp}
	}
	return operand.Mem{Base: base, Index: w.stride, Scale: 1, Disp: disp}
}

// best returns the largest sum of biased exponents of each column, in eight 32-bit elements.
func (w *twin) best() (m [wideRows]reg.VecVirtual) {
	var best [wideRows][2]reg.VecVirtual
	for r := range best {
		for h := range w.words {
			best[r][h] = YMM()
			VPXOR(best[r][h], best[r][h], best[r][h])
		}
	}
	if w.length > 0 {
		w.bestOf(best)
		return w.folded(best)
	}
	n, next := w.load("Length"), GP64()
	if w.words == 2 {
		LEAQ(operand.Mem{Base: w.bExps, Index: n, Scale: 8}, next)
	}
	Label("max")
	for h := range w.words {
		b, from := YMM(), []reg.GPVirtual{w.bExps, next}[h]
		VMOVDQU(operand.Mem{Base: from}, b)
		ADDQ(operand.U8(32), from)
		for r := range best {
			sum := YMM()
			VPADDQ(w.value(w.aExps, r, 0), b, sum)
			w.greater(sum, best[r][h], best[r][h])
		}
	}
	ADDQ(operand.U8(32), w.aExps)
	SUBQ(operand.U8(4), n)
	JNZ(operand.LabelRef("max"))
	if w.words == 2 {
		MOVQ(next, w.bExps)
	}
	return w.folded(best)
}

// bestOf computes best for blocks of a constant length.
func (w *twin) bestOf(best [wideRows][2]reg.VecVirtual) {
	for e := 0; e < w.length; e += 4 {
		for h := range w.words {
			b := YMM()
			VMOVDQU(operand.Mem{Base: w.bExps, Disp: 8 * (h*w.length + e)}, b)
			for r := range best {
				sum := YMM()
				VPADDQ(w.value(w.aExps, r, 8*e), b, sum)
				w.greater(sum, best[r][h], best[r][h])
			}
		}
	}
	ADDQ(operand.I32(8*w.length*w.words), w.bExps)
	ADDQ(operand.I32(8*w.length), w.aExps)
}

// folded returns the largest value of each lane over the words of the vectors, in 32-bit elements.
func (w *twin) folded(best [wideRows][2]reg.VecVirtual) (m [wideRows]reg.VecVirtual) {
	for r := range best {
		m[r] = YMM()
		if w.words == 1 {
			VPMOVZXBD(w.fold(best[r][0]), m[r])
			continue
		}
		both := XMM()
		VPUNPCKLQDQ(w.fold(best[r][1]), w.fold(best[r][0]), both)
		VPMOVZXWD(both, m[r])
	}
	return m
}

// units returns the exponents of the units less leastUnit, in eight 32-bit elements. It leaves the loop if
// a factor is infinite or NaN, or if a result may not be a normal f32.
func (w *twin) units() (exps [wideRows]reg.VecVirtual) {
	good := YMM()
	for r, m := range w.best() {
		some, e, zero, t := YMM(), YMM(), YMM(), YMM()
		VPAND(w.lane, m, m)
		VPCMPGTD(w.some, m, some)
		VPSUBD(w.rebias, m, m)
		if w.bits == 16 {
			// A product may be smaller than the smallest exponent to which terms are aligned.
			VPMAXSD(w.floor, m, m)
		}
		VPAND(some, m, m)
		VPADDD(w.acc[r], w.acc[r], e)
		VPXOR(zero, zero, zero)
		VPCMPEQD(zero, e, zero)
		VPSRLD(operand.U8(24), e, e)
		// A subnormal accumulator has the exponent of the smallest normal number.
		VPANDN(w.least, zero, t)
		VPMAXSD(t, e, e)
		VPMAXSD(e, m, m)
		VPSUBD(w.keep, m, m)
		VPANDN(zero, some, zero)
		VPANDN(m, zero, m) // if all terms are zero, any unit will do
		VMOVDQU(w.most, e)
		VPMAXUD(e, m, t)
		VPCMPEQD(e, t, t)
		if r == 0 {
			VMOVDQA(t, good)
		} else {
			VPAND(t, good, good)
		}
		exps[r] = m
		CMPL(w.row(w.aLow, r, 4), operand.I32(noFast))
		JEQ(operand.LabelRef("end"))
	}
	ones := YMM()
	VPCMPEQD(ones, ones, ones)
	VPTEST(ones, good)
	JCC(operand.LabelRef("end"))
	ADDQ(operand.U8(4), w.aLow)
	return exps
}

// add returns the sums of the accumulators and the products of one block.
func (w *twin) add(exps [wideRows]reg.VecVirtual) (sums [wideRows]pair) {
	const parts = 2
	var first [wideRows]pair
	var part [wideRows][parts]pair
	for r := range first {
		signs := YMM()
		first[r] = newPair()
		VPBROADCASTQ(w.row(w.aSigns, r, 8), signs)
		part[r] = [parts]pair{newPair(), newPair()}
		every(func(h int) {
			acc := YMM()
			exp, narrow := exps[r].AsX(), w.acc[r].AsX()
			if h == 1 {
				highExp, highAcc := XMM(), XMM()
				VEXTRACTI128(operand.U8(1), exps[r], highExp)
				VEXTRACTF128(operand.U8(1), w.acc[r], highAcc)
				exp, narrow = highExp, highAcc
			}
			VPMOVZXDQ(exp, first[r][h])
			VPSLLQ(operand.U8(52), first[r][h], first[r][h])
			VPADDQ(w.first, first[r][h], first[r][h])
			VCVTPS2PD(narrow, acc)
			start := part[r][0][h]
			VMOVAPD(first[r][h], start)
			VFMADD231PD(w.larger, acc, start)
			VPSRLQ(operand.U8(63), acc, acc)
			VPADDQ(acc, start, start)
			VPADDQ(w.negatives(signs, operand.Mem{Base: w.bSigns, Disp: 32 * h}), start, start)
		})
	}
	for r := range part {
		every(func(h int) { VMOVAPD(first[r][h], part[r][1][h]) })
	}
	ADDQ(operand.U8(8), w.aSigns)
	ADDQ(operand.U8(64), w.bSigns)
	n, unrolled := reg.GPVirtual(nil), w.length
	if w.length == 0 {
		n, unrolled = w.load("Length"), 4
		Label("sum")
	}
	for i := range unrolled {
		y := newPair()
		every(func(h int) { VMOVUPD(operand.Mem{Base: w.y, Disp: 64*i + 32*h}, y[h]) })
		for r := range part {
			x := YMM()
			VBROADCASTSD(w.value(w.x, r, 8*i), x)
			every(func(h int) { VFMADD231PD(y[h], x, part[r][i%parts][h]) })
		}
	}
	ADDQ(operand.I32(8*unrolled), w.x)
	ADDQ(operand.I32(64*unrolled), w.y)
	if w.length == 0 {
		SUBQ(operand.U8(unrolled), n)
		JNZ(operand.LabelRef("sum"))
	}
	for r := range part {
		every(func(h int) {
			sum := part[r][0][h]
			VPADDQ(part[r][1][h], sum, sum)
			VPSUBQ(first[r][h], sum, sum)
			VSUBPD(first[r][h], sum, sum)
		})
		sums[r] = part[r][0]
	}
	return sums
}

// negatives counts the negative products of four columns.
func (w *twin) negatives(row reg.VecVirtual, cols operand.Mem) reg.VecVirtual {
	negs, high, table := YMM(), YMM(), YMM()
	VPAND(cols, row, negs)
	VMOVDQU(w.nibbles, table)
	VPSRLQ(operand.U8(4), negs, high)
	VPAND(w.low4, negs, negs)
	VPAND(w.low4, high, high)
	VPSHUFB(negs, table, negs)
	VPSHUFB(high, table, high)
	VPADDB(negs, high, negs)
	VPSADBW(w.zeros, negs, negs)
	return negs
}

// store stores the results.
func (w *twin) store(sums [wideRows]pair) {
	w.d = w.load("D")
	for r := range sums {
		if w.half {
			every(func(h int) { VMOVUPD(sums[r][h], operand.Mem{Base: w.d, Disp: 32 * h}) })
		} else {
			VMOVUPS(w.acc[r], operand.Mem{Base: w.d})
		}
		ADDQ(w.field("DStep"), w.d)
	}
	MOVQ(w.d, w.field("D"))
}
