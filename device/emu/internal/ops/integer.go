package ops

import (
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	buildIn("integer", buildAdd, "add")
	buildIn("integer", buildSub, "sub")
	buildIn("integer", buildMul, "mul")
	buildIn("integer", buildMad, "mad")
	buildIn("integer", buildDiv, "div")
	buildIn("integer", buildAbs, "abs")
	buildIn("integer", buildNeg, "neg")
	buildIn("integer", buildMin, "min")
	buildIn("integer", buildMax, "max")
	build("rem", buildRem)
	build("sad", buildSad)
	build("mul24", buildMul24)
	build("mad24", buildMad24)
}

// int2 holds the functions of an instruction with two sources, one per type.
type int2 struct {
	u16 func(a, b uint16) uint16
	s16 func(a, b int16) int16
	u32 func(a, b uint32) uint32
	s32 func(a, b int32) int32
	u64 func(a, b uint64) uint64
	s64 func(a, b int64) int64
}

func (fn int2) build(d *decoder, x *inst) exec {
	switch x.Type("a") {
	case ptx.U16:
		return op2(d, x, fn.u16)
	case ptx.S16:
		return op2(d, x, fn.s16)
	case ptx.U32:
		return op2(d, x, fn.u32)
	case ptx.S32:
		return op2(d, x, fn.s32)
	case ptx.U64:
		return op2(d, x, fn.u64)
	}
	return op2(d, x, fn.s64)
}

// buildAdd builds add; sums are the same for signed and unsigned operands.
func buildAdd(d *decoder, x *inst) exec {
	t := x.Type("d")
	switch {
	case x.Has("cc"):
		return buildCarry(d, x)
	case x.Has("sat"):
		return op2(d, x, scalar.AddSatS32)
	case t == ptx.U16x2 || t == ptx.S16x2:
		return packed2(d, x, func(a, b uint16) uint16 { return a + b })
	}
	switch t.Bits() {
	case 16:
		return op2(d, x, func(a, b uint16) uint16 { return a + b })
	case 32:
		return hot2(d, x, addLanes)
	}
	return hotWide2(d, x, add64Lanes)
}

func buildSub(d *decoder, x *inst) exec {
	switch t := x.Type("d"); {
	case x.Has("cc"):
		return buildCarry(d, x)
	case x.Has("sat"):
		return op2(d, x, scalar.SubSatS32)
	case t.Bits() == 16:
		return op2(d, x, func(a, b uint16) uint16 { return a - b })
	case t.Bits() == 32:
		return hot2(d, x, subLanes)
	}
	return hotWide2(d, x, sub64Lanes)
}

var highHalf = int2{scalar.MulHiU16, scalar.MulHiS16, scalar.MulHiU32, scalar.MulHiS32, scalar.MulHiU64, scalar.MulHiS64}

func buildMul(d *decoder, x *inst) exec {
	switch {
	case x.Has("hi"):
		return highHalf.build(d, x)
	case x.Has("wide"):
		return buildMulWide(d, x)
	}
	switch x.Type("d").Bits() {
	case 16:
		return op2(d, x, func(a, b uint16) uint16 { return a * b })
	case 32:
		return hot2(d, x, mulLanes)
	}
	return op2(d, x, func(a, b uint64) uint64 { return a * b })
}

func buildMulWide(d *decoder, x *inst) exec {
	switch x.Type("a") {
	case ptx.U16:
		return op2(d, x, func(a, b uint16) uint32 { return uint32(a) * uint32(b) })
	case ptx.S16:
		return op2(d, x, func(a, b int16) int32 { return int32(a) * int32(b) })
	case ptx.U32:
		return hotWiden2(d, x, mulWideU32Lanes)
	}
	return hotWiden2(d, x, mulWideS32Lanes)
}

func buildMad(d *decoder, x *inst) exec {
	switch {
	case x.Has("cc"):
		return buildCarryMad(d, x)
	case x.Has("sat"):
		return op3(d, x, scalar.MadHiSatS32)
	case x.Has("hi"):
		return buildMadHi(d, x)
	case x.Has("wide"):
		return buildMadWide(d, x)
	}
	switch x.Type("d").Bits() {
	case 16:
		return op3(d, x, func(a, b, c uint16) uint16 { return a*b + c })
	case 32:
		return hot3(d, x, madLanes)
	}
	return op3(d, x, func(a, b, c uint64) uint64 { return a*b + c })
}

func buildMadHi(d *decoder, x *inst) exec {
	switch x.Type("a") {
	case ptx.U16:
		return op3(d, x, func(a, b, c uint16) uint16 { return scalar.MulHiU16(a, b) + c })
	case ptx.S16:
		return op3(d, x, func(a, b, c int16) int16 { return scalar.MulHiS16(a, b) + c })
	case ptx.U32:
		return op3(d, x, func(a, b, c uint32) uint32 { return scalar.MulHiU32(a, b) + c })
	case ptx.S32:
		return op3(d, x, func(a, b, c int32) int32 { return scalar.MulHiS32(a, b) + c })
	case ptx.U64:
		return op3(d, x, func(a, b, c uint64) uint64 { return scalar.MulHiU64(a, b) + c })
	}
	return op3(d, x, func(a, b, c int64) int64 { return scalar.MulHiS64(a, b) + c })
}

func buildMadWide(d *decoder, x *inst) exec {
	switch x.Type("a") {
	case ptx.U16:
		return op3(d, x, func(a, b uint16, c uint32) uint32 { return uint32(a)*uint32(b) + c })
	case ptx.S16:
		return op3(d, x, func(a, b int16, c int32) int32 { return int32(a)*int32(b) + c })
	case ptx.U32:
		return hotWiden3(d, x, madWideU32Lanes)
	}
	return hotWiden3(d, x, madWideS32Lanes)
}

func buildMul24(d *decoder, x *inst) exec {
	signed, hi := x.Type("a") == ptx.S32, x.Has("hi")
	switch {
	case signed && hi:
		return op2(d, x, scalar.Mul24HiS32)
	case signed:
		return op2(d, x, scalar.Mul24LoS32)
	case hi:
		return op2(d, x, scalar.Mul24HiU32)
	}
	return op2(d, x, scalar.Mul24LoU32)
}

func buildMad24(d *decoder, x *inst) exec {
	signed, hi := x.Type("a") == ptx.S32, x.Has("hi")
	switch {
	case x.Has("sat"):
		return op3(d, x, scalar.Mad24HiSatS32)
	case signed && hi:
		return op3(d, x, func(a, b, c int32) int32 { return scalar.Mul24HiS32(a, b) + c })
	case signed:
		return op3(d, x, func(a, b, c int32) int32 { return scalar.Mul24LoS32(a, b) + c })
	case hi:
		return op3(d, x, func(a, b, c uint32) uint32 { return scalar.Mul24HiU32(a, b) + c })
	}
	return op3(d, x, func(a, b, c uint32) uint32 { return scalar.Mul24LoU32(a, b) + c })
}

func buildDiv(d *decoder, x *inst) exec {
	return int2{
		scalar.Div[uint16], scalar.Div[int16], scalar.Div[uint32],
		scalar.Div[int32], scalar.Div[uint64], scalar.Div[int64],
	}.build(d, x)
}

func buildRem(d *decoder, x *inst) exec {
	return int2{
		scalar.Rem[uint16], scalar.Rem[int16], scalar.Rem[uint32],
		scalar.Rem[int32], scalar.Rem[uint64], scalar.Rem[int64],
	}.build(d, x)
}

func buildSad(d *decoder, x *inst) exec {
	switch x.Type("a") {
	case ptx.U16:
		return op3(d, x, scalar.Sad[uint16])
	case ptx.S16:
		return op3(d, x, scalar.Sad[int16])
	case ptx.U32:
		return op3(d, x, scalar.Sad[uint32])
	case ptx.S32:
		return op3(d, x, scalar.Sad[int32])
	case ptx.U64:
		return op3(d, x, scalar.Sad[uint64])
	}
	return op3(d, x, scalar.Sad[int64])
}
