package tensor

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestMulAddF64 compares the results with exact sums that are rounded after each product.
func TestMulAddF64(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const m, n, k = 8, 8, 4
	random := func(count int) []uint64 {
		out := make([]uint64, count)
		for i := range out {
			out[i] = math.Float64bits(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-30))
		}
		return out
	}
	fma := func(a, b, c uint64) uint64 {
		return math.Float64bits(math.FMA(math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c)))
	}
	a, b, c := random(m*k), random(n*k), random(m*n)
	d := make([]uint64, m*n)
	MulAddF64(d, m, n, k, a, b, c, fma)
	for e := range d {
		sum := math.Float64frombits(c[e])
		for i := range k {
			exact := new(big.Float).SetPrec(2000)
			exact.Mul(big.NewFloat(math.Float64frombits(a[e/n*k+i])).SetPrec(2000), big.NewFloat(math.Float64frombits(b[e%n*k+i])))
			sum, _ = exact.Add(exact, big.NewFloat(sum)).Float64()
		}
		if got := math.Float64frombits(d[e]); got != sum {
			t.Errorf("element %d: got %v, want %v", e, got, sum)
		}
	}
}

// TestMulAddQuarter compares the results with the steps of the subroutine in exact arithmetic.
func TestMulAddQuarter(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	round := func(x *big.Float) *big.Float {
		f, _ := x.Float32()
		return new(big.Float).SetPrec(2000).SetFloat64(float64(f))
	}
	value := func(k Kind, bits uint32) *big.Float {
		n := formats[k].decode(bits)
		f := math.Ldexp(float64(n.sig), n.exp-n.frac)
		if n.neg {
			f = -f
		}
		return new(big.Float).SetPrec(2000).SetFloat64(f)
	}
	sum := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(2000).Add(x, y) }
	for range 30 {
		for _, kd := range []Kind{F32, F16} {
			a, b, c := normals(rng, F16, 32), finite(rng, F16, 32), normals(rng, kd, 64)
			d := make([]uint32, 64)
			MulAddQuarter(d, a, b, c, kd == F16)
			for e := range d {
				fma := func(i int, acc *big.Float) *big.Float {
					p := new(big.Float).SetPrec(2000).Mul(value(F16, a[e/8*4+i]), value(F16, b[e%8*4+i]))
					return round(sum(p, acc))
				}
				zero, cv := new(big.Float), value(kd, c[e])
				var want uint32
				if kd == F32 {
					s := fma(3, fma(2, fma(1, fma(0, zero))))
					f, _ := sum(cv, s).Float32()
					want = math.Float32bits(f)
				} else {
					s := round(sum(round(sum(cv, fma(1, fma(0, zero)))), fma(3, fma(2, zero))))
					f, _ := s.Float64()
					want = bitsF16(f)
				}
				if d[e] != want {
					t.Fatalf("%v, element %d: got %#x, want %#x", kd, e, d[e], want)
				}
			}
		}
	}
}
