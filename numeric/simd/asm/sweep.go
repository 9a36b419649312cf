package main

import (
	"math"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The constants of package tensor that the loops use: see fast.go and lanes.go there.
const (
	faintest = -53
	start    = 0x1.8p52
	magic    = 0x1p52 // in a sum with it, the low bits of a float64 are an integer
)

// largerBits holds the bits of the number by which the first factor is multiplied.
var largerBits = math.Float64bits(1 + 0x1p-30)

// towardsZero is the control word that rounds towards zero. The sums are around 1.5·2^52
// units, where rounding towards zero gives the floor. One fused operation can therefore
// multiply, truncate and add.
const towardsZero = 0x7f80

// lanes describes how the exponents of a panel of columns are stored.
type lanes struct {
	bits, bias int
	words      int // per element
}

func lanesOf(bits int) lanes {
	if bits == 8 {
		return lanes{8, 32 + 14, 1}
	}
	return lanes{16, 512 + 126, 2}
}

// pair is a vector of eight 64-bit elements, one for each column.
type pair [2]reg.VecVirtual

func newPair() pair { return pair{YMM(), YMM()} }

// every calls op for both halves of a panel.
func every(op func(h int)) {
	op(0)
	op(1)
}

// splat returns a vector in memory with the constant v in all four elements.
func splat(name string, v uint64) operand.Mem {
	m := GLOBL(name, NOPTR|RODATA)
	for i := range 4 {
		DATA(8*i, operand.U64(v))
	}
	return m
}

// sweeper holds the registers of a loop over the factors.
type sweeper struct {
	lanes
	s                         reg.GPVirtual // the argument
	aExps, x, aSigns, aLow    reg.GPVirtual
	bExps, y, bSigns, bLow    reg.GPVirtual
	c, d                      reg.GPVirtual
	acc                       pair // c, and then the result of each block
	nibbles, low4, magicBits  operand.Mem
	laneMask, someBit, rebias operand.Mem
	maxExp, start             operand.Mem
	leastExp, mostExp         operand.Mem
	laneMask32, someBit32     operand.Mem // for units
	rebias32, faintest32      operand.Mem
	leastUnit32, mostUnit32   operand.Mem
	half                      bool // the result is f16
}

// constants stores the constants of the loops in memory.
func (w *sweeper) constants(name string) {
	w.nibbles = popcounts(name + "Nibbles")
	every, some := uint64(0x7f), uint64(0x3f)
	if w.bits == 16 {
		every, some = 0x7fff, 0x3ff
	}
	w.low4 = splat(name+"Low4", 0x0f0f0f0f0f0f0f0f)
	w.magicBits = splat(name+"Magic", math.Float64bits(magic))
	w.laneMask, w.someBit = splat(name+"Lane", every), splat(name+"Some", some)
	w.rebias = splat(name+"Rebias", uint64(2*w.bias-1023))
	w.maxExp = splat(name+"MaxExp", 2*1023)
	w.start = splat(name+"Start", math.Float64bits(start))
	w.leastExp, w.mostExp = splat(name+"Least", 1023-126), splat(name+"Most", 1023+127)
	w.laneMask32, w.someBit32 = words(name+"Lane32", 0x7f), words(name+"Some32", 0x3f)
	w.rebias32, w.faintest32 = words(name+"Rebias32", 1<<32+2*(32+14)-1023), words(name+"Faintest32", 1023-faintest)
	w.leastUnit32, w.mostUnit32 = words(name+"LeastUnit32", leastUnit), words(name+"MostUnit32", mostUnit)
}

// popcounts stores a table of the number of bits of each number of four bits, twice.
func popcounts(name string) operand.Mem {
	m := GLOBL(name, NOPTR|RODATA)
	for i := range 32 {
		DATA(i, operand.U8(bits.OnesCount(uint(i%16))))
	}
	return m
}

// field returns a field of the argument.
func (w *sweeper) field(name string) operand.Mem {
	const word = 8
	for i, f := range []string{"Rows", "Done", "Blocks", "Length", "AExps", "X", "ASigns", "ALow",
		"BExps", "Y", "BSigns", "BLow", "C", "D", "CStep", "DStep", "Keep", "Cut", "Floor", "Least"} {
		if f == name {
			return operand.Mem{Base: w.s, Disp: i * word}
		}
	}
	panic("no field " + name)
}

func (w *sweeper) load(name string) reg.GPVirtual {
	r := GP64()
	MOVQ(w.field(name), r)
	return r
}

// sweep generates the loop that multiplies rows with a panel of eight columns. If half is
// set, for an f16 result, a row has one block and the sums are stored as float64 without
// rounding.
func sweep(name string, laneBits int, half bool) {
	w := &sweeper{lanes: lanesOf(laneBits), acc: newPair(), half: half}
	w.constants(name)
	TEXT(name, NOSPLIT, "func(s *byte)")
	Doc(name + " multiplies rows whose exponents have lanes of " + map[int]string{8: "8", 16: "16"}[laneBits] + " bits.")
	w.s = Load(Param("s"), GP64()).(reg.GPVirtual)
	saved, rounding := AllocLocal(4), AllocLocal(4)
	VSTMXCSR(saved)
	MOVL(operand.U32(towardsZero), rounding)
	VLDMXCSR(rounding)
	w.aExps, w.x, w.aSigns, w.aLow = w.load("AExps"), w.load("X"), w.load("ASigns"), w.load("ALow")
	w.c, w.d = w.load("C"), w.load("D")

	Label("row")
	every(func(h int) { VCVTPS2PD(operand.Mem{Base: w.c, Disp: 16 * h}, w.acc[h]) })
	w.bExps, w.y, w.bSigns, w.bLow = w.load("BExps"), w.load("Y"), w.load("BSigns"), w.load("BLow")
	blocks := w.load("Blocks")
	Label("block")
	w.block()
	DECQ(blocks)
	JNZ(operand.LabelRef("block"))
	every(func(h int) {
		if half {
			VMOVUPD(w.acc[h], operand.Mem{Base: w.d, Disp: 32 * h})
			return
		}
		x := XMM()
		VCVTPD2PSY(w.acc[h], x)
		VMOVUPS(x, operand.Mem{Base: w.d, Disp: 16 * h})
	})
	ADDQ(w.field("CStep"), w.c)
	ADDQ(w.field("DStep"), w.d)
	INCQ(w.field("Done"))
	DECQ(w.field("Rows"))
	JNZ(operand.LabelRef("row"))
	Label("end")
	VLDMXCSR(saved)
	VZEROUPPER()
	RET()
}

// block adds the products of one block to the accumulator. It leaves the loop if the numbers
// of the block are not ordinary.
func (w *sweeper) block() {
	var m pair
	if w.bits == 8 {
		m = w.units()
	} else {
		m = w.maxima()
		w.align(m)
		w.checkLow(m)
	}
	unit, rest := w.prepare(m)
	sums := w.sums(unit, rest)
	switch {
	case w.half:
		every(func(h int) { VMOVAPD(sums[h], w.acc[h]) })
	case w.bits == 8: // units has checked that the results are normal numbers or zero
		w.cut(sums)
	default:
		w.checkRange(sums)
		w.cut(sums)
	}
}

// best computes the largest sums of biased exponents: one lane for each column, in each of the
// four words of a vector.
func (w *sweeper) best() (best [2]reg.VecVirtual) {
	for h := range w.words {
		best[h] = YMM()
		VPXOR(best[h], best[h], best[h])
	}
	n, at, next := w.load("Length"), w.bExps, GP64()
	if w.words == 2 {
		LEAQ(operand.Mem{Base: w.bExps, Index: n, Scale: 8}, next)
	}
	Label("max")
	a := YMM()
	VMOVDQU(operand.Mem{Base: w.aExps}, a)
	for h := range w.words {
		sum, from := YMM(), []reg.Register{at, next}[h]
		VPADDQ(operand.Mem{Base: from}, a, sum)
		w.greater(sum, best[h], best[h])
		ADDQ(operand.U8(32), from)
	}
	ADDQ(operand.U8(32), w.aExps)
	SUBQ(operand.U8(4), n)
	JNZ(operand.LabelRef("max"))
	if w.words == 2 {
		MOVQ(next, w.bExps)
	}
	return best
}

// The smallest exponent of a unit for which every result is zero or a normal f32, and the largest
// for which no result overflows, biased as in a float64. A sum has less than 33 bits.
const (
	leastUnit = 1023 - 126
	mostUnit  = 1023 + 127 - 33
)

// units computes the exponents of the units, biased as in a float64, if exponents have lanes of
// eight bits. It leaves the loop if a product is too small, infinite or NaN, or if a result may
// not be a normal f32. The exponents of eight columns fit in one vector.
func (w *sweeper) units() pair {
	m, t, e, zero, floor, keep := YMM(), YMM(), YMM(), YMM(), YMM(), YMM()
	VPMOVZXBD(w.fold(w.best()[0]), m)
	VPAND(w.laneMask32, m, m)
	VPCMPGTD(w.someBit32, m, t)
	VPSUBD(w.rebias32, m, m)
	VPAND(t, m, m)
	VPBROADCASTD(w.field("Floor"), floor)
	VPMAXSD(floor, m, m)

	// The exponent of the accumulator is in the upper words. A subnormal number has the exponent
	// of the smallest normal number.
	VSHUFPS(operand.U8(0xdd), w.acc[1], w.acc[0], e)
	VPERMQ(operand.U8(0xd8), e, e)
	VPADDD(e, e, e)
	VPXOR(zero, zero, zero)
	VPCMPEQD(zero, e, zero)
	VPSRLD(operand.U8(21), e, e)
	VPBROADCASTD(w.field("Least"), t)
	VPANDN(t, zero, t)
	VPMAXSD(t, e, e)
	VPMAXSD(e, m, m)

	// If all terms are zero, the exponent is still floor, and any unit will do.
	VPCMPEQD(floor, m, floor)
	VPBROADCASTD(w.field("Keep"), keep)
	VPSUBD(keep, m, m)
	low, bad := YMM(), YMM()
	VPBROADCASTD(operand.Mem{Base: w.aLow}, low)
	VPADDD(w.faintest32, low, low)
	VPADDD(operand.Mem{Base: w.bLow}, low, low)
	VPCMPGTD(low, m, bad)
	VPCMPGTD(w.mostUnit32, m, t)
	VPOR(t, bad, bad)
	VMOVDQU(w.leastUnit32, t)
	VPCMPGTD(m, t, t)
	VPANDN(t, floor, t)
	VPOR(t, bad, bad)
	VPTEST(bad, bad)
	JNZ(operand.LabelRef("end"))
	VPMAXSD(w.leastUnit32, m, m)
	ADDQ(operand.U8(4), w.aLow)
	ADDQ(operand.U8(32), w.bLow)

	to, high := newPair(), XMM()
	VPMOVZXDQ(m.AsX(), to[0])
	VEXTRACTI128(operand.U8(1), m, high)
	VPMOVZXDQ(high, to[1])
	return to
}

// maxima computes the largest exponents of the products, biased as in a float64, if exponents have
// lanes of 16 bits.
func (w *sweeper) maxima() pair {
	best, m, floor := w.best(), newPair(), YMM()
	VPBROADCASTQ(w.field("Floor"), floor)
	every(func(h int) {
		some := YMM()
		VPMOVZXWQ(w.fold(best[h]), m[h])
		VPAND(w.laneMask, m[h], m[h])
		VPCMPGTQ(w.someBit, m[h], some)
		VPSUBQ(w.rebias, m[h], m[h])
		VPAND(some, m[h], m[h])
		VPMAXSD(floor, m[h], m[h])
	})
	return m
}

// fold returns the largest value of each lane over the four words of a vector.
func (w *sweeper) fold(v reg.VecVirtual) reg.VecVirtual {
	x, y := XMM(), XMM()
	VEXTRACTI128(operand.U8(1), v, x)
	w.greater(x, v.AsX().(reg.VecVirtual), x)
	VPSHUFD(operand.U8(0xee), x, y)
	w.greater(x, y, x)
	return x
}

// greater computes the larger value in each lane.
func (w *sweeper) greater(a, b, d reg.VecVirtual) {
	if w.bits == 8 {
		VPMAXUB(a, b, d)
	} else {
		VPMAXUW(a, b, d)
	}
}

// align computes the exponents of the units from the exponents m of the products and the
// exponents of the accumulators.
func (w *sweeper) align(m pair) {
	keep, least := YMM(), YMM()
	VPBROADCASTQ(w.field("Keep"), keep)
	VPBROADCASTQ(w.field("Least"), least)
	every(func(h int) {
		e := YMM()
		VPSLLQ(operand.U8(1), w.acc[h], e)
		// A subnormal number has the exponent of the smallest normal number.
		some, zero := YMM(), YMM()
		VPXOR(zero, zero, zero)
		VPCMPEQQ(zero, e, zero)
		VPANDN(least, zero, some)
		VPMAXSD(some, m[h], m[h])
		VPSRLQ(operand.U8(53), e, e)
		VPMAXSD(e, m[h], m[h])
		VPSUBQ(keep, m[h], m[h])
	})
}

// checkLow leaves the loop if a product is too small, infinite or NaN.
func (w *sweeper) checkLow(m pair) {
	row, x, low, bad := GP64(), XMM(), YMM(), newPair()
	MOVLQSX(operand.Mem{Base: w.aLow}, row)
	ADDQ(operand.I32(1023-faintest), row)
	VMOVQ(row, x)
	VPBROADCASTQ(x, low)
	every(func(h int) {
		col := YMM()
		VPMOVSXDQ(operand.Mem{Base: w.bLow, Disp: 16 * h}, col)
		VPADDQ(low, col, col)
		VPCMPGTQ(col, m[h], bad[h])
	})
	w.leaveIf(bad)
	ADDQ(operand.U8(4), w.aLow)
	ADDQ(operand.U8(32), w.bLow)
}

// leaveIf ends the sweep if any column is bad.
func (w *sweeper) leaveIf(bad pair) {
	VPOR(bad[0], bad[1], bad[0])
	VPTEST(bad[0], bad[0])
	JNZ(operand.LabelRef("end"))
}

// prepare returns the units, and the accumulators truncated to units plus one unit for each
// negative product.
func (w *sweeper) prepare(m pair) (unit, rest pair) {
	unit, rest = newPair(), newPair()
	signs, nibbles, low4 := YMM(), YMM(), YMM()
	VPBROADCASTQ(operand.Mem{Base: w.aSigns}, signs)
	VMOVDQU(w.nibbles, nibbles)
	VMOVDQU(w.low4, low4)
	every(func(h int) {
		negs, high, per, max, zero := YMM(), YMM(), YMM(), YMM(), YMM()
		VPAND(operand.Mem{Base: w.bSigns, Disp: 32 * h}, signs, negs)
		VPSRLQ(operand.U8(4), negs, high)
		VPAND(low4, negs, negs)
		VPAND(low4, high, high)
		VPSHUFB(negs, nibbles, negs)
		VPSHUFB(high, nibbles, high)
		VPADDB(negs, high, negs)
		VPXOR(zero, zero, zero)
		VPSADBW(zero, negs, negs)
		VPOR(w.magicBits, negs, negs)
		VSUBPD(w.magicBits, negs, negs)

		VMOVDQU(w.maxExp, max)
		VPSUBQ(m[h], max, per)
		VPSLLQ(operand.U8(52), per, per)
		VPSLLQ(operand.U8(52), m[h], unit[h])
		VMULPD(per, w.acc[h], rest[h])
		VROUNDPD(operand.U8(3), rest[h], rest[h])
		VADDPD(negs, rest[h], rest[h])
		VMULPD(unit[h], rest[h], rest[h])
	})
	ADDQ(operand.U8(8), w.aSigns)
	ADDQ(operand.U8(64), w.bSigns)
	return unit, rest
}

// sums adds the floors of the products. It uses four sums per column in turns, to hide the
// latency of an addition.
func (w *sweeper) sums(unit, rest pair) pair {
	const parts = 4
	var part [parts]pair
	every(func(h int) {
		VMULPD(w.start, unit[h], unit[h])
		for i := range part {
			part[i][h] = YMM()
			VMOVAPD(unit[h], part[i][h])
		}
		VADDPD(rest[h], part[0][h], part[0][h])
	})
	n := w.load("Length")
	Label("sum")
	for i := range part {
		x := YMM()
		VBROADCASTSD(operand.Mem{Base: w.x, Disp: 8 * i}, x)
		every(func(h int) { VFMADD231PD(operand.Mem{Base: w.y, Disp: 64*i + 32*h}, x, part[i][h]) })
	}
	ADDQ(operand.U8(8*parts), w.x)
	ADDQ(operand.I32(64*parts), w.y)
	SUBQ(operand.U8(parts), n)
	JNZ(operand.LabelRef("sum"))
	every(func(h int) {
		for i := range part {
			VSUBPD(unit[h], part[i][h], part[i][h])
		}
		VADDPD(part[1][h], part[0][h], part[0][h])
		VADDPD(part[3][h], part[2][h], part[2][h])
		VADDPD(part[2][h], part[0][h], part[0][h])
	})
	return part[0]
}

// checkRange leaves the loop if a sum is neither zero nor a normal f32.
func (w *sweeper) checkRange(sums pair) {
	bad := newPair()
	every(func(h int) {
		e, zero, least, high := YMM(), YMM(), YMM(), YMM()
		VPSLLQ(operand.U8(1), sums[h], e)
		VPXOR(zero, zero, zero)
		VPCMPEQQ(zero, e, zero)
		VPSRLQ(operand.U8(53), e, e)
		VMOVDQU(w.leastExp, least)
		VPCMPGTQ(e, least, least)
		VPANDN(least, zero, bad[h])
		VPCMPGTQ(w.mostExp, e, high)
		VPOR(high, bad[h], bad[h])
	})
	w.leaveIf(bad)
}

// cut truncates the sums to the precision of a result.
func (w *sweeper) cut(sums pair) {
	cut := YMM()
	VPBROADCASTQ(w.field("Cut"), cut)
	every(func(h int) { VPAND(cut, sums[h], w.acc[h]) })
}
