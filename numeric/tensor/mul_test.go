package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// spec is a product that PTX has, with the depth of one instruction.
type spec struct {
	arch    Arch
	inst    Inst
	a, b, d Kind
	k       int
}

func (s spec) String() string {
	return fmt.Sprintf("%v/%v.%v.%v.%v.k%d", s.arch, s.inst, s.d, s.a, s.b, s.k)
}

// specs returns all products of floating-point numbers.
func specs() (all []spec) {
	for arch := Ampere; arch <= Hopper; arch++ {
		for inst := MMA; inst <= WGMMA; inst++ {
			for _, a := range []Kind{F16, BF16, TF32, E4M3, E5M2} {
				for _, b := range []Kind{F16, BF16, TF32, E4M3, E5M2} {
					for _, d := range []Kind{F16, F32} {
						if _, err := NewFloat(arch, inst, a, b, d); err != nil {
							continue
						}
						for _, k := range depths(inst, a) {
							all = append(all, spec{arch, inst, a, b, d, k})
						}
					}
				}
			}
		}
	}
	return all
}

func depths(inst Inst, a Kind) []int {
	full := 256 / a.Bits()
	if inst == MMA {
		return []int{full / 2, full}
	}
	return []int{full}
}

// TestAgainstOracle multiplies small matrices of difficult numbers.
func TestAgainstOracle(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 4
	}
	const m, n = 3, 11
	for _, s := range specs() {
		t.Run(s.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(s.k)))
			f := mustFloat(t, s.arch, s.inst, s.a, s.b, s.d)
			var rows Rows
			var cols Cols
			for round := range rounds {
				g := generators[round%len(generators)]
				a, b, c := g(rng, s.a, m*s.k), g(rng, s.b, n*s.k), g(rng, s.d, m*n)
				got := make([]uint32, m*n)
				f.LoadA(&rows, m, s.k, pack(s.a, a))
				f.LoadB(&cols, n, s.k, pack(s.b, b))
				f.MulAdd(got, &rows, &cols, c)
				for e := range got {
					x, y := a[e/n*s.k:][:s.k], b[e%n*s.k:][:s.k]
					want := oracleDot(s.arch, s.inst, s.a, s.b, s.d, x, y, c[e])
					if got[e] != want {
						t.Fatalf("round %d, element %d: got %#x, want %#x\na = %#x\nb = %#x\nc = %#x", round, e, got[e], want, x, y, c[e])
					}
				}
			}
		})
	}
}

// generators return the bits of n numbers.
var generators = []func(rng *rand.Rand, k Kind, n int) []uint32{
	normals, anyBits, finite, subnormals, sparse, cancelling, extremes, integers,
}

// anyBits returns random bits, including infinities and NaNs.
func anyBits(rng *rand.Rand, k Kind, n int) []uint32 {
	return draw(n, func(int) uint32 { return rng.Uint32() & mask(k) })
}

// finite returns finite numbers with uniformly distributed exponents.
func finite(rng *rand.Rand, k Kind, n int) []uint32 {
	return draw(n, func(int) uint32 { return anyFinite(rng, k) })
}

// normals returns numbers around one, as in practice.
func normals(rng *rand.Rand, k Kind, n int) []uint32 {
	return draw(n, func(int) uint32 { return near(rng, k, 0, 4) })
}

// subnormals returns numbers at the low end of the range, with some zeros.
func subnormals(rng *rand.Rand, k Kind, n int) []uint32 {
	f := formats[k]
	return draw(n, func(int) uint32 {
		return (rng.Uint32()&(1<<(f.frac+1)-1) | rng.Uint32()&1<<(f.exp+f.frac)) << f.drop
	})
}

// sparse returns mostly zeros, with both signs.
func sparse(rng *rand.Rand, k Kind, n int) []uint32 {
	f := formats[k]
	return draw(n, func(int) uint32 {
		if rng.IntN(4) > 0 {
			return rng.Uint32() & (1 << (f.exp + f.frac + f.drop))
		}
		return anyFinite(rng, k)
	})
}

// cancelling returns numbers and the same numbers with the other sign.
func cancelling(rng *rand.Rand, k Kind, n int) []uint32 {
	f := formats[k]
	x := near(rng, k, 0, 6)
	return draw(n, func(i int) uint32 {
		if rng.IntN(8) == 0 {
			x = near(rng, k, 0, 6)
		}
		return x ^ rng.Uint32()&1<<(f.exp+f.frac+f.drop)
	})
}

// extremes returns a mixture of the largest and the smallest numbers.
func extremes(rng *rand.Rand, k Kind, n int) []uint32 {
	f := formats[k]
	top := 1<<(f.exp-1) - 1
	return draw(n, func(int) uint32 {
		if rng.IntN(2) == 0 {
			return near(rng, k, top, 1)
		}
		return near(rng, k, 1-top, 2)
	})
}

// integers returns small integers, whose sums are exact.
func integers(rng *rand.Rand, k Kind, n int) []uint32 {
	return draw(n, func(int) uint32 {
		r := oracleRule{frac: 23}
		x := number{sig: rng.IntN(8), neg: rng.IntN(2) == 0}
		f32 := r.round(x.units())
		return encode(k, f32)
	})
}

func draw(n int, one func(i int) uint32) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = one(i)
	}
	return out
}

// near returns a number with an exponent close to exp and any sign and fraction.
func near(rng *rand.Rand, k Kind, exp, spread int) uint32 {
	f := formats[k]
	bias := 1<<(f.exp-1) - 1
	field := min(max(exp+bias+rng.IntN(2*spread+1)-spread, 0), 1<<f.exp-2)
	bits := uint32(rng.IntN(2))<<f.exp | uint32(field)
	return (bits<<f.frac | rng.Uint32()&(1<<f.frac-1)) << f.drop
}

func anyFinite(rng *rand.Rand, k Kind) uint32 {
	for {
		bits := rng.Uint32() & mask(k)
		if n := formats[k].decode(bits); !n.inf && !n.nan {
			return bits
		}
	}
}

func mask(k Kind) uint32 { return uint32(1<<k.Bits() - 1) }

// TestDecode compares the decoded values of all 16-bit and 8-bit numbers with
// the definition of their types, and some of tf32.
func TestDecode(t *testing.T) {
	for _, k := range []Kind{F16, BF16, E4M3, E5M2, TF32} {
		for i := range uint32(1 << min(k.Bits(), 16)) {
			bits := i
			if k == TF32 {
				bits = i<<16 | i*0x9e37>>8&0xffff
			}
			var got [4]float64
			k.unpack(got[:], []uint32{bits})
			n := formats[k].decode(bits)
			want := float64(n.sig) * pow2(n.exp-n.frac)
			switch {
			case n.nan:
				if got[0] == got[0] {
					t.Errorf("%v %#x: got %v, want NaN", k, bits, got[0])
				}
				continue
			case n.inf:
				want = math.Inf(1)
			}
			if n.neg {
				want = -want
			}
			if got[0] != want {
				t.Errorf("%v %#x: got %v, want %v", k, bits, got[0], want)
			}
		}
	}
}

// TestRefusals checks that products which no target has are refused.
func TestRefusals(t *testing.T) {
	for _, s := range []spec{
		{Ampere, MMA, E4M3, E4M3, F32, 0},
		{Ada, WGMMA, F16, F16, F32, 0},
		{Hopper, WMMA, E5M2, E5M2, F32, 0},
		{Hopper, MMA, F16, BF16, F32, 0},
		{Hopper, MMA, E4M3, F16, F32, 0},
		{Hopper, MMA, BF16, BF16, F16, 0},
		{Hopper, MMA, S8, S8, F32, 0},
		{Hopper, MMA, F16, F16, BF16, 0},
	} {
		if _, err := NewFloat(s.arch, s.inst, s.a, s.b, s.d); err == nil {
			t.Errorf("%v: no error", s)
		}
	}
	if n := len(specs()); n != 80 {
		t.Errorf("%d products, want 80", n)
	}
}
