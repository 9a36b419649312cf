package tile_test

import (
	"fmt"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/ptx"
)

// makers holds the ways to lay out a tile of f16.
var makers = map[string]func(k *build.Kernel, mem build.Shared[build.F16], rows, cols int) tile.Tile[build.F16]{
	"padded":   tile.Padded[build.F16],
	"swizzled": tile.Swizzled[build.F16],
	"plain": func(k *build.Kernel, mem build.Shared[build.F16], rows, cols int) tile.Tile[build.F16] {
		return tile.Pitched(k, mem, rows, cols, cols)
	},
}

// place returns the offset in bytes of element (r, c) of a tile of f16.
func place(kind string, cols, r, c int) int {
	pitch := 2 * cols
	switch kind {
	case "padded":
		pitch += 16
	case "swizzled":
		units := pitch / 16
		turn := r
		for u := units; u < 8; u *= 2 {
			turn /= 2
		}
		c ^= turn % min(units, 8) * 8
	}
	return r*pitch + 2*c
}

// TestTilePlaces checks the address of every element, computed directly and from a cursor eight
// rows above.
func TestTilePlaces(t *testing.T) {
	for kind, make := range makers {
		for _, cols := range []int{16, 32, 64, 128} {
			const rows = 24
			t.Run(fmt.Sprintf("%s/%d", kind, cols), func(t *testing.T) {
				k := build.New("places", ptx.SM80)
				out := build.ParamGlobal[build.U32](k, "out")
				mem := build.SharedArray[build.F16](k, "mem", rows*(cols+8))
				s := make(k, mem, rows, cols)
				k.Loop(k.TidX(), rows*cols, 128, func(i build.U32) {
					r, c := i.Div(cols), i.Rem(cols)
					at := s.At(r, c).Addr().Sub(mem.Addr())
					// If r is at least 8, start at row r-8 and column c mod 16.
					up := k.U32(8).Min(r)
					near := s.Cursor(r.Sub(up), c.And(15)).At(8, 0).Addr().Sub(mem.Addr())
					sub := s.Sub(r.And(^uint32(7)), k.U32(0), 8, cols).At(r.And(7), c).Addr().Sub(mem.Addr())
					to := out.At(i.MulLo(3))
					to.St(at)
					to.Plus(1).St(near)
					to.Plus(2).St(sub)
				})
				for name, dev := range devices(t, ptx.SM80) {
					got := words(t, dev, k, 128, 3*rows*cols)
					for r := range rows {
						for c := range cols {
							g := got[3*(r*cols+c):]
							if want := uint32(place(kind, cols, r, c)); g[0] != want || g[2] != want {
								t.Fatalf("%s: (%d, %d) is at %d, as part of a tile at %d, want %d", name, r, c, g[0], g[2], want)
							}
							if want := uint32(place(kind, cols, r, c%16)); r >= 8 && g[1] != want {
								t.Fatalf("%s: 8 rows below (%d, %d) is %d, want %d", name, r-8, c%16, g[1], want)
							}
						}
					}
				}
			})
		}
	}
}

// TestBankConflicts checks that ldmatrix has no bank conflicts in padded and swizzled tiles, and
// has some in plain tiles.
func TestBankConflicts(t *testing.T) {
	for kind, make := range makers {
		for _, cols := range []int{32, 64, 128} {
			k := build.New("read", ptx.SM80)
			out := build.ParamGlobal[build.B32](k, "out")
			const rows = 32
			s := make(k, build.SharedArray[build.F16](k, "mem", rows*(cols+8)), rows, cols)
			lane := k.TidX()
			w := tile.NewWarp(k, lane)
			k.Loop(lane, rows*cols, 32, func(i build.U32) {
				s.At(i.Div(cols), i.Rem(cols)).St(build.Cast[build.F16](i.CvtU16()))
			})
			w.Sync()
			A := w.A(s).Load()
			S, U := w.Accumulator(rows), w.Accumulator(cols)
			w.MMA(S, "S = A·Bᵀ", A, w.BT(s))
			w.MMA(U, "U = S·B", S.A(), w.B(s))
			for i := range U.Elements() {
				out.At(lane.MulLo(U.Elements())).Plus(i).St(build.Cast[build.B32](U.Get(i)))
			}
			c := count.New()
			dev, err := emu.New(ptx.SM80, emu.Options{Observer: c})
			if err != nil {
				t.Fatal(err)
			}
			words(t, dev, k, 32, 32*U.Elements())
			conflicts := c.Launches()[0].Shared.Conflicts
			if (conflicts == 0) != (kind != "plain") {
				t.Errorf("%s tile of %d columns: %d conflicts", kind, cols, conflicts)
			}
		}
	}
}
