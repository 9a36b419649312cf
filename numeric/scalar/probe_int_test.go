package scalar

import (
	"fmt"
	"math/bits"
)

// intOp returns the probes of an operation for the six types of integer arithmetic.
func intOp(name, sig string, u16 func(a, b, c uint16) uint16, s16 func(a, b, c int16) int16,
	u32 func(a, b, c uint32) uint32, s32 func(a, b, c int32) int32,
	u64 func(a, b, c uint64) uint64, s64 func(a, b, c int64) int64) []probe {
	regs := func(letter byte) string {
		out := make([]byte, len(sig))
		for i := range out {
			out[i] = letter
		}
		return string(out)
	}
	return []probe{
		op(name+".u16", regs('h'), func(x record) uint64 { return uint64(u16(x.h(0), x.h(1), x.h(2))) }),
		op(name+".s16", regs('h'), func(x record) uint64 { return uint64(uint16(s16(int16(x[0]), int16(x[1]), int16(x[2])))) }),
		op(name+".u32", regs('r'), func(x record) uint64 { return uint64(u32(x.r(0), x.r(1), x.r(2))) }),
		op(name+".s32", regs('r'), func(x record) uint64 { return uint64(uint32(s32(int32(x[0]), int32(x[1]), int32(x[2])))) }),
		op(name+".u64", regs('d'), func(x record) uint64 { return u64(x[0], x[1], x[2]) }),
		op(name+".s64", regs('d'), func(x record) uint64 { return uint64(s64(int64(x[0]), int64(x[1]), int64(x[2]))) }),
	}
}

func divOf[T integer](a, b, _ T) T { return Div(a, b) }
func remOf[T integer](a, b, _ T) T { return Rem(a, b) }

// hi adapts a function of two operands, such as mul.hi, to three operands.
func hi[T integer](f func(a, b T) T) func(a, b, c T) T { return func(a, b, _ T) T { return f(a, b) } }

func divideProbes() (list []probe) {
	list = append(list, intOp("div", "...", divOf[uint16], divOf[int16], divOf[uint32], divOf[int32], divOf[uint64], divOf[int64])...)
	list = append(list, intOp("rem", "...", remOf[uint16], remOf[int16], remOf[uint32], remOf[int32], remOf[uint64], remOf[int64])...)
	list = append(list, intOp("sad", "....", Sad[uint16], Sad[int16], Sad[uint32], Sad[int32], Sad[uint64], Sad[int64])...)
	list = append(list, intOp("mul.hi", "...", hi(MulHiU16), hi(MulHiS16), hi(MulHiU32), hi(MulHiS32), hi(MulHiU64), hi(MulHiS64))...)
	r3 := func(f func(a, b, c uint32) uint32) func(x record) uint64 {
		return func(x record) uint64 { return uint64(f(x.r(0), x.r(1), x.r(2))) }
	}
	s3 := func(f func(a, b, c int32) int32) func(x record) uint64 {
		return func(x record) uint64 { return uint64(uint32(f(int32(x[0]), int32(x[1]), int32(x[2])))) }
	}
	return append(list,
		op("add.sat.s32", "rrr", s3(hi(AddSatS32))), op("sub.sat.s32", "rrr", s3(hi(SubSatS32))),
		op("mad.hi.sat.s32", "rrrr", s3(MadHiSatS32)), op("mad24.hi.sat.s32", "rrrr", s3(Mad24HiSatS32)),
		op("mul24.lo.u32", "rrr", r3(hi(Mul24LoU32))), op("mul24.hi.u32", "rrr", r3(hi(Mul24HiU32))),
		op("mul24.lo.s32", "rrr", s3(hi(Mul24LoS32))), op("mul24.hi.s32", "rrr", s3(hi(Mul24HiS32))))
}

func bitProbes() (list []probe) {
	list = append(list, shiftProbes()...)
	list = append(list, fieldProbes()...)
	for mode, name := range []string{"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"} {
		list = append(list, op("prmt.b32"+name, "rrrr", func(x record) uint64 {
			return uint64(Prmt(PrmtMode(mode), x.r(0), x.r(1), x.r(2)))
		}))
	}
	for _, lut := range []uint8{0x96, 0xca, 0x1b, 0x78, 0x02} {
		name := fmt.Sprintf("%#02x", lut)
		list = append(list, body("lop3_"+name, "rrrr", "lop3.b32 {d}, {a}, {b}, {c}, "+name+";", func(x record) uint64 {
			return uint64(Lop3(x.r(0), x.r(1), x.r(2), lut))
		}))
	}
	names := map[bool]string{false: ".u32", true: ".s32"}
	for _, sa := range []bool{false, true} {
		for _, sb := range []bool{false, true} {
			n := names[sa] + names[sb]
			list = append(list,
				op("dp4a"+n, "rrrr", func(x record) uint64 { return uint64(Dp4a(x.r(0), x.r(1), x.r(2), sa, sb)) }),
				op("dp2a.lo"+n, "rrrr", func(x record) uint64 { return uint64(Dp2aLo(x.r(0), x.r(1), x.r(2), sa, sb)) }),
				op("dp2a.hi"+n, "rrrr", func(x record) uint64 { return uint64(Dp2aHi(x.r(0), x.r(1), x.r(2), sa, sb)) }))
		}
	}
	return list
}

func shiftProbes() []probe {
	return []probe{
		op("shl.b16", "hhr", func(x record) uint64 { return uint64(x.h(0) << x.r(1)) }),
		op("shl.b32", "rrr", func(x record) uint64 { return uint64(x.r(0) << x.r(1)) }),
		op("shl.b64", "ddr", func(x record) uint64 { return x[0] << x.r(1) }),
		op("shr.u16", "hhr", func(x record) uint64 { return uint64(x.h(0) >> x.r(1)) }),
		op("shr.s16", "hhr", func(x record) uint64 { return uint64(uint16(int16(x[0]) >> x.r(1))) }),
		op("shr.u32", "rrr", func(x record) uint64 { return uint64(x.r(0) >> x.r(1)) }),
		op("shr.s32", "rrr", func(x record) uint64 { return uint64(uint32(int32(x[0]) >> x.r(1))) }),
		op("shr.u64", "ddr", func(x record) uint64 { return x[0] >> x.r(1) }),
		op("shr.s64", "ddr", func(x record) uint64 { return uint64(int64(x[0]) >> x.r(1)) }),
		op("shf.l.clamp.b32", "rrrr", func(x record) uint64 { return uint64(ShfLClamp(x.r(0), x.r(1), x.r(2))) }),
		op("shf.l.wrap.b32", "rrrr", func(x record) uint64 { return uint64(ShfLWrap(x.r(0), x.r(1), x.r(2))) }),
		op("shf.r.clamp.b32", "rrrr", func(x record) uint64 { return uint64(ShfRClamp(x.r(0), x.r(1), x.r(2))) }),
		op("shf.r.wrap.b32", "rrrr", func(x record) uint64 { return uint64(ShfRWrap(x.r(0), x.r(1), x.r(2))) }),
	}
}

func fieldProbes() []probe {
	return []probe{
		op("bfe.u32", "rrrr", func(x record) uint64 { return uint64(BfeU32(x.r(0), x.r(1), x.r(2))) }),
		op("bfe.s32", "rrrr", func(x record) uint64 { return uint64(uint32(BfeS32(int32(x[0]), x.r(1), x.r(2)))) }),
		op("bfe.u64", "ddrr", func(x record) uint64 { return BfeU64(x[0], x.r(1), x.r(2)) }),
		op("bfe.s64", "ddrr", func(x record) uint64 { return uint64(BfeS64(int64(x[0]), x.r(1), x.r(2))) }),
		op("bfi.b32", "rrrrr", func(x record) uint64 { return uint64(BfiB32(x.r(0), x.r(1), x.r(2), x.r(3))) }),
		op("bfi.b64", "dddrr", func(x record) uint64 { return BfiB64(x[0], x[1], x.r(2), x.r(3)) }),
		op("bfind.u32", "rr", func(x record) uint64 { return uint64(BfindU32(x.r(0))) }),
		op("bfind.s32", "rr", func(x record) uint64 { return uint64(BfindS32(int32(x[0]))) }),
		op("bfind.u64", "rd", func(x record) uint64 { return uint64(BfindU64(x[0])) }),
		op("bfind.s64", "rd", func(x record) uint64 { return uint64(BfindS64(int64(x[0]))) }),
		op("bfind.shiftamt.u32", "rr", func(x record) uint64 { return uint64(BfindShift(BfindU32(x.r(0)), 32)) }),
		op("bfind.shiftamt.s32", "rr", func(x record) uint64 { return uint64(BfindShift(BfindS32(int32(x[0])), 32)) }),
		op("bfind.shiftamt.u64", "rd", func(x record) uint64 { return uint64(BfindShift(BfindU64(x[0]), 64)) }),
		op("bfind.shiftamt.s64", "rd", func(x record) uint64 { return uint64(BfindShift(BfindS64(int64(x[0])), 64)) }),
		op("brev.b32", "rr", func(x record) uint64 { return uint64(bits.Reverse32(x.r(0))) }),
		op("brev.b64", "dd", func(x record) uint64 { return bits.Reverse64(x[0]) }),
		op("fns.b32", "rrrr", func(x record) uint64 { return uint64(Fns(x.r(0), x.r(1), int32(x[2]))) }),
		op("bmsk.clamp.b32", "rrr", func(x record) uint64 { return uint64(BmskClamp(x.r(0), x.r(1))) }),
		op("bmsk.wrap.b32", "rrr", func(x record) uint64 { return uint64(BmskWrap(x.r(0), x.r(1))) }),
		op("szext.clamp.u32", "rrr", func(x record) uint64 { return uint64(SzextU32(x.r(0), x.r(1))) }),
		op("szext.wrap.u32", "rrr", func(x record) uint64 { return uint64(SzextU32(x.r(0), x.r(1)&31)) }),
		op("szext.clamp.s32", "rrr", func(x record) uint64 { return uint64(uint32(SzextS32(int32(x[0]), x.r(1)))) }),
		op("szext.wrap.s32", "rrr", func(x record) uint64 { return uint64(uint32(SzextS32(int32(x[0]), x.r(1)&31))) }),
	}
}

// carryProbes returns probes that pack a sum and the flag after it, or that chain two steps.
func carryProbes() []probe {
	flag := func(d, cf uint32) uint64 { return uint64(cf)<<32 | uint64(d) }
	pair := func(text string) string {
		return "{ .reg .b32 %lo, %hi; " + text + " mov.b64 {d}, {%lo, %hi}; }"
	}
	return []probe{
		body("add_cc", "drr", pair("add.cc.u32 %lo, {a}, {b}; addc.u32 %hi, 0, 0;"), func(x record) uint64 {
			return flag(AddC32(x.r(0), x.r(1), 0))
		}),
		body("sub_cc", "drr", pair("sub.cc.u32 %lo, {a}, {b}; subc.u32 %hi, 0, 0;"), func(x record) uint64 {
			d, cf := SubC32(x.r(0), x.r(1), 0)
			return flag(d, -cf)
		}),
		body("add_cc_subc", "drrr", pair("add.cc.u32 %lo, {a}, {b}; subc.u32 %hi, {c}, 0;"), func(x record) uint64 {
			d, cf := AddC32(x.r(0), x.r(1), 0)
			return flag(d, x.r(2)-(1-cf))
		}),
		body("sub_cc_addc", "drrr", pair("sub.cc.u32 %lo, {a}, {b}; addc.u32 %hi, {c}, 0;"), func(x record) uint64 {
			d, cf := SubC32(x.r(0), x.r(1), 0)
			return flag(d, x.r(2)+(1-cf))
		}),
		body("mad_lo_cc_madc_hi", "drrr", pair("mad.lo.cc.u32 %lo, {a}, {b}, {c}; madc.hi.u32 %hi, {a}, {b}, {c};"), func(x record) uint64 {
			d, cf := AddC32(x.r(0)*x.r(1), x.r(2), 0)
			return flag(d, MulHiU32(x.r(0), x.r(1))+x.r(2)+cf)
		}),
		body("add_cc_addc_u64", "ddddd", "{ .reg .b64 %lo; add.cc.u64 %lo, {a}, {b}; addc.u64 {d}, {c}, {e}; }", func(x record) uint64 {
			_, cf := AddC64(x[0], x[1], 0)
			d, _ := AddC64(x[2], x[3], cf)
			return d
		}),
		body("sub_cc_subc_u64", "ddddd", "{ .reg .b64 %lo; sub.cc.u64 %lo, {a}, {b}; subc.u64 {d}, {c}, {e}; }", func(x record) uint64 {
			_, cf := SubC64(x[0], x[1], 0)
			d, _ := SubC64(x[2], x[3], cf)
			return d
		}),
	}
}
