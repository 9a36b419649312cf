package ops

import (
	"math"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
)

// The f16 loops convert and round without calls. Results that are not normal f16 are
// computed again by a call.

func addF16Plain(d, a, b *machine.Lanes32) {
	for l := range d {
		x, y := a[l], b[l]
		lo, okLo := quickF16(float64(halfValue(x) + halfValue(y)))
		hi, okHi := quickF16(float64(halfValue(x>>16) + halfValue(y>>16)))
		if d[l] = lo | hi<<16; !okLo || !okHi {
			d[l] = pack16(scalar.AddF16(uint16(x), uint16(y)), scalar.AddF16(uint16(x>>16), uint16(y>>16)))
		}
	}
}

func subF16Plain(d, a, b *machine.Lanes32) {
	for l := range d {
		x, y := a[l], b[l]
		lo, okLo := quickF16(float64(halfValue(x) - halfValue(y)))
		hi, okHi := quickF16(float64(halfValue(x>>16) - halfValue(y>>16)))
		if d[l] = lo | hi<<16; !okLo || !okHi {
			d[l] = pack16(scalar.SubF16(uint16(x), uint16(y)), scalar.SubF16(uint16(x>>16), uint16(y>>16)))
		}
	}
}

func mulF16Plain(d, a, b *machine.Lanes32) {
	for l := range d {
		x, y := a[l], b[l]
		lo, okLo := quickF16(float64(halfValue(x) * halfValue(y)))
		hi, okHi := quickF16(float64(halfValue(x>>16) * halfValue(y>>16)))
		if d[l] = lo | hi<<16; !okLo || !okHi {
			d[l] = pack16(scalar.MulF16(uint16(x), uint16(y)), scalar.MulF16(uint16(x>>16), uint16(y>>16)))
		}
	}
}

func fmaF16Plain(d, a, b, c *machine.Lanes32) {
	for l := range d {
		x, y, z := a[l], b[l], c[l]
		lo, okLo := quickF16(float64(halfValue(x))*float64(halfValue(y)) + float64(halfValue(z)))
		hi, okHi := quickF16(float64(halfValue(x>>16))*float64(halfValue(y>>16)) + float64(halfValue(z>>16)))
		if d[l] = lo | hi<<16; !okLo || !okHi {
			d[l] = pack16(scalar.FmaF16(uint16(x), uint16(y), uint16(z)), scalar.FmaF16(uint16(x>>16), uint16(y>>16), uint16(z>>16)))
		}
	}
}

// halfValue returns the value of the f16 in the low half of x. The multiplication adjusts the
// exponent and normalises subnormal numbers. It gives the wrong value for an infinity or a
// NaN, so these become NaN, for which quickF16 reports false.
func halfValue(x uint32) float32 {
	u := x&0x7fff<<13 | x&0x8000<<16
	if x&infF16 == infF16 {
		u = scalar.NaNF32
	}
	return math.Float32frombits(u) * 0x1p112
}

// quickF16 rounds a sum or a product to f16 if the result is a normal number: see
// [scalar.FmaF16].
func quickF16(s float64) (h uint32, ok bool) {
	const (
		cut     = 52 - 10
		least   = (1023 - 14) << 52
		normals = 30 << 52
		rebias  = (1023 - 15) << 52
	)
	u := math.Float64bits(s)
	h = uint32(u>>48)&0x8000 | uint32((u<<1>>1+1<<(cut-1)-1+u>>cut&1-rebias)>>cut)
	return h & 0xffff, u<<1-least<<1 < normals<<1
}

func addBF16Plain(d, a, b *machine.Lanes32) {
	for l := range d {
		x, y := a[l], b[l]
		d[l] = pack16(scalar.AddBF16(uint16(x), uint16(y)), scalar.AddBF16(uint16(x>>16), uint16(y>>16)))
	}
}

func subBF16Plain(d, a, b *machine.Lanes32) {
	for l := range d {
		x, y := a[l], b[l]
		d[l] = pack16(scalar.SubBF16(uint16(x), uint16(y)), scalar.SubBF16(uint16(x>>16), uint16(y>>16)))
	}
}

func mulBF16Plain(d, a, b *machine.Lanes32) {
	for l := range d {
		x, y := a[l], b[l]
		d[l] = pack16(scalar.MulBF16(uint16(x), uint16(y)), scalar.MulBF16(uint16(x>>16), uint16(y>>16)))
	}
}

func fmaBF16Plain(d, a, b, c *machine.Lanes32) {
	for l := range d {
		x, y, z := a[l], b[l], c[l]
		d[l] = pack16(scalar.FmaBF16(uint16(x), uint16(y), uint16(z)), scalar.FmaBF16(uint16(x>>16), uint16(y>>16), uint16(z>>16)))
	}
}

// extreme16Plain computes the minimum (least) or maximum of f16 or bf16. inf holds the bits
// of infinity of the format.
func extreme16Plain(d, a, b *machine.Lanes32, inf uint32, least, nan bool) {
	for l := range d {
		x, y := a[l], b[l]
		d[l] = extreme16(x&0xffff, y&0xffff, inf, least, nan) | extreme16(x>>16, y>>16, inf, least, nan)<<16
	}
}

func extreme16(x, y, inf uint32, least, nan bool) uint32 {
	nanX, nanY := x&0x7fff > inf, y&0x7fff > inf
	switch {
	case nanX && nanY || nan && (nanX || nanY):
		return scalar.NaNF16
	case nanX:
		return y
	case nanY:
		return x
	}
	// Bits of numbers have the order of integers if the magnitudes of negative numbers are
	// complemented.
	u, v := int16(x)^int16(x)>>15&0x7fff, int16(y)^int16(y)>>15&0x7fff
	if u == v || u < v == least {
		return x
	}
	return y
}
