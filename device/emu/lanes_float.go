package emu

import (
	"math"

	"attest/device/emu/num"
)

// The f32 operations that have loops of their own; see lanes.go.

func addF32Lanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = num.AddF32(a[l], b[l])
	}
}

func addFtzLanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = num.FtzF32(num.AddF32(num.FtzF32(a[l]), num.FtzF32(b[l])))
	}
}

func subF32Lanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = num.SubF32(a[l], b[l])
	}
}

func subFtzLanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = num.FtzF32(num.SubF32(num.FtzF32(a[l]), num.FtzF32(b[l])))
	}
}

func mulF32Lanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = num.MulF32(a[l], b[l])
	}
}

func mulFtzLanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = num.FtzF32(num.MulF32(num.FtzF32(a[l]), num.FtzF32(b[l])))
	}
}

func minF32Lanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = num.MinF32(a[l], b[l])
	}
}

func maxF32Lanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = num.MaxF32(a[l], b[l])
	}
}

func fmaF32Lanes(d, a, b, c *lanes32) {
	for l := range d {
		x, y, z := a[l], b[l], c[l]
		v, ok := quickFma(x, y, z)
		if !ok {
			v = num.FmaF32(x, y, z)
		}
		d[l] = v
	}
}

func fmaFtzLanes(d, a, b, c *lanes32) {
	for l := range d {
		x, y, z := num.FtzF32(a[l]), num.FtzF32(b[l]), num.FtzF32(c[l])
		v, ok := quickFma(x, y, z)
		if !ok {
			v = num.FtzF32(num.FmaF32(x, y, z))
		}
		d[l] = v
	}
}

// quickFma is fma.rn.f32 for nearly all operands, small enough to be part of a
// loop. In f64 the product is exact and the sum rounded once; rounding that to f32
// is wrong only where it lies half way between two f32. Those, and results that are
// no normal f32, are left to num.FmaF32.
func quickFma(a, b, c uint32) (d uint32, ok bool) {
	const (
		half    = 1 << 28            // of the last bit that f32 keeps
		least   = (1023 - 126) << 52 // the smallest normal f32, as an f64
		normals = 254 << 52          // as many f64 follow before f32 overflows
	)
	s := float64(math.Float32frombits(a))*float64(math.Float32frombits(b)) + float64(math.Float32frombits(c))
	u := math.Float64bits(s)
	return math.Float32bits(float32(s)), u&(2*half-1) != half && u<<1-least<<1 < normals<<1
}
