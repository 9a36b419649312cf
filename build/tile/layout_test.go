package tile_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestLayoutsAgree compares every layout with that of the emulator. The two were written
// independently, and the emulator's was compared with a GPU.
func TestLayoutsAgree(t *testing.T) {
	mma := func(k, bits int) (a, b, d layout.Fragment) { return layout.MMA(layout.Shape{M: 16, N: 8, K: k}, bits) }
	wmmaA, wmmaB, wmmaD := layout.WMMA(layout.Shape{M: 16, N: 16, K: 16}, 16, true)
	wgmma := func(n, k, bits int) (a, d layout.Fragment) {
		return layout.WGMMA(layout.Shape{M: 64, N: n, K: k}, bits)
	}
	a16, b16, d16 := mma(16, 16)
	a8, b8, _ := mma(32, 8)
	a32, b32, _ := mma(8, 32)
	wa16, wd64 := wgmma(64, 16, 16)
	wa8, wd256 := wgmma(256, 32, 8)
	for _, c := range []struct {
		got  tile.Layout
		want layout.Fragment
	}{
		{tile.OperandA(16, 16), a16}, {tile.OperandB(16, 16), b16}, {tile.Accumulator(16, 8), d16},
		{tile.OperandA(32, 8), a8}, {tile.OperandB(32, 8), b8},
		{tile.OperandA(8, 32), a32}, {tile.OperandB(8, 32), b32},
		{tile.WmmaA(), wmmaA}, {tile.WmmaB(), wmmaB}, {tile.Accumulator(16, 16), wmmaD},
		{tile.WgmmaA(16, 16), wa16}, {tile.WgmmaA(32, 8), wa8},
		{tile.WgmmaAccumulator(64), wd64}, {tile.WgmmaAccumulator(256), wd256},
	} {
		if c.got.Elements() != c.want.Elements || c.got.Lanes != c.want.Lanes || c.got.Rows != c.want.Rows || c.got.Cols != c.want.Cols {
			t.Errorf("%s: %d elements in %d lanes, %d×%d; the emulator's is %+v",
				c.got.Name, c.got.Elements(), c.got.Lanes, c.got.Rows, c.got.Cols, c.want)
			continue
		}
		for lane := range c.got.Lanes {
			for i := range c.got.Elements() {
				if got, want := c.got.At(lane, i), tile.Pos(c.want.At(lane, i)); got != want {
					t.Fatalf("%s: element %d of lane %d is at %v, the emulator says %v", c.got.Name, i, lane, got, want)
				}
			}
		}
	}
}

// TestPlaces checks the row and column that a kernel computes for every element.
func TestPlaces(t *testing.T) {
	for _, l := range []tile.Layout{
		tile.Accumulator(8, 16), tile.Accumulator(16, 64), tile.OperandA(16, 16), tile.OperandB(32, 8),
		tile.WmmaA(), tile.WmmaB(), tile.WgmmaA(32, 8), tile.WgmmaAccumulator(32),
	} {
		k := build.New("places", ptx.SM80)
		out := build.ParamGlobal[build.U32](k, "out")
		lane := k.TidX()
		row, col := l.Base(k, lane)
		for i := range l.Elements() {
			r, c := row.Add(l.Elem(i).Row), col.Add(l.Elem(i).Col)
			out.At(lane.MulLo(l.Elements())).Plus(i).St(r.Shl(16).Or(c))
		}
		for name, dev := range devices(t, ptx.SM80) {
			got := words(t, dev, k, l.Lanes, l.Lanes*l.Elements())
			for at, w := range got {
				lane, i := at/l.Elements(), at%l.Elements()
				if p := (tile.Pos{Row: int(w >> 16), Col: int(w & 0xffff)}); p != l.At(lane, i) {
					t.Fatalf("%s, %s: element %d of lane %d is at %v, want %v", l.Name, name, i, lane, p, l.At(lane, i))
				}
			}
		}
	}
}

// loads lists instructions that load a matrix from memory into registers. Each lane must get
// the elements that the layout assigns to it.
var loads = []struct {
	name   string
	layout tile.Layout
	elem   int // bytes
	turned bool
	load   func(k *build.Kernel, in build.Global[build.F16], w tile.Warp) []build.B32
}{
	{"wmma.load.a", tile.WmmaA(), 2, false, func(k *build.Kernel, in build.Global[build.F16], _ tile.Warp) []build.B32 {
		return k.WmmaLoadA(build.M16n16k16, build.Row, ptx.F16, in, 16).B32()
	}},
	{"wmma.load.b", tile.WmmaB(), 2, false, func(k *build.Kernel, in build.Global[build.F16], _ tile.Warp) []build.B32 {
		return k.WmmaLoadB(build.M16n16k16, build.Row, ptx.F16, in, 16).B32()
	}},
	{"wmma.load.c", tile.Accumulator(16, 16), 4, false, func(k *build.Kernel, in build.Global[build.F16], _ tile.Warp) []build.B32 {
		return bits(k.WmmaLoadC(build.M16n16k16, build.Row, ptx.F32, build.GlobalAt[build.F32](in.Addr()), 16).F32())
	}},
	{"ldmatrix a", tile.OperandA(16, 16), 2, false, ldmatrix(16, 16, func(k *build.Kernel, w tile.Warp, t tile.Tile[build.F16]) []build.B32 {
		v := w.A(t).Load()[0]
		return v[:]
	})},
	{"ldmatrix a, bytes", tile.OperandA(32, 8), 1, false, ldmatrix(16, 16, func(k *build.Kernel, w tile.Warp, t tile.Tile[build.F16]) []build.B32 {
		v := w.A(t).Load()[0]
		return v[:]
	})},
	{"ldmatrix b", tile.OperandB(16, 16), 2, true, ldmatrix(8, 16, func(k *build.Kernel, w tile.Warp, t tile.Tile[build.F16]) []build.B32 {
		v := k.LdmatrixM8n8X2(t.At(w.Lane.And(7), w.Lane.And(8)))
		return v[:]
	})},
	{"ldmatrix b, bytes", tile.OperandB(32, 8), 1, true, ldmatrix(8, 16, func(k *build.Kernel, w tile.Warp, t tile.Tile[build.F16]) []build.B32 {
		v := k.LdmatrixM8n8X2(t.At(w.Lane.And(7), w.Lane.And(8)))
		return v[:]
	})},
}

func bits[T build.Value](vs []T) (bs []build.B32) {
	for _, v := range vs {
		bs = append(bs, build.Cast[build.B32](v))
	}
	return bs
}

// ldmatrix returns a function that copies a matrix of rows × cols f16 to shared memory and loads
// it from there.
func ldmatrix(rows, cols int, load func(*build.Kernel, tile.Warp, tile.Tile[build.F16]) []build.B32) func(*build.Kernel, build.Global[build.F16], tile.Warp) []build.B32 {
	return func(k *build.Kernel, in build.Global[build.F16], w tile.Warp) []build.B32 {
		s := tile.Padded(k, build.SharedArray[build.F16](k, "s", rows*(cols+8)), rows, cols)
		k.Loop(w.Lane, rows*cols, 32, func(i build.U32) {
			s.At(i.Div(cols), i.Rem(cols)).St(in.At(i).Ld())
		})
		w.Sync()
		return load(k, w, s)
	}
}

func TestLoads(t *testing.T) {
	for _, c := range loads {
		k := build.New("loads", ptx.SM80)
		in, out := build.ParamGlobal[build.F16](k, "in"), build.ParamGlobal[build.B32](k, "out")
		lane := k.TidX()
		regs := c.load(k, in, tile.NewWarp(k, lane))
		for i, r := range regs {
			out.At(lane.MulLo(len(regs))).Plus(i).St(r)
		}
		rows, cols := c.layout.Rows, c.layout.Cols
		at := number
		if c.turned {
			rows, cols, at = cols, rows, func(r, c int) float32 { return number(c, r) }
		}
		encode := map[int]func([]byte, float32) []byte{1: octet, 2: half, 4: single}[c.elem]
		data := matrix(rows, cols, at, encode)
		for name, dev := range devices(t, ptx.SM80) {
			got := words(t, dev, k, 32, 32*len(regs), data)
			for lane := range 32 {
				for i := range c.layout.Elements() {
					per := 4 / c.elem
					w := got[lane*len(regs)+i/per] >> (8 * c.elem * (i % per))
					p := c.layout.At(lane, i)
					if v := decode(w, c.elem); v != number(p.Row, p.Col) {
						t.Fatalf("%s, %s: element %d of lane %d is %v, want %v at %v", c.name, name, i, lane, v, number(p.Row, p.Col), p)
					}
				}
			}
		}
	}
}

func decode(w uint32, bytes int) float32 {
	switch bytes {
	case 1:
		return float32(w & 0xff)
	case 2:
		return fp8.FromF16(uint16(w))
	}
	return math.Float32frombits(w)
}

// TestWgmma multiplies with A in shared memory, and with A in registers that are filled according
// to the layout. Both must give the same product, in the layout of the accumulator.
func TestWgmma(t *testing.T) {
	const m, n, depth = 64, 16, 16
	for _, fromRegisters := range []bool{false, true} {
		k := build.New("product", ptx.SM90a)
		a, b, out := build.ParamGlobal[build.F16](k, "a"), build.ParamGlobal[build.F16](k, "b"), build.ParamGlobal[build.F32](k, "out")
		lane := k.TidX()
		as := build.SharedAlign(build.SharedArray[build.F16](k, "as", m*depth), 128)
		bs := build.SharedAlign(build.SharedArray[build.F16](k, "bs", n*depth), 128)
		cores(k, lane, a, as, m)
		cores(k, lane, b, bs, n)
		k.FenceProxyAsyncSharedCta()
		k.SyncThreads()

		l := tile.WgmmaA(depth, 16)
		row, col := l.Base(k, lane)
		var regs [4]build.B32
		for w := range regs {
			e := l.Elem(2 * w)
			at := a.At(row.MadLo(depth, col)).Plus(e.Row*depth + e.Col)
			regs[w] = build.Pack2[build.B32](at.Ld(), at.Plus(1).Ld())
		}
		form := build.WgmmaForm{A: ptx.F16, B: ptx.F16}
		d := build.Vars(k.F32(0), n/2)
		k.WgmmaFence()
		if fromRegisters {
			k.WgmmaMmaAsync(form, d, regs, coreDescriptor(k, bs), k.Pred(true))
		} else {
			k.WgmmaMmaAsync(form, d, coreDescriptor(k, as), coreDescriptor(k, bs), k.Pred(true))
		}
		k.WgmmaCommitGroup()
		k.WgmmaWaitGroup(0)
		for i, v := range d {
			out.At(lane.MulLo(n / 2)).Plus(i).St(v.Get())
		}

		bt := func(r, c int) float32 { return small(c+1, r) } // B transposed
		want := tile.WgmmaAccumulator(n)
		for name, dev := range devices(t, ptx.SM90a) {
			got := words(t, dev, k, 128, 128*n/2, matrix(m, depth, small, half), matrix(n, depth, bt, half))
			for lane := range 128 {
				for i := range n / 2 {
					p := want.At(lane, i)
					sum := float32(0)
					for e := range depth {
						sum += small(p.Row, e) * bt(p.Col, e)
					}
					if v := math.Float32frombits(got[lane*n/2+i]); v != sum {
						t.Fatalf("%s, A from registers %t: element %d of lane %d is %v, want %v at %v", name, fromRegisters, i, lane, v, sum, p)
					}
				}
			}
		}
	}
}

// cores copies a matrix with 16 f16 per row into core matrices of 8 rows of 16 bytes. The two
// core matrices beside each other come first, then the two below them.
func cores(k *build.Kernel, tid build.U32, from build.Global[build.F16], to build.Shared[build.F16], rows uint32) {
	k.Loop(tid, 16*rows, 128, func(i build.U32) {
		r, c := i.Shr(4), i.And(15)
		core := r.Shr(3).Shl(1).Add(c.Shr(3))
		at := core.Shl(6).Add(r.And(7).Shl(3)).Add(c.And(7))
		to.At(at).St(from.At(i).Ld())
	})
}

// coreDescriptor returns the wgmma descriptor of the matrix that cores writes: no swizzle, a
// distance of 128 bytes between core matrices along K, and of 256 bytes along the rows.
func coreDescriptor(k *build.Kernel, s build.Shared[build.F16]) build.U64 {
	start := s.Addr().Shr(4).And(0x3fff).CvtU64()
	return start.Or(256>>4<<32 | 128>>4<<16)
}

func ExampleLayout() {
	// Lane 5 of a warp after mma.sync.m16n8k16: its third element.
	fmt.Println(tile.Accumulator(16, 8).At(5, 2))
	// Output: {9 2}
}
