package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/numeric/simd"
)

// The operations on both halves of registers, by the loops of package simd or, on processors
// for which it has none, by the functions with Plain in their names.

// The bits of infinity.
const (
	infF16  = 0x7c00
	infBF16 = 0x7f80
)

// Masks for both halves of a word.
const (
	bothSigns = 0x80008000
	bothExps  = 0x7c007c00 // the exponents of two f16
	bothOnes  = 0x00010001
)

func addF16Lanes(d, a, b *machine.Lanes32) { fast2(simd.AddF16x2, addF16Plain, d, a, b) }
func subF16Lanes(d, a, b *machine.Lanes32) { fast2(simd.SubF16x2, subF16Plain, d, a, b) }
func mulF16Lanes(d, a, b *machine.Lanes32) { fast2(simd.MulF16x2, mulF16Plain, d, a, b) }

func fmaF16Lanes(d, a, b, c *machine.Lanes32) { fast3(simd.FmaF16x2, fmaF16Plain, d, a, b, c) }

func addBF16Lanes(d, a, b *machine.Lanes32) { fast2(simd.AddBF16x2, addBF16Plain, d, a, b) }
func subBF16Lanes(d, a, b *machine.Lanes32) { fast2(simd.SubBF16x2, subBF16Plain, d, a, b) }
func mulBF16Lanes(d, a, b *machine.Lanes32) { fast2(simd.MulBF16x2, mulBF16Plain, d, a, b) }

func fmaBF16Lanes(d, a, b, c *machine.Lanes32) { fast3(simd.FmaBF16x2, fmaBF16Plain, d, a, b, c) }

func fast2(fast, plain lanes2, d, a, b *machine.Lanes32) {
	if simd.Has {
		fast(d, a, b)
	} else {
		plain(d, a, b)
	}
}

func fast3(fast, plain lanes3, d, a, b, c *machine.Lanes32) {
	if simd.Has {
		fast(d, a, b, c)
	} else {
		plain(d, a, b, c)
	}
}

func min16Lanes(d, a, b *machine.Lanes32, inf uint32) {
	if simd.Has {
		simd.Min16x2(d, a, b, inf)
	} else {
		extreme16Plain(d, a, b, inf, true, false)
	}
}

func max16Lanes(d, a, b *machine.Lanes32, inf uint32) {
	if simd.Has {
		simd.Max16x2(d, a, b, inf)
	} else {
		extreme16Plain(d, a, b, inf, false, false)
	}
}

func minNaN16Lanes(d, a, b *machine.Lanes32, inf uint32) {
	if simd.Has {
		simd.Min16x2NaN(d, a, b, inf)
	} else {
		extreme16Plain(d, a, b, inf, true, true)
	}
}

func maxNaN16Lanes(d, a, b *machine.Lanes32, inf uint32) {
	if simd.Has {
		simd.Max16x2NaN(d, a, b, inf)
	} else {
		extreme16Plain(d, a, b, inf, false, true)
	}
}

// eachHalf3 returns the loop that calls fn for each half.
func eachHalf3(fn func(a, b, c uint16) uint16) lanes3 {
	return func(d, a, b, c *machine.Lanes32) {
		for l := range d {
			d[l] = pack16(fn(uint16(a[l]), uint16(b[l]), uint16(c[l])), fn(uint16(a[l]>>16), uint16(b[l]>>16), uint16(c[l]>>16)))
		}
	}
}

// then2 and then3 apply a function to the results of a loop.

func then2(k lanes2, last func(d *machine.Lanes32)) lanes2 {
	return func(d, a, b *machine.Lanes32) {
		k(d, a, b)
		last(d)
	}
}

func then3(k lanes3, last func(d *machine.Lanes32)) lanes3 {
	return func(d, a, b, c *machine.Lanes32) {
		k(d, a, b, c)
		last(d)
	}
}

// satF16Lanes clamps results to [0, 1]. A NaN becomes zero.
func satF16Lanes(d *machine.Lanes32) {
	for l, v := range d {
		d[l] = pack16(scalar.SatF16(uint16(v)), scalar.SatF16(uint16(v>>16)))
	}
}

// reluLanes replaces negative results by zero. NaNs are canonical and therefore positive.
func reluLanes(d *machine.Lanes32) {
	for l, v := range d {
		d[l] = v &^ (v & bothSigns >> 15 * 0xffff)
	}
}

// flushHalves replaces subnormal f16 by zeros with the same sign. The sum carries into the
// bit of the sign if the exponent is not zero.
func flushHalves(d, a *machine.Lanes32) {
	for l, v := range a {
		normal := (v&bothExps + bothExps) & bothSigns
		d[l] = v & (normal>>15*0x7fff | bothSigns)
	}
}

// flushHalves2 is .ftz for an operation on f16. A result that is the smallest normal number
// is computed again by again, unless it is nil: see numeric/scalar/ftz.go.
func flushHalves2(k lanes2, again func(a, b uint16) uint16) lanes2 {
	return func(d, a, b *machine.Lanes32) {
		var x, y, t machine.Lanes32
		flushHalves(&x, a)
		flushHalves(&y, b)
		k(&t, &x, &y)
		flushHalves(&t, &t)
		if again != nil {
			for l, v := range &t {
				if isLeast(v) || isLeast(v>>16) {
					t[l] = pack16(again(uint16(x[l]), uint16(y[l])), again(uint16(x[l]>>16), uint16(y[l]>>16)))
				}
			}
		}
		*d = t
	}
}

func fmaFtzF16Lanes(d, a, b, c *machine.Lanes32) {
	var x, y, z, t machine.Lanes32
	flushHalves(&x, a)
	flushHalves(&y, b)
	flushHalves(&z, c)
	fmaF16Lanes(&t, &x, &y, &z)
	flushHalves(&t, &t)
	for l, v := range &t {
		if isLeast(v) || isLeast(v>>16) {
			t[l] = pack16(scalar.FmaFtzF16(uint16(x[l]), uint16(y[l]), uint16(z[l])),
				scalar.FmaFtzF16(uint16(x[l]>>16), uint16(y[l]>>16), uint16(z[l]>>16)))
		}
	}
	*d = t
}

// isLeast reports whether the magnitude of the low half is the smallest normal f16.
func isLeast(v uint32) bool { return v&0x7fff == 0x0400 }

// xorSignHalves is .xorsign.abs for the minimum or maximum k: it compares magnitudes, and the
// sign is the product of the signs. A NaN, which is 0x7fff, stays positive.
func xorSignHalves(k lanes2) lanes2 {
	return func(d, a, b *machine.Lanes32) {
		var x, y, t machine.Lanes32
		for l := range x {
			x[l], y[l] = a[l]&^bothSigns, b[l]&^bothSigns
		}
		k(&t, &x, &y)
		for l, v := range &t {
			d[l] = v | (a[l]^b[l])&^(v+bothOnes)&bothSigns
		}
	}
}
