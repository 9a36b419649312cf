package tile_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/ptx"
)

// put copies a matrix of f16 to a tile with one warp.
func put(k *build.Kernel, w tile.Warp, from build.Global[build.F16], to tile.Tile[build.F16]) {
	k.Loop(w.Lane, to.Rows*to.Cols, 32, func(i build.U32) {
		to.At(i.Div(to.Cols), i.Rem(to.Cols)).St(from.At(i).Ld())
	})
	w.Sync()
}

// write stores all elements of a fragment, lane by lane.
func write(k *build.Kernel, lane build.U32, out build.Global[build.F32], f *tile.Frag) {
	for i := range f.Elements() {
		out.At(lane.MulLo(f.Elements())).Plus(i).St(f.Get(i))
	}
}

// wantFrag compares words with a matrix in a fragment's layout.
func wantFrag(t *testing.T, what string, l tile.Layout, got []uint32, want func(r, c int) float32) {
	t.Helper()
	for lane := range l.Lanes {
		for i := range l.Elements() {
			p := l.At(lane, i)
			if v := math.Float32frombits(got[lane*l.Elements()+i]); v != want(p.Row, p.Col) {
				t.Fatalf("%s: (%d, %d), element %d of lane %d, is %v, want %v", what, p.Row, p.Col, i, lane, v, want(p.Row, p.Col))
			}
		}
	}
}

// TestMMA multiplies whole tiles, with B stored as it is or transposed, and A in shared memory
// or in registers.
func TestMMA(t *testing.T) {
	const n, depth, cols = 32, 64, 48
	for kind, make := range map[string]func(*build.Kernel, build.Shared[build.F16], int, int) tile.Tile[build.F16]{
		"padded": tile.Padded[build.F16], "swizzled": tile.Swizzled[build.F16],
	} {
		for _, held := range []bool{false, true} {
			k := build.New("product", ptx.SM80)
			a, b, c, out := build.ParamGlobal[build.F16](k, "a"), build.ParamGlobal[build.F16](k, "b"), build.ParamGlobal[build.F16](k, "c"), build.ParamGlobal[build.F32](k, "out")
			w := tile.NewWarp(k, k.TidX())
			A := make(k, build.SharedArray[build.F16](k, "as", 16*(depth+8)), 16, depth)
			B := make(k, build.SharedArray[build.F16](k, "bs", n*(depth+8)), n, depth)
			C := tile.Padded(k, build.SharedArray[build.F16](k, "cs", n*(cols+8)), n, cols)
			put(k, w, a, A)
			put(k, w, b, B)
			put(k, w, c, C)
			var left tile.Left = w.A(A)
			if held {
				left = w.A(A).Load()
			}
			S := w.Accumulator(n)
			w.MMA(S, "S = A·Bᵀ", left, w.BT(B))
			U := w.Accumulator(cols - 16)
			w.MMA(U, "U = S·C", S.A(), w.B(C).Columns(16, cols-16))
			write(k, w.Lane, out, S)
			write(k, w.Lane, out.Plus(32*S.Elements()), U)

			bit := func(r, c int) float32 { return float32((r*5 + c*3) % 7 % 2) } // so that S is exact in f16
			s := func(i, j int) (sum float32) {
				for e := range depth {
					sum += bit(i, e) * bit(j+3, e)
				}
				return sum
			}
			u := func(i, j int) (sum float32) {
				for e := range n {
					sum += s(i, e) * small(e, j+16)
				}
				return sum
			}
			bt := func(r, c int) float32 { return bit(r+3, c) }
			for name, dev := range devices(t, ptx.SM80) {
				got := words(t, dev, k, 32, 32*(S.Elements()+U.Elements()), matrix(16, depth, bit, half), matrix(n, depth, bt, half), matrix(n, cols, small, half))
				what := fmt.Sprintf("%s, %s, A in registers %t", name, kind, held)
				wantFrag(t, what+": S", S.Layout, got, s)
				wantFrag(t, what+": U", U.Layout, got[32*S.Elements():], u)
			}
		}
	}
}

// TestRows multiplies each row by its own factor, in fragments of a warp with 8 and 16 rows and
// in fragments of a warpgroup.
func TestRows(t *testing.T) {
	const cols = 24
	for _, l := range []tile.Layout{tile.Accumulator(8, cols), tile.Accumulator(16, cols), tile.WgmmaAccumulator(cols)} {
		k := build.New("rows", ptx.SM80)
		in, out := build.ParamGlobal[build.F32](k, "in"), build.ParamGlobal[build.F32](k, "out")
		lane := k.TidX()
		s := tile.Padded(k, build.SharedArray[build.F32](k, "s", l.Rows*(cols+4)), l.Rows, cols)
		k.Loop(lane, l.Rows*cols, l.Lanes, func(i build.U32) {
			s.At(i.Div(cols), i.Rem(cols)).St(in.At(i).Ld())
		})
		k.SyncThreads()
		f := tile.NewFrag(k, l, k.F32(0))
		f.Load(lane, s)
		row, _ := f.Base(k, lane)
		var factors []build.F32
		for slot := range f.Slots() {
			factors = append(factors, row.Add(f.SlotRow(slot)).CvtRnF32())
		}
		f.MulRows(factors)
		f.Map(func(x build.F32, slot int, at tile.Pos) build.F32 { return x.Add(factors[slot]) })
		k.SyncThreads()
		f.Store(lane, s)
		k.SyncThreads()
		f.Fill(k.F32(0))
		f.Load(lane, s)
		write(k, lane, out, f)

		want := func(r, c int) float32 { return small(r, c)*float32(r) + float32(r) }
		for name, dev := range devices(t, ptx.SM80) {
			got := words(t, dev, k, l.Lanes, l.Lanes*f.Elements(), matrix(l.Rows, cols, small, single))
			wantFrag(t, l.Name+", "+name, f.Layout, got, want)
		}
	}
}

// TestMisuse checks that a misuse is an error at the line of the author's code.
func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		want string
		do   func(k *build.Kernel, w tile.Warp, s tile.Tile[build.F16])
	}{
		{"does not fit a fragment of 16×16", func(k *build.Kernel, w tile.Warp, s tile.Tile[build.F16]) {
			w.MMA(w.Accumulator(16), "S = Q·Kᵀ", w.A(s), w.BT(s))
		}},
		{"A has 64 columns and B has 32 rows", func(k *build.Kernel, w tile.Warp, s tile.Tile[build.F16]) {
			w.MMA(w.Accumulator(64), "U = P·V", w.A(s), w.B(s))
		}},
		{"rows of 48 bytes", func(k *build.Kernel, w tile.Warp, s tile.Tile[build.F16]) {
			tile.Swizzled(k, build.SharedArray[build.F16](k, "odd", 24*8), 8, 24)
		}},
		{"element 8 of a fragment: a lane has 8 elements", func(k *build.Kernel, w tile.Warp, s tile.Tile[build.F16]) {
			S := w.Accumulator(16)
			S.Set(8, S.Get(7))
		}},
		{"a ring of 0 buffers", func(k *build.Kernel, w tile.Warp, s tile.Tile[build.F16]) {
			tile.NewAsync(k, 0)
		}},
	} {
		k := build.New("misuse", ptx.SM80)
		c.do(k, tile.NewWarp(k, k.TidX()), tile.Padded(k, build.SharedArray[build.F16](k, "s", 32*72), 32, 64))
		_, err := k.PTX()
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "mma_test.go:") {
			t.Errorf("%v, want %q at a line of this file", err, c.want)
		}
	}
}

// TestComments checks that the PTX has a comment with the formula of each product.
func TestComments(t *testing.T) {
	k := build.New("product", ptx.SM80)
	w := tile.NewWarp(k, k.TidX())
	s := tile.Padded(k, build.SharedArray[build.F16](k, "s", 32*72), 32, 64)
	S := w.Accumulator(32)
	w.MMA(S, "S = Q·Kᵀ", w.A(s), w.BT(s))
	S.MulRows([]build.F32{k.F32(2), k.F32(3)})
	text, err := k.PTX()
	if err != nil {
		t.Fatal(err)
	}
	if want := "// S = Q*K^T, mma.sync m16n8k16 f16 f32"; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	// All lines must be those of the author, including those of closures of package tile.
	if strings.Count(text, ".file ") != 1 || !strings.Contains(text, `tile/mma_test.go"`) {
		t.Errorf("the PTX has lines of other files than this one:\n%s", text)
	}
}

func ExampleWarp_MMA() {
	k := build.New("scores", ptx.SM80)
	w := tile.NewWarp(k, k.TidX())
	Q := tile.Swizzled(k, build.SharedArray[build.F16](k, "q", 16*64), 16, 64)
	K := tile.Swizzled(k, build.SharedArray[build.F16](k, "k", 32*64), 32, 64)

	S := w.Accumulator(32) // 16×32
	w.MMA(S, "S = Q·Kᵀ", w.A(Q), w.BT(K))
	fmt.Println(S.Slots(), "rows per lane,", S.Elements(), "scores")
	// Output: 2 rows per lane, 16 scores
}
