package scalar

// flush32 applies FtzF32 to operands and result of f if on is set.
func flush32(on bool, f func(x record) uint32) func(x record) uint32 {
	if !on {
		return f
	}
	return func(x record) uint32 {
		for i := range x {
			x[i] = uint64(FtzF32(uint32(x[i])))
		}
		return FtzF32(f(x))
	}
}

func flush16(on bool, f func(x record) uint16) func(x record) uint16 {
	if !on {
		return f
	}
	return func(x record) uint16 {
		for i := range x {
			x[i] = uint64(FtzF16(uint16(x[i])))
		}
		return FtzF16(f(x))
	}
}

func word32(f func(x record) uint32) func(x record) uint64 {
	return func(x record) uint64 { return uint64(f(x)) }
}

func word16(f func(x record) uint16) func(x record) uint64 {
	return func(x record) uint64 { return uint64(f(x)) }
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// f32Op is an operation on f32: the fast form and the form for any rounding mode.
type f32Op struct {
	name, sig string
	sat       bool
	fast      func(x record) uint32
	any       func(r Round, x record) uint32
	ftz       func(r Round, x record) uint32 // nil if .ftz only flushes the operands and the result
}

var f32Ops = []f32Op{
	{"add", "rrr", true, func(x record) uint32 { return AddF32(x.r(0), x.r(1)) }, func(r Round, x record) uint32 { return AddF32R(r, x.r(0), x.r(1)) }, nil},
	{"sub", "rrr", true, func(x record) uint32 { return SubF32(x.r(0), x.r(1)) }, func(r Round, x record) uint32 { return SubF32R(r, x.r(0), x.r(1)) }, nil},
	{"mul", "rrr", true, func(x record) uint32 { return MulF32(x.r(0), x.r(1)) }, func(r Round, x record) uint32 { return MulF32R(r, x.r(0), x.r(1)) }, func(r Round, x record) uint32 {
		if r == RN {
			return MulFtzF32(x.r(0), x.r(1))
		}
		return MulFtzF32R(r, x.r(0), x.r(1))
	}},
	{"div", "rrr", false, func(x record) uint32 { return DivF32(x.r(0), x.r(1)) }, func(r Round, x record) uint32 { return DivF32R(r, x.r(0), x.r(1)) }, func(r Round, x record) uint32 {
		if r == RN {
			return DivFtzF32(x.r(0), x.r(1))
		}
		return DivFtzF32R(r, x.r(0), x.r(1))
	}},
	{"rcp", "rr", false, func(x record) uint32 { return RcpF32(x.r(0)) }, func(r Round, x record) uint32 { return RcpF32R(r, x.r(0)) }, func(r Round, x record) uint32 { return RcpFtzF32R(r, x.r(0)) }},
	{"sqrt", "rr", false, func(x record) uint32 { return SqrtF32(x.r(0)) }, func(r Round, x record) uint32 { return SqrtF32R(r, x.r(0)) }, nil},
	{"fma", "rrrr", true, func(x record) uint32 { return FmaF32(x.r(0), x.r(1), x.r(2)) }, func(r Round, x record) uint32 { return FmaF32R(r, x.r(0), x.r(1), x.r(2)) }, func(r Round, x record) uint32 {
		if r == RN {
			return FmaFtzF32(x.r(0), x.r(1), x.r(2))
		}
		return FmaFtzF32R(r, x.r(0), x.r(1), x.r(2))
	}},
}

type f64Op struct {
	name, sig string
	fast      func(x record) uint64
	any       func(r Round, x record) uint64
}

var f64Ops = []f64Op{
	{"add", "ddd", func(x record) uint64 { return AddF64(x[0], x[1]) }, func(r Round, x record) uint64 { return AddF64R(r, x[0], x[1]) }},
	{"sub", "ddd", func(x record) uint64 { return SubF64(x[0], x[1]) }, func(r Round, x record) uint64 { return SubF64R(r, x[0], x[1]) }},
	{"mul", "ddd", func(x record) uint64 { return MulF64(x[0], x[1]) }, func(r Round, x record) uint64 { return MulF64R(r, x[0], x[1]) }},
	{"div", "ddd", func(x record) uint64 { return DivF64(x[0], x[1]) }, func(r Round, x record) uint64 { return DivF64R(r, x[0], x[1]) }},
	{"rcp", "dd", func(x record) uint64 { return RcpF64(x[0]) }, func(r Round, x record) uint64 { return RcpF64R(r, x[0]) }},
	{"sqrt", "dd", func(x record) uint64 { return SqrtF64(x[0]) }, func(r Round, x record) uint64 { return SqrtF64R(r, x[0]) }},
	{"fma", "dddd", func(x record) uint64 { return FmaF64(x[0], x[1], x[2]) }, func(r Round, x record) uint64 { return FmaF64R(r, x[0], x[1], x[2]) }},
}

func floatProbes() (list []probe) {
	for _, r := range roundings {
		for _, o := range f32Ops {
			eval := o.fast
			if r != RN {
				eval = func(x record) uint32 { return o.any(r, x) }
			}
			for _, ftz := range []bool{false, true} {
				name, f := o.name+"."+r.String()+mod(ftz, ".ftz"), flush32(ftz, eval)
				if ftz && o.ftz != nil {
					f = func(x record) uint32 { return o.ftz(r, x) }
				}
				list = append(list, op(name+".f32", o.sig, word32(f)))
				if o.sat {
					list = append(list, op(name+".sat.f32", o.sig, word32(func(x record) uint32 { return SatF32(f(x)) })))
				}
			}
		}
		for _, o := range f64Ops {
			eval := o.fast
			if r != RN {
				eval = func(x record) uint64 { return o.any(r, x) }
			}
			list = append(list, op(o.name+"."+r.String()+".f64", o.sig, eval))
		}
	}
	return list
}

func mod(on bool, text string) string {
	if on {
		return text
	}
	return ""
}

// halfOps are the operations that f16 and bf16 have in common.
var halfOps = []struct {
	name, sig      string
	f16, bf16, ftz func(x record) uint16 // ftz is nil if .ftz only flushes the operands and the result
}{
	{"add", "hhh", func(x record) uint16 { return AddF16(x.h(0), x.h(1)) }, func(x record) uint16 { return AddBF16(x.h(0), x.h(1)) }, nil},
	{"sub", "hhh", func(x record) uint16 { return SubF16(x.h(0), x.h(1)) }, func(x record) uint16 { return SubBF16(x.h(0), x.h(1)) }, nil},
	{"mul", "hhh", func(x record) uint16 { return MulF16(x.h(0), x.h(1)) }, func(x record) uint16 { return MulBF16(x.h(0), x.h(1)) }, func(x record) uint16 { return MulFtzF16(x.h(0), x.h(1)) }},
	{"fma", "hhhh", func(x record) uint16 { return FmaF16(x.h(0), x.h(1), x.h(2)) }, func(x record) uint16 { return FmaBF16(x.h(0), x.h(1), x.h(2)) }, func(x record) uint16 { return FmaFtzF16(x.h(0), x.h(1), x.h(2)) }},
}

func halfProbes() (list []probe) {
	for _, o := range halfOps {
		for _, ftz := range []bool{false, true} {
			name, f := o.name+".rn"+mod(ftz, ".ftz"), flush16(ftz, o.f16)
			if ftz && o.ftz != nil {
				f = o.ftz
			}
			list = append(list, op(name+".f16", o.sig, word16(f)),
				op(name+".sat.f16", o.sig, word16(func(x record) uint16 { return SatF16(f(x)) })))
			if o.name == "fma" {
				list = append(list, op(name+".relu.f16", o.sig, word16(func(x record) uint16 { return ReluF16(f(x)) })))
			}
		}
		list = append(list, op(o.name+".rn.bf16", o.sig, word16(o.bf16)))
	}
	return append(list,
		op("fma.rn.relu.bf16", "hhhh", word16(func(x record) uint16 { return ReluBF16(FmaBF16(x.h(0), x.h(1), x.h(2))) })),
		op("fma.rn.oob.f16", "hhhh", word16(func(x record) uint16 { return FmaOobF16(x.h(0), x.h(1), x.h(2)) })),
		op("fma.rn.oob.relu.f16", "hhhh", word16(func(x record) uint16 { return ReluF16(FmaOobF16(x.h(0), x.h(1), x.h(2))) })),
		op("fma.rn.oob.bf16", "hhhh", word16(func(x record) uint16 { return FmaOobBF16(x.h(0), x.h(1), x.h(2)) })),
		op("fma.rn.oob.relu.bf16", "hhhh", word16(func(x record) uint16 { return ReluBF16(FmaOobBF16(x.h(0), x.h(1), x.h(2))) })))
}
