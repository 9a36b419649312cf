package tensor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// eachLoop runs a test with each kind of loops that the processor has: for AVX-512, on two rows at a time, and on one
// row at a time.
func eachLoop(t *testing.T, test func(t *testing.T)) {
	if !vector {
		t.Skip("this processor lacks the instructions that package simd needs")
	}
	defer func(wide, twin bool) { wideVector, twinVector = wide, twin }(wideVector, twinVector)
	if wideVector {
		t.Run("AVX-512", test)
	}
	wideVector = false
	if twinVector {
		t.Run("two rows", test)
	}
	twinVector = false
	t.Run("one row", test)
}

// TestSweepIsAdd compares the assembly with the Go code: all types, ordinary and difficult
// numbers, more rows than sweepRows, columns that do not fill a panel, one panel, a nil c, and a
// result that overwrites c. Products that can be computed in f32 have even numbers of rows and
// panels.
func TestSweepIsAdd(t *testing.T) { eachLoop(t, testSweepIsAdd) }

func testSweepIsAdd(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	for _, s := range specs() {
		f := mustFloat(t, s.arch, s.inst, s.a, s.b, s.d)
		rng := rand.New(rand.NewPCG(3, uint64(s.k)))
		var rows Rows
		var cols Cols
		for round := range rounds {
			m, n := 19, 28
			switch {
			case round%4 == 1:
				n = panel
			case f.narrow(20, 2, s.k):
				m, n = 20, 32
			}
			g, h := generators[round%len(generators)], generators[round/len(generators)%len(generators)]
			f.LoadA(&rows, m, s.k, pack(s.a, g(rng, s.a, m*s.k)))
			f.LoadB(&cols, n, s.k, pack(s.b, h(rng, s.b, n*s.k)))
			var c []uint32
			if round%3 != 0 {
				c = h(rng, s.d, m*n)
			}
			want, got := make([]uint32, m*n), make([]uint32, m*n)
			f.MulAdd(got, &rows, &cols, c) // first: the plain product decodes the factors to f64, too
			vector = false
			f.MulAdd(want, &rows, &cols, c)
			vector = true
			if !slices.Equal(got, want) {
				t.Fatalf("%v, round %d: %s", s, round, firstDifference(got, want))
			}
			if c != nil {
				f.MulAdd(c, &rows, &cols, c)
				if !slices.Equal(c, want) {
					t.Fatalf("%v, round %d, in place: %s", s, round, firstDifference(c, want))
				}
			}
		}
	}
}

// TestSweepIsTaken checks that the assembly computes ordinary numbers.
func TestSweepIsTaken(t *testing.T) { eachLoop(t, testSweepIsTaken) }

func testSweepIsTaken(t *testing.T) {
	const m, n = 16, panel
	for _, s := range specs() {
		if s.d == F16 && s.inst != WGMMA {
			continue
		}
		f := mustFloat(t, s.arch, s.inst, s.a, s.b, s.d)
		rng := rand.New(rand.NewPCG(3, 4))
		var rows Rows
		var cols Cols
		f.LoadA(&rows, m, s.k, pack(s.a, gaussian(rng, s.a, m*s.k)))
		f.LoadB(&cols, n, s.k, pack(s.b, gaussian(rng, s.b, n*s.k)))
		f.widen(&rows, &cols)
		c := gaussian(rng, s.d, m*n)
		if done := f.sweep(c, &rows, &cols, c, 0, 0, m); done != m {
			t.Errorf("%v: %d of %d rows", s, done, m)
		}
	}
}

// TestNarrowIsTaken checks that products of fp8 by wgmma are computed in f32.
func TestNarrowIsTaken(t *testing.T) {
	if !vector {
		t.Skip("this processor lacks the instructions that package simd needs")
	}
	const m, n, k = 16, 32, 32
	for _, kind := range []Kind{E4M3, E5M2} {
		f := mustFloat(t, Hopper, WGMMA, kind, kind, F32)
		rng := rand.New(rand.NewPCG(3, 4))
		var rows Rows
		var cols Cols
		f.LoadA(&rows, m, k, pack(kind, gaussian(rng, kind, m*k)))
		f.LoadB(&cols, n, k, pack(kind, gaussian(rng, kind, n*k)))
		c := gaussian(rng, F32, m*n)
		f.MulAdd(c, &rows, &cols, c)
		f.MulAdd(c, &rows, &cols, nil)
		if rows.narrow.wide || cols.narrow.wide {
			t.Errorf("%v: the factors were decoded to f64", kind)
		}
	}
}

func firstDifference(got, want []uint32) string {
	for i := range got {
		if got[i] != want[i] {
			return fmt.Sprintf("element %d is %#x, want %#x", i, got[i], want[i])
		}
	}
	return "equal"
}
