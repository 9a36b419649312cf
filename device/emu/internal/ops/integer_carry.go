package ops

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	build("addc", buildCarry)
	build("subc", buildCarry)
	build("madc", buildCarryMad)
}

// chain says how one instruction of an extended-precision sum uses the flag CC.CF. A
// subtraction stores the complement of its borrow there, as the hardware does. Programs
// that mix additions and subtractions can see the difference.
type chain struct {
	in, out bool
	flip    uint32 // 1 for a subtraction
}

func chainOf(x *inst) chain {
	op := x.Op.Name
	c := chain{in: op[len(op)-1] == 'c', out: x.Has("cc")}
	if op[0] == 's' {
		c.flip = 1
	}
	return c
}

// carryIn returns the carry or borrow of a lane, or 0 if the step does not read the flag.
func (c chain) carryIn(f *frame, l int) uint32 {
	if !c.in {
		return 0
	}
	return f.Carry>>l&1 ^ c.flip
}

// carryOut stores the flag of a lane.
func (c chain) carryOut(f *frame, l int, cf uint32) {
	if c.out {
		f.Carry = f.Carry&^(1<<l) | (cf^c.flip)<<l
	}
}

// buildCarry builds add.cc, addc, sub.cc and subc.
func buildCarry(d *decoder, x *inst) exec {
	sub := x.Op.Name[0] == 's'
	switch wide := machine.WidthOf(x.Type("d")) == machine.W64; {
	case sub && wide:
		return carryStep(d, x, scalar.SubC64)
	case sub:
		return carryStep(d, x, scalar.SubC32)
	case wide:
		return carryStep(d, x, scalar.AddC64)
	}
	return carryStep(d, x, scalar.AddC32)
}

func carryStep[T value](d *decoder, x *inst, fn func(a, b T, cf uint32) (T, uint32)) exec {
	c := chainOf(x)
	rd, ra, rb := dstOf[T](d, x, "d"), srcOf[T](d, x, "a"), srcOf[T](d, x, "b")
	return func(f *frame, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			v, cf := fn(ra.get(f, l), rb.get(f, l), c.carryIn(f, l))
			rd.set(f, l, v)
			c.carryOut(f, l, cf)
		}
	}
}

// buildCarryMad builds mad.cc and madc. The low half of a product does not depend on
// its signs.
func buildCarryMad(d *decoder, x *inst) exec {
	signed := x.Type("a").Class() == ptx.ClassSigned
	switch wide, hi := machine.WidthOf(x.Type("d")) == machine.W64, x.Has("hi"); {
	case wide && hi && signed:
		return carryMad(d, x, func(a, b uint64) uint64 { return uint64(scalar.MulHiS64(int64(a), int64(b))) }, scalar.AddC64)
	case wide && hi:
		return carryMad(d, x, scalar.MulHiU64, scalar.AddC64)
	case wide:
		return carryMad(d, x, func(a, b uint64) uint64 { return a * b }, scalar.AddC64)
	case hi && signed:
		return carryMad(d, x, func(a, b uint32) uint32 { return uint32(scalar.MulHiS32(int32(a), int32(b))) }, scalar.AddC32)
	case hi:
		return carryMad(d, x, scalar.MulHiU32, scalar.AddC32)
	}
	return carryMad(d, x, func(a, b uint32) uint32 { return a * b }, scalar.AddC32)
}

func carryMad[T value](d *decoder, x *inst, mul func(a, b T) T, add func(a, b T, cf uint32) (T, uint32)) exec {
	ch := chainOf(x)
	rd, ra, rb, rc := dstOf[T](d, x, "d"), srcOf[T](d, x, "a"), srcOf[T](d, x, "b"), srcOf[T](d, x, "c")
	return func(f *frame, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			v, cf := add(mul(ra.get(f, l), rb.get(f, l)), rc.get(f, l), ch.carryIn(f, l))
			rd.set(f, l, v)
			ch.carryOut(f, l, cf)
		}
	}
}
