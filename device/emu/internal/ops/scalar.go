package ops

import (
	"math/bits"
	"unsafe"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
)

// value is a Go type that stands for the value of a register: an integer type as
// the instruction reads it, or the bits of a float.
type value interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64
}

// regOf is a register whose lanes are read and written as values of type T.
type regOf[T value] struct{ s slot }

// sizeOf returns the size of T in bytes. It is a constant in every instance of a generic
// function, so the compiler removes the branches that depend on it.
func sizeOf[T value]() uintptr {
	var v T
	return unsafe.Sizeof(v)
}

// view gives access to the lanes of a register of a frame: w if lanes have 32 bits, q if
// they have 64.
type view[T value] struct {
	w *machine.Lanes32
	q *machine.Lanes64
}

func (r regOf[T]) in(f *frame) (v view[T]) {
	if sizeOf[T]() == 8 {
		v.q = &f.R64[r.s]
	} else {
		v.w = &f.R32[r.s]
	}
	return v
}

func (v view[T]) get(l int) T {
	if sizeOf[T]() == 8 {
		return T(v.q[l&31])
	}
	return T(v.w[l&31])
}

// set extends values narrower than the lane by zeros, whatever their sign.
func (v view[T]) set(l int, x T) {
	switch sizeOf[T]() {
	case 8:
		v.q[l&31] = uint64(x)
	case 4:
		v.w[l&31] = uint32(x)
	case 2:
		v.w[l&31] = uint32(uint16(x))
	default:
		v.w[l&31] = uint32(uint8(x))
	}
}

// get and set are for instructions that are too rare to keep views.
func (r regOf[T]) get(f *frame, l int) T { return r.in(f).get(l) }

func (r regOf[T]) set(f *frame, l int, x T) { r.in(f).set(l, x) }

// dstOf returns the destination of that name.
func dstOf[T value](d *decoder, x *inst, name string) regOf[T] {
	check[T](d, x, name)
	return regOf[T]{d.Dst(x.Arg(name), x.Type(name))}
}

// srcOf returns the source of that name.
func srcOf[T value](d *decoder, x *inst, name string) regOf[T] {
	check[T](d, x, name)
	return regOf[T]{d.Src(x.Arg(name), x.Type(name))}
}

// check fails unless the Go type that a builder chose has the size of the type in the
// table, and the register has the width of that type.
func check[T value](d *decoder, x *inst, name string) {
	if bits := x.Type(name).Bits(); int(sizeOf[T]())*8 != bits {
		d.Fail("operand %s has %d bits in the table, %d in the emulator", name, bits, 8*sizeOf[T]())
	}
	d.CheckWidth(x, name)
}

// op1, op2 and op3 build an instruction with one, two and three sources named a, b and c
// and a destination d. It calls fn for each lane.

func op1[D, A value](d *decoder, x *inst, fn func(a A) D) exec {
	rd, ra := dstOf[D](d, x, "d"), srcOf[A](d, x, "a")
	return func(f *frame, m uint32) {
		vd, va := rd.in(f), ra.in(f)
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			vd.set(l, fn(va.get(l)))
		}
	}
}

func op2[D, A, B value](d *decoder, x *inst, fn func(a A, b B) D) exec {
	rd, ra, rb := dstOf[D](d, x, "d"), srcOf[A](d, x, "a"), srcOf[B](d, x, "b")
	return func(f *frame, m uint32) {
		vd, va, vb := rd.in(f), ra.in(f), rb.in(f)
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			vd.set(l, fn(va.get(l), vb.get(l)))
		}
	}
}

func op3[D, A, B, C value](d *decoder, x *inst, fn func(a A, b B, c C) D) exec {
	rd, ra, rb, rc := dstOf[D](d, x, "d"), srcOf[A](d, x, "a"), srcOf[B](d, x, "b"), srcOf[C](d, x, "c")
	return func(f *frame, m uint32) {
		vd, va, vb, vc := rd.in(f), ra.in(f), rb.in(f), rc.in(f)
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			vd.set(l, fn(va.get(l), vb.get(l), vc.get(l)))
		}
	}
}

// packed2 does the same for both halves of 32-bit values.
func packed2(d *decoder, x *inst, fn func(a, b uint16) uint16) exec {
	rd, ra, rb := dstOf[uint32](d, x, "d"), srcOf[uint32](d, x, "a"), srcOf[uint32](d, x, "b")
	return func(f *frame, m uint32) {
		vd, va, vb := rd.in(f), ra.in(f), rb.in(f)
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			a, b := va.get(l), vb.get(l)
			vd.set(l, pack16(fn(uint16(a), uint16(b)), fn(uint16(a>>16), uint16(b>>16))))
		}
	}
}

func pack16(lo, hi uint16) uint32 { return uint32(hi)<<16 | uint32(lo) }

// byFamily holds the builders of opcodes that several families of the table share, such as
// add. The keys are the opcode and the name of the family.
var byFamily = map[string]map[string]builder{}

// buildIn registers the builder for the forms of opcodes that belong to one family.
func buildIn(family string, b builder, ops ...string) {
	for _, op := range ops {
		if byFamily[op] == nil {
			byFamily[op] = map[string]builder{}
			build(op, buildShared)
		}
		byFamily[op][family] = b
	}
}

func buildShared(d *decoder, x *inst) exec {
	if b := byFamily[x.Op.Name][x.Match.Form.Family.Name]; b != nil {
		return b(d, x)
	}
	d.Fail("%w", errNoBuilder)
	return nil
}
