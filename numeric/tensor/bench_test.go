package tensor

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkMulAdd reports GFLOP/s (two operations per product) of one instruction on decoded
// factors. BenchmarkInstruction includes decoding.
func BenchmarkMulAdd(b *testing.B) { benchProducts(b, false) }

func BenchmarkInstruction(b *testing.B) { benchProducts(b, true) }

func benchProducts(b *testing.B, decode bool) {
	for _, c := range []struct {
		s    spec
		m, n int
	}{
		{spec{Hopper, WGMMA, E4M3, E4M3, F32, 32}, 64, 128},
		{spec{Hopper, WGMMA, E5M2, E5M2, F32, 32}, 64, 128},
		{spec{Hopper, WGMMA, F16, F16, F32, 16}, 64, 128},
		{spec{Hopper, WGMMA, F16, F16, F16, 16}, 64, 128},
		{spec{Hopper, WGMMA, BF16, BF16, F32, 16}, 64, 128},
		{spec{Hopper, WGMMA, TF32, TF32, F32, 8}, 64, 128},
		{spec{Hopper, MMA, F16, F16, F32, 16}, 16, 8},
		{spec{Ampere, MMA, F16, F16, F32, 16}, 16, 8},
		{spec{Ada, MMA, E4M3, E4M3, F32, 32}, 16, 8},
		{spec{Hopper, MMA, E4M3, E4M3, F32, 32}, 16, 8},
	} {
		b.Run(c.s.String(), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			f := mustFloat(b, c.s.arch, c.s.inst, c.s.a, c.s.b, c.s.d)
			x := pack(c.s.a, gaussian(rng, c.s.a, c.m*c.s.k))
			y := pack(c.s.b, gaussian(rng, c.s.b, c.n*c.s.k))
			acc := gaussian(rng, c.s.d, c.m*c.n)
			d := make([]uint32, len(acc))
			var rows Rows
			var cols Cols
			f.LoadA(&rows, c.m, c.s.k, x)
			f.LoadB(&cols, c.n, c.s.k, y)
			for b.Loop() {
				if decode {
					f.LoadA(&rows, c.m, c.s.k, x)
					f.LoadB(&cols, c.n, c.s.k, y)
				}
				f.MulAdd(d, &rows, &cols, acc)
			}
			flop := 2 * float64(c.m*c.n*c.s.k) * float64(b.N)
			b.ReportMetric(flop/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

// gaussian returns normally distributed numbers.
func gaussian(rng *rand.Rand, k Kind, n int) []uint32 {
	return draw(n, func(int) uint32 { return quantise(k, rng.NormFloat64()) })
}

// BenchmarkInteger reports the same rate for products of bytes.
func BenchmarkInteger(b *testing.B) {
	const m, n, k = 64, 128, 32
	rng := rand.New(rand.NewPCG(1, 2))
	x, err := NewInteger(S8, S8, XOR, false)
	if err != nil {
		b.Fatal(err)
	}
	rows, cols := pack(S8, anyBits(rng, S8, m*k)), pack(S8, anyBits(rng, S8, n*k))
	d := make([]uint32, m*n)
	for b.Loop() {
		x.MulAdd(d, m, n, k, rows, cols, d)
	}
	b.ReportMetric(2*m*n*k*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
