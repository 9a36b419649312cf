package main

import "math"

// The constants of package tensor that the loops use: see fast.go and lanes.go there.
const (
	faintest = -53
	start    = 0x1.8p52
	// The smallest exponent of a unit for which every result is zero or a normal f32, and the
	// largest for which no result overflows, biased as in a float64. A sum has less than 33 bits.
	leastUnit = 1023 - 126
	mostUnit  = 1023 + 127 - 33
)

var sweepFields = []string{"Rows", "Done", "Blocks", "Length", "AExps", "X", "ASigns", "ALow",
	"BExps", "Y", "BSigns", "BLow", "C", "D", "CStep", "DStep", "Keep", "Cut", "Floor", "Least"}

// The registers that keep constants during a sweep. V16 to V19 hold the accumulators of eight columns
// between blocks.
const (
	floorV, keepV, leastV, cutV, startV v = 9, 10, 11, 12, 13
	accV                                v = 16
)

// sweep generates the loop that multiplies rows with a panel of eight columns, by the same method as the
// loops for amd64. If half is set, for an f16 result, a row has one block and the sums are stored
// as float64 without rounding.
func (p *program) sweep(name string, bits int, half bool) {
	p.function(name, "(s *Sweep)", 0, 8)
	p.op("MOVD s+0(FP), R0")
	p.round(towardsZero)
	p.fields(sweepFields, 1, "AExps", "X", "ASigns", "ALow")
	p.fields(sweepFields, 9, "C", "D", "Rows")
	p.field(sweepFields, "Length", "R13")
	p.field(sweepFields, "Done", "R20")
	p.fields(sweepFields, 21, "CStep", "DStep")
	p.splat(floorV, "S4", "Floor")
	p.splat(keepV, "S4", "Keep")
	p.splat(leastV, "S4", "Least")
	p.splat(cutV, "D2", "Cut")
	p.constant(startV, "D2", math.Float64bits(start))
	p.label("row")
	p.op("VLD1 (R9), [V20.S4, V21.S4]")
	for h := range v(2) {
		p.two("FCVTL", "S2", accV+2*h, 20+h)
		p.two("FCVTL2", "S4", accV+2*h+1, 20+h)
	}
	p.fields(sweepFields, 5, "BExps", "Y", "BSigns", "BLow")
	p.field(sweepFields, "Blocks", "R12")
	p.label("block")
	p.units(bits)
	p.prepare()
	p.sums()
	if bits == 16 {
		p.checkRange()
	}
	if !half {
		for j := range v(4) {
			p.three("AND", "B16", accV+j, accV+j, cutV)
		}
	}
	p.op("SUBS $1, R12")
	p.op("BNE block")
	if half {
		p.op("VST1 [V16.D2, V17.D2, V18.D2, V19.D2], (R10)")
	} else {
		for h := range v(2) {
			p.two("FCVTN", "D2", 20+h, accV+2*h)
			p.two("FCVTN2", "D2", 20+h, accV+2*h+1)
		}
		p.op("VST1 [V20.S4, V21.S4], (R10)")
	}
	p.op("ADD R21, R9")
	p.op("ADD R22, R10")
	p.op("ADD $1, R20")
	p.op("SUBS $1, R11")
	p.op("BNE row")
	p.label("end")
	p.op("MOVD R20, %d(R0)", offset(sweepFields, "Done"))
	p.restore()
	p.op("RET")
}

// splat sets all elements of d to a field of the argument.
func (p *program) splat(d v, arrangement, name string) {
	p.field(sweepFields, name, "R26")
	p.op("VDUP R26, %v.%s", d, arrangement)
}

// best computes the largest sums of biased exponents of the products, as 32-bit numbers: V0 has the
// first four columns, V1 the others.
func (p *program) best(bits int) {
	p.zero(20)
	p.zero(21)
	p.op("MOVD R13, R14")
	if bits == 8 {
		p.label("max")
		p.op("VLD1.P 32(R1), [V0.B16, V1.B16]")
		p.op("VLD1.P 32(R5), [V2.B16, V3.B16]")
		for h := range v(2) {
			p.three("ADD", "B16", h, h, 2+h)
			p.three("UMAX", "B16", 20+h, 20+h, h)
		}
		p.op("SUBS $4, R14")
		p.op("BNE max")
		p.three("UMAX", "B16", 20, 20, 21)
		p.op("VEXT $8, V20.B16, V20.B16, V21.B16")
		p.three("UMAX", "B16", 20, 20, 21)
		p.op("VUXTL V20.B8, V20.H8")
		p.op("VUXTL V20.H4, V0.S4")
		p.op("VUXTL2 V20.H8, V1.S4")
		return
	}
	p.op("ADD R13<<3, R5, R17") // the last four columns
	p.label("max")
	p.op("VLD1.P 32(R1), [V0.H8, V1.H8]")
	p.op("VLD1.P 32(R5), [V2.H8, V3.H8]")
	p.op("VLD1.P 32(R17), [V4.H8, V5.H8]")
	for e := range v(2) {
		for h := range v(2) {
			p.three("ADD", "H8", 2+2*h+e, 2+2*h+e, e)
			p.three("UMAX", "H8", 20+h, 20+h, 2+2*h+e)
		}
	}
	p.op("SUBS $4, R14")
	p.op("BNE max")
	p.op("MOVD R17, R5")
	for h := range v(2) {
		p.op("VEXT $8, V%d.B16, V%[1]d.B16, V22.B16", 20+h)
		p.three("UMAX", "H8", 20+h, 20+h, 22)
		p.op("VUXTL V%d.H4, V%d.S4", 20+h, h)
	}
}

// units computes the exponents of the units, biased as in a float64, as 64-bit numbers in V2 to V5. It
// leaves the loop if a product is too small, infinite or NaN. For exponents with lanes of eight bits, it
// also leaves the loop if a result may not be a normal f32.
func (p *program) units(bits int) {
	p.best(bits)
	every, some, bias := uint64(0x7f), uint64(0x3f), 32+14
	if bits == 16 {
		every, some, bias = 0x7fff, 0x3ff, 512+126
	}
	const mask, limit, rebias, zero, low, bad, least, most = 20, 21, 22, 23, 24, 25, 26, 27
	p.constant(mask, "S4", every)
	p.constant(limit, "S4", some)
	p.constant(rebias, "S4", uint64(uint32(2*bias-1023)))
	p.zero(zero)
	p.op("VLD1R (R4), [V%d.S4]", low)
	p.constant(least, "S4", 1023-faintest)
	p.three("ADD", "S4", low, low, least)
	p.op("VLD1 (R8), [V28.S4, V29.S4]")
	p.zero(bad)
	p.constant(least, "S4", leastUnit)
	p.constant(most, "S4", mostUnit)
	for m := range v(2) {
		const t, e, none v = 4, 5, 6
		p.three("AND", "B16", m, m, mask)
		p.three("CMGT", "S4", t, m, limit)
		p.three("SUB", "S4", m, m, rebias)
		p.three("AND", "B16", m, m, t)
		p.three("SMAX", "S4", m, m, floorV)
		// The exponent of the accumulator is in the upper words. A subnormal number has the
		// exponent of the smallest normal number.
		p.three("UZP2", "S4", e, accV+2*m, accV+2*m+1)
		p.three("ADD", "S4", e, e, e)
		p.three("CMEQ", "S4", none, e, zero)
		p.shift("USHR", 21, "S4", e, e)
		p.three("BIC", "B16", t, leastV, none)
		p.three("SMAX", "S4", e, e, t)
		p.three("SMAX", "S4", m, m, e)
		if bits == 8 { // if all terms are zero, the exponent is still floor, and any unit will do
			p.three("CMEQ", "S4", none, m, floorV)
		}
		p.three("SUB", "S4", m, m, keepV)
		p.three("ADD", "S4", t, low, 28+m)
		p.three("CMGT", "S4", t, m, t)
		p.three("ORR", "B16", bad, bad, t)
		if bits == 8 {
			p.three("CMGT", "S4", t, m, most)
			p.three("ORR", "B16", bad, bad, t)
			p.three("CMGT", "S4", t, least, m)
			p.three("BIC", "B16", t, t, none)
			p.three("ORR", "B16", bad, bad, t)
			p.three("SMAX", "S4", m, m, least)
		}
	}
	p.leaveIf(bad, "end")
	p.op("ADD $4, R4")
	p.op("ADD $32, R8")
	p.op("VUXTL V0.S2, V2.D2")
	p.op("VUXTL2 V0.S4, V3.D2")
	p.op("VUXTL V1.S2, V4.D2")
	p.op("VUXTL2 V1.S4, V5.D2")
}

// prepare computes the units in V0 to V3, and the accumulators truncated to units plus one unit for each
// negative product.
func (p *program) prepare() {
	const signs, most, per v = 6, 7, 24
	p.op("VLD1R (R3), [V%d.D2]", signs)
	p.op("ADD $8, R3")
	p.op("VLD1.P 64(R7), [V20.D2, V21.D2, V22.D2, V23.D2]")
	p.constant(most, "D2", 2*1023)
	for j := range v(4) {
		negs, acc, m := 20+j, accV+j, 2+j
		p.three("AND", "B16", negs, negs, signs)
		p.op("VCNT %v.B16, %[1]v.B16", negs)
		for _, from := range []string{"B16", "H8", "S4"} {
			p.two("UADDLP", from, negs, negs)
		}
		p.two("UCVTF", "D2", negs, negs)
		p.three("SUB", "D2", per, most, m)
		p.shift("SHL", 52, "D2", per, per)
		p.shift("SHL", 52, "D2", j, m)
		p.three("FMUL", "D2", acc, acc, per)
		p.two("FRINTZ", "D2", acc, acc)
		p.three("FADD", "D2", acc, acc, negs)
		p.three("FMUL", "D2", acc, acc, j)
	}
}

// sums adds the floors of the products to the accumulators. It uses four sums per column in turns, to hide
// the latency of an addition. V16+4i to V19+4i hold sum i.
func (p *program) sums() {
	for j := range v(4) {
		p.three("FMUL", "D2", j, j, startV)
		for i := v(1); i < 4; i++ {
			p.move(accV+4*i+j, j)
		}
		p.three("FADD", "D2", accV+j, accV+j, j)
	}
	p.op("MOVD R13, R14")
	p.label("sum")
	x := [2]v{8, 14}
	p.op("VLD1.P 16(R2), [%v.D2]", x[0])
	p.op("VLD1.P 16(R2), [%v.D2]", x[1])
	for i := range v(4) {
		p.op("VLD1.P 64(R6), [V4.D2, V5.D2, V6.D2, V7.D2]")
		for j := range v(4) {
			p.fmla("D2", accV+4*i+j, 4+j, x[i/2], int(i%2))
		}
	}
	p.op("SUBS $4, R14")
	p.op("BNE sum")
	for j := range v(4) {
		for i := range v(4) {
			p.three("FSUB", "D2", accV+4*i+j, accV+4*i+j, j)
		}
		p.three("FADD", "D2", accV+j, accV+j, accV+4+j)
		p.three("FADD", "D2", accV+8+j, accV+8+j, accV+12+j)
		p.three("FADD", "D2", accV+j, accV+j, accV+8+j)
	}
}

// checkRange leaves the loop if a sum is neither zero nor a normal f32. A sum whose upper word is zero is
// zero, because units are larger.
func (p *program) checkRange() {
	const least, most, zero, bad, e, t v = 0, 1, 2, 3, 4, 5
	p.constant(least, "S4", 1023-126)
	p.constant(most, "S4", 1023+127)
	p.zero(zero)
	p.zero(bad)
	for h := range v(2) {
		p.three("UZP2", "S4", e, accV+2*h, accV+2*h+1)
		p.three("ADD", "S4", e, e, e)
		p.three("CMEQ", "S4", t, e, zero)
		p.shift("USHR", 21, "S4", e, e)
		p.three("CMGT", "S4", 6, least, e)
		p.three("BIC", "B16", 6, 6, t)
		p.three("ORR", "B16", bad, bad, 6)
		p.three("CMGT", "S4", 6, e, most)
		p.three("ORR", "B16", bad, bad, 6)
	}
	p.leaveIf(bad, "end")
}
