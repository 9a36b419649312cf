package build

import "github.com/GOATnote-Inc/attest/ptx"

// Pack2 is mov.type d, {lo, hi}: it joins two values in one of twice the size.
func Pack2[T, E Value](lo, hi E) T {
	k := kernelOf(lo)
	var whole T
	checkHalves(k, lo.Type(), whole.Type())
	return emit1[T](k, bitsMov(whole.Type()), nil, vecOf([]Value{lo, hi}))
}

// Unpack2 is mov.type {lo, hi}, v: it splits v into two halves.
func Unpack2[E, T Value](v T) (lo, hi E) {
	k := kernelOf(v)
	var half E
	checkHalves(k, half.Type(), v.Type())
	e := emitVec[E](k, bitsMov(v.Type()), 2, nil, v)
	return e[0], e[1]
}

func checkHalves(k *Kernel, half, whole ptx.Type) {
	if 2*half.Bits() != whole.Bits() {
		k.errorf("two values of .%s have %d bits, but a .%s has %d", half, 2*half.Bits(), whole, whole.Bits())
	}
}

// Mov is mov.b32, or the mov of another size: it copies a value's bits to a register of
// another type, for instructions that refuse the type that it has. Between most types
// [Cast] is enough.
func Mov[T, F Value](v F) T {
	var zero T
	if zero.Type().Bits() != v.Type().Bits() || zero.Type() == ptx.Pred {
		kernelOf(v).errorf("cannot move the %d bits of a .%s to a .%s: convert it with cvt", v.Type().Bits(), v.Type(), zero.Type())
	}
	return emit1[T](kernelOf(v), bitsMov(zero.Type()), nil, v)
}

// bitsMov is the mov for the bits of a type.
func bitsMov(t ptx.Type) string {
	bits := map[int]ptx.Type{16: ptx.B16, 32: ptx.B32, 64: ptx.B64, 128: ptx.B128}
	return "mov." + bits[t.Bits()].String()
}
