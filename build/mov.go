package build

import "github.com/GOATnote-Inc/attest/ptx"

// Pack2 is mov.type d, {lo, hi}: two values in one of twice the size.
func Pack2[T, E Value](lo, hi E) T {
	return pack[T](kernelOf(lo), lo, hi)
}

// Unpack2 is mov.type {lo, hi}, v: the halves of v.
func Unpack2[E, T Value](v T) (lo, hi E) {
	e := unpack[E](v, 2)
	return e[0], e[1]
}

func pack[T Value](k *Kernel, elems ...Value) T {
	var zero T
	if got := len(elems) * elems[0].Type().Bits(); got != zero.Type().Bits() {
		k.errorf("%d values of .%s make %d bits, not the %d of a .%s", len(elems), elems[0].Type(), got, zero.Type().Bits(), zero.Type())
	}
	return emit1[T](k, bitsMov(zero.Type()), nil, vecOf(elems))
}

func unpack[E, T Value](v T, n int) []E {
	k := kernelOf(v)
	var zero E
	if got := n * zero.Type().Bits(); got != v.Type().Bits() {
		k.errorf("%d values of .%s make %d bits, not the %d of a .%s", n, zero.Type(), got, v.Type().Bits(), v.Type())
	}
	return emitVec[E](k, bitsMov(v.Type()), n, nil, v)
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
