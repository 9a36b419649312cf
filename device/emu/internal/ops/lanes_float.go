package ops

import (
	"math"
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

// The f32 operations that have their own loops: see lanes.go. The functions with Plain in
// their names are for processors for which package simd has no loops.

func addF32Plain(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = scalar.AddF32(a[l], b[l])
	}
}

func addFtzPlain(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = scalar.FtzF32(scalar.AddF32(scalar.FtzF32(a[l]), scalar.FtzF32(b[l])))
	}
}

func subF32Lanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = scalar.SubF32(a[l], b[l])
	}
}

func subFtzLanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = scalar.FtzF32(scalar.SubF32(scalar.FtzF32(a[l]), scalar.FtzF32(b[l])))
	}
}

func mulF32Plain(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = scalar.MulF32(a[l], b[l])
	}
}

// mulFtzPlain computes a result a second time if it may have been rounded up to the
// smallest normal number, because the hardware flushes some of these results.
func mulFtzPlain(d, a, b *machine.Lanes32) {
	for l := range d {
		x, y := scalar.FtzF32(a[l]), scalar.FtzF32(b[l])
		v := scalar.FtzF32(scalar.MulF32(x, y))
		if v<<1 == 1<<24 {
			v = scalar.MulFtzF32(x, y)
		}
		d[l] = v
	}
}

func minF32Lanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = scalar.MinF32(a[l], b[l])
	}
}

func maxF32Lanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = scalar.MaxF32(a[l], b[l])
	}
}

func minFtzLanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = scalar.MinF32(scalar.FtzF32(a[l]), scalar.FtzF32(b[l]))
	}
}

func maxFtzLanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = scalar.MaxF32(scalar.FtzF32(a[l]), scalar.FtzF32(b[l]))
	}
}

// The lanes that quickFma cannot compute are computed after the loop, because a call in
// the loop would slow all lanes down. Until then d must not overwrite the operands, which
// may be the same register.

func fmaF32Plain(d, a, b, c *machine.Lanes32) {
	var t machine.Lanes32
	var left uint32
	for l := range t {
		v, ok := quickFma(a[l], b[l], c[l])
		if t[l] = v; !ok {
			left |= 1 << l
		}
	}
	for ; left != 0; left &= left - 1 {
		l := bits.TrailingZeros32(left) & 31
		t[l] = scalar.FmaF32(a[l], b[l], c[l])
	}
	*d = t
}

func fmaFtzPlain(d, a, b, c *machine.Lanes32) {
	var t machine.Lanes32
	var left uint32
	for l := range t {
		v, ok := quickFma(scalar.FtzF32(a[l]), scalar.FtzF32(b[l]), scalar.FtzF32(c[l]))
		if t[l] = v; !ok {
			left |= 1 << l
		}
	}
	for ; left != 0; left &= left - 1 {
		l := bits.TrailingZeros32(left) & 31
		t[l] = scalar.FmaFtzF32(a[l], b[l], c[l])
	}
	*d = t
}

// quickFma computes fma.rn.f32 for nearly all operands. It is small enough to be inlined
// in a loop. In f64 the product is exact and the sum is rounded once. Rounding this sum to
// f32 is wrong only if it lies half way between two f32. For such sums, and for results
// that are not normal f32 numbers, ok is false and the caller uses scalar.FmaF32.
func quickFma(a, b, c uint32) (d uint32, ok bool) {
	const (
		half    = 1 << 28            // half of the last bit that f32 keeps
		least   = (1023 - 126) << 52 // the smallest normal f32, as an f64
		normals = 254 << 52          // distance from least to the first f64 that overflows f32
	)
	s := float64(math.Float32frombits(a))*float64(math.Float32frombits(b)) + float64(math.Float32frombits(c))
	u := math.Float64bits(s)
	return math.Float32bits(float32(s)), u&(2*half-1) != half && u<<1-least<<1 < normals<<1
}

// convertTwoLanes builds the most frequent forms of cvt of two f32 into a packed type. It
// returns nil for the others.
func convertTwoLanes(d *decoder, x *inst, dt ptx.Type) exec {
	k := map[ptx.Type]lanes2{
		ptx.F16x2: f16x2Lanes, ptx.BF16x2: bf16x2Lanes, ptx.E4M3x2: e4m3x2Lanes, ptx.E5M2x2: e5m2x2Lanes,
	}[dt]
	extra := x.Has("relu") || x.Has("satfinite") && dt.Bits() == 32
	if o := x.Arg("d"); extra || !x.Has("rn") || o.Kind == ptx.RegOperand && machine.WidthOf(o.Sym.Type) != machine.W32 {
		return nil
	}
	return whole2(d.Dst(x.Arg("d"), dt), srcOf[uint32](d, x, "a").s, srcOf[uint32](d, x, "b").s, k)
}

func f16x2Lanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = pack16(scalar.CvtF16F32(b[l]), scalar.CvtF16F32(a[l]))
	}
}

func bf16x2Lanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = pack16(scalar.CvtBF16F32(b[l]), scalar.CvtBF16F32(a[l]))
	}
}

func e4m3x2Lanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = uint32(scalar.CvtE4M3F32(a[l]))<<8 | uint32(scalar.CvtE4M3F32(b[l]))
	}
}

func e5m2x2Lanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = uint32(scalar.CvtE5M2F32(a[l]))<<8 | uint32(scalar.CvtE5M2F32(b[l]))
	}
}
