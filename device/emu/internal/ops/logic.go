package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	build("and", func(d *decoder, x *inst) exec {
		return bitwise{
			func(p, q uint32) uint32 { return p & q }, andLanes,
			func(a, b uint16) uint16 { return a & b }, func(a, b uint64) uint64 { return a & b },
		}.build(d, x)
	})
	build("or", func(d *decoder, x *inst) exec {
		return bitwise{
			func(p, q uint32) uint32 { return p | q }, orLanes,
			func(a, b uint16) uint16 { return a | b }, func(a, b uint64) uint64 { return a | b },
		}.build(d, x)
	})
	build("xor", func(d *decoder, x *inst) exec {
		return bitwise{
			func(p, q uint32) uint32 { return p ^ q }, xorLanes,
			func(a, b uint16) uint16 { return a ^ b }, func(a, b uint64) uint64 { return a ^ b },
		}.build(d, x)
	})
	build("not", buildNot)
	build("cnot", buildCnot)
	build("lop3", buildLop3)
	build("shl", buildShl)
	build("shr", buildShr)
	build("shf", buildShf)
	build("prmt", buildPrmt)
}

// bitwise holds the functions of an operation on bits, one per register width.
type bitwise struct {
	pred func(p, q uint32) uint32
	b32  lanes2
	b16  func(a, b uint16) uint16
	b64  func(a, b uint64) uint64
}

func (op bitwise) build(d *decoder, x *inst) exec {
	switch t := x.Type("d"); {
	case t == ptx.Pred:
		return op.buildPred(d, x)
	case t.Bits() == 16:
		return op2(d, x, op.b16)
	case t.Bits() == 32:
		return hot2(d, x, op.b32)
	}
	return op2(d, x, op.b64)
}

func (op bitwise) buildPred(d *decoder, x *inst) exec {
	to, a, b := d.Dst(x.Arg("d"), ptx.Pred), truthOf(d, x.Arg("a")), truthOf(d, x.Arg("b"))
	return func(f *frame, m uint32) { f.SetPred(to, m, op.pred(a.lanes(f), b.lanes(f))) }
}

// truth is a predicate source, which may be negated.
type truth struct {
	s    slot
	flip uint32 // all ones when negated
}

func truthOf(d *decoder, o *ptx.Operand) truth {
	s, neg := d.Pred(o)
	if neg {
		return truth{s, machine.FullMask}
	}
	return truth{s, 0}
}

// lanes returns the value of the predicate, one bit per lane.
func (t truth) lanes(f *frame) uint32 { return f.Pred[t.s] ^ t.flip }

func buildNot(d *decoder, x *inst) exec {
	switch t := x.Type("d"); {
	case t == ptx.Pred:
		to, a := d.Dst(x.Arg("d"), ptx.Pred), truthOf(d, x.Arg("a"))
		return func(f *frame, m uint32) { f.SetPred(to, m, ^a.lanes(f)) }
	case t.Bits() == 16:
		return op1(d, x, func(a uint16) uint16 { return ^a })
	case t.Bits() == 32:
		return op1(d, x, func(a uint32) uint32 { return ^a })
	}
	return op1(d, x, func(a uint64) uint64 { return ^a })
}

func buildCnot(d *decoder, x *inst) exec {
	switch x.Type("d").Bits() {
	case 16:
		return op1(d, x, isZero[uint16])
	case 32:
		return op1(d, x, isZero[uint32])
	}
	return op1(d, x, isZero[uint64])
}

func isZero[T value](a T) T {
	if a == 0 {
		return 1
	}
	return 0
}

// buildLop3 builds lop3: any function of three bits. With a Boolean operation it also
// returns whether any bit of the result is set.
func buildLop3(d *decoder, x *inst) exec {
	lut := uint8(x.Arg("immLut").Val)
	if x.Mod("bool") == "" {
		return op3(d, x, func(a, b, c uint32) uint32 { return scalar.Lop3(a, b, c, lut) })
	}
	rd, ra, rb, rc := dstOf[uint32](d, x, "d"), srcOf[uint32](d, x, "a"), srcOf[uint32](d, x, "b"), srcOf[uint32](d, x, "c")
	p, q, or := d.Dst(x.Arg("p"), ptx.Pred), truthOf(d, x.Arg("q")), x.Mod("bool") == "or"
	return func(f *frame, m uint32) {
		var any uint32
		machine.EachLane(m, func(l int) {
			v := scalar.Lop3(ra.get(f, l), rb.get(f, l), rc.get(f, l), lut)
			rd.set(f, l, v)
			any |= bit(v != 0) << l
		})
		if or {
			f.SetPred(p, m, any|q.lanes(f))
		} else {
			f.SetPred(p, m, any&q.lanes(f))
		}
	}
}

// If all bits are shifted out, shifts in Go give zero or the sign, as in PTX.

func buildShl(d *decoder, x *inst) exec {
	switch x.Type("d").Bits() {
	case 16:
		return op2(d, x, func(a uint16, b uint32) uint16 { return a << b })
	case 32:
		return hot2(d, x, shlLanes)
	}
	return hotShift(d, x, shl64Lanes)
}

func buildShr(d *decoder, x *inst) exec {
	switch t, signed := x.Type("d"), x.Type("d").Class() == ptx.ClassSigned; {
	case t.Bits() == 16 && signed:
		return op2(d, x, func(a int16, b uint32) int16 { return a >> b })
	case t.Bits() == 16:
		return op2(d, x, func(a uint16, b uint32) uint16 { return a >> b })
	case t.Bits() == 32 && signed:
		return hot2(d, x, sarLanes)
	case t.Bits() == 32:
		return hot2(d, x, shrLanes)
	case signed:
		return op2(d, x, func(a int64, b uint32) int64 { return a >> b })
	}
	return hotShift(d, x, shr64Lanes)
}

func buildShf(d *decoder, x *inst) exec {
	switch left, wrap := x.Mod("dir") == "l", x.Mod("mode") == "wrap"; {
	case left && wrap:
		return op3(d, x, scalar.ShfLWrap)
	case left:
		return op3(d, x, scalar.ShfLClamp)
	case wrap:
		return op3(d, x, scalar.ShfRWrap)
	}
	return op3(d, x, scalar.ShfRClamp)
}

func buildPrmt(d *decoder, x *inst) exec {
	mode := map[string]scalar.PrmtMode{
		"f4e": scalar.PrmtF4E, "b4e": scalar.PrmtB4E, "rc8": scalar.PrmtRC8,
		"ecl": scalar.PrmtECL, "ecr": scalar.PrmtECR, "rc16": scalar.PrmtRC16,
	}[x.Mod("mode")]
	if mode == scalar.PrmtIndex {
		return op3(d, x, scalar.PrmtB32)
	}
	return op3(d, x, func(a, b, c uint32) uint32 { return scalar.Prmt(mode, a, b, c) })
}
