package scalar

// finisher is a modifier that is applied after the rounding of a conversion to f16 or bf16.
type finisher struct {
	mods    string
	f16, bf func(uint16) uint16
}

var finishers = []finisher{
	{".relu", ReluF16, ReluBF16},
	{".satfinite", SatfiniteF16, SatfiniteBF16},
	{".relu.satfinite", func(a uint16) uint16 { return SatfiniteF16(ReluF16(a)) },
		func(a uint16) uint16 { return SatfiniteBF16(ReluBF16(a)) }},
}

func narrowProbes() (list []probe) {
	for _, r := range roundings {
		f32f64 := func(x record) uint32 { return CvtF32F64R(r, x[0]) }
		f16f32 := func(x record) uint16 { return CvtF16F32R(r, x.r(0)) }
		bf16f32 := func(x record) uint16 { return CvtBF16F32R(r, x.r(0)) }
		if r == RN {
			f32f64 = func(x record) uint32 { return CvtF32F64(x[0]) }
			f16f32 = func(x record) uint16 { return CvtF16F32(x.r(0)) }
			bf16f32 = func(x record) uint16 { return CvtBF16F32(x.r(0)) }
		}
		n := "cvt." + r.String()
		list = append(list,
			op(n+".f32.f64", "rd", word32(f32f64)),
			op(n+".ftz.f32.f64", "rd", func(x record) uint64 { return uint64(CvtFtzF32F64R(r, x[0])) }),
			op(n+".sat.f32.f64", "rd", func(x record) uint64 { return uint64(SatF32(f32f64(x))) }),
			op(n+".f16.f32", "hr", word16(f16f32)),
			op(n+".sat.f16.f32", "hr", func(x record) uint64 { return uint64(SatF16(f16f32(x))) }),
			op(n+".ftz.f16.f32", "hr", word16(f16f32)),
			op(n+".f16.f64", "hd", func(x record) uint64 { return uint64(CvtF16F64R(r, x[0])) }),
			op(n+".bf16.f32", "hr", word16(bf16f32)),
			op(n+".bf16.f64", "hd", func(x record) uint64 { return uint64(CvtBF16F64R(r, x[0])) }),
			op(n+".bf16.f16", "hh", func(x record) uint64 { return uint64(CvtBF16F16R(r, x.h(0))) }),
			op(n+".f16.bf16", "hh", func(x record) uint64 { return uint64(CvtF16BF16R(r, x.h(0))) }))
		if r == RN || r == RZ {
			for _, f := range finishers {
				list = append(list,
					op(n+f.mods+".f16.f32", "hr", func(x record) uint64 { return uint64(f.f16(f16f32(x))) }),
					op(n+f.mods+".bf16.f32", "hr", func(x record) uint64 { return uint64(f.bf(bf16f32(x))) }))
			}
			list = append(list,
				op(n+".tf32.f32", "rr", func(x record) uint64 { return uint64(CvtTF32F32(r, x.r(0))) }),
				op(n+".relu.tf32.f32", "rr", func(x record) uint64 { return uint64(ReluTF32(CvtTF32F32(r, x.r(0)))) }))
		}
		list = append(list, rintProbes(r)...)
	}
	return append(list, widenProbes()...)
}

func rintProbes(r Round) []probe {
	n := "cvt." + r.String() + "i"
	return []probe{
		op(n+".f32.f32", "rr", func(x record) uint64 { return uint64(RintF32(r, x.r(0))) }),
		op(n+".ftz.f32.f32", "rr", func(x record) uint64 { return uint64(RintF32(r, FtzF32(x.r(0)))) }),
		op(n+".sat.f32.f32", "rr", func(x record) uint64 { return uint64(SatF32(RintF32(r, x.r(0)))) }),
		op(n+".f64.f64", "dd", func(x record) uint64 { return RintF64(r, x[0]) }),
		op(n+".f16.f16", "hh", func(x record) uint64 { return uint64(RintF16(r, x.h(0))) }),
		op(n+".bf16.bf16", "hh", func(x record) uint64 { return uint64(RintBF16(r, x.h(0))) }),
	}
}

func widenProbes() []probe {
	return []probe{
		op("cvt.f64.f32", "dr", func(x record) uint64 { return CvtF64F32(x.r(0)) }),
		op("cvt.ftz.f64.f32", "dr", func(x record) uint64 { return CvtF64F32(CvtFtzF32F32(x.r(0))) }),
		op("cvt.sat.f64.f32", "dr", func(x record) uint64 { return SatF64(CvtF64F32(x.r(0))) }),
		op("cvt.f64.f16", "dh", func(x record) uint64 { return CvtF64F16(x.h(0)) }),
		op("cvt.f64.bf16", "dh", func(x record) uint64 { return CvtF64BF16(x.h(0)) }),
		op("cvt.f32.f16", "rh", func(x record) uint64 { return uint64(CvtF32F16(x.h(0))) }),
		op("cvt.ftz.f32.f16", "rh", func(x record) uint64 { return uint64(CvtF32F16(x.h(0))) }),
		op("cvt.sat.f32.f16", "rh", func(x record) uint64 { return uint64(SatF32(CvtF32F16(x.h(0)))) }),
		op("cvt.f32.bf16", "rh", func(x record) uint64 { return uint64(CvtF32BF16(x.h(0))) }),
		op("cvt.ftz.f32.bf16", "rh", func(x record) uint64 { return uint64(CvtFtzF32F32(CvtF32BF16(x.h(0)))) }),
		op("cvt.f32.f32", "rr", func(x record) uint64 { return uint64(x.r(0)) }),
		op("cvt.ftz.f32.f32", "rr", func(x record) uint64 { return uint64(CvtFtzF32F32(x.r(0))) }),
		op("cvt.sat.f32.f32", "rr", func(x record) uint64 { return uint64(SatF32(x.r(0))) }),
		op("cvt.ftz.sat.f32.f32", "rr", func(x record) uint64 { return uint64(SatF32(FtzF32(x.r(0)))) }),
		op("cvt.f64.f64", "dd", func(x record) uint64 { return x[0] }),
		op("cvt.sat.f64.f64", "dd", func(x record) uint64 { return SatF64(x[0]) }),
		op("cvt.f16.f16", "hh", func(x record) uint64 { return uint64(CvtF16F16(x.h(0))) }),
		op("cvt.sat.f16.f16", "hh", func(x record) uint64 { return uint64(SatF16(x.h(0))) }),
		op("cvt.rna.tf32.f32", "rr", func(x record) uint64 { return uint64(CvtRnaTF32F32(x.r(0))) }),
		op("cvt.rna.satfinite.tf32.f32", "rr", func(x record) uint64 { return uint64(SatfiniteTF32(CvtRnaTF32F32(x.r(0)))) }),
	}
}

// pack2 packs two 8-bit results. The first operand is in the high byte.
func pack2(hi, lo uint8) uint64 { return uint64(hi)<<8 | uint64(lo) }

func fp8Probes() []probe {
	e4, e5 := CvtE4M3F32, CvtE5M2F32
	half := func(x record, i int) uint16 { return uint16(x.r(0) >> (16 * i)) }
	wide := func(f func(uint8) uint16, finish func(uint16) uint16) func(x record) uint64 {
		return func(x record) uint64 {
			return uint64(finish(f(uint8(x.h(0)>>8))))<<16 | uint64(finish(f(x.b(0))))
		}
	}
	keep := func(a uint16) uint16 { return a }
	return []probe{
		op("cvt.rn.satfinite.e4m3x2.f32", "hrr", func(x record) uint64 { return pack2(e4(x.r(0)), e4(x.r(1))) }),
		op("cvt.rn.satfinite.relu.e4m3x2.f32", "hrr", func(x record) uint64 { return pack2(ReluE4M3(e4(x.r(0))), ReluE4M3(e4(x.r(1)))) }),
		op("cvt.rn.satfinite.e5m2x2.f32", "hrr", func(x record) uint64 { return pack2(e5(x.r(0)), e5(x.r(1))) }),
		op("cvt.rn.satfinite.relu.e5m2x2.f32", "hrr", func(x record) uint64 { return pack2(ReluE5M2(e5(x.r(0))), ReluE5M2(e5(x.r(1)))) }),
		op("cvt.rn.satfinite.e4m3x2.f16x2", "hr", func(x record) uint64 { return pack2(CvtE4M3F16(half(x, 1)), CvtE4M3F16(half(x, 0))) }),
		op("cvt.rn.satfinite.e5m2x2.f16x2", "hr", func(x record) uint64 { return pack2(CvtE5M2F16(half(x, 1)), CvtE5M2F16(half(x, 0))) }),
		op("cvt.rn.f16x2.e4m3x2", "rh", wide(CvtF16E4M3, keep)),
		op("cvt.rn.relu.f16x2.e4m3x2", "rh", wide(CvtF16E4M3, ReluF16)),
		op("cvt.rn.f16x2.e5m2x2", "rh", wide(CvtF16E5M2, keep)),
		op("cvt.rn.relu.f16x2.e5m2x2", "rh", wide(CvtF16E5M2, ReluF16)),
	}
}

// class returns the class and width of the register that holds an integer type. PTX has no
// 8-bit operations, so 8-bit values are in 32-bit registers and results are extended.
func class(t Int) (letter string, width int) {
	switch t.Bits() {
	case 16:
		return "h", 16
	case 64:
		return "d", 64
	}
	return "r", 32
}

func cutTo(x uint64, width int) uint64 { return x << (64 - width) >> (64 - width) }

var allInts = []Int{U8, U16, U32, U64, S8, S16, S32, S64}

func toIntProbes() (list []probe) {
	for _, r := range roundings {
		for _, t := range allInts {
			letter, width := class(t)
			n := "cvt." + r.String() + "i."
			f32 := func(a uint32) uint64 { return cutTo(CvtIntF32(r, t, a), width) }
			list = append(list,
				op(n+t.String()+".f32", letter+"r", func(x record) uint64 { return f32(x.r(0)) }),
				op(n+t.String()+".f64", letter+"d", func(x record) uint64 { return cutTo(CvtIntF64(r, t, x[0]), width) }),
				op(n+t.String()+".f16", letter+"h", func(x record) uint64 { return cutTo(CvtIntF16(r, t, x.h(0)), width) }))
			if t.Bits() >= 32 {
				list = append(list, op(n+"ftz."+t.String()+".f32", letter+"r", func(x record) uint64 { return f32(FtzF32(x.r(0))) }))
			}
			if t.Bits() >= 16 {
				list = append(list, op(n+t.String()+".bf16", letter+"h", func(x record) uint64 { return cutTo(CvtIntBF16(r, t, x.h(0)), width) }))
			}
		}
	}
	return list
}

func fromIntProbes() (list []probe) {
	for _, t := range allInts {
		letter, _ := class(t)
		for _, r := range roundings {
			n, s := "cvt."+r.String(), "."+t.String()
			f32 := func(x record) uint64 { return uint64(CvtF32IntR(r, t, x[0])) }
			f64 := func(x record) uint64 { return CvtF64IntR(r, t, x[0]) }
			if r == RN {
				f32 = func(x record) uint64 { return uint64(CvtF32Int(t, x[0])) }
				f64 = func(x record) uint64 { return CvtF64Int(t, x[0]) }
			}
			list = append(list, op(n+".f32"+s, "r"+letter, f32), op(n+".f64"+s, "d"+letter, f64),
				op(n+".f16"+s, "h"+letter, func(x record) uint64 { return uint64(CvtF16IntR(r, t, x[0])) }))
			if t.Bits() >= 16 {
				list = append(list, op(n+".bf16"+s, "h"+letter, func(x record) uint64 { return uint64(CvtBF16IntR(r, t, x[0])) }))
			}
		}
		for _, dst := range allInts {
			to, width := class(dst)
			n := "." + dst.String() + "." + t.String()
			list = append(list, op("cvt"+n, to+letter, func(x record) uint64 { return cutTo(CvtInt(dst, t, x[0]), width) }))
			if clamps(dst, t) {
				list = append(list, op("cvt.sat"+n, to+letter, func(x record) uint64 { return cutTo(CvtIntSat(dst, t, x[0]), width) }))
			}
		}
	}
	return list
}

// clamps reports whether src has values that dst does not have. Otherwise PTX refuses .sat.
func clamps(dst, src Int) bool {
	return src.max() > dst.max() || src.Signed() && int64(src.min()) < int64(dst.min())
}
