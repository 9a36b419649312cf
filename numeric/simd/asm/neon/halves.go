package main

// odd computes n·m + c rounded to odd, while FPCR rounds upwards: if the exact sum lies between two f32,
// the result is the one with an odd last bit. Rounding this result again to a type with a shorter
// significand gives the nearest number of that type. The result is in c; down and t are changed.
//
// The negated sum of the negated terms is rounded downwards.
func (p *program) odd(n, m, c, down, t, sign, one v) {
	p.three("EOR", "B16", down, c, sign)
	p.three("FMLS", "S4", down, n, m)
	p.three("EOR", "B16", down, down, sign)
	p.three("FMLA", "S4", c, n, m)
	p.three("CMTST", "S4", t, down, one)
	p.three("BIT", "B16", c, down, t)
}

// f16s generates arithmetic on f16. The f32 results of sums and products are exact, or have so many bits that
// the second rounding gives the right result.
func (p *program) f16s() {
	const nan, t v = 16, 17
	for _, f := range floats {
		if f.name == "Fma" {
			p.fmaF16(f)
			continue
		}
		f.begin(p, f.name+"F16x2", "", 0, 0)
		p.constant(nan, "S4", 0x7fffffff)
		p.op("MOVD $8, R8")
		p.label("next")
		p.op("VLD1.P 16(R1), [V0.H8]")
		p.op("VLD1.P 16(R2), [V1.H8]")
		for i := range v(2) {
			p.two("FCVTL", "H4", 2+i, i)
			p.two("FCVTL2", "H8", 4+i, i)
		}
		for _, r := range []v{2, 4} {
			f.compute(p, []v{r, r + 1})
			p.canonical(r, nan, t)
		}
		p.two("FCVTN", "S4", 0, 2)
		p.two("FCVTN2", "S4", 0, 4)
		p.op("VST1.P [V0.H8], 16(R0)")
		p.op("SUBS $1, R8")
		p.op("BNE next")
		p.op("RET")
	}
}

// fmaF16 generates the multiply-add of f16. The sums are rounded upwards and to odd, and then to nearest. Setting the
// rounding mode is slow, so the sums are kept in the frame.
func (p *program) fmaF16(f float) {
	const nan, t, sign, one, down v = 16, 17, 18, 19, 20
	f.begin(p, f.name+"F16x2", "", 256, 0)
	p.round(upwards)
	p.constant(nan, "S4", 0x7fffffff)
	p.constant(sign, "S4", 0x80000000)
	p.constant(one, "S4", 1)
	p.op("ADD $8, RSP, R7") // the frame begins above the link register
	p.op("MOVD $8, R8")
	p.label("next")
	for i := range v(3) {
		p.op("VLD1.P 16(R%d), [%v.H8]", 1+i, i)
		p.two("FCVTL", "H4", 4+i, i)
		p.two("FCVTL2", "H8", 8+i, i)
	}
	for _, r := range []v{4, 8} {
		p.odd(r, r+1, r+2, down, t, sign, one)
		p.canonical(r+2, nan, t)
		p.op("VST1.P [%v.S4], 16(R7)", r+2)
	}
	p.op("SUBS $1, R8")
	p.op("BNE next")
	p.restore()
	p.op("ADD $8, RSP, R7")
	p.op("MOVD $8, R8")
	p.label("nearest")
	p.op("VLD1.P 32(R7), [V0.S4, V1.S4]")
	p.two("FCVTN", "S4", 2, 0)
	p.two("FCVTN2", "S4", 2, 1)
	p.op("VST1.P [V2.H8], 16(R0)")
	p.op("SUBS $1, R8")
	p.op("BNE nearest")
	p.op("RET")
}

// bf16s generates arithmetic on bf16. It computes the upper and the lower halves apart.
func (p *program) bf16s() {
	const nan, t, sign, one, down, upper, half v = 16, 17, 18, 19, 20, 21, 22
	for _, f := range floats {
		fma := f.name == "Fma"
		f.begin(p, f.name+"BF16x2", "", 0, 0)
		p.constant(nan, "S4", 0x7fffffff)
		p.constant(upper, "S4", 0xffff0000)
		p.constant(half, "S4", 0x7fff)
		if fma {
			p.round(upwards)
			p.constant(sign, "S4", 0x80000000)
			p.constant(one, "S4", 1)
		}
		p.op("MOVD $8, R8")
		p.label("next")
		var lo, hi []v
		for i := range f.operands {
			lo, hi = append(lo, v(i)), append(hi, v(4+i))
			p.op("VLD1.P 16(R%d), [%v.S4]", 1+i, hi[i])
			p.shift("SHL", 16, "S4", lo[i], hi[i])
			p.three("AND", "B16", hi[i], hi[i], upper)
		}
		var results []v
		for _, in := range [][]v{lo, hi} {
			r := in[len(in)-1]
			if fma {
				p.odd(in[0], in[1], in[2], down, t, sign, one)
			} else {
				r = f.compute(p, in)
			}
			// Round to bf16 in the upper half. A NaN must not be rounded, because it would overflow.
			p.canonical(r, nan, t)
			p.shift("SHL", 15, "S4", down, r)
			p.shift("USHR", 31, "S4", down, down)
			p.three("ADD", "S4", down, down, half)
			p.three("AND", "B16", down, down, t)
			p.three("ADD", "S4", r, r, down)
			results = append(results, r)
		}
		p.op("VSRI $16, %v.S4, %v.S4", results[0], results[1])
		p.op("VST1.P [%v.S4], 16(R0)", results[1])
		p.op("SUBS $1, R8")
		p.op("BNE next")
		if fma {
			p.restore()
		}
		p.op("RET")
	}
}

// extremes generates the minimum and the maximum of f16 and of bf16. The argument inf holds the bits of infinity. If
// one operand is a NaN, the result is the other operand; with NaN in the name, it is the canonical NaN.
func (p *program) extremes() {
	for _, op := range []string{"Min", "Max"} {
		for _, suffix := range []string{"", "NaN"} {
			p.extreme(op, suffix)
		}
	}
}

func (p *program) extreme(op, suffix string) {
	const abs, inf, result v = 16, 17, 18
	p.function(op+"16x2"+suffix, "(d, a, b *[32]uint32, inf uint32)", 0, 28)
	p.arguments("d", "a", "b")
	p.op("MOVWU inf+24(FP), R3")
	p.op("VDUP R3, %v.H8", inf)
	p.constant(abs, "H8", 0x7fff)
	p.op("MOVD $8, R8")
	p.label("next")
	for i := range v(2) {
		isNaN, ordered := 2+i, 4+i
		p.op("VLD1.P 16(R%d), [%v.H8]", 1+i, i)
		p.three("AND", "B16", isNaN, i, abs)
		p.three("CMGT", "H8", isNaN, isNaN, inf)
		p.flipNegative(ordered, i)
	}
	p.three("S"+map[string]string{"Min": "MIN", "Max": "MAX"}[op], "H8", result, 4, 5)
	p.flipNegative(result, result)
	if suffix == "NaN" {
		p.three("ORR", "B16", 2, 2, 3)
		p.three("BIT", "B16", result, abs, 2)
	} else {
		p.three("BIT", "B16", result, 0, 3)
		p.three("BIT", "B16", 1, abs, 3)
		p.three("BIT", "B16", result, 1, 2)
	}
	p.op("VST1.P [%v.H8], 16(R0)", result)
	p.op("SUBS $1, R8")
	p.op("BNE next")
	p.op("RET")
}

// flipNegative maps the bits of numbers to integers with the same order, and back. It changes V19.
func (p *program) flipNegative(d, n v) {
	p.two("SSHR15", "H8", 19, n)
	p.shift("USHR", 1, "H8", 19, 19)
	p.three("EOR", "B16", d, n, 19)
}
