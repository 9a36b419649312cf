package emu

import (
	"encoding/binary"
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

// halfwords returns the 16-bit values 1 to n.
func halfwords(n int) (b []byte) {
	for i := range n {
		b = binary.LittleEndian.AppendUint16(b, uint16(i+1))
	}
	return b
}

// matrixMoveText returns a kernel that copies in to shared memory, loads matrices from it with
// ldmatrix, rows in reverse order, and stores them behind it with stmatrix, rows in order. It
// writes the registers and then the shared memory to out.
func matrixMoveText(num, load, store string) string {
	regs := map[string]string{"x1": "{v}", "x2": "{v, w}", "x4": "{v, w, n, s}"}[num]
	return asyncHead + fmt.Sprintf(`
	mov.u32 a, buf;
	shl.b32 b, tid, 4;
	cvt.u64.u32 x, b;
	add.u64 in, in, x;
	add.u64 out, out, x;
	add.u32 c, a, b;
	ld.global.v4.u32 {v, w, n, s}, [in];
	st.shared.v4.u32 [c], {v, w, n, s};
	bar.warp.sync 0xffffffff;
	mov.u32 v, 0;
	mov.u32 w, 0;
	mov.u32 n, 0;
	mov.u32 s, 0;
	xor.b32 b, b, 496;
	add.u32 b, a, b;
	ldmatrix.sync.aligned.m8n8.%s%s.shared.b16 %s, [b];
	st.global.v4.u32 [out], {v, w, n, s};
	stmatrix.sync.aligned.m8n8.%s%s.shared.b16 [c+512], %s;
	bar.warp.sync 0xffffffff;
	ld.shared.v4.u32 {v, w, n, s}, [c+512];
	st.global.v4.u32 [out+512], {v, w, n, s};
	ret;
}
`, num, load, regs, num, store, regs)
}

// TestMatrixMoves compares ldmatrix and stmatrix with the figure in the manual: lane l holds
// elements 2·(l%4) and 2·(l%4)+1 of row l/4 of each matrix.
func TestMatrixMoves(t *testing.T) {
	in := halfwords(256)
	value := func(matrix, row, col int) uint32 { return uint32((31-(8*matrix+row))*8 + col + 1) }
	for _, num := range []string{"x1", "x2", "x4"} {
		count := int(num[1] - '0')
		for _, load := range []string{"", ".trans"} {
			for _, store := range []string{"", ".trans"} {
				d := deviceFor(t, ptx.SM90a, Options{})
				src, dst := bufferWith(t, d, in), bufferWith(t, d, make([]byte, 1024))
				if err := launchText(t, d, matrixMoveText(num, load, store), device.Launch{Block: device.D(32), Params: []device.Param{device.Ptr(src), device.Ptr(dst)}}); err != nil {
					t.Fatal(err)
				}
				got := contents(t, dst)
				for l := range 32 {
					for i := range count {
						row, col := l/4, l%4*2
						want := value(i, row, col) | value(i, row, col+1)<<16
						if load != "" {
							want = value(i, col, row) | value(i, col+1, row)<<16
						}
						if v := u32s(got[16*l+4*i:][:4])[0]; v != want {
							t.Fatalf("%s%s: register %d of lane %d is %#x, want %#x", num, load, i, l, v, want)
						}
					}
				}
				for i := range 32 * 8 {
					want := uint32(0)
					if m, row, col := i/64, i/8%8, i%8; m < count {
						if want = value(m, row, col); load != store {
							want = value(m, col, row)
						}
					}
					if v := uint32(binary.LittleEndian.Uint16(got[512+2*i:])); v != want {
						t.Fatalf("%s%s%s: element %d stored is %d, want %d", num, load, store, i, v, want)
					}
				}
			}
		}
	}
}

func TestMoveMatrix(t *testing.T) {
	text := kernelText(`
	shl.b32 %r1, %r0, 1;
	or.b32 %r2, %r1, 1;
	shl.b32 %r2, %r2, 16;
	or.b32 %r1, %r1, %r2;
	movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r1;` + store)
	for l, v := range u32s(runText(t, text, 1, 32, 128)) {
		row, col := l/4, l%4*2
		if want := uint32(col*8 + row | ((col+1)*8+row)<<16); v != want {
			t.Errorf("lane %d has %#x, want %#x", l, v, want)
		}
	}
}

// TestFragmentLoads loads fragments with every variant of wmma.load and compares the
// registers. It stores fragments of c with wmma.store and compares the memory.
func TestFragmentLoads(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, f := range isa.Forms("wmma") {
		for m := range f.Variants() {
			if m.Has("load") && m.Mod("ss") != "shared::cta" {
				testFragmentLoad(t, r, m)
			}
		}
	}
}

func testFragmentLoad(t *testing.T, r *rand.Rand, m isa.Match) {
	t.Helper()
	x := &isa.Bound{Inst: &ptx.Inst{Op: m.Opcode()}, Match: m}
	typ, s, matrix := m.Mod("type"), ops.Shape(x), m.Mod("matrix")
	bits := ops.TypeBits(typ)
	a, b, c := layout.WMMA(s, bits, typ == "f16")
	frag, rows, cols := c, s.M, s.N
	switch matrix {
	case "a":
		frag, cols = a, s.K
	case "b":
		frag, rows = b, s.K
	}
	want := randomMatrix(r, typ, rows, cols)
	outer, inner := rows, cols
	if m.Mod("layout") == "col" {
		outer, inner = cols, rows
	}
	stride := inner
	strided := r.IntN(2) == 0 && bits >= 8
	if strided {
		stride += 16
	}
	data := make([]byte, 4096)
	for i := range outer {
		for j := range inner {
			row, col := i, j
			if m.Mod("layout") == "col" {
				row, col = j, i
			}
			bit := (i*stride + j) * bits
			for k := range max(1, bits/8) {
				data[bit/8+k] |= byte(matrixValue(typ, want.at(row, col)) >> (8 * k) << (bit % 8))
			}
		}
	}
	regs := m.Count(&m.Form.Params[0])
	d := deviceFor(t, ptx.SM90a, Options{})
	src, dst, back := bufferWith(t, d, data), bufferWith(t, d, make([]byte, 8*256)), bufferWith(t, d, make([]byte, 4096))
	text := fragmentText(m, regs, bits == 64, strided, stride)
	if err := launchText(t, d, text, device.Launch{Block: device.D(32), Params: []device.Param{device.Ptr(src), device.Ptr(dst), device.Ptr(back)}}); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	out := contents(t, dst)
	for l := range 32 {
		for i, v := range want.registers(frag, l) {
			if got := u64s(out[i*256+l*8:][:8])[0]; got != v {
				t.Fatalf("%s: register %d of lane %d is %#x, want %#x", m.Opcode().Text, i, l, got, v)
			}
		}
	}
	if matrix == "c" && string(contents(t, back)) != string(data) {
		t.Fatalf("%s: wmma.store stores different values", m.Opcode().Text)
	}
}

// fragmentText returns a kernel that loads a fragment from in, or from shared memory that
// holds a copy of in. It stores the registers to out and, for an accumulator, the matrix to
// back.
func fragmentText(m isa.Match, regs int, wide, strided bool, stride int) string {
	size, list := "b32", []string{}
	if wide {
		size = "b64"
	}
	var store strings.Builder
	for i := range regs {
		list = append(list, fmt.Sprintf("f%d", i))
		fmt.Fprintf(&store, "st.global.%s [out+%d], f%d;\n", size, 256*i, i)
	}
	vec, tail := "{"+strings.Join(list, ", ")+"}", ";\n"
	if strided {
		tail = fmt.Sprintf(", %d;\n", stride)
	}
	from := "in"
	if strings.HasPrefix(m.Mod("ss"), "shared") {
		from = "buf"
	}
	text := m.Opcode().Text + " " + vec + ", [" + from + "]" + tail + store.String()
	if m.Mod("matrix") == "c" {
		to := "back"
		if from == "buf" {
			to = "buf"
		}
		op := strings.Replace(m.Opcode().Text, "load.c", "store.d", 1)
		text += op + " [" + to + "], " + vec + tail
		if to == "buf" {
			text += copyLoop("sb", "ld.shared.b32 v, [a]; st.global.b32 [back], v;", "back")
		}
	}
	return `.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout, .param .u64 pback)
{
	.reg .pred p; .reg .b32 tid, a, v, n; .reg .b64 in, out, back, off, z;
	.reg .` + size + " " + strings.Join(list, ", ") + `;
	.shared .align 128 .b8 buf[4096];
	ld.param.u64 in, [pin];
	ld.param.u64 out, [pout];
	ld.param.u64 back, [pback];
	mov.u32 tid, %tid.x;
	mul.wide.u32 off, tid, 8;
	add.u64 out, out, off;
	mov.u64 z, in;
` + copyLoop("fb", "ld.global.b32 v, [z]; st.shared.b32 [a], v;", "z") + text + "ret;\n}\n"
}

// copyLoop returns a loop that executes a step for each word of buf. It increments a and one
// pointer.
func copyLoop(label, step, pointer string) string {
	return "mov.u32 a, buf; mov.u32 n, 0;\n" + label + ": " + step + " add.u32 a, a, 4; add.u64 " + pointer + ", " + pointer +
		", 4; add.u32 n, n, 4; setp.lt.u32 p, n, 4096; @p bra " + label + ";\n"
}
