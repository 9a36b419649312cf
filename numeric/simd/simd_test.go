package simd_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/numeric/simd"
)

// The sums of tensor cores are compared with Go code by the tests of package tensor, and the approximate functions by
// those of package sfu.

type lanes = [32]uint32

// edges are words whose halves and whole are numbers at which implementations tend to be wrong.
var edges = []uint32{
	0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x00800001, 0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff,
	0x20000000, 0x1fffffff, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xff812345, 0x7fffffff,
	0x7c00fc00, 0x7c01fe00, 0x00010400, 0x040183ff, 0x3c003c01, 0xbc00c000, 0x7bff7bff, 0x14001000, 0x80008000, 0x7f807f7f, 0x00808001,
}

// operands draws words: edges, any bits, and f16, bf16 and f32 near one.
func operands(r *rand.Rand) (v lanes) {
	for l := range v {
		sign := r.Uint32() & 0x80008000
		switch r.IntN(6) {
		case 0:
			v[l] = edges[r.IntN(len(edges))]
		case 1:
			v[l] = 0x38003800 + r.Uint32()&0x07ff07ff | sign
		case 2:
			v[l] = 0x3f003f00 + r.Uint32()&0x00ff00ff | sign
		case 3:
			v[l] = 0x3f000000 + r.Uint32()>>7 | sign&0x80000000
		case 4:
			v[l] = 0x1fe00000 + r.Uint32()>>10 | sign&0x80000000 // products near the smallest normal number
		default:
			v[l] = r.Uint32()
		}
	}
	return v
}

// operation is a loop and the same operation on one word.
type operation struct {
	name string
	loop func(d, a, b, c *lanes)
	word func(a, b, c uint32) uint32
}

// f32s returns an operation on f32.
func f32s(name string, loop func(d, a, b *lanes), word func(a, b uint32) uint32) operation {
	return operation{name, func(d, a, b, _ *lanes) { loop(d, a, b) }, func(a, b, _ uint32) uint32 { return word(a, b) }}
}

// halves returns an operation on both halves of a word.
func halves(name string, loop func(d, a, b *lanes), half func(a, b uint16) uint16) operation {
	return operation{name, func(d, a, b, _ *lanes) { loop(d, a, b) }, both(func(a, b, _ uint16) uint16 { return half(a, b) })}
}

func both(half func(a, b, c uint16) uint16) func(a, b, c uint32) uint32 {
	return func(a, b, c uint32) uint32 {
		return uint32(half(uint16(a), uint16(b), uint16(c))) | uint32(half(uint16(a>>16), uint16(b>>16), uint16(c>>16)))<<16
	}
}

// extreme returns a minimum or maximum of halves with the bits of infinity.
func extreme(name string, loop func(d, a, b *lanes, inf uint32), inf uint32, half func(a, b uint16) uint16) operation {
	return halves(name, func(d, a, b *lanes) { loop(d, a, b, inf) }, half)
}

func operations() []operation {
	const infF16, infBF16 = 0x7c00, 0x7f80
	return []operation{
		f32s("add", simd.AddF32, scalar.AddF32), f32s("mul", simd.MulF32, scalar.MulF32), {"fma", simd.FmaF32, scalar.FmaF32},
		halves("add f16", simd.AddF16x2, scalar.AddF16), halves("sub f16", simd.SubF16x2, scalar.SubF16),
		halves("mul f16", simd.MulF16x2, scalar.MulF16), {"fma f16", simd.FmaF16x2, both(scalar.FmaF16)},
		halves("add bf16", simd.AddBF16x2, scalar.AddBF16), halves("sub bf16", simd.SubBF16x2, scalar.SubBF16),
		halves("mul bf16", simd.MulBF16x2, scalar.MulBF16), {"fma bf16", simd.FmaBF16x2, both(scalar.FmaBF16)},
		extreme("min f16", simd.Min16x2, infF16, scalar.MinF16), extreme("max f16", simd.Max16x2, infF16, scalar.MaxF16),
		extreme("min.NaN f16", simd.Min16x2NaN, infF16, scalar.MinNaNF16), extreme("max.NaN f16", simd.Max16x2NaN, infF16, scalar.MaxNaNF16),
		extreme("min bf16", simd.Min16x2, infBF16, scalar.MinBF16), extreme("max bf16", simd.Max16x2, infBF16, scalar.MaxBF16),
		extreme("min.NaN bf16", simd.Min16x2NaN, infBF16, scalar.MinNaNBF16), extreme("max.NaN bf16", simd.Max16x2NaN, infBF16, scalar.MaxNaNBF16),
	}
}

func needLoops(t *testing.T) {
	t.Helper()
	if !simd.Has {
		t.Skip("this processor lacks the instructions that package simd needs")
	}
}

// TestLanes compares each operation on the lanes of a warp with the operation on one word. In most calls the result
// overwrites an operand.
func TestLanes(t *testing.T) {
	needLoops(t)
	for _, o := range operations() {
		t.Run(o.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for round := range 20000 {
				x, y, z := operands(r), operands(r), operands(r)
				a, b, c, d := x, y, z, lanes{}
				to := []*lanes{&a, &b, &c, &d}[round%4]
				o.loop(to, &a, &b, &c)
				for l, got := range to {
					if want := o.word(x[l], y[l], z[l]); got != want {
						t.Fatalf("%#x, %#x, %#x give %#x, want %#x", x[l], y[l], z[l], got, want)
					}
				}
			}
		})
	}
}

// TestFlush checks the operations that read subnormal operands as zeros, and the lanes that they leave.
func TestFlush(t *testing.T) {
	needLoops(t)
	flush := func(a uint32) uint32 {
		if a&0x7f800000 == 0 {
			a &= 0x80000000
		}
		return a
	}
	for _, o := range []struct {
		name string
		loop func(d, a, b, c *lanes) uint32
		word func(a, b, c uint32) uint32
	}{
		{"add", func(d, a, b, _ *lanes) uint32 { return simd.AddF32Daz(d, a, b) }, func(a, b, _ uint32) uint32 { return scalar.AddF32(a, b) }},
		{"mul", func(d, a, b, _ *lanes) uint32 { return simd.MulF32Daz(d, a, b) }, func(a, b, _ uint32) uint32 { return scalar.MulF32(a, b) }},
		{"fma", simd.FmaF32Daz, scalar.FmaF32},
	} {
		r := rand.New(rand.NewPCG(3, 4))
		for round := range 20000 {
			x, y, z := operands(r), operands(r), operands(r)
			a, b, c, d := x, y, z, lanes{}
			to := []*lanes{&a, &b, &c, &d}[round%4]
			left := o.loop(to, &a, &b, &c)
			for l, got := range to {
				want := o.word(flush(x[l]), flush(y[l]), flush(z[l]))
				small := want<<1 != 0 && want&0x7fffffff <= 0x00800000
				if got != want || left>>l&1 == 1 != small {
					t.Fatalf("%s: %#x, %#x, %#x give %#x, want %#x, and left is %t", o.name, x[l], y[l], z[l], got, want, left>>l&1 == 1)
				}
			}
		}
	}
}

// TestDots compares sums of products of 16-bit integers with a plain loop.
func TestDots(t *testing.T) {
	needLoops(t)
	r := rand.New(rand.NewPCG(5, 6))
	part := func(w uint32, e int) int32 { return int32(int16(w >> (16 * e))) }
	for range 2000 {
		count, pairs := 2*(1+r.IntN(4)), 2*(1+r.IntN(9))
		fill := func(n int) []uint32 {
			words := make([]uint32, n)
			for i := range words {
				words[i] = []uint32{r.Uint32(), 0x80008000, 0x7fff8000}[min(r.IntN(8), 2)]
			}
			return words
		}
		rows, cols := fill(count*pairs), fill(8*pairs)
		got, want := make([]uint32, 8*count), make([]uint32, 8*count)
		for i := range want {
			for k := range pairs {
				x, y := rows[i/8*pairs+k], cols[8*k+i%8]
				want[i] += uint32(part(x, 0)*part(y, 0) + part(x, 1)*part(y, 1))
			}
		}
		simd.Dots(&got[0], &rows[0], &cols[0], count, pairs)
		if !slices.Equal(got, want) {
			t.Fatalf("%d rows of %d pairs: %#x, want %#x", count, pairs, got, want)
		}
	}
}

// TestInterleave checks where the words of rows come from, and that words between the rows stay.
func TestInterleave(t *testing.T) {
	needLoops(t)
	const step, other = 11, 0xabcd // words
	var even, odd, e, o lanes
	for l := range even {
		even[l], odd[l] = uint32(2*l+100), uint32(2*l+101)
	}
	fill := func() (rows [8 * step]uint32) {
		for i := range rows {
			rows[i] = other
		}
		return rows
	}
	rows, spread := fill(), fill()
	simd.Interleave(&rows[0], 4*step, &even, &odd)
	simd.Spread(&spread[0], 4*step, &even)
	for i := range rows {
		wide, narrow := uint32(other), uint32(other)
		if i%step < 8 {
			wide = uint32(8*(i/step) + i%step + 100)
		}
		if i%step < 4 {
			narrow = even[4*(i/step)+i%step]
		}
		if rows[i] != wide || spread[i] != narrow {
			t.Errorf("word %d: %d and %d, want %d and %d", i, rows[i], spread[i], wide, narrow)
		}
	}
	simd.Deinterleave(&e, &o, &rows[0], 4*step)
	if e != even || o != odd {
		t.Errorf("%d and %d come back as %d and %d", even, odd, e, o)
	}
}

// TestF16 compares the conversions of accumulators and results of f16 with those of one number, on numbers close to
// the middle between two f16, too.
func TestF16(t *testing.T) {
	needLoops(t)
	const rows, step = 3, 11 // words
	r := rand.New(rand.NewPCG(7, 8))
	for range 20000 {
		var c, d [rows * step]uint32
		var wide [8 * rows]uint32
		var x [8 * rows]float64
		for i := range c {
			c[i], d[i] = r.Uint32()&0xffff, 0xabcdef
		}
		for i := range x {
			half := uint32(r.IntN(0x7c00))
			middle := (float64(f32(half)) + float64(f32(half+1))) / 2
			x[i] = []float64{middle, math.Nextafter(middle, 0), math.Nextafter(middle, 1e9), r.NormFloat64() * 0x1p-20, r.NormFloat64(), middle * (1 + 0x1p-30), 0}[r.IntN(7)]
			if r.IntN(2) == 0 {
				x[i] = -x[i]
			}
		}
		simd.WidenF16(&wide[0], &c[0], 4*step, rows)
		simd.RoundF16(&d[0], 4*step, &x[0], rows)
		for i := range x {
			at := i/8*step + i%8
			if want := scalar.CvtF32F16(uint16(c[at])); wide[i] != want && c[at]&0x7fff <= 0x7c00 {
				t.Fatalf("%#x is %#x, want %#x", c[at], wide[i], want)
			}
			want := uint32(scalar.CvtF16F64R(scalar.RN, math.Float64bits(x[i])))
			if want == 0x8000 {
				want = 0
			}
			if d[at] != want {
				t.Fatalf("%v is %#x, want %#x", x[i], d[at], want)
			}
		}
		if d[8] != 0xabcdef || d[step-1] != 0xabcdef {
			t.Fatal("a word between rows has changed")
		}
	}
}

// f32 returns the value of an f16. The number after the largest one is 65536.
func f32(half uint32) float32 {
	if half == 0x7c00 {
		return 65536
	}
	return math.Float32frombits(scalar.CvtF32F16(uint16(half)))
}
