package tensor

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMaxima compares the largest exponents, which are computed in lanes, with a simple
// search.
func TestMaxima(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 13))
	for _, kind := range []Kind{F16, BF16, TF32, E4M3, E5M2} {
		f := mustFloat(t, Hopper, WGMMA, kind, kind, F32)
		k := 256 / kind.Bits()
		for round := range 200 {
			g := generators[round%len(generators)]
			var rows Rows
			var cols Cols
			f.LoadA(&rows, 1, k, pack(kind, g(rng, kind, k)))
			f.LoadB(&cols, panel, k, pack(kind, g(rng, kind, panel*k)))
			if rows.low[0] == noFast || slices.Contains(cols.low, noFast) {
				continue
			}
			var w tile
			if kind.wide() {
				w.maxima16(rows.exps, cols.exps)
			} else {
				w.maxima8(rows.exps, cols.exps)
			}
			for l := range panel {
				want := floorExp
				for e := range k {
					if x, y := rows.val[e], cols.val[e*panel+l]; x != 0 && y != 0 {
						want = max(want, exponent(x, rows.minExp)+exponent(y, rows.minExp))
					}
				}
				if w.tops[l] != want {
					t.Fatalf("%v, round %d, column %d: %d, want %d", kind, round, l, w.tops[l], want)
				}
			}
		}
	}
}

// TestEdges tests sums at the limits of results.
func TestEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 15))
	faint := func(k Kind) uint32 { return near(rng, k, -65, 4) } // products around the smallest f32
	for _, c := range []struct {
		name string
		spec spec
		a, b func(k int) uint32
		c    []uint32
	}{
		{"zeros and an odd c", spec{Hopper, WGMMA, E4M3, E4M3, F32, 32},
			func(int) uint32 { return 0 }, func(k int) uint32 { return uint32(k&1) << 7 },
			[]uint32{0x7f800000, 0xff800000, 0x7fc00000, 0, 0x80000000, 1, 0x80000001, 0x3f801fff}},
		{"zeros and an odd c", spec{Hopper, WGMMA, F16, F16, F16, 16},
			func(int) uint32 { return 0 }, func(int) uint32 { return 0 },
			[]uint32{0x7c00, 0xfc00, 0x7e00, 0, 0x8000, 1, 0x8001, 0x3c01}},
		{"2^128 in the first block", spec{Ampere, MMA, BF16, BF16, F32, 16},
			func(k int) uint32 { return []uint32{0x5f80, 0x5f80, 0, 0, 0, 0, 0, 0, 0xdf80}[min(k, 8)] },
			func(k int) uint32 { return 0x5f00 },
			[]uint32{0, 0x7f7fffff, 0xff7fffff}},
		{"f16 overflow", spec{Hopper, MMA, F16, F16, F16, 16},
			func(k int) uint32 { return []uint32{0x7bff, 0x4c00, 0}[min(k, 2)] }, func(int) uint32 { return 0x3c00 },
			[]uint32{0, 0x3c00, 0xbc00, 0x7bff, 0xfbff}},
		{"faint bf16", spec{Hopper, MMA, BF16, BF16, F32, 16},
			func(int) uint32 { return faint(BF16) }, func(int) uint32 { return faint(BF16) },
			[]uint32{0, 1, 0x80000001, 0x80000fff, 0x007fffff, 0x00800001}},
		{"faint tf32", spec{Ampere, MMA, TF32, TF32, F32, 8},
			func(int) uint32 { return faint(TF32) }, func(int) uint32 { return faint(TF32) },
			[]uint32{0, 1, 0x80000001, 0x80000fff, 0x007fffff, 0x00800001}},
	} {
		s := c.spec
		f := mustFloat(t, s.arch, s.inst, s.a, s.b, s.d)
		for range 300 {
			a, b := draw(s.k, c.a), draw(s.k, c.b)
			for _, acc := range c.c {
				got := dotBits(f, pack(s.a, a), pack(s.b, b), s.k, acc)
				if want := oracleDot(s.arch, s.inst, s.a, s.b, s.d, a, b, acc); got != want {
					t.Fatalf("%s, %v, c = %#x: got %#x, want %#x\na = %#x\nb = %#x", c.name, s, acc, got, want, a, b)
				}
			}
		}
	}
}
