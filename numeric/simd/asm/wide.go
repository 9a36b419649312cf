package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The loops for AVX-512 multiply two rows at a time with a panel of eight columns, all of which
// fit in one vector. They differ from the loops for AVX2 in these points:
//
//   - An accumulator is one more term of the sum, multiplied by 1+ε.
//   - A sum stays between 2^52 and 2^53 units, so that its bits are an integer plus a constant.
//     Integer instructions add the number of negative terms and the parts of the sum.
//   - A fused operation truncates the exact sum, so that no term is too small.
//   - Exponents are biased as in an f32. That of a unit is less by leastUnit.

// wideRows is the number of rows at a time.
const wideRows = 2

// wideRange is the largest exponent of a unit, less leastUnit, for which no result overflows.
const wideRange = mostUnit - leastUnit

// wider holds the registers of a loop for AVX-512.
type wider struct {
	sweeper
	stride, count reg.GPVirtual               // bytes of values of a row, blocks of a row
	blocks        operand.Mem                 // blocks that are left
	acc           [wideRows]reg.VecVirtual    // f32
	nonzero       [wideRows]reg.OpmaskVirtual // accumulators of the block that are not zero
	larger, cut   reg.VecVirtual              // constants in 64-bit elements
	first         reg.VecVirtual              // the bits of the start of a sum whose unit is leastUnit
	lane, some    reg.VecVirtual              // constants in 32-bit elements
	rebias, floor reg.VecVirtual
	least, keep   reg.VecVirtual
	most          reg.VecVirtual
	from          map[string]operand.Mem // the memory of the constants
}

// wideSweep generates the loop. Rows must be a multiple of two, and Length of eight.
func wideSweep(name string, laneBits int, half bool) {
	w := &wider{sweeper: sweeper{lanes: lanesOf(laneBits), half: half}}
	w.constants(name)
	TEXT(name, NOSPLIT, "func(s *byte)")
	Doc(name + " multiplies pairs of rows whose exponents have lanes of " + map[int]string{8: "8", 16: "16"}[laneBits] + " bits, with AVX-512.")
	w.s = Load(Param("s"), GP64()).(reg.GPVirtual)
	saved, rounding := AllocLocal(4), AllocLocal(4)
	w.blocks = AllocLocal(8)
	VSTMXCSR(saved)
	MOVL(operand.U32(towardsZero), rounding)
	VLDMXCSR(rounding)
	w.begin()
	w.checkColumns()

	Label("rows")
	w.c = w.load("C")
	w.eachRow(func(r int) {
		w.acc[r] = YMM()
		VMOVUPS(operand.Mem{Base: w.c}, w.acc[r])
		ADDQ(w.field("CStep"), w.c)
	})
	MOVQ(w.c, w.field("C"))
	w.bExps, w.y, w.bSigns = w.load("BExps"), w.load("Y"), w.load("BSigns")
	MOVQ(w.count, w.blocks)
	Label("block")
	sums := w.add(w.units())
	if !half {
		w.eachRow(func(r int) {
			VPANDQ(w.cut, sums[r], sums[r])
			VCVTPD2PS(sums[r], w.acc[r])
		})
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

func (w *wider) eachRow(op func(r int)) {
	for r := range wideRows {
		op(r)
	}
}

// constants stores constants in memory.
func (w *wider) constants(name string) {
	every, some := uint64(0x7f), uint64(0x3f)
	if w.bits == 16 {
		every, some = 0x7fff, 0x3ff
	}
	w.from = map[string]operand.Mem{}
	for _, c := range []struct {
		name string
		v    uint64
	}{
		{"Larger", largerBits}, {"First", math.Float64bits(start) - (1023-leastUnit)<<52},
		{"Lane", every}, {"Some", some}, {"Rebias", uint64(2*w.bias - 127)}, {"Range", wideRange},
		{"NoFast", 1<<32 + noFast}, {"ToF32", 1023 - 127}, {"LeastUnit", leastUnit},
	} {
		w.from[c.name] = GLOBL(name+c.name, NOPTR|RODATA)
		DATA(0, operand.U64(c.v))
	}
}

// begin loads constants and pointers.
func (w *wider) begin() {
	w.larger, w.first, w.cut = ZMM(), ZMM(), ZMM()
	VPBROADCASTQ(w.from["Larger"], w.larger)
	VPBROADCASTQ(w.from["First"], w.first)
	VPBROADCASTQ(w.field("Cut"), w.cut)
	word := func(from operand.Mem) reg.VecVirtual {
		v := YMM()
		VPBROADCASTD(from, v)
		return v
	}
	w.lane, w.some, w.rebias, w.most = word(w.from["Lane"]), word(w.from["Some"]), word(w.from["Rebias"]), word(w.from["Range"])
	w.floor, w.least, w.keep = word(w.field("Floor")), word(w.field("Least")), word(w.field("Keep"))
	toF32 := word(w.from["ToF32"])
	VPSUBD(toF32, w.floor, w.floor)
	VPSUBD(toF32, w.least, w.least)
	VPADDD(word(w.from["LeastUnit"]), w.keep, w.keep)
	VPSUBD(toF32, w.keep, w.keep)
	w.aExps, w.x, w.aSigns, w.aLow = w.load("AExps"), w.load("X"), w.load("ASigns"), w.load("ALow")
	w.count, w.stride = w.load("Blocks"), w.load("Length")
	IMULQ(w.count, w.stride)
	SHLQ(operand.U8(3), w.stride)
}

// checkColumns leaves the loop if a column has an infinity or a NaN.
func (w *wider) checkColumns() {
	none, bad := YMM(), K()
	VPBROADCASTD(w.from["NoFast"], none)
	at, n := w.load("BLow"), GP64()
	MOVQ(w.count, n)
	Label("low")
	VPCMPEQD(operand.Mem{Base: at}, none, bad)
	KORTESTB(bad, bad)
	JNZ(operand.LabelRef("end"))
	ADDQ(operand.U8(32), at)
	DECQ(n)
	JNZ(operand.LabelRef("low"))
}

// row returns the place of row r in an array with elements of scale bytes for each block.
func (w *wider) row(base reg.GPVirtual, r int, scale uint8) operand.Mem {
	if r == 0 {
		return operand.Mem{Base: base}
	}
	return operand.Mem{Base: base, Index: w.count, Scale: scale}
}

// value returns the place of a word of row r.
func (w *wider) value(base reg.GPVirtual, r, disp int) operand.Mem {
	if r == 0 {
		return operand.Mem{Base: base, Disp: disp}
	}
	return operand.Mem{Base: base, Index: w.stride, Scale: 1, Disp: disp}
}

// best returns the largest sum of biased exponents of each column, in eight 32-bit elements.
func (w *wider) best() (m [wideRows]reg.VecVirtual) {
	var best [wideRows][2]reg.VecVirtual
	w.eachRow(func(r int) {
		for h := range w.words {
			best[r][h] = ZMM()
			VPXORQ(best[r][h], best[r][h], best[r][h])
		}
	})
	n, next := w.load("Length"), GP64()
	if w.words == 2 {
		LEAQ(operand.Mem{Base: w.bExps, Index: n, Scale: 8}, next)
	}
	Label("max")
	for h := range w.words {
		b, from := ZMM(), []reg.GPVirtual{w.bExps, next}[h]
		VMOVDQU64(operand.Mem{Base: from}, b)
		ADDQ(operand.U8(64), from)
		w.eachRow(func(r int) {
			sum := ZMM()
			VPADDQ(w.value(w.aExps, r, 0), b, sum)
			w.greater(sum, best[r][h], best[r][h])
		})
	}
	ADDQ(operand.U8(64), w.aExps)
	SUBQ(operand.U8(8), n)
	JNZ(operand.LabelRef("max"))
	if w.words == 2 {
		MOVQ(next, w.bExps)
	}
	w.eachRow(func(r int) {
		m[r] = YMM()
		if w.words == 1 {
			VPMOVZXBD(w.foldOne(best[r][0]), m[r])
		} else {
			VPMOVZXWD(w.foldTwo(best[r]), m[r])
		}
	})
	return m
}

// foldOne returns the largest value of each lane over the eight words of a vector.
func (w *wider) foldOne(v reg.VecVirtual) reg.VecVirtual {
	y, x, t := YMM(), XMM(), XMM()
	VEXTRACTI64X4(operand.U8(1), v, y)
	w.greater(v.AsY().(reg.VecVirtual), y, y)
	VEXTRACTI64X2(operand.U8(1), y, x)
	w.greater(y.AsX().(reg.VecVirtual), x, x)
	VPSHUFD(operand.U8(0xee), x, t)
	w.greater(x, t, x)
	return x
}

// foldTwo does so for two vectors of four columns, and returns eight lanes of 16 bits.
func (w *wider) foldTwo(v [2]reg.VecVirtual) reg.VecVirtual {
	low, high, x, t := ZMM(), ZMM(), XMM(), XMM()
	VSHUFI64X2(operand.U8(0x44), v[1], v[0], low)
	VSHUFI64X2(operand.U8(0xee), v[1], v[0], high)
	w.greater(low, high, low) // columns 0 to 3 in the first half, 4 to 7 in the second
	VPSHUFD(operand.U8(0x4e), low, high)
	w.greater(low, high, low)
	VSHUFI64X2(operand.U8(0xb1), low, low, high)
	w.greater(low, high, low)
	VEXTRACTI64X2(operand.U8(2), low, x)
	VPUNPCKLQDQ(x, low.AsX(), t)
	return t
}

// units returns the exponents of the units less leastUnit, in eight 64-bit elements. It leaves
// the loop if a factor is infinite or NaN, or if a result may not be a normal f32.
func (w *wider) units() (exps [wideRows]reg.VecVirtual) {
	var bad [wideRows]reg.OpmaskVirtual
	for r, m := range w.best() {
		some, any, e := K(), K(), YMM()
		w.nonzero[r] = K()
		VPANDD(w.lane, m, m)
		VPCMPGTD(w.some, m, some)
		VPSUBD_Z(w.rebias, m, some, m)
		if w.bits == 16 {
			// A product may be smaller than the smallest exponent to which terms are aligned.
			VPMAXSD(w.floor, m, some, m)
		}
		VPADDD(w.acc[r], w.acc[r], e)
		VPTESTMD(e, e, w.nonzero[r])
		VPSRLD(operand.U8(24), e, e)
		// A subnormal accumulator has the exponent of the smallest normal number.
		VPMAXSD_Z(w.least, e, w.nonzero[r], e)
		KORB(some, w.nonzero[r], any)
		VPMAXSD(e, m, m)
		VPSUBD_Z(w.keep, m, any, m) // if all terms are zero, any unit will do
		bad[r] = K()
		VPCMPUD(operand.U8(6), w.most, m, bad[r])
		exps[r] = ZMM()
		VPMOVZXDQ(m, exps[r])
		CMPL(w.row(w.aLow, r, 4), operand.I32(noFast))
		JEQ(operand.LabelRef("end"))
	}
	KORTESTB(bad[0], bad[1])
	JNZ(operand.LabelRef("end"))
	ADDQ(operand.U8(4), w.aLow)
	return exps
}

// add returns the sums of the accumulators and the products of one block.
func (w *wider) add(exps [wideRows]reg.VecVirtual) (sums [wideRows]reg.VecVirtual) {
	const parts = 2
	var first [wideRows]reg.VecVirtual
	var part [wideRows][parts]reg.VecVirtual
	signs := ZMM()
	VMOVDQU64(operand.Mem{Base: w.bSigns}, signs)
	w.eachRow(func(r int) {
		acc, negs, neg := ZMM(), ZMM(), ZMM()
		first[r] = ZMM()
		VPSLLQ(operand.U8(52), exps[r], first[r])
		VPADDQ(w.first, first[r], first[r])
		VCVTPS2PD(w.acc[r], acc)
		part[r] = [parts]reg.VecVirtual{ZMM(), ZMM()}
		for _, p := range part[r] {
			VMOVAPD(first[r], p)
		}
		VFMADD231PD(w.larger, acc, part[r][0])
		VPSRLQ_Z(operand.U8(63), acc, w.nonzero[r], neg)
		VPANDQ_BCST(w.row(w.aSigns, r, 8), signs, negs)
		VPOPCNTQ(negs, negs)
		VPADDQ(neg, negs, negs)
		VPADDQ(negs, part[r][0], part[r][0])
	})
	ADDQ(operand.U8(8), w.aSigns)
	ADDQ(operand.U8(64), w.bSigns)
	n := w.load("Length")
	Label("sum")
	const unrolled = 4
	for i := range unrolled {
		y := ZMM()
		VMOVUPD(operand.Mem{Base: w.y, Disp: 64 * i}, y)
		w.eachRow(func(r int) { VFMADD231PD_BCST(w.value(w.x, r, 8*i), y, part[r][i%parts]) })
	}
	ADDQ(operand.U8(8*unrolled), w.x)
	ADDQ(operand.I32(64*unrolled), w.y)
	SUBQ(operand.U8(unrolled), n)
	JNZ(operand.LabelRef("sum"))
	w.eachRow(func(r int) {
		VPADDQ(part[r][1], part[r][0], part[r][0])
		VPSUBQ(first[r], part[r][0], part[r][0])
		VSUBPD(first[r], part[r][0], part[r][0])
		sums[r] = part[r][0]
	})
	return sums
}

// store stores the results.
func (w *wider) store(sums [wideRows]reg.VecVirtual) {
	w.d = w.load("D")
	w.eachRow(func(r int) {
		if w.half {
			VMOVUPD(sums[r], operand.Mem{Base: w.d})
		} else {
			VMOVUPS(w.acc[r], operand.Mem{Base: w.d})
		}
		ADDQ(w.field("DStep"), w.d)
	})
	MOVQ(w.d, w.field("D"))
}
