package ops

import (
	"math/rand/v2"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
)

// edge16 are numbers at which implementations of f16 and bf16 operations tend to be wrong.
var edge16 = []uint16{
	0, 0x8000, 1, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x0401, 0x0800, 0x3bff, 0x3c00, 0xbc00, 0x3c01, 0x1400, 0x1000, 0x2bff,
	0x007f, 0x0080, 0x8080, 0x0081, 0x3f7f, 0x3f80, 0xbf80, 0x3f81, 0x2000, 0x1fff,
	0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe00, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0x7fc0, 0xffc0, 0x7fff, 0xffff,
	scalar.OutOfBounds,
}

// operands16 draws pairs of 16-bit floats: numbers of edge16, random bits, ordinary numbers,
// and numbers whose products are close to the smallest normal f16.
func operands16(r *rand.Rand) (v machine.Lanes32) {
	draw := func() uint16 {
		switch bits := uint16(r.Uint32()); r.IntN(4) {
		case 0:
			return edge16[r.IntN(len(edge16))]
		case 1:
			return bits
		case 2:
			return bits&0x87ff | 0x3800
		default:
			return bits&0x83ff | 0x2000
		}
	}
	for l := range v {
		v[l] = pack16(draw(), draw())
	}
	return v
}

// eachHalf returns the loop that calls fn for each half, as a function with three operands.
func eachHalf(fn func(a, b uint16) uint16) lanes3 {
	return eachHalf3(func(a, b, _ uint16) uint16 { return fn(a, b) })
}

func ftz16(fn func(a, b uint16) uint16) func(a, b uint16) uint16 {
	return func(a, b uint16) uint16 { return scalar.FtzF16(fn(scalar.FtzF16(a), scalar.FtzF16(b))) }
}

func xorSign16(fn func(a, b uint16) uint16, sign func(d, a, b uint16) uint16) func(a, b uint16) uint16 {
	return func(a, b uint16) uint16 { return sign(fn(a&0x7fff, b&0x7fff), a, b) }
}

// TestHalvesAreScalar compares the loops over both halves, in assembly and in Go, with
// package scalar. In some calls the result overwrites an operand.
func TestHalvesAreScalar(t *testing.T) {
	three := func(k lanes2) lanes3 { return func(d, a, b, _ *machine.Lanes32) { k(d, a, b) } }
	extreme := func(k func(d, a, b *machine.Lanes32, inf uint32), inf uint32) lanes3 {
		return func(d, a, b, _ *machine.Lanes32) { k(d, a, b, inf) }
	}
	for _, c := range []struct {
		name  string
		lanes lanes3
		want  lanes3
	}{
		{"add.f16x2", three(addF16Lanes), eachHalf(scalar.AddF16)}, {"add.f16x2 in Go", three(addF16Plain), eachHalf(scalar.AddF16)},
		{"sub.f16x2", three(subF16Lanes), eachHalf(scalar.SubF16)}, {"sub.f16x2 in Go", three(subF16Plain), eachHalf(scalar.SubF16)},
		{"mul.f16x2", three(mulF16Lanes), eachHalf(scalar.MulF16)}, {"mul.f16x2 in Go", three(mulF16Plain), eachHalf(scalar.MulF16)},
		{"fma.f16x2", fmaF16Lanes, eachHalf3(scalar.FmaF16)}, {"fma.f16x2 in Go", fmaF16Plain, eachHalf3(scalar.FmaF16)},
		{"add.bf16x2", three(addBF16Lanes), eachHalf(scalar.AddBF16)}, {"add.bf16x2 in Go", three(addBF16Plain), eachHalf(scalar.AddBF16)},
		{"sub.bf16x2", three(subBF16Lanes), eachHalf(scalar.SubBF16)}, {"sub.bf16x2 in Go", three(subBF16Plain), eachHalf(scalar.SubBF16)},
		{"mul.bf16x2", three(mulBF16Lanes), eachHalf(scalar.MulBF16)}, {"mul.bf16x2 in Go", three(mulBF16Plain), eachHalf(scalar.MulBF16)},
		{"fma.bf16x2", fmaBF16Lanes, eachHalf3(scalar.FmaBF16)}, {"fma.bf16x2 in Go", fmaBF16Plain, eachHalf3(scalar.FmaBF16)},
		{"add.ftz", three(flushHalves2(addF16Lanes, nil)), eachHalf(ftz16(scalar.AddF16))},
		{"mul.ftz", three(flushHalves2(mulF16Lanes, scalar.MulFtzF16)), eachHalf(scalar.MulFtzF16)},
		{"fma.ftz", fmaFtzF16Lanes, eachHalf3(scalar.FmaFtzF16)},
		{"add.sat", three(then2(addF16Lanes, satF16Lanes)), eachHalf(func(a, b uint16) uint16 { return scalar.SatF16(scalar.AddF16(a, b)) })},
		{"fma.relu", then3(fmaF16Lanes, reluLanes), eachHalf3(func(a, b, c uint16) uint16 { return scalar.ReluF16(scalar.FmaF16(a, b, c)) })},
		{"min.f16x2", extreme(min16Lanes, infF16), eachHalf(scalar.MinF16)}, {"max.f16x2", extreme(max16Lanes, infF16), eachHalf(scalar.MaxF16)},
		{"min.NaN.f16x2", extreme(minNaN16Lanes, infF16), eachHalf(scalar.MinNaNF16)},
		{"max.NaN.f16x2", extreme(maxNaN16Lanes, infF16), eachHalf(scalar.MaxNaNF16)},
		{"min.bf16x2", extreme(min16Lanes, infBF16), eachHalf(scalar.MinBF16)}, {"max.bf16x2", extreme(max16Lanes, infBF16), eachHalf(scalar.MaxBF16)},
		{"min.NaN.bf16x2", extreme(minNaN16Lanes, infBF16), eachHalf(scalar.MinNaNBF16)},
		{"max.NaN.bf16x2", extreme(maxNaN16Lanes, infBF16), eachHalf(scalar.MaxNaNBF16)},
		{"min in Go", func(d, a, b, _ *machine.Lanes32) { extreme16Plain(d, a, b, infF16, true, false) }, eachHalf(scalar.MinF16)},
		{"max in Go", func(d, a, b, _ *machine.Lanes32) { extreme16Plain(d, a, b, infBF16, false, false) }, eachHalf(scalar.MaxBF16)},
		{"max.NaN in Go", func(d, a, b, _ *machine.Lanes32) { extreme16Plain(d, a, b, infF16, false, true) }, eachHalf(scalar.MaxNaNF16)},
		{"min.xorsign.abs", three(xorSignHalves(func(d, a, b *machine.Lanes32) { min16Lanes(d, a, b, infF16) })),
			eachHalf(xorSign16(scalar.MinF16, scalar.XorSignF16))},
		{"max.NaN.xorsign.abs", three(xorSignHalves(func(d, a, b *machine.Lanes32) { maxNaN16Lanes(d, a, b, infBF16) })),
			eachHalf(xorSign16(scalar.MaxNaNBF16, scalar.XorSignBF16))},
		{"max.ftz.xorsign.abs", three(flushHalves2(xorSignHalves(func(d, a, b *machine.Lanes32) { max16Lanes(d, a, b, infF16) }), nil)),
			eachHalf(ftz16(xorSign16(scalar.MaxF16, scalar.XorSignF16)))},
	} {
		r := rand.New(rand.NewPCG(7, 8))
		for round := range 5000 {
			x, y, z := operands16(r), operands16(r), operands16(r)
			var want machine.Lanes32
			c.want(&want, &x, &y, &z)
			a, b, e := x, y, z
			got := []*machine.Lanes32{&a, &b, &e, new(machine.Lanes32)}[round%4]
			c.lanes(got, &a, &b, &e)
			for l := range got {
				if got[l] != want[l] {
					t.Fatalf("%s of %#x, %#x, %#x is %#x, want %#x", c.name, x[l], y[l], z[l], got[l], want[l])
				}
			}
		}
	}
}
