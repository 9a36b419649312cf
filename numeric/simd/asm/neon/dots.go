package main

// dots generates Dots, which multiplies rows of 16-bit integers with eight columns. It computes two rows at
// a time, in two sums for each four columns, to hide the latency of the instructions.
func (p *program) dots() {
	p.function("Dots", "(d, rows, cols *uint32, count, pairs int)", 0, 40)
	for i, name := range []string{"d", "rows", "cols", "count", "pairs"} {
		p.op("MOVD %s+%d(FP), R%d", name, 8*i, i)
	}
	p.label("rows")
	for i := range v(8) {
		p.zero(16 + i)
	}
	p.op("MOVD R2, R5")
	p.op("MOVD R1, R6")
	p.op("ADD R4<<2, R1, R7")
	p.op("ADD R4<<3, R1, R1")
	p.op("MOVD R4, R8")
	p.label("pairs")
	p.op("VLD1.P 64(R5), [V0.H8, V1.H8, V2.H8, V3.H8]")
	p.op("VLD1.P 8(R6), [V4.H4]")
	p.op("VLD1.P 8(R7), [V5.H4]")
	for s := range v(2) {
		// The first and the second elements of the eight columns.
		p.three("UZP1", "H8", 6, 2*s, 2*s+1)
		p.three("UZP2", "H8", 7, 2*s, 2*s+1)
		for row := range v(2) {
			sum := 16 + 4*s + 2*row
			for e := range v(2) {
				p.smlal(sum, 6+e, 4+row, int(2*s+e), false)
				p.smlal(sum+1, 6+e, 4+row, int(2*s+e), true)
			}
		}
	}
	p.op("SUBS $2, R8")
	p.op("BNE pairs")
	for i := range v(4) {
		p.three("ADD", "S4", 16+i, 16+i, 20+i)
	}
	p.op("VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R0)")
	p.op("SUBS $2, R3")
	p.op("BNE rows")
	p.op("RET")
}

// interleaves generates Interleave, Deinterleave and Spread.
func (p *program) interleaves() {
	p.function("Interleave", "(rows *uint32, step int, even, odd *[32]uint32)", 0, 32)
	p.arguments("rows", "step", "even", "odd")
	for range 8 {
		p.op("VLD1.P 16(R2), [V0.S4]")
		p.op("VLD1.P 16(R3), [V1.S4]")
		p.op("VST2 [V0.S4, V1.S4], (R0)")
		p.op("ADD R1, R0")
	}
	p.op("RET")
	p.function("Deinterleave", "(even, odd *[32]uint32, rows *uint32, step int)", 0, 32)
	p.arguments("even", "odd", "rows", "step")
	for range 8 {
		p.op("VLD2 (R2), [V0.S4, V1.S4]")
		p.op("VST1.P [V0.S4], 16(R0)")
		p.op("VST1.P [V1.S4], 16(R1)")
		p.op("ADD R3, R2")
	}
	p.op("RET")
	p.function("Spread", "(rows *uint32, step int, lanes *[32]uint32)", 0, 24)
	p.arguments("rows", "step", "lanes")
	for range 8 {
		p.op("VLD1.P 16(R2), [V0.S4]")
		p.op("VST1 [V0.S4], (R0)")
		p.op("ADD R1, R0")
	}
	p.op("RET")
}

// arguments loads arguments of eight bytes into R0 and the registers after it.
func (p *program) arguments(names ...string) {
	for i, name := range names {
		p.op("MOVD %s+%d(FP), R%d", name, 8*i, i)
	}
}
