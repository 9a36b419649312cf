package main

import "math"

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

var narrowFields = []string{"Pairs", "Done", "AExps", "X", "ASigns", "BExps", "Y", "BSigns", "C", "D", "CStep", "DStep"}

// The registers of Narrow. A unit is a row and a panel; its two vectors hold four columns each.
const (
	bestV  v = 8  // by unit
	badV   v = 15 // columns that the loop cannot compute
	firstV v = 16 // the first half of each sum, by unit
	lastV  v = 24 // the second half
)

// narrow generates the loop that multiplies two rows with two panels of eight columns at a time, by the same
// method as the loop for amd64.
func (p *program) narrow() {
	p.function("narrow", "(s *Narrow)", 128, 8) // the frame holds the starts of the sums, by unit
	p.op("MOVD s+0(FP), R0")
	p.round(towardsZero)
	p.fields(narrowFields, 1, "AExps", "X", "ASigns")
	p.fields(narrowFields, 5, "BExps", "Y", "BSigns")
	p.fields(narrowFields, 9, "C", "D", "Pairs")
	p.field(narrowFields, "Done", "R20")
	p.fields(narrowFields, 21, "CStep", "DStep")
	p.label("rows")
	p.narrowMaxima()
	p.zero(badV)
	for u := range 4 {
		p.narrowPrepare(u)
	}
	p.leaveIf(badV, "end")
	p.narrowSums()
	p.narrowStore()
	p.op("ADD $%d, R1", 2*8*narrowLength)
	p.op("ADD $%d, R2", 2*4*narrowLength)
	p.op("ADD $16, R3")
	p.op("ADD R21<<1, R9")
	p.op("ADD R22<<1, R10")
	p.op("ADD $1, R20")
	p.op("SUBS $1, R11")
	p.op("BNE rows")
	p.label("end")
	p.op("MOVD R20, %d(R0)", offset(narrowFields, "Done"))
	p.restore()
	p.op("RET")
}

// narrowMaxima computes the largest sums of biased exponents of each unit: 16 bytes, two for each column.
func (p *program) narrowMaxima() {
	for u := range v(4) {
		p.zero(bestV + u)
	}
	p.op("MOVD R5, R14")
	p.op("ADD $%d, R5, R15", 8*narrowLength)
	p.op("MOVD R1, R16")
	p.op("ADD $%d, R1, R17", 8*narrowLength)
	p.op("MOVD $%d, R23", narrowLength)
	p.label("max")
	for i, pointer := range []string{"R14", "R15", "R16", "R17"} {
		p.op("VLD1.P 32(%s), [V%d.B16, V%d.B16]", pointer, 2*i, 2*i+1)
	}
	for e := range v(2) {
		for u := range v(4) {
			row, panel := 4+2*(u/2)+e, 2*(u%2)+e
			p.three("ADD", "B16", 12, row, panel)
			p.three("UMAX", "B16", bestV+u, bestV+u, 12)
		}
	}
	p.op("SUBS $4, R23")
	p.op("BNE max")
}

// narrowPrepare computes the start of the first half of each sum of a unit: 1.5·2^23 units, plus the
// truncated accumulator, plus one unit for each negative product. It stores the start of the second half in the
// frame.
func (p *program) narrowPrepare(unit int) {
	r, panel, best := unit/2, unit%2, bestV+v(unit)
	const nonzero, signs, t, e, c, negs, zero, k v = 2, 3, 4, 5, 6, 7, 12, 13
	p.op("VEXT $8, %v.B16, %[1]v.B16, V0.B16", best)
	p.three("UMAX", "B16", 0, 0, best)
	p.op("VUXTL V0.B8, V1.H8")
	p.op("VUXTL V1.H4, V0.S4")
	p.op("VUXTL2 V1.H8, V1.S4")
	p.op("ADD $%d, R3, R26", 8*r)
	p.op("VLD1R.P 4(R26), [%v.S4]", signs)
	p.op("VLD1R (R26), [%v.S4]", nonzero)
	p.op("ADD $%d, R9, R24", 32*panel)
	if r == 1 {
		p.op("ADD R21, R24")
	}
	p.op("ADD $%d, R7, R23", 64*panel)
	p.zero(zero)
	for h := range v(2) {
		m := h
		p.constant(k, "S4", 63)
		p.three("CMGT", "S4", t, m, k)
		p.constant(k, "S4", 127-2*(32+14))
		p.three("ADD", "S4", m, m, k)
		p.three("AND", "B16", m, m, t)
		// The exponent of the accumulator. A subnormal number has the exponent of the smallest
		// normal number.
		p.op("VLD1.P 16(R24), [%v.S4]", c)
		p.three("ADD", "S4", e, c, c)
		p.three("CMEQ", "S4", t, e, zero)
		p.constant(k, "S4", 1)
		p.three("BIC", "B16", t, k, t)
		p.shift("USHR", 24, "S4", e, e)
		p.three("SMAX", "S4", e, e, t)
		p.three("SMAX", "S4", m, m, e)
		// If all terms are zero, any unit will do.
		p.constant(k, "S4", narrowMost)
		p.three("CMGT", "S4", t, m, k)
		p.three("ORR", "B16", badV, badV, t)
		p.three("CMGT", "S4", e, m, zero)
		p.constant(k, "S4", narrowLeast)
		p.three("CMGT", "S4", t, k, m)
		p.three("AND", "B16", t, t, e)
		p.three("ORR", "B16", badV, badV, t)
		p.three("SMAX", "S4", m, m, k)
		p.constant(k, "S4", narrowKeep)
		p.three("SUB", "S4", m, m, k)

		p.constant(t, "S4", 2*127)
		p.three("SUB", "S4", t, t, m)
		p.shift("SHL", 23, "S4", t, t)
		p.shift("SHL", 23, "S4", m, m)
		p.three("FMUL", "S4", c, c, t)
		p.two("FRINTZ", "S4", c, c)
		p.narrowNegatives(negs, t, signs, nonzero)
		p.three("FADD", "S4", c, c, negs)
		p.constant(k, "S4", uint64(math.Float32bits(narrowStart)))
		p.three("FADD", "S4", c, c, k)
		p.three("FMUL", "S4", firstV+2*v(unit)+h, c, m)
		p.three("FMUL", "S4", m, m, k)
		p.op("FMOVQ F%d, %d(RSP)", m, 8+32*unit+16*int(h))
	}
}

// narrowNegatives counts the negative products of four columns. R23 points to the signs of the columns: eight words
// with the negative elements, and eight with the elements that are not zero.
func (p *program) narrowNegatives(negs, t, signs, nonzero v) {
	p.op("VLD1 (R23), [%v.S4]", negs)
	p.op("ADD $32, R23, R26")
	p.op("VLD1 (R26), [%v.S4]", t)
	p.op("ADD $16, R23")
	p.three("EOR", "B16", negs, negs, signs)
	p.three("AND", "B16", t, t, nonzero)
	p.three("AND", "B16", negs, negs, t)
	p.op("VCNT %v.B16, %[1]v.B16", negs)
	p.two("UADDLP", "B16", negs, negs)
	p.two("UADDLP", "H8", negs, negs)
	p.two("UCVTF", "S4", negs, negs)
}

// narrowSums adds the floors of the products. The halves of each sum take turns, to hide the latency of an
// addition.
func (p *program) narrowSums() {
	for i := range 8 {
		p.op("FMOVQ %d(RSP), F%d", 8+16*i, int(lastV)+i)
	}
	p.op("MOVD R6, R14")
	p.op("ADD $%d, R6, R15", 32*narrowLength)
	p.op("MOVD R2, R16")
	p.op("ADD $%d, R2, R17", 4*narrowLength)
	p.op("MOVD $%d, R23", narrowLength)
	p.label("sum")
	x := [2]v{8, 9}
	p.op("VLD1.P 16(R16), [%v.S4]", x[0])
	p.op("VLD1.P 16(R17), [%v.S4]", x[1])
	for i := range 4 {
		p.op("VLD1.P 32(R14), [V0.S4, V1.S4]")
		p.op("VLD1.P 32(R15), [V2.S4, V3.S4]")
		half := []v{firstV, lastV}[i%2]
		for row := range v(2) {
			for j := range v(4) {
				p.fmla("S4", half+4*row+j, j, x[row], i)
			}
		}
	}
	p.op("SUBS $4, R23")
	p.op("BNE sum")
}

// narrowStore stores the results, truncated to the precision of a result.
func (p *program) narrowStore() {
	const cut v = 1
	p.constant(cut, "S4", 1<<32-1<<(23-narrowKeep))
	for i := range v(8) {
		p.op("FMOVQ %d(RSP), F0", 8+16*int(i))
		p.three("FSUB", "S4", firstV+i, firstV+i, 0)
		p.three("FSUB", "S4", lastV+i, lastV+i, 0)
		p.three("FADD", "S4", firstV+i, firstV+i, lastV+i)
		p.three("AND", "B16", firstV+i, firstV+i, cut)
	}
	p.op("VST1 [V16.S4, V17.S4, V18.S4, V19.S4], (R10)")
	p.op("ADD R22, R10, R26")
	p.op("VST1 [V20.S4, V21.S4, V22.S4, V23.S4], (R26)")
}
