package scalar

import "fmt"

// pair16 and pair32 are a minimum or maximum function.
type (
	pair16 = func(a, b uint16) uint16
	pair32 = func(a, b uint32) uint32
)

func extremeProbes() (list []probe) {
	for _, m := range []struct {
		name                         string
		f32, f32NaN                  pair32
		f64                          func(a, b uint64) uint64
		f16, f16NaN, bf16, bf16NaN16 pair16
	}{
		{"min", MinF32, MinNaNF32, MinF64, MinF16, MinNaNF16, MinBF16, MinNaNBF16},
		{"max", MaxF32, MaxNaNF32, MaxF64, MaxF16, MaxNaNF16, MaxBF16, MaxNaNBF16},
	} {
		list = append(list, op(m.name+".f64", "ddd", func(x record) uint64 { return m.f64(x[0], x[1]) }))
		for _, nan := range []bool{false, true} {
			f32, f16, bf16 := m.f32, m.f16, m.bf16
			if nan {
				f32, f16, bf16 = m.f32NaN, m.f16NaN, m.bf16NaN16
			}
			for _, xorsign := range []bool{false, true} {
				mods := mod(nan, ".NaN") + mod(xorsign, ".xorsign.abs")
				for _, ftz := range []bool{false, true} {
					name := m.name + mod(ftz, ".ftz") + mods
					list = append(list,
						op(name+".f32", "rrr", word32(flush32(ftz, extreme32(f32, xorsign)))),
						op(name+".f16", "hhh", word16(flush16(ftz, extreme16(f16, XorSignF16, xorsign)))))
				}
				list = append(list, op(m.name+mods+".bf16", "hhh", word16(extreme16(bf16, XorSignBF16, xorsign))))
			}
		}
	}
	return append(list, signProbes()...)
}

func extreme32(f pair32, xorsign bool) func(x record) uint32 {
	return func(x record) uint32 {
		a, b := x.r(0), x.r(1)
		if xorsign {
			return XorSignF32(f(a&0x7fffffff, b&0x7fffffff), a, b)
		}
		return f(a, b)
	}
}

func extreme16(f pair16, sign func(d, a, b uint16) uint16, xorsign bool) func(x record) uint16 {
	return func(x record) uint16 {
		a, b := x.h(0), x.h(1)
		if xorsign {
			return sign(f(a&0x7fff, b&0x7fff), a, b)
		}
		return f(a, b)
	}
}

func signProbes() (list []probe) {
	neg32, abs32 := func(x record) uint32 { return NegF32(x.r(0)) }, func(x record) uint32 { return AbsF32(x.r(0)) }
	neg16, abs16 := func(x record) uint16 { return NegF16(x.h(0)) }, func(x record) uint16 { return AbsF16(x.h(0)) }
	for _, ftz := range []bool{false, true} {
		m := mod(ftz, ".ftz")
		list = append(list,
			op("neg"+m+".f32", "rr", word32(flush32(ftz, neg32))), op("abs"+m+".f32", "rr", word32(flush32(ftz, abs32))),
			op("neg"+m+".f16", "hh", word16(flush16(ftz, neg16))), op("abs"+m+".f16", "hh", word16(flush16(ftz, abs16))))
	}
	return append(list,
		op("neg.f64", "dd", func(x record) uint64 { return NegF64(x[0]) }),
		op("abs.f64", "dd", func(x record) uint64 { return AbsF64(x[0]) }),
		op("neg.bf16", "hh", func(x record) uint64 { return uint64(NegBF16(x.h(0))) }),
		op("abs.bf16", "hh", func(x record) uint64 { return uint64(AbsBF16(x.h(0))) }),
		op("copysign.f32", "rrr", func(x record) uint64 { return uint64(CopysignF32(x.r(0), x.r(1))) }),
		op("copysign.f64", "ddd", func(x record) uint64 { return CopysignF64(x[0], x[1]) }))
}

var floatCmps = []struct {
	name string
	op   Cmp
}{
	{"eq", EQ}, {"ne", NE}, {"lt", LT}, {"le", LE}, {"gt", GT}, {"ge", GE}, {"num", NUM},
	{"equ", EQU}, {"neu", NEU}, {"ltu", LTU}, {"leu", LEU}, {"gtu", GTU}, {"geu", GEU}, {"nan", NAN},
}

func compareProbes() (list []probe) {
	for _, c := range floatCmps {
		list = append(list,
			op("setp."+c.name+".f32", "prr", func(x record) uint64 { return truth(CmpF32(c.op, x.r(0), x.r(1))) }),
			op("setp."+c.name+".ftz.f32", "prr", func(x record) uint64 {
				return truth(CmpF32(c.op, FtzF32(x.r(0)), FtzF32(x.r(1))))
			}),
			op("setp."+c.name+".f64", "pdd", func(x record) uint64 { return truth(CmpF64(c.op, x[0], x[1])) }),
			op("setp."+c.name+".f16", "phh", func(x record) uint64 { return truth(CmpF16(c.op, x.h(0), x.h(1))) }),
			op("setp."+c.name+".ftz.f16", "phh", func(x record) uint64 {
				return truth(CmpF16(c.op, FtzF16(x.h(0)), FtzF16(x.h(1))))
			}),
			op("setp."+c.name+".bf16", "phh", func(x record) uint64 { return truth(CmpBF16(c.op, x.h(0), x.h(1))) }))
	}
	for p, name := range []string{"finite", "infinite", "number", "notanumber", "normal", "subnormal"} {
		list = append(list,
			op(fmt.Sprintf("testp.%s.f32", name), "pr", func(x record) uint64 { return truth(TestpF32(Property(p), x.r(0))) }),
			op(fmt.Sprintf("testp.%s.f64", name), "pd", func(x record) uint64 { return truth(TestpF64(Property(p), x[0])) }))
	}
	return list
}
