package tile_test

import (
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/ptx"
)

// wgmmaKernel computes S = A·Bᵀ with both factors in shared memory, and then T = S·Cᵀ with S
// rounded to e4m3 in registers. A is 64×k, B is n×k, and C is m×n with its columns in FP8Order.
// The kernel writes S and then T.
func wgmmaKernel(k0, n, m int) *build.Kernel {
	k := build.New("products", ptx.SM90a)
	k.ReqNTid(128)
	var mem [3]build.Shared[build.B8]
	var in [3]build.Global[build.B32]
	var factor [3]tile.KMajor
	extents := [3][2]int{{64, k0}, {n, k0}, {m, n}}
	for i, name := range []string{"a", "b", "c"} {
		in[i] = build.ParamGlobal[build.B32](k, name)
		mem[i] = build.SharedAlign(build.SharedArray[build.B8](k, name+"s", extents[i][0]*extents[i][1]), 1024)
		factor[i] = tile.NewKMajor(k, mem[i], extents[i][0], extents[i][1])
	}
	out := build.ParamGlobal[build.F32](k, "out")
	g := tile.NewWarpgroup(k, k.TidX())
	for i, x := range extents { // copy words, one block of columns after the other
		rows, words, width := x[0], x[1]/4, factor[i].Width()/4
		for block := range words / width {
			to := factor[i].Block(block)
			k.Loop(g.Thread, rows*width, 128, func(at build.U32) {
				row, col := at.Div(width), at.Rem(width)
				v := in[i].At(row.MadLo(words, col).Add(block * width)).Ld()
				build.SharedAs[build.B32](to.At(row, col.Shl(1)), 0).St(v)
			})
		}
	}
	k.FenceProxyAsyncSharedCta()
	k.SyncThreads()

	S, T := g.Accumulator(n), g.Accumulator(m)
	g.Fence()
	g.MMA(S, "S = A·Bᵀ", ptx.E4M3, factor[0], ptx.E4M3, factor[1], false)
	g.Commit()
	g.Wait(0)
	var xs []build.F32
	for i := range S.Elements() {
		xs = append(xs, S.Get(i))
	}
	P := tile.PackE4M3(xs)
	g.Fence()
	g.MMAFromRegisters(T, "T = S·Cᵀ", ptx.E4M3, P, ptx.E4M3, factor[2], false)
	g.Commit()
	g.Wait(0)
	for i, f := range []*tile.Frag{S, T} {
		row, col := f.Base(k, g.Thread)
		at := out.At(row.MadLo(f.Cols, col).Add(i * 64 * n))
		for e := range f.Elements() {
			at.Plus(f.Elem(e).Row*f.Cols + f.Elem(e).Col).St(f.Get(e))
		}
	}
	return k
}

// TestWgmmaProducts multiplies small integers, for which every product, sum and rounding is exact.
func TestWgmmaProducts(t *testing.T) {
	for _, c := range []struct{ k, n, m int }{{32, 32, 8}, {64, 64, 64}, {128, 128, 72}, {64, 192, 128}} {
		a := func(r, k int) float32 { return float32((r + 3*k) % 2 * (1 - min(1, (r+k)%8))) }
		b := func(r, k int) float32 { return float32((r*k)%3 - 1) }
		d := func(r, k int) float32 { return float32((r+k*k)%7 - 3) }
		encode := func(b []byte, v float32) []byte { return append(b, fp8.E4M3.Encode(float64(v))) }
		permuted := func(r, k int) float32 { return d(r, k/16*16+tile.FP8Order[k%16]) }
		for name, dev := range devices(t, ptx.SM90a) {
			got := words(t, dev, wgmmaKernel(c.k, c.n, c.m), 128, 64*(c.n+c.m),
				matrix(64, c.k, a, encode), matrix(c.n, c.k, b, encode), matrix(c.m, c.n, permuted, encode))
			s := make([]float32, 64*c.n)
			for i := range s {
				for x := range c.k {
					s[i] += a(i/c.n, x) * b(i%c.n, x)
				}
			}
			want := s
			for i := range 64 * c.m {
				var sum float32
				for x := range c.n {
					sum += s[i/c.m*c.n+x] * d(i%c.m, x)
				}
				want = append(want, sum)
			}
			for i, w := range want {
				if math.Float32frombits(got[i]) != w {
					t.Fatalf("%s, %+v: element %d is %v, want %v", name, c, i, math.Float32frombits(got[i]), w)
				}
			}
		}
	}
}

// TestWgmmaMisuse checks that factors that do not fit together are errors.
func TestWgmmaMisuse(t *testing.T) {
	k := build.New("misuse", ptx.SM90a)
	mem := build.SharedAlign(build.SharedArray[build.B8](k, "m", 8192), 1024)
	g := tile.NewWarpgroup(k, k.TidX())
	a, b := tile.NewKMajor(k, mem, 64, 64), tile.NewKMajor(k, mem, 32, 32)
	g.MMA(g.Accumulator(32), "S = A·Bᵀ", ptx.E4M3, a, ptx.E4M3, b, false)
	g.MMA(g.Accumulator(16), "S = A·Aᵀ", ptx.E4M3, a, ptx.E4M3, a, false)
	tile.NewKMajor(k, mem, 12, 20)
	if _, err := k.PTX(); err == nil || len(err.(build.Errors)) != 3 {
		t.Errorf("got %v, want three errors", err)
	}
}
