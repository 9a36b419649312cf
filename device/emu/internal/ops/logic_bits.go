package ops

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	build("popc", buildPopc)
	build("clz", buildClz)
	build("brev", buildBrev)
	build("bfind", buildBfind)
	build("fns", buildFns)
	build("bfe", buildBfe)
	build("bfi", buildBfi)
	build("bmsk", buildBmsk)
	build("szext", buildSzext)
}

func buildPopc(d *decoder, x *inst) exec {
	if x.Type("a").Bits() == 64 {
		return op1(d, x, func(a uint64) uint32 { return uint32(bits.OnesCount64(a)) })
	}
	return op1(d, x, func(a uint32) uint32 { return uint32(bits.OnesCount32(a)) })
}

func buildClz(d *decoder, x *inst) exec {
	if x.Type("a").Bits() == 64 {
		return op1(d, x, func(a uint64) uint32 { return uint32(bits.LeadingZeros64(a)) })
	}
	return op1(d, x, func(a uint32) uint32 { return uint32(bits.LeadingZeros32(a)) })
}

func buildBrev(d *decoder, x *inst) exec {
	if x.Type("a").Bits() == 64 {
		return op1(d, x, bits.Reverse64)
	}
	return op1(d, x, bits.Reverse32)
}

func buildBfind(d *decoder, x *inst) exec {
	place := func(found uint32, width int) uint32 { return found }
	if x.Has("shiftamt") {
		place = scalar.BfindShift
	}
	switch x.Type("a") {
	case ptx.U32:
		return op1(d, x, func(a uint32) uint32 { return place(scalar.BfindU32(a), 32) })
	case ptx.S32:
		return op1(d, x, func(a int32) uint32 { return place(scalar.BfindS32(a), 32) })
	case ptx.U64:
		return op1(d, x, func(a uint64) uint32 { return place(scalar.BfindU64(a), 64) })
	}
	return op1(d, x, func(a int64) uint32 { return place(scalar.BfindS64(a), 64) })
}

func buildFns(d *decoder, x *inst) exec {
	rd := dstOf[uint32](d, x, "d")
	mask, base, offset := srcOf[uint32](d, x, "mask"), srcOf[uint32](d, x, "base"), srcOf[int32](d, x, "offset")
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) { rd.set(f, l, scalar.Fns(mask.get(f, l), base.get(f, l), offset.get(f, l))) })
	}
}

func buildBfe(d *decoder, x *inst) exec {
	switch x.Type("a") {
	case ptx.U32:
		return op3(d, x, scalar.BfeU32)
	case ptx.S32:
		return op3(d, x, scalar.BfeS32)
	case ptx.U64:
		return op3(d, x, scalar.BfeU64)
	}
	return op3(d, x, scalar.BfeS64)
}

func buildBfi(d *decoder, x *inst) exec {
	if x.Type("f").Bits() == 64 {
		return insertField(d, x, scalar.BfiB64)
	}
	return insertField(d, x, scalar.BfiB32)
}

// insertField builds bfi, the only instruction with four sources. PTX calls its
// destination f.
func insertField[T value](d *decoder, x *inst, fn func(a, b T, pos, length uint32) T) exec {
	to, a, b := dstOf[T](d, x, "f"), srcOf[T](d, x, "a"), srcOf[T](d, x, "b")
	pos, length := srcOf[uint32](d, x, "c"), srcOf[uint32](d, x, "d")
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			to.set(f, l, fn(a.get(f, l), b.get(f, l), pos.get(f, l), length.get(f, l)))
		})
	}
}

func buildBmsk(d *decoder, x *inst) exec {
	if x.Has("wrap") {
		return op2(d, x, scalar.BmskWrap)
	}
	return op2(d, x, scalar.BmskClamp)
}

func buildSzext(d *decoder, x *inst) exec {
	switch wrap, signed := x.Has("wrap"), x.Type("a") == ptx.S32; {
	case wrap && signed:
		return op2(d, x, func(a int32, n uint32) int32 { return scalar.SzextS32(a, n&31) })
	case wrap:
		return op2(d, x, func(a, n uint32) uint32 { return scalar.SzextU32(a, n&31) })
	case signed:
		return op2(d, x, scalar.SzextS32)
	}
	return op2(d, x, scalar.SzextU32)
}
