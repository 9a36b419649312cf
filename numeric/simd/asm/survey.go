package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The values of low in package tensor for a block of zeros, and for a block with a number
// that is not finite: see operand.go there.
const (
	noneLow = 127
	noFast  = -1 << 20
)

// surveyor holds the registers of a loop over a factor.
type surveyor struct {
	lanes
	s                 reg.GPVirtual // the argument
	val, exps         reg.GPVirtual
	signs, low        reg.GPVirtual
	minExp            reg.VecVirtual
	rebias, none, top operand.Mem
}

func newSurveyor(name string, laneBits int) *surveyor {
	w := &surveyor{lanes: lanesOf(laneBits)}
	w.rebias = splat(name+"Rebias", uint64(1023-w.bias))
	w.none = splat(name+"None", 1023+noneLow)
	w.top = splat(name+"Top", map[int]uint64{8: 0x8080808080808080, 16: 0x8000800080008000}[laneBits])
	return w
}

// field returns a field of the argument.
func (w *surveyor) field(name string) operand.Mem {
	const word = 8
	for i, f := range []string{"Tiles", "Length", "Val", "Large", "Exps", "Signs", "Low", "MinExp"} {
		if f == name {
			return operand.Mem{Base: w.s, Disp: i * word}
		}
	}
	panic("no field " + name)
}

func (w *surveyor) load(name string) reg.GPVirtual {
	r := GP64()
	MOVQ(w.field(name), r)
	return r
}

func (w *surveyor) begin(name, doc string) {
	TEXT(name, NOSPLIT, "func(s *byte)")
	Doc(doc)
	w.s = Load(Param("s"), GP64()).(reg.GPVirtual)
	w.val, w.exps, w.signs, w.low = w.load("Val"), w.load("Exps"), w.load("Signs"), w.load("Low")
	w.minExp = YMM()
	VPBROADCASTQ(w.field("MinExp"), w.minExp)
}

// look computes the lanes of the exponents of four numbers, and which numbers are zero. It
// updates least and most.
func (w *surveyor) look(v, least, most reg.VecVirtual) (lane, zero reg.VecVirtual) {
	e, known := YMM(), YMM()
	lane, zero = YMM(), YMM()
	VPSLLQ(operand.U8(1), v, e)
	VPXOR(zero, zero, zero)
	VPCMPEQQ(zero, e, zero)
	VPSRLQ(operand.U8(53), e, e)
	VPMAXSD(e, most, most)
	VPAND(w.none, zero, known)
	VPOR(e, known, known)
	VPMINSD(known, least, least)
	VPMAXSD(w.minExp, e, e)
	VPSUBQ(w.rebias, e, e)
	VPANDN(e, zero, lane)
	return lane, zero
}

// start sets the initial values of least and most.
func (w *surveyor) start(least, most reg.VecVirtual) {
	VMOVDQU(w.none, least)
	VPXOR(most, most, most)
}

// surveyRows generates the survey of the blocks of rows, which are stored one after the
// other.
func surveyRows(name string, laneBits int) {
	w := newSurveyor(name, laneBits)
	shuffle := GLOBL(name+"Shuffle", NOPTR|RODATA)
	for i := range 32 {
		DATA(i, operand.U8(i%16/8*8+i%(laneBits/8)))
	}
	larger := splat(name+"Larger", largerBits)
	w.begin(name, name+" looks at the rows of a first factor.")
	large := w.load("Large")
	Label("tile")
	least, most := YMM(), YMM()
	w.start(least, most)
	signs, at := GP64(), reg.RCX
	XORQ(signs, signs)
	XORQ(at, at)
	Label("four")
	v, x := YMM(), YMM()
	VMOVUPD(operand.Mem{Base: w.val, Index: at, Scale: 8}, v)
	VMULPD(larger, v, x)
	VMOVUPD(x, operand.Mem{Base: large, Index: at, Scale: 8})
	lane, zero := w.look(v, least, most)
	VPSHUFB(shuffle, lane, lane)
	VPOR(w.top, lane, lane)
	VMOVDQU(lane, operand.Mem{Base: w.exps, Index: at, Scale: 8})
	// Positive numbers have a bit in the low half, negative numbers in the high half.
	neg, pos := GP64(), GP64()
	VPANDN(v, zero, v)
	VMOVMSKPD(v, neg.As32())
	VPOR(v, zero, v)
	VMOVMSKPD(v, pos.As32())
	XORQ(operand.U8(15), pos)
	SHLQ(operand.U8(32), neg)
	ORQ(neg, pos)
	SHLQ(reg.CL, pos)
	ORQ(pos, signs)
	ADDQ(operand.U8(4), at)
	CMPQ(at, w.field("Length"))
	JLT(operand.LabelRef("four"))
	MOVQ(signs, operand.Mem{Base: w.signs})
	w.storeLow(least, most)
	ADDQ(operand.U8(8), w.signs)
	ADDQ(operand.U8(4), w.low)
	for _, r := range []reg.GPVirtual{w.val, large, w.exps} {
		LEAQ(operand.Mem{Base: r, Index: at, Scale: 8}, r)
	}
	DECQ(w.field("Tiles"))
	JNZ(operand.LabelRef("tile"))
	VZEROUPPER()
	RET()
}

// storeLow stores the smallest exponent of a block of one row.
func (w *surveyor) storeLow(least, most reg.VecVirtual) {
	fold := func(v reg.VecVirtual, op func(...operand.Op)) reg.GPVirtual {
		x, y, r := XMM(), XMM(), GP64()
		VEXTRACTI128(operand.U8(1), v, x)
		op(v.AsX(), x, x)
		VPSHUFD(operand.U8(0xee), x, y)
		op(y, x, x)
		VMOVQ(x, r)
		return r
	}
	low := fold(least, VPMINSD)
	high, none := fold(most, VPMAXSD), GP64()
	SUBQ(operand.I32(1023), low)
	MOVQ(operand.I32(noFast), none)
	CMPQ(high, operand.I32(2047))
	CMOVQEQ(none, low)
	MOVL(low.As32(), operand.Mem{Base: w.low})
}

// surveyCols generates the survey of panels of eight columns, whose elements are side by side.
func surveyCols(name string, laneBits int) {
	w := newSurveyor(name, laneBits)
	shifts := [2]operand.Mem{}
	for h := range shifts {
		shifts[h] = GLOBL(name+"Shifts"+string(rune('0'+h)), NOPTR|RODATA)
		for i := range 4 {
			DATA(8*i, operand.U64((i+4*h)*laneBits%64))
		}
	}
	one := splat(name+"One", 1)
	fast, special := splat(name+"NoFast", 1<<64-1<<20), splat(name+"Special", 2047)
	bias := splat(name+"Bias", 1023)
	w.begin(name, name+" looks at the columns of a second factor.")
	Label("tile")
	least, most, signs, bit := newPair(), newPair(), newPair(), YMM()
	every(func(h int) {
		w.start(least[h], most[h])
		VPXOR(signs[h], signs[h], signs[h])
	})
	VMOVDQU(one, bit)
	n, next := w.load("Length"), GP64()
	if w.words == 2 {
		LEAQ(operand.Mem{Base: w.exps, Index: n, Scale: 8}, next)
	}
	Label("element")
	var packed pair
	every(func(h int) {
		v, high := YMM(), YMM()
		VMOVUPD(operand.Mem{Base: w.val, Disp: 32 * h}, v)
		lane, zero := w.look(v, least[h], most[h])
		VPSLLVQ(shifts[h], lane, lane)
		packed[h] = lane
		// Negative numbers have a bit in the low half, positive numbers in the high half.
		VPSLLQ(operand.U8(32), bit, high)
		VBLENDVPD(v, bit, high, high)
		VPANDN(high, zero, high)
		VPOR(high, signs[h], signs[h])
	})
	if w.words == 1 {
		VPOR(packed[0], packed[1], packed[0])
		w.storeWord(packed[0], w.exps)
	} else {
		w.storeWord(packed[0], w.exps)
		w.storeWord(packed[1], next)
	}
	VPSLLQ(operand.U8(1), bit, bit)
	ADDQ(operand.U8(64), w.val)
	DECQ(n)
	JNZ(operand.LabelRef("element"))
	if w.words == 2 {
		MOVQ(next, w.exps)
	}
	every(func(h int) {
		x, y := YMM(), XMM()
		VMOVDQU(signs[h], operand.Mem{Base: w.signs, Disp: 32 * h})
		VPSUBQ(bias, least[h], least[h])
		VPCMPEQQ(special, most[h], most[h])
		VMOVDQU(fast, x)
		VBLENDVPD(most[h], x, least[h], x)
		VEXTRACTI128(operand.U8(1), x, y)
		VSHUFPS(operand.U8(0x88), y, x.AsX(), y)
		VMOVUPS(y, operand.Mem{Base: w.low, Disp: 16 * h})
	})
	ADDQ(operand.U8(64), w.signs)
	ADDQ(operand.U8(32), w.low)
	DECQ(w.field("Tiles"))
	JNZ(operand.LabelRef("tile"))
	VZEROUPPER()
	RET()
}

// storeWord combines the four elements of a vector, which have no common bits, into one word
// and stores it.
func (w *surveyor) storeWord(v reg.VecVirtual, to reg.GPVirtual) {
	x, y := XMM(), XMM()
	VEXTRACTI128(operand.U8(1), v, x)
	VPOR(v.AsX(), x, x)
	VPSHUFD(operand.U8(0xee), x, y)
	VPOR(y, x, x)
	VMOVQ(x, operand.Mem{Base: to})
	ADDQ(operand.U8(8), to)
}
