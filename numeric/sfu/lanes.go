package sfu

import (
	"math"
	"math/bits"

	"github.com/GOATnote-Inc/attest/numeric/simd"
)

// Func is one of the approximate functions.
type Func uint8

// The approximate functions.
const (
	FuncEx2 Func = iota
	FuncRcp
	FuncSqrt
	FuncRsqrt
	FuncLg2
	FuncSin
	FuncCos
	FuncTanh
)

// ones are the functions of one argument.
var ones = [...]func(x uint32, ftz bool) uint32{
	FuncEx2: Ex2, FuncRcp: Rcp, FuncSqrt: Sqrt, FuncRsqrt: Rsqrt, FuncLg2: Lg2, FuncSin: Sin, FuncCos: Cos, FuncTanh: Tanh,
}

// Lanes computes f for the 32 lanes of a warp. d and a may be the same. The lanes that the
// loops of package simd leave are computed one by one.
func (f Func) Lanes(d, a *[32]uint32, ftz bool) {
	one := ones[f]
	if !simd.Has {
		for l, x := range a {
			d[l] = one(x, ftz)
		}
		return
	}
	var t [32]uint32
	for left := f.loop(&t, a, ftz); left != 0; left &= left - 1 {
		l := bits.TrailingZeros32(left)
		t[l] = one(a[l], ftz)
	}
	*d = t
}

// loop computes f by package simd and returns a mask of the lanes that it left. It calls the
// loops directly, because d would move to the heap if they were values.
func (f Func) loop(d, a *[32]uint32, ftz bool) (left uint32) {
	switch f {
	case FuncEx2:
		if ftz {
			return simd.Ex2(d, a, &ex2Table[0][0], 0)
		}
		return simd.Ex2(d, a, &ex2Table[0][0], math.MaxUint32)
	case FuncRcp:
		return simd.Rcp(d, a, &rcpTable[0][0], 0)
	case FuncSqrt:
		return simd.Sqrt(d, a, &sqrtTable[0][0], 0)
	case FuncRsqrt:
		return simd.Rsqrt(d, a, &rsqrtTable[0][0], 0)
	case FuncLg2:
		return simd.Lg2(d, a, &lg2Table[0][0], 0)
	case FuncSin:
		return simd.SinCos(d, a, &sinTable[0][0], 0)
	case FuncCos:
		return simd.SinCos(d, a, &sinTable[0][0], 1)
	default:
		return simd.Tanh(d, a, &tanhTable[0][0], 0)
	}
}
