package main

// results generates WidenF16 and RoundF16, which convert rows of eight accumulators and results.
func (p *program) results() {
	p.function("WidenF16", "(to, c *uint32, step, rows int)", 0, 32)
	p.arguments("to", "c", "step", "rows")
	p.label("row")
	p.op("VLD1 (R1), [V0.H8, V1.H8]")
	p.three("UZP1", "H8", 0, 0, 1)
	p.two("FCVTL2", "H8", 3, 0)
	p.two("FCVTL", "H4", 2, 0)
	p.op("VST1.P [V2.S4, V3.S4], 32(R0)")
	p.op("ADD R2, R1")
	p.op("SUBS $1, R3")
	p.op("BNE row")
	p.op("RET")

	const minus, zero v = 16, 17
	p.function("RoundF16", "(d *uint32, step int, x *float64, rows int)", 0, 32)
	p.arguments("d", "step", "x", "rows")
	p.constant(minus, "H8", 0x8000)
	p.label("row")
	p.op("VLD1.P 64(R2), [V0.D2, V1.D2, V2.D2, V3.D2]")
	// These round to odd, so that rounding again gives the nearest f16.
	for h := range v(2) {
		p.two("FCVTXN", "D2", 4+h, 2*h)
		p.two("FCVTXN2", "D2", 4+h, 2*h+1)
	}
	p.two("FCVTN", "S4", 6, 4)
	p.two("FCVTN2", "S4", 6, 5)
	p.three("CMEQ", "H8", zero, 6, minus)
	p.three("BIC", "B16", 6, 6, zero) // a zero has no sign
	p.op("VUXTL V6.H4, V4.S4")
	p.op("VUXTL2 V6.H8, V5.S4")
	p.op("VST1 [V4.S4, V5.S4], (R0)")
	p.op("ADD R1, R0")
	p.op("SUBS $1, R3")
	p.op("BNE row")
	p.op("RET")
}
