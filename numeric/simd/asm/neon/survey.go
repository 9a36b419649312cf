package main

import "math"

// The values of low in package tensor for a block of zeros, and for a block with a number
// that is not finite: see operand.go there.
const (
	noneLow = 127
	noFast  = 1<<32 - 1<<20
)

var surveyFields = []string{"Tiles", "Length", "Val", "Large", "Exps", "Signs", "Low", "MinExp"}

// The registers that keep constants during a survey.
const (
	noneV, minExpV, rebiasV, topV, largerV, zeroV, firstBitV v = 25, 26, 27, 28, 29, 30, 31
	firstIndexV                                              v = 23 // and the next one: see surveyRows
)

// surveyor looks at four numbers of a factor at a time. Their upper words decide, because a decoded
// number whose upper word is zero is zero.
type surveyor struct {
	*program
	bits, bias int
}

func (p *program) surveys() {
	for _, bits := range []int{8, 16} {
		w := &surveyor{p, bits, map[int]int{8: 32 + 14, 16: 512 + 126}[bits]}
		w.rows()
		w.cols()
	}
}

// begin begins a function: R1 to R5 point to the values, the larger values, the exponents, the signs and the
// smallest exponents, R6 is the length of a block and R7 the number of tiles.
func (w *surveyor) begin(name string) {
	w.function(name, "(s *Survey)", 0, 8)
	w.op("MOVD s+0(FP), R0")
	w.fields(surveyFields, 1, "Val", "Large", "Exps", "Signs", "Low", "Length", "Tiles")
	w.field(surveyFields, "MinExp", "R26")
	w.op("VDUP R26, %v.S4", minExpV)
	w.constant(noneV, "S4", 1023+noneLow)
	w.constant(rebiasV, "S4", uint64(1023-w.bias))
	w.zero(zeroV)
}

// look computes the lanes of the exponents of four numbers from their upper words, in place, and masks of the
// positive and of the negative numbers. It updates least and most.
func (w *surveyor) look(v, least, most, positive, negative v) {
	w.two("CMLT0", "S4", negative, v)
	w.three("ADD", "S4", v, v, v)
	w.three("CMEQ", "S4", positive, v, zeroV) // first the zeros; the positive numbers below
	w.shift("USHR", 21, "S4", v, v)
	w.three("SMAX", "S4", most, most, v)
	w.three("BIC", "B16", negative, negative, positive)
	// An exponent of zero becomes noneLow.
	w.three("AND", "B16", 22, positive, noneV)
	w.three("ORR", "B16", 22, 22, v)
	w.three("SMIN", "S4", least, least, 22)
	w.three("SMAX", "S4", v, v, minExpV)
	w.three("SUB", "S4", v, v, rebiasV)
	w.three("BIC", "B16", v, v, positive)
	w.three("ORR", "B16", positive, positive, negative)
	w.op("VCMEQ %v.S4, %v.S4, %v.S4", zeroV, positive, positive)
}

// rows generates the survey of the blocks of rows, which are stored one after the other.
func (w *surveyor) rows() {
	const least, most, positives, negatives, bit, words v = 16, 17, 18, 19, 20, 2
	w.begin("rows" + map[int]string{8: "8", 16: "16"}[w.bits])
	w.constant(topV, "D2", map[int]uint64{8: 0x8080808080808080, 16: 0x8000800080008000}[w.bits])
	w.constant(largerV, "D2", math.Float64bits(1+0x1p-30))
	// Each lane fills the eight bytes of its element: the first index has those of lanes 0 and 1.
	fill := map[int]uint64{8: 0, 16: 0x0100010001000100}[w.bits]
	for i := range 4 {
		w.op("MOVD $%#x, R26", fill+uint64(4*i)*0x0101010101010101)
		w.op("VMOV R26, %v.D[%d]", firstIndexV+v(i/2), i%2)
	}
	w.laneBits(firstBitV)
	w.label("tile")
	w.move(least, noneV)
	w.zero(most)
	w.zero(positives)
	w.zero(negatives)
	w.move(bit, firstBitV)
	w.op("MOVD R6, R8")
	w.label("four")
	w.op("VLD1.P 32(R1), [V0.D2, V1.D2]")
	w.three("UZP2", "S4", words, 0, 1)
	w.three("FMUL", "D2", 0, 0, largerV)
	w.three("FMUL", "D2", 1, 1, largerV)
	w.op("VST1.P [V0.D2, V1.D2], 32(R2)")
	w.look(words, least, most, 4, 5)
	for h := range v(2) {
		w.op("VTBL %v.B16, [%v.B16], %v.B16", firstIndexV+h, words, h)
		w.three("ORR", "B16", h, h, topV)
	}
	w.op("VST1.P [V0.B16, V1.B16], 32(R3)")
	w.three("AND", "B16", 4, 4, bit)
	w.three("AND", "B16", 5, 5, bit)
	w.three("ORR", "B16", positives, positives, 4)
	w.three("ORR", "B16", negatives, negatives, 5)
	w.shift("SHL", 4, "S4", bit, bit)
	w.op("SUBS $4, R8")
	w.op("BNE four")
	// Positive numbers have a bit in the low half, negative numbers in the high half.
	w.op("VADDV %v.S4, V0", positives)
	w.op("VADDV %v.S4, V1", negatives)
	w.three("ZIP1", "S4", 0, 0, 1)
	w.op("VMOV V0.D[0], R25")
	w.op("MOVD.P R25, 8(R4)")
	w.two("SMINV", "S4", least, least)
	w.two("SMAXV", "S4", most, most)
	w.low(least, most)
	w.op("VMOV %v.S[0], R25", least)
	w.op("MOVW.P R25, 4(R5)")
	w.op("SUBS $1, R7")
	w.op("BNE tile")
	w.op("RET")
}

// low makes of the smallest exponents what is stored: noFast for a block with a number that is not finite.
func (w *surveyor) low(least, most v) {
	w.constant(0, "S4", 1023)
	w.three("SUB", "S4", least, least, 0)
	w.constant(0, "S4", 2047)
	w.three("CMEQ", "S4", most, most, 0)
	w.constant(0, "S4", noFast)
	w.three("BIT", "B16", least, 0, most)
}

// cols generates the survey of panels of eight columns, whose elements are side by side.
func (w *surveyor) cols() {
	const least, most, positives, negatives, bit v = 8, 10, 12, 14, 16 // two registers each, except the last
	w.begin("cols" + map[int]string{8: "8", 16: "16"}[w.bits])
	w.label("tile")
	for h := range v(2) {
		w.move(least+h, noneV)
		w.zero(most + h)
		w.zero(positives + h)
		w.zero(negatives + h)
	}
	w.constant(bit, "S4", 1)
	w.op("MOVD R6, R8")
	if w.bits == 16 {
		w.op("ADD R6<<3, R3, R9") // the last four columns
	}
	w.label("element")
	w.op("VLD1.P 64(R1), [V0.D2, V1.D2, V2.D2, V3.D2]")
	for h := range v(2) {
		w.three("UZP2", "S4", 4+h, 2*h, 2*h+1)
	}
	for h := range v(2) {
		w.look(4+h, least+h, most+h, 0, 1)
		w.three("AND", "B16", 0, 0, bit)
		w.three("AND", "B16", 1, 1, bit)
		w.three("ORR", "B16", positives+h, positives+h, 0)
		w.three("ORR", "B16", negatives+h, negatives+h, 1)
	}
	w.three("UZP1", "H8", 4, 4, 5)
	if w.bits == 8 {
		w.three("UZP1", "B16", 4, 4, 4)
		w.op("VST1.P [V4.D1], 8(R3)")
	} else {
		w.op("VEXT $8, V4.B16, V4.B16, V5.B16")
		w.op("VST1.P [V4.D1], 8(R3)")
		w.op("VST1.P [V5.D1], 8(R9)")
	}
	w.three("ADD", "S4", bit, bit, bit)
	w.op("SUBS $1, R8")
	w.op("BNE element")
	if w.bits == 16 {
		w.op("MOVD R9, R3")
	}
	// Negative numbers have a bit in the low half, positive numbers in the high half.
	for h := range v(2) {
		w.three("ZIP1", "S4", 4+2*h, negatives+h, positives+h)
		w.three("ZIP2", "S4", 5+2*h, negatives+h, positives+h)
		w.low(least+h, most+h)
	}
	w.op("VST1.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R4)")
	w.op("VST1.P [V8.S4, V9.S4], 32(R5)")
	w.op("SUBS $1, R7")
	w.op("BNE tile")
	w.op("RET")
}
