package ops

import "github.com/GOATnote-Inc/attest/ptx"

func buildAbs(d *decoder, x *inst) exec {
	switch x.Type("a") {
	case ptx.S16:
		return op1(d, x, absInt[int16])
	case ptx.S32:
		return op1(d, x, absInt[int32])
	}
	return op1(d, x, absInt[int64])
}

// absInt returns the absolute value. The smallest number is returned unchanged, because
// its absolute value does not fit.
func absInt[T int16 | int32 | int64](a T) T {
	if a < 0 {
		return -a
	}
	return a
}

func buildNeg(d *decoder, x *inst) exec {
	switch x.Type("a") {
	case ptx.S16:
		return op1(d, x, func(a uint16) uint16 { return -a })
	case ptx.S32:
		return op1(d, x, func(a uint32) uint32 { return -a })
	}
	return op1(d, x, func(a uint64) uint64 { return -a })
}

func buildMin(d *decoder, x *inst) exec {
	switch t := x.Type("a"); {
	case x.Has("relu"):
		return buildRelu(d, x, minInt[int16], minInt[int32])
	case t == ptx.U16x2:
		return packed2(d, x, minInt[uint16])
	case t == ptx.S16x2:
		return packed2(d, x, signed(minInt[int16]))
	case t == ptx.U32:
		return hot2(d, x, minU32Lanes)
	case t == ptx.S32:
		return hot2(d, x, minS32Lanes)
	}
	return int2{
		u16: minInt[uint16], s16: minInt[int16], u64: minInt[uint64], s64: minInt[int64],
	}.build(d, x)
}

func buildMax(d *decoder, x *inst) exec {
	switch t := x.Type("a"); {
	case x.Has("relu"):
		return buildRelu(d, x, maxInt[int16], maxInt[int32])
	case t == ptx.U16x2:
		return packed2(d, x, maxInt[uint16])
	case t == ptx.S16x2:
		return packed2(d, x, signed(maxInt[int16]))
	case t == ptx.U32:
		return hot2(d, x, maxU32Lanes)
	case t == ptx.S32:
		return hot2(d, x, maxS32Lanes)
	}
	return int2{
		u16: maxInt[uint16], s16: maxInt[int16], u64: maxInt[uint64], s64: maxInt[int64],
	}.build(d, x)
}

// buildRelu builds min.relu and max.relu, whose results are at least zero.
func buildRelu(d *decoder, x *inst, half func(a, b int16) int16, whole func(a, b int32) int32) exec {
	if x.Type("a") == ptx.S16x2 {
		return packed2(d, x, signed(func(a, b int16) int16 { return max(half(a, b), 0) }))
	}
	return op2(d, x, func(a, b int32) int32 { return max(whole(a, b), 0) })
}

func minInt[T value](a, b T) T { return min(a, b) }

func maxInt[T value](a, b T) T { return max(a, b) }

// signed adapts a function of signed values for packed2.
func signed(fn func(a, b int16) int16) func(a, b uint16) uint16 {
	return func(a, b uint16) uint16 { return uint16(fn(int16(a), int16(b))) }
}
