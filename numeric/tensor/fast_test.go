package tensor

import (
	"math/rand/v2"
	"testing"
)

// TestFastIsExact compares the fast path with exact.go, on more numbers than the slow oracle
// can test.
func TestFastIsExact(t *testing.T) {
	rounds := 64
	if testing.Short() {
		rounds = 8
	}
	const m, n = 8, 16
	for _, s := range specs() {
		rng := rand.New(rand.NewPCG(9, uint64(s.k)))
		f := mustFloat(t, s.arch, s.inst, s.a, s.b, s.d)
		var rows Rows
		var cols Cols
		for round := range rounds {
			g, h := generators[round%len(generators)], generators[round/len(generators)%len(generators)]
			f.LoadA(&rows, m, s.k, pack(s.a, g(rng, s.a, m*s.k)))
			f.LoadB(&cols, n, s.k, pack(s.b, h(rng, s.b, n*s.k)))
			f.widen(&rows, &cols)
			var w, want tile
			for e := range m * n / panel {
				i, p := e%m, e/m
				f.values(w.acc[:], g(rng, s.d, panel))
				want.acc = w.acc
				for b := range rows.blocks {
					f.add(&w, &rows, &cols, i, p, b)
					f.addExactly(&want, &rows, &cols, i, p, b)
				}
				for l := range w.acc {
					if f.bits(w.acc[l]) != f.bits(want.acc[l]) {
						t.Fatalf("%v, round %d: got %v, want %v", s, round, w.acc[l], want.acc[l])
					}
				}
			}
		}
	}
}

func (f *Float) addExactly(w *tile, a *Rows, b *Cols, i, p, t int) {
	x := a.val[(i*a.blocks+t)*a.length:][:a.length]
	y := make([]float64, b.length)
	for l, c := range w.acc {
		for e := range y {
			y[e] = b.val[((p*b.blocks+t)*b.length+e)*panel+l]
		}
		w.acc[l] = f.rule.round(f.rule.exact(c, x, y, a.minExp, b.minExp))
	}
}

func (f *Float) bits(x float64) uint32 {
	d := make([]uint32, 1)
	f.store(d, []float64{x})
	return d[0]
}

// TestFastIsTaken checks that ordinary numbers take the fast path, and that NaNs do not.
func TestFastIsTaken(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 11))
	for _, s := range specs() {
		f := mustFloat(t, s.arch, s.inst, s.a, s.b, s.d)
		var rows Rows
		var cols Cols
		a := gaussian(rng, s.a, s.k)
		f.LoadA(&rows, 1, s.k, pack(s.a, a))
		f.LoadB(&cols, panel, s.k, pack(s.b, gaussian(rng, s.b, panel*s.k)))
		f.widen(&rows, &cols)
		var w tile
		f.values(w.acc[:], gaussian(rng, s.d, panel))
		lows := (*[panel]int32)(cols.low)
		if !w.prepare(&f.rule, int(rows.low[0]), lows) {
			t.Errorf("%v: ordinary numbers take the slow path", s)
		}
		a[0] = mask(s.a) // a NaN
		f.LoadA(&rows, 1, s.k, pack(s.a, a))
		if w.prepare(&f.rule, int(rows.low[0]), lows) {
			t.Errorf("%v: a NaN takes the fast path", s)
		}
	}
}

// TestFaintest tests the smallest negative products that change the result, and smaller ones
// that do not.
func TestFaintest(t *testing.T) {
	f := mustFloat(t, Hopper, MMA, F16, F16, F32)
	for _, top := range []uint32{0x7800, 0x7400, 0x7bff} {
		for _, tiny := range []uint32{0x8001, 0x8002, 0x8003, 0x83ff, 0x8400, 0x0001} {
			for _, c := range []uint32{0, 0x80000000, 0x4e800000, 0x4f000000, 0x4f800000, 0xcf800001, 0x5f000000} {
				a, b := make([]uint32, 16), make([]uint32, 16)
				a[0], b[0] = top, 0x7800
				for k := 1; k < 16; k++ {
					a[k], b[k] = 1, tiny
				}
				got := dotBits(f, pack(F16, a), pack(F16, b), 16, c)
				if want := oracleDot(Hopper, MMA, F16, F16, F32, a, b, c); got != want {
					t.Errorf("top %#x, tiny %#x, c %#x: got %#x, want %#x", top, tiny, c, got, want)
				}
			}
		}
	}
}
