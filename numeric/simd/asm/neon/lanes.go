package main

// float is an operation on four f32: d = n op m, or d += n·m.
type float struct {
	name     string
	operands []string
}

var floats = []float{
	{"Add", []string{"a", "b"}}, {"Sub", []string{"a", "b"}}, {"Mul", []string{"a", "b"}}, {"Fma", []string{"a", "b", "c"}},
}

// compute appends the operation on v[0], v[1] and, for Fma, v[2]. It returns the register of the result.
func (f float) compute(p *program, v []v) v {
	switch f.name {
	case "Add":
		p.three("FADD", "S4", v[0], v[0], v[1])
	case "Sub":
		p.three("FSUB", "S4", v[0], v[0], v[1])
	case "Mul":
		p.three("FMUL", "S4", v[0], v[0], v[1])
	case "Fma":
		p.three("FMLA", "S4", v[2], v[0], v[1])
		return v[2]
	}
	return v[0]
}

// begin begins a function on the 32 lanes of a warp: R0 points to the result, R1, R2 and R3 point to the
// operands. rest holds other arguments and the result, of size bytes.
func (f float) begin(p *program, name, rest string, frame, size int) {
	list := "d"
	for _, o := range f.operands {
		list += ", " + o
	}
	p.function(name, "("+list+" *[32]uint32)"+rest, frame, 8*(1+len(f.operands))+size)
	p.arguments(append([]string{"d"}, f.operands...)...)
}

// lanes generates f32 operations on the 32 lanes of a warp, with and without subnormal operands.
func (p *program) lanes() {
	for _, f := range floats {
		if f.name != "Sub" {
			p.lanesOp(f, false)
			p.lanesOp(f, true)
		}
	}
}

// lanesOp generates an operation. A result that is a NaN becomes the canonical NaN. With flush, subnormal
// operands count as zero, and the function returns the mask of the lanes whose result is not zero
// and not larger than the smallest normal number.
func (p *program) lanesOp(f float, flush bool) {
	const nan, least, exps, sign, zero, mask, left, t, small v = 16, 17, 18, 19, 20, 21, 22, 23, 24
	if flush {
		f.begin(p, f.name+"F32Daz", " uint32", 0, 4)
		p.constant(least, "S4", 0x00800001)
		p.constant(exps, "S4", 0x7f800000)
		p.constant(sign, "S4", 0x80000000)
		p.zero(zero)
		p.zero(left)
		p.laneBits(mask)
	} else {
		f.begin(p, f.name+"F32", "", 0, 0)
	}
	p.constant(nan, "S4", 0x7fffffff)
	p.op("MOVD $8, R8")
	p.label("next")
	regs := []v{0, 1, 2}[:len(f.operands)]
	for i, r := range regs {
		p.op("VLD1.P 16(R%d), [%v.S4]", 1+i, r)
		if flush {
			p.three("CMTST", "S4", t, r, exps)
			p.three("ORR", "B16", t, t, sign)
			p.three("AND", "B16", r, r, t)
		}
	}
	d := f.compute(p, regs)
	p.canonical(d, nan, t)
	if flush {
		p.three("AND", "B16", t, d, nan)
		p.three("CMGT", "S4", small, least, t)
		p.three("CMEQ", "S4", t, t, zero)
		p.three("BIC", "B16", small, small, t)
		p.three("AND", "B16", small, small, mask)
		p.three("ORR", "B16", left, left, small)
		p.shift("SHL", 4, "S4", mask, mask)
	}
	p.op("VST1.P [%v.S4], 16(R0)", d)
	p.op("SUBS $1, R8")
	p.op("BNE next")
	if flush {
		p.op("VADDV %v.S4, V0", left) // no bit is set twice
		p.op("VMOV V0.S[0], R8")
		p.op("MOVW R8, ret+%d(FP)", 8*(1+len(f.operands)))
	}
	p.op("RET")
}
