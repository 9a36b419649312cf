package ops

import (
	"math"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
)

// relation32 holds relations over whole registers. All comparisons of 32-bit values are
// composed of them. nan is nil for integers.
type relation32 struct {
	lt, eq, nan func(a, b *machine.Lanes32) uint32
}

// compare32 composes a cmp b from as few relations as possible.
func compare32(d *decoder, x *inst, r relation32, op scalar.Cmp) test {
	a, b := srcOf[uint32](d, x, "a").s, srcOf[uint32](d, x, "b").s
	ask := func(q func(a, b *machine.Lanes32) uint32, a, b slot, flip uint32) test {
		return func(f *frame, m uint32) uint32 { return q(&f.R32[a], &f.R32[b]) ^ flip }
	}
	if r.nan == nil {
		switch op {
		case scalar.LT:
			return ask(r.lt, a, b, 0)
		case scalar.GT:
			return ask(r.lt, b, a, 0)
		case scalar.LE:
			return ask(r.lt, b, a, machine.FullMask)
		case scalar.GE:
			return ask(r.lt, a, b, machine.FullMask)
		case scalar.EQ:
			return ask(r.eq, a, b, 0)
		}
		return ask(r.eq, a, b, machine.FullMask)
	}
	switch op { // the complement of an ordered comparison is an unordered one
	case scalar.LT:
		return ask(r.lt, a, b, 0)
	case scalar.GT:
		return ask(r.lt, b, a, 0)
	case scalar.GEU:
		return ask(r.lt, a, b, machine.FullMask)
	case scalar.LEU:
		return ask(r.lt, b, a, machine.FullMask)
	case scalar.EQ:
		return ask(r.eq, a, b, 0)
	case scalar.NEU:
		return ask(r.eq, a, b, machine.FullMask)
	case scalar.NAN:
		return ask(r.nan, a, b, 0)
	case scalar.NUM:
		return ask(r.nan, a, b, machine.FullMask)
	}
	return ask(r.any(op), a, b, 0)
}

// any returns a comparison that combines several relations.
func (r relation32) any(op scalar.Cmp) func(a, b *machine.Lanes32) uint32 {
	return func(a, b *machine.Lanes32) (v uint32) {
		if op&scalar.LT != 0 {
			v |= r.lt(a, b)
		}
		if op&scalar.GT != 0 {
			v |= r.lt(b, a)
		}
		if op&scalar.EQ != 0 {
			v |= r.eq(a, b)
		}
		if op&scalar.NAN != 0 {
			v |= r.nan(a, b)
		}
		return v
	}
}

// The relations collect one bit per lane from the last lane down, without branches.

func ltU32(a, b *machine.Lanes32) (v uint32) {
	for l := 31; l >= 0; l-- {
		v = v<<1 | bit(a[l] < b[l])
	}
	return v
}

func ltS32(a, b *machine.Lanes32) (v uint32) {
	for l := 31; l >= 0; l-- {
		v = v<<1 | bit(int32(a[l]) < int32(b[l]))
	}
	return v
}

func eq32(a, b *machine.Lanes32) (v uint32) {
	for l := 31; l >= 0; l-- {
		v = v<<1 | bit(a[l] == b[l])
	}
	return v
}

func ltF32(a, b *machine.Lanes32) (v uint32) {
	for l := 31; l >= 0; l-- {
		v = v<<1 | bit(math.Float32frombits(a[l]) < math.Float32frombits(b[l]))
	}
	return v
}

func eqF32(a, b *machine.Lanes32) (v uint32) {
	for l := 31; l >= 0; l-- {
		v = v<<1 | bit(math.Float32frombits(a[l]) == math.Float32frombits(b[l]))
	}
	return v
}

func nanF32(a, b *machine.Lanes32) (v uint32) {
	for l := 31; l >= 0; l-- {
		v = v<<1 | bit(scalar.IsNaNF32(a[l]) || scalar.IsNaNF32(b[l]))
	}
	return v
}

func ltFtz(a, b *machine.Lanes32) (v uint32) {
	for l := 31; l >= 0; l-- {
		v = v<<1 | bit(math.Float32frombits(scalar.FtzF32(a[l])) < math.Float32frombits(scalar.FtzF32(b[l])))
	}
	return v
}

func eqFtz(a, b *machine.Lanes32) (v uint32) {
	for l := 31; l >= 0; l-- {
		v = v<<1 | bit(math.Float32frombits(scalar.FtzF32(a[l])) == math.Float32frombits(scalar.FtzF32(b[l])))
	}
	return v
}

func bit(c bool) uint32 {
	if c {
		return 1
	}
	return 0
}
