package ops

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	build("setp", buildSetp)
	build("set", buildSet)
	build("selp", buildSelp)
	build("slct", buildSlct)
}

// test evaluates a condition for the lanes m and returns one bit per lane. Bits outside m
// are undefined.
type test func(f *frame, m uint32) uint32

var cmpOps = map[string]scalar.Cmp{
	"eq": scalar.EQ, "ne": scalar.NE, "lt": scalar.LT, "le": scalar.LE, "gt": scalar.GT, "ge": scalar.GE,
	"lo": scalar.LO, "ls": scalar.LS, "hi": scalar.HI, "hs": scalar.HS,
	"equ": scalar.EQU, "neu": scalar.NEU, "ltu": scalar.LTU, "leu": scalar.LEU, "gtu": scalar.GTU, "geu": scalar.GEU,
	"num": scalar.NUM, "nan": scalar.NAN,
}

// comparison decodes a cmp b. A packed type has two tests, for the low halves and
// for the high halves.
func comparison(d *decoder, x *inst) (low, high test) {
	op := cmpOps[x.Mod("cmp")]
	if t := x.Type("a"); t.Class() != ptx.ClassPacked && t != ptx.F16 {
		return compareWords(d, x, op), nil
	}
	return compareHalves(d, x, op)
}

func compareWords(d *decoder, x *inst, op scalar.Cmp) test {
	switch x.Type("a") {
	case ptx.B16, ptx.U16:
		return compareInts[uint16](d, x, op)
	case ptx.S16:
		return compareInts[int16](d, x, op)
	case ptx.B32, ptx.U32:
		return compare32(d, x, relation32{ltU32, eq32, nil}, op)
	case ptx.S32:
		return compare32(d, x, relation32{ltS32, eq32, nil}, op)
	case ptx.B64, ptx.U64:
		return compareInts[uint64](d, x, op)
	case ptx.S64:
		return compareInts[int64](d, x, op)
	case ptx.F64:
		return test2(d, x, func(a, b uint64) bool { return scalar.CmpF64(op, a, b) })
	}
	if x.Has("ftz") {
		return compare32(d, x, relation32{ltFtz, eqFtz, nanF32}, op)
	}
	return compare32(d, x, relation32{ltF32, eqF32, nanF32}, op)
}

func compareInts[T value](d *decoder, x *inst, op scalar.Cmp) test {
	return test2(d, x, func(a, b T) bool { return scalar.CmpInt(op, a, b) })
}

// test2 returns the test that evaluates fn on a and b, lane by lane.
func test2[T value](d *decoder, x *inst, fn func(a, b T) bool) test {
	ra, rb := srcOf[T](d, x, "a"), srcOf[T](d, x, "b")
	return func(f *frame, m uint32) (v uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			if fn(ra.get(f, l), rb.get(f, l)) {
				v |= 1 << l
			}
		}
		return v
	}
}

func compareHalves(d *decoder, x *inst, op scalar.Cmp) (low, high test) {
	var cmp func(a, b uint16) bool
	t := x.Type("a")
	switch {
	case t == ptx.BF16 || t == ptx.BF16x2:
		cmp = func(a, b uint16) bool { return scalar.CmpBF16(op, a, b) }
	case x.Has("ftz"):
		cmp = func(a, b uint16) bool { return scalar.CmpF16(op, scalar.FtzF16(a), scalar.FtzF16(b)) }
	default:
		cmp = func(a, b uint16) bool { return scalar.CmpF16(op, a, b) }
	}
	if t.Bits() == 16 {
		return test2(d, x, cmp), nil
	}
	return test2(d, x, func(a, b uint32) bool { return cmp(uint16(a), uint16(b)) }),
		test2(d, x, func(a, b uint32) bool { return cmp(uint16(a>>16), uint16(b>>16)) })
}

// boolean returns the Boolean operation that combines a comparison with c.
func boolean(d *decoder, x *inst) func(f *frame, v uint32) uint32 {
	op := x.Mod("bool")
	if op == "" {
		return func(f *frame, v uint32) uint32 { return v }
	}
	c := truthOf(d, x.Arg("c"))
	switch op {
	case "and":
		return func(f *frame, v uint32) uint32 { return v & c.lanes(f) }
	case "or":
		return func(f *frame, v uint32) uint32 { return v | c.lanes(f) }
	}
	return func(f *frame, v uint32) uint32 { return v ^ c.lanes(f) }
}

// buildSetp builds setp. In a scalar comparison q is the complement, combined with c
// like p. In a packed comparison q is the result of the high halves.
func buildSetp(d *decoder, x *inst) exec {
	low, high := comparison(d, x)
	p := d.Dst(x.Arg("p"), ptx.Pred)
	combine := boolean(d, x)
	switch {
	case high != nil:
		q := d.Dst(x.Arg("q"), ptx.Pred)
		return func(f *frame, m uint32) {
			lo, hi := combine(f, low(f, m)), combine(f, high(f, m))
			f.SetPred(p, m, lo)
			f.SetPred(q, m, hi)
		}
	case x.Arg("q") != nil:
		q := d.Dst(x.Arg("q"), ptx.Pred)
		return func(f *frame, m uint32) {
			v := low(f, m)
			yes, no := combine(f, v), combine(f, ^v)
			f.SetPred(p, m, yes)
			f.SetPred(q, m, no)
		}
	case x.Mod("bool") == "":
		return func(f *frame, m uint32) { f.SetPred(p, m, low(f, m)) }
	}
	return func(f *frame, m uint32) { f.SetPred(p, m, combine(f, low(f, m))) }
}

// buildSet builds set: a comparison whose result is a number.
func buildSet(d *decoder, x *inst) exec {
	low, high := comparison(d, x)
	combine := boolean(d, x)
	d.CheckWidth(x, "d")
	t := x.Type("d")
	if high == nil {
		yes, rd := trueBits(t), d.Dst(x.Arg("d"), t)
		return func(f *frame, m uint32) {
			v := combine(f, low(f, m))
			machine.EachLane(m, func(l int) { f.R32[rd][l] = yes & -(v >> l & 1) })
		}
	}
	yes, rd := trueBits(t)&0xffff, d.Dst(x.Arg("d"), t)
	return func(f *frame, m uint32) {
		lo, hi := combine(f, low(f, m)), combine(f, high(f, m))
		machine.EachLane(m, func(l int) { f.R32[rd][l] = yes&-(lo>>l&1) | yes<<16&-(hi>>l&1) })
	}
}

// trueBits returns the bits that set writes where the comparison holds: 1.0 for a float,
// all ones for an integer. The halves of a packed type get the low 16 bits.
func trueBits(t ptx.Type) uint32 {
	switch t {
	case ptx.F32:
		return 0x3f800000
	case ptx.F16, ptx.F16x2:
		return 0x3c00
	case ptx.BF16, ptx.BF16x2:
		return 0x3f80
	case ptx.U16, ptx.S16:
		return 0xffff
	}
	return machine.FullMask
}
