package emu

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/internal/ops"
	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// sharedTile is a factor of wgmma in shared memory: lines (rows of a, columns of b) of 32
// bytes along the contraction.
type sharedTile struct {
	swizzle    device.Swizzle
	transposed bool // lines are contiguous, not the contraction
	start      int
	lbo, sbo   int
}

// desc returns the matrix descriptor of the tile.
func (s *sharedTile) desc() uint64 {
	mode := [...]uint64{0, 3, 2, 1}[s.swizzle]
	return uint64(s.start>>4) | uint64(s.lbo>>4)<<16 | uint64(s.sbo>>4)<<32 | mode<<62
}

// place returns the offset in shared memory of byte b of a line.
func (s *sharedTile) place(line, b int) int {
	span := [...]int{16, 32, 64, 128}[s.swizzle]
	var at int
	switch {
	case !s.transposed && s.swizzle == device.NoSwizzle: // 8×16-byte core matrices
		at = line/8*s.sbo + b/16*s.lbo + line%8*16 + b%16
	case !s.transposed:
		at = line/8*s.sbo + line%8*span + b/span*s.lbo + b%span
	default: // 16-bit elements: 8 lines have 16 bytes
		k, unit, in := b/2, line/8, line%8*2+b%2
		if s.swizzle == device.NoSwizzle {
			at = unit*s.sbo + k/8*s.lbo + k%8*16 + in
		} else {
			per := span / 16
			at = unit/per*s.lbo + unit%per*16 + k/8*s.sbo + k%8*span + in
		}
	}
	return swizzlePlace(s.swizzle, s.start+at)
}

// randomTile returns a tile of n lines of width bytes with random offsets, such that its parts do not
// overlap.
func randomTile(r *rand.Rand, start, n, width int, transposed bool) *sharedTile {
	s := &sharedTile{swizzle: device.Swizzle(r.IntN(4)), transposed: transposed, start: start}
	span := [...]int{16, 32, 64, 128}[s.swizzle]
	atom := 8 * span
	switch {
	case span == 16:
		s.lbo = atom * (1 + r.IntN(2))
		s.sbo = width / 16 * s.lbo * (1 + r.IntN(2))
	case !transposed:
		s.sbo = atom * (1 + r.IntN(2))
		s.lbo = n / 8 * s.sbo // used only if lines are wider than the atom
		if span > width {
			s.start += width * r.IntN(span/width) // a later step of the contraction
		}
	default:
		s.sbo = atom * (1 + r.IntN(2))
		s.lbo = width / 16 * s.sbo
	}
	return s
}

// put writes a matrix, lines of which are rows, into an image of shared memory.
func (s *sharedTile) put(image []byte, m *testMatrix) {
	bits := ops.TypeBits(m.typ)
	for line := range m.rows {
		for k := range m.cols {
			v := matrixValue(m.typ, m.at(line, k))
			bit := k * bits
			for b := range max(1, bits/8) {
				image[s.place(line, bit/8+b)] |= byte(v >> (8 * b) << (bit % 8))
			}
		}
	}
}

const wgmmaRoom = 96 << 10 // bytes of the image: a is at 0, b is at 24 KiB

// wgmmaText returns a kernel of one warpgroup that fills shared memory from image, loads the
// registers of d and a, and multiplies. It stores the registers of d before and after the
// wait: both must be the product. A sparse product also loads metadata and gets the selector.
func wgmmaText(m isa.Match, selector int, tail string) string {
	var decl, load, args, early, late strings.Builder
	at := 0
	for i := range m.Form.Params {
		p := &m.Form.Params[i]
		switch {
		case p.Name == "aDesc" || p.Name == "bDesc":
			args.WriteString(", " + p.Name)
			continue
		case p.Name == "spMeta":
			fmt.Fprintf(&decl, ".reg .b32 spMeta;\n")
			fmt.Fprintf(&load, "ld.global.b32 spMeta, [in+%d];\n", at*512)
			fmt.Fprintf(&args, ", spMeta, %d", selector)
			continue
		case m.Count(p) == 0:
			continue
		}
		var names []string
		for e := range m.Count(p) {
			r := fmt.Sprintf("%s%d", p.Name, e)
			names = append(names, r)
			fmt.Fprintf(&decl, ".reg .b32 %s;\n", r)
			fmt.Fprintf(&load, "ld.global.b32 %s, [in+%d];\n", r, at*512)
			at++
			if p.Name == "d" {
				fmt.Fprintf(&early, "st.global.b32 [out+%d], %s;\n", e*512, r)
				fmt.Fprintf(&late, "st.global.b32 [out+%d], %s;\n", 65536+e*512, r)
			}
		}
		if i > 0 {
			args.WriteString(", ")
		}
		args.WriteString("{" + strings.Join(names, ", ") + "}")
	}
	return `.version 8.7
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 buf[];
.visible .entry k(.param .u64 pimage, .param .u64 pin, .param .u64 pout, .param .u64 pa, .param .u64 pb, .param .u32 pscale)
{
	.reg .pred p, scale; .reg .b32 tid, a, v, n; .reg .b64 image, in, out, off, aDesc, bDesc;
	ld.param.u64 image, [pimage];
	ld.param.u64 in, [pin];
	ld.param.u64 out, [pout];
	ld.param.u64 aDesc, [pa];
	ld.param.u64 bDesc, [pb];
	ld.param.u32 v, [pscale];
	setp.ne.u32 scale, v, 0;
	mov.u32 tid, %tid.x;
	mul.wide.u32 off, tid, 4;
	add.u64 in, in, off;
	add.u64 out, out, off;
	add.u64 image, image, off;
	mov.u32 a, buf;
	mad.lo.u32 a, tid, 4, a;
	mov.u32 n, 0;
fill:	ld.global.b32 v, [image];
	st.shared.b32 [a], v;
	add.u32 a, a, 512;
	add.u64 image, image, 512;
	add.u32 n, n, 512;
	setp.lt.u32 p, n, ` + fmt.Sprint(wgmmaRoom) + `;
	@p bra fill;
	bar.sync 0;
	fence.proxy.async;
	wgmma.fence.sync.aligned;
` + decl.String() + load.String() + m.Opcode().Text + " " + args.String() + ", scale" + tail + ";\n" +
		"wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n" + early.String() +
		"wgmma.wait_group.sync.aligned 0;\n" + late.String() + "ret;\n}\n"
}

// TestWgmma tests each form with some of its shapes and types, layouts, swizzles and scales,
// on numbers whose sums are exact.
func TestWgmma(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	n := 0
	for _, f := range isa.Forms("wgmma") {
		if strings.Contains(f.Syntax, "mma_async.sp.") { // TestSparseWgmma tests sparse products
			continue
		}
		for m := range f.Variants() {
			s := m.Mod("shape")
			if !m.Has("mma_async") || r.IntN(24) != 0 && !strings.Contains(s, "n8k") && !strings.Contains(s, "n256k") {
				continue
			}
			testWgmma(t, r, m)
			n++
		}
	}
	if n < 100 {
		t.Errorf("only %d variants", n)
	}
}

// wgmmaCase is a product with random factors, layouts and scales.
type wgmmaCase struct {
	m             isa.Match
	a, b, c, want *testMatrix
	sparse        *sparseFactor // with a as its stored elements, or nil
	selector      int
	ta, tb        *sharedTile
	tail          string // the immediate operands
	keep          bool   // add c
}

func randomWgmma(r *rand.Rand, m isa.Match, ts []string, s layout.Shape) *wgmmaCase {
	w := &wgmmaCase{m: m}
	w.a, w.b, w.c = randomMatrix(r, ts[1], s.M, s.K), randomMatrix(r, ts[2], s.N, s.K), randomMatrix(r, ts[0], s.M, s.N)
	full := w.a
	if w.has("spMeta") {
		w.sparse = randomSparse(r, ts[1], s, r.IntN(2) == 0)
		w.a, full = w.sparse.stored, w.sparse.full
		w.selector = r.IntN(layout.Selectors(s, ops.TypeBits(ts[1])))
	}
	var transA, transB bool
	sign := 1
	if w.has("immScaleA") {
		scaleA, scaleB := 1-2*r.IntN(2), 1-2*r.IntN(2)
		sign = scaleA * scaleB
		w.tail = fmt.Sprintf(", %d, %d", scaleA, scaleB)
	}
	if w.has("immTransA") {
		transA = r.IntN(2) == 1
		w.tail += fmt.Sprintf(", %d", b2u(transA))
	}
	if w.has("immTransB") {
		transB = r.IntN(2) == 1
		w.tail += fmt.Sprintf(", %d", b2u(transB))
	}
	w.keep = r.IntN(3) > 0
	width := s.K * ops.TypeBits(ts[1]) / 8
	w.ta, w.tb = randomTile(r, 0, s.M, 32, transA), randomTile(r, 24<<10, s.N, width, transB)
	w.want = &testMatrix{ts[0], s.M, s.N, make([]int, s.M*s.N)}
	for i := range s.M {
		for j := range s.N {
			for k := range s.K {
				w.want.v[i*s.N+j] += full.at(i, k) * w.b.at(j, k) * sign
			}
			if w.keep {
				w.want.v[i*s.N+j] += w.c.at(i, j)
			}
		}
	}
	return w
}

// has reports whether the instruction has an operand.
func (w *wgmmaCase) has(name string) bool { return strings.Contains(w.m.Form.Syntax, name+":") }

// image returns the initial content of shared memory.
func (w *wgmmaCase) image() []byte {
	image := make([]byte, wgmmaRoom)
	w.ta.put(image, w.a)
	w.tb.put(image, w.b)
	return image
}

// inputs returns the registers of d and of a, if a is in registers.
func (w *wgmmaCase) inputs(fa, fd layout.Fragment) (in []byte) {
	regs := make([][]uint64, 128)
	for l := range regs {
		regs[l] = w.c.registers(fd, l)
		if !w.has("aDesc") {
			regs[l] = append(regs[l], w.a.registers(fa, l)...)
		}
		if w.sparse != nil {
			regs[l] = append(regs[l], w.sparse.metadata(l, w.selector))
		}
	}
	for i := range regs[0] {
		for l := range regs {
			in = append(in, bytesOf(uint32(regs[l][i]))...)
		}
	}
	return in
}

func testWgmma(t *testing.T, r *rand.Rand, m isa.Match) {
	t.Helper()
	x := &isa.Bound{Inst: &ptx.Inst{Op: m.Opcode()}, Match: m}
	ts, s := ops.Types(x), ops.Shape(x)
	w := randomWgmma(r, m, ts, s)
	bits := ops.TypeBits(ts[1])
	fa, fd := layout.WGMMA(s, bits)
	if w.sparse != nil {
		fa, _ = layout.WGMMA(layout.Shape{M: s.M, N: s.N, K: s.K / 2}, bits)
	}
	d := deviceFor(t, ptx.SM90a, Options{})
	out := bufferWith(t, d, make([]byte, 128<<10))
	text := wgmmaText(m, w.selector, w.tail)
	err := launchText(t, d, text, device.Launch{Block: device.D(128), Shared: wgmmaRoom, Params: []device.Param{
		device.Ptr(bufferWith(t, d, w.image())), device.Ptr(bufferWith(t, d, w.inputs(fa, fd))), device.Ptr(out),
		device.U64(w.ta.desc()), device.U64(w.tb.desc()), device.U32(b2u(w.keep))}})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got := u32s(contents(t, out))
	for l := range 128 {
		after := w.want.registers(fd, l)
		for i := range after {
			if v := got[i*128+l]; v != uint32(after[i]) {
				t.Fatalf("%s%s: register %d of thread %d is %#x before the wait, want %#x", m.Opcode().Text, w.tail, i, l, v, after[i])
			}
			if v := got[16384+i*128+l]; v != uint32(after[i]) {
				t.Fatalf("%s%s (a %+v, b %+v, keep %v): register %d of thread %d is %#x, want %#x",
					m.Opcode().Text, w.tail, *w.ta, *w.tb, w.keep, i, l, v, after[i])
			}
		}
	}
}

func TestWgmmaFaults(t *testing.T) {
	const body = `
	.reg .b64 %%d<2>;
	mov.b64 %%d0, %s;
	mov.b64 %%d1, 0;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%%f0, %%f1, %%f2, %%f3}, %%d0, %%d1, 0, 1, 1, 0, 0;
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;`
	d := deviceFor(t, ptx.SM90a, Options{})
	failText(t, d, kernelText(fmt.Sprintf(body, "0x3fff")), 1, 128, "matrix descriptor", "wgmma.mma_async", "past its")
	failText(t, d, kernelText(fmt.Sprintf(body, "0")), 1, 96, "warpgroup has four warps")
}
