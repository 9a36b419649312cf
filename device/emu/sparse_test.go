package emu

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/internal/ops"
	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// sparseFactor is the first factor of a sparse product.
type sparseFactor struct {
	shape  layout.Shape
	bits   int
	full   *testMatrix // the whole matrix, with zeros
	stored *testMatrix // without half of the elements
	meta   []uint8     // one entry per chunk, by rows
	noise  *rand.Rand  // for the lanes whose metadata is not used
}

// randomSparse returns a factor in which each row has two of four units in each chunk: elements of 16
// or 8 bits, halves of elements of 32 bits, or pairs of elements of 4 bits. The places of the units
// ascend if ordered is set.
func randomSparse(r *rand.Rand, typ string, s layout.Shape, ordered bool) *sparseFactor {
	f := &sparseFactor{shape: s, bits: ops.TypeBits(typ), noise: r}
	f.stored = randomMatrix(r, typ, s.M, s.K/2)
	f.full = &testMatrix{typ, s.M, s.K, make([]int, s.M*s.K)}
	for row := range s.M {
		for at := 0; at < s.K/2; { // the next stored element
			places := r.Perm(4)[:2]
			if f.bits == 32 {
				i := r.IntN(2)
				places = []int{2 * i, 2*i + 1}
			} else if ordered && places[0] > places[1] {
				places[0], places[1] = places[1], places[0]
			}
			f.meta = append(f.meta, uint8(places[0]|places[1]<<2))
			put := func(place int) {
				f.full.v[row*s.K+place] = f.stored.at(row, at)
				at++
			}
			switch chunk := 2 * at; f.bits {
			case 32:
				put(chunk + places[0]/2)
			case 4:
				for _, p := range places {
					put(chunk + 2*p)
					put(chunk + 2*p + 1)
				}
			default:
				put(chunk + places[0])
				put(chunk + places[1])
			}
		}
	}
	return f
}

// metadata returns the metadata register of a lane.
func (f *sparseFactor) metadata(lane, selector int) uint64 {
	if !layout.Selected(f.shape, f.bits, lane, selector) {
		return uint64(f.noise.Uint32())
	}
	m := layout.Metadata(f.shape, f.bits)
	word := uint64(0)
	for i := range m.Elements {
		at := m.At(lane, i)
		word |= uint64(f.meta[at.Row*m.Cols+at.Col]) << (4 * i)
	}
	return word
}

// TestSparseMMA compares every variant of mma.sp, with every selector, with the product of the
// factor that has the zeros.
func TestSparseMMA(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	n := 0
	for _, f := range isa.Forms("mma") {
		if !strings.HasPrefix(f.Syntax, "mma.variant") || f.Needs.Target.SM >= 100 {
			continue
		}
		for m := range f.Variants() {
			x := &isa.Bound{Inst: &ptx.Inst{Op: m.Opcode()}, Match: m}
			ts, s := ops.Types(x), ops.Shape(x)
			for selector := range layout.Selectors(s, ops.TypeBits(ts[1])) {
				testSparseMMA(t, r, m, ts, s, selector)
				n++
			}
		}
	}
	if n < 80 {
		t.Errorf("only %d products", n)
	}
}

func testSparseMMA(t *testing.T, r *rand.Rand, m isa.Match, ts []string, s layout.Shape, selector int) {
	t.Helper()
	bits := ops.TypeBits(ts[1])
	a := randomSparse(r, ts[1], s, m.Has("sp::ordered_metadata"))
	b, c := randomMatrix(r, ts[2], s.K, s.N), randomMatrix(r, ts[3], s.M, s.N)
	want := a.full.times(b, c, ts[0], "mul")
	_, fb, fc := layout.MMA(s, bits)
	fa, _, _ := layout.MMA(layout.Shape{M: s.M, N: s.N, K: s.K / 2}, bits)
	var in [32][]uint64
	for l := range in {
		in[l] = append(append(a.stored.registers(fa, l), b.registers(fb, l)...), c.registers(fc, l)...)
		in[l] = append(in[l], a.metadata(l, selector))
	}
	var data []byte
	for i := range in[0] {
		for l := range in {
			data = append(data, bytesOf(uint32(in[l][i]), 0)...)
		}
	}
	d := deviceFor(t, ptx.SM90a, Options{})
	src, dst := bufferWith(t, d, data), bufferWith(t, d, make([]byte, 8*256))
	text := productText(m, selector)
	if err := launchText(t, d, text, device.Launch{Block: device.D(32), Params: []device.Param{device.Ptr(src), device.Ptr(dst)}}); err != nil {
		t.Fatalf("%s: %v\n%s", m.Opcode().Text, err, text)
	}
	out := contents(t, dst)
	for l := range 32 {
		for i, v := range want.registers(fc, l) {
			if got := u64s(out[i*256+l*8:][:8])[0]; got != v {
				t.Fatalf("%s, selector %d: register %d of lane %d is %#x, want %#x", m.Opcode().Text, selector, i, l, got, v)
			}
		}
	}
}

// TestSparseWgmma tests each form of wgmma.mma_async.sp with some of its shapes and types, layouts,
// swizzles and scales, on numbers whose sums are exact.
func TestSparseWgmma(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	n := 0
	for _, f := range isa.Forms("wgmma") {
		if !strings.Contains(f.Syntax, "mma_async.sp.") {
			continue
		}
		for m := range f.Variants() {
			if s := m.Mod("shape"); r.IntN(24) == 0 || strings.Contains(s, "n8k") || strings.Contains(s, "n256k") {
				testWgmma(t, r, m)
				n++
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d variants", n)
	}
}

// TestSparseUnselected checks that elements of B that the metadata does not choose have no effect,
// even if they are not finite.
func TestSparseUnselected(t *testing.T) {
	text := kernelText(`
	mov.b32 %r1, 0x3c003c00; // A: ones
	mov.b32 %r2, 0x7c003c00; // B: ones and infinities
	mov.f32 %f0, 0f00000000;
	mov.b32 %r3, 0x88888888; // units 0 and 2 of each chunk
	mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r1}, {%r2, %r2}, {%f0, %f0, %f0, %f0}, %r3, 0;
	cvt.rni.u32.f32 %r0, %f3;
	st.global.u32 [%rd0], %r0;`)
	if got := u32s(runOn(t, deviceFor(t, ptx.SM90a, Options{}), text, 1, 32, bytesOf(0))); got[0] != 8 {
		t.Errorf("the sum of eight ones is %d", got[0])
	}
}
