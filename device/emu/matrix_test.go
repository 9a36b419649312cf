package emu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/internal/ops"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// matrixValue encodes a small integer as an element of a type.
func matrixValue(t string, v int) uint64 {
	f := math.Float32bits(float32(v))
	switch t {
	case "f16":
		return uint64(scalar.CvtF16F32(f))
	case "bf16":
		return uint64(scalar.CvtBF16F32(f))
	case "f32", "tf32":
		return uint64(f)
	case "e4m3":
		return uint64(scalar.CvtE4M3F32(f))
	case "e5m2":
		return uint64(scalar.CvtE5M2F32(f))
	case "f64":
		return math.Float64bits(float64(v))
	}
	return uint64(v) & (1<<ops.TypeBits(t) - 1)
}

// testMatrix is a matrix of small numbers that a type can hold.
type testMatrix struct {
	typ  string
	rows int
	cols int
	v    []int
}

func randomMatrix(r *rand.Rand, typ string, rows, cols int) *testMatrix {
	m := &testMatrix{typ, rows, cols, make([]int, rows*cols)}
	for i := range m.v {
		switch typ {
		case "b1":
			m.v[i] = r.IntN(2)
		case "u4", "u8":
			m.v[i] = r.IntN(16)
		default:
			m.v[i] = r.IntN(7) - 3
		}
	}
	return m
}

func (m *testMatrix) at(row, col int) int { return m.v[row*m.cols+col] }

// registers returns a lane's registers of a fragment of the matrix.
func (m *testMatrix) registers(f layout.Fragment, lane int) (regs []uint64) {
	bits := ops.TypeBits(m.typ)
	per := max(1, 32/bits)
	for i := range f.Elements {
		p := f.At(lane, i)
		if i%per == 0 {
			regs = append(regs, 0)
		}
		regs[i/per] |= matrixValue(m.typ, m.at(p.Row, p.Col)) << (i % per * bits)
	}
	return regs
}

// times returns m·b + c, or for single bits the number of set bits after op.
func (m *testMatrix) times(b, c *testMatrix, typ, op string) *testMatrix {
	d := &testMatrix{typ, c.rows, c.cols, make([]int, len(c.v))}
	for i := range c.rows {
		for j := range c.cols {
			sum := c.at(i, j)
			for k := range m.cols {
				x, y := m.at(i, k), b.at(k, j)
				switch op {
				case "xor":
					sum += x ^ y
				default: // for single bits, and is a product
					sum += x * y
				}
			}
			d.v[i*c.cols+j] = sum
		}
	}
	return d
}

// productText returns a kernel of one warp that loads the registers of a, b, c and the metadata of
// a from in, 8 bytes per register and lane, multiplies, and stores the registers of d to out. A
// sparse product gets the selector.
func productText(m isa.Match, selector int) string {
	var decl, load, args, store strings.Builder
	at := 0
	for i := range m.Form.Params {
		p := &m.Form.Params[i]
		size := "b32"
		if m.Type(p).Bits() == 64 {
			size = "b64"
		}
		var names []string
		for e := range m.Count(p) {
			r := fmt.Sprintf("%s%d", p.Name, e)
			names = append(names, r)
			fmt.Fprintf(&decl, ".reg .%s %s;\n", size, r)
			if p.Access == isa.Write {
				fmt.Fprintf(&store, "st.global.%s [out+%d], %s;\n", size, e*256, r)
			} else {
				fmt.Fprintf(&load, "ld.global.%s %s, [in+%d];\n", size, r, at*256)
				at++
			}
		}
		if i > 0 {
			args.WriteString(", ")
		}
		switch {
		case p.Kind == isa.Imm:
			fmt.Fprint(&args, selector)
		case p.Name == "e":
			fmt.Fprintf(&decl, ".reg .b32 e;\n")
			fmt.Fprintf(&load, "ld.global.b32 e, [in+%d];\n", at*256)
			args.WriteString("e")
		default:
			args.WriteString("{" + strings.Join(names, ", ") + "}")
		}
	}
	return `.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout)
{
	.reg .b32 tid; .reg .b64 in, out, off;
	ld.param.u64 in, [pin];
	ld.param.u64 out, [pout];
	mov.u32 tid, %tid.x;
	mul.wide.u32 off, tid, 8;
	add.u64 in, in, off;
	add.u64 out, out, off;
` + decl.String() + load.String() + m.Opcode().Text + " " + args.String() + ";\n" + store.String() + "ret;\n}\n"
}

// testProduct runs one instruction on small random numbers, whose sums are exact in every
// type, and compares all registers of the result.
func testProduct(t *testing.T, r *rand.Rand, m isa.Match, ts []string, s layout.Shape, frag func(t string) (a, b, c layout.Fragment)) {
	t.Helper()
	a, b, c := randomMatrix(r, ts[1], s.M, s.K), randomMatrix(r, ts[2], s.K, s.N), randomMatrix(r, ts[3], s.M, s.N)
	op := "mul"
	if m.Has("xor") {
		op = "xor"
	}
	want := a.times(b, c, ts[0], op)
	fa, fb, fc := frag(ts[3])
	_, _, fd := frag(ts[0])
	var in [32][]uint64
	for l := range in {
		in[l] = append(append(a.registers(fa, l), b.registers(fb, l)...), c.registers(fc, l)...)
	}
	var data []byte
	for i := range in[0] {
		for l := range in {
			data = append(data, bytesOf(uint32(in[l][i]), uint32(in[l][i]>>32))...)
		}
	}
	d := deviceFor(t, ptx.SM90a, Options{})
	src, dst := bufferWith(t, d, data), bufferWith(t, d, make([]byte, 8*256))
	text := productText(m, 0)
	if err := launchText(t, d, text, device.Launch{Block: device.D(32), Params: []device.Param{device.Ptr(src), device.Ptr(dst)}}); err != nil {
		t.Fatalf("%s: %v\n%s", m.Opcode().Text, err, text)
	}
	out := contents(t, dst)
	for l := range 32 {
		for i, v := range want.registers(fd, l) {
			got := u64s(out[i*256+l*8:][:8])[0]
			if m.Has("rm") && got == 1<<63 {
				got = 0 // a sum that cancels is -0 if it is rounded down
			}
			if got != v {
				t.Fatalf("%s: register %d of lane %d is %#x, want %#x", m.Opcode().Text, i, l, got, v)
			}
		}
	}
}

// TestMMA tests every variant of mma.sync.
func TestMMA(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	n := 0
	for _, f := range isa.Forms("mma") {
		if strings.HasPrefix(f.Syntax, "mma.variant") || ops.NotExecuted(f.Family.Name) != "" { // TestSparseMMA tests sparse products
			continue
		}
		for m := range f.Variants() {
			x := &isa.Bound{Inst: &ptx.Inst{Op: m.Opcode()}, Match: m}
			ts, s := ops.Types(x), ops.Shape(x)
			n++
			if ts[1] == "f16" && s.K == 4 {
				testQuarters(t, r, m, ts)
				continue
			}
			testProduct(t, r, m, ts, s, func(string) (a, b, c layout.Fragment) { return layout.MMA(s, ops.TypeBits(ts[1])) })
		}
	}
	if n < 80 {
		t.Errorf("only %d variants", n)
	}
}

// testQuarters tests m8n8k4, which computes four products at once.
func testQuarters(t *testing.T, r *rand.Rand, m isa.Match, ts []string) {
	t.Helper()
	fa, fb, full, half := layout.Quarter(m.Mod("alayout") == "col", m.Mod("blayout") == "col")
	place := map[string]layout.Fragment{"f32": full, "f16": half}
	fc, fd := place[ts[3]], place[ts[0]]
	var in [32][]uint64
	var want [4]*testMatrix
	for q := range 4 {
		a, b, c := randomMatrix(r, "f16", 8, 4), randomMatrix(r, "f16", 4, 8), randomMatrix(r, ts[3], 8, 8)
		want[q] = a.times(b, c, ts[0], "mul")
		for l := range 32 {
			if layout.QuarterOf(l) == q {
				in[l] = append(append(a.registers(fa, l), b.registers(fb, l)...), c.registers(fc, l)...)
			}
		}
	}
	var data []byte
	for i := range in[0] {
		for l := range in {
			data = append(data, bytesOf(uint32(in[l][i]), 0)...)
		}
	}
	d := deviceFor(t, ptx.SM90a, Options{})
	src, dst := bufferWith(t, d, data), bufferWith(t, d, make([]byte, 8*256))
	if err := launchText(t, d, productText(m, 0), device.Launch{Block: device.D(32), Params: []device.Param{device.Ptr(src), device.Ptr(dst)}}); err != nil {
		t.Fatal(err)
	}
	out := contents(t, dst)
	for l := range 32 {
		for i, v := range want[layout.QuarterOf(l)].registers(fd, l) {
			if got := u64s(out[i*256+l*8:][:8])[0]; got != v {
				t.Fatalf("%s: register %d of lane %d is %#x, want %#x", m.Opcode().Text, i, l, got, v)
			}
		}
	}
}

// TestWMMA tests every variant of wmma.mma.
func TestWMMA(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	n := 0
	for _, f := range isa.Forms("wmma") {
		for m := range f.Variants() {
			if !m.Has("mma") {
				continue
			}
			x := &isa.Bound{Inst: &ptx.Inst{Op: m.Opcode()}, Match: m}
			ts, s := ops.Types(x), ops.Shape(x)
			if len(ts) == 2 {
				ts = []string{ts[0], "f16", "f16", ts[1]}
			}
			n++
			testProduct(t, r, m, ts, s, func(string) (a, b, c layout.Fragment) {
				return layout.WMMA(s, ops.TypeBits(ts[1]), ts[1] == "f16")
			})
		}
	}
	if n < 80 {
		t.Errorf("only %d variants", n)
	}
}

// TestMMASaturates overflows the s32 accumulator.
func TestMMASaturates(t *testing.T) {
	for sat, want := range map[string]uint32{"": 0x80000000 + 4*127*127 - 1, ".satfinite": 0x7fffffff} {
		text := kernelText(`
	mov.b32 %r1, 0x7f7f7f7f;
	and.b32 %r3, %r0, 3;
	setp.eq.u32 %p1, %r3, 0;
	selp.b32 %r4, %r1, 0, %p1;
	mov.b32 %r5, 0x7fffffff;
	mma.sync.aligned.m8n8k16.row.col` + sat + `.s32.s8.s8.s32 {%r6, %r7}, {%r4}, {%r4}, {%r5, %r5};
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd1, %rd0, %rd1;
	st.global.u32 [%rd1], %r6;`)
		for i, v := range u32s(runText(t, text, 1, 32, 128)) {
			if v != want {
				t.Fatalf("%s: lane %d has %#x, want %#x", sat, i, v, want)
			}
		}
	}
}

// TestMMAWaitsForLanes reaches an mma with the lanes of a warp from two branches.
func TestMMAWaitsForLanes(t *testing.T) {
	text := kernelText(`
	mov.b32 %r1, 0x3c003c00;
	and.b32 %r2, %r0, 1;
	setp.eq.u32 %p1, %r2, 0;
	@%p1 bra join;
	mov.b32 %r1, 0x40004000;
join:
	mov.b32 %r5, 0;
	mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r6, %r7, %r8, %r9}, {%r1, %r1}, {%r1}, {%r5, %r5, %r5, %r5};
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd1, %rd0, %rd1;
	st.global.u32 [%rd1], %r6;`)
	for i, v := range u32s(runText(t, text, 1, 32, 128)) {
		if want := math.Float32bits(2*2*1 + 2*2*4); v != want { // two lanes of each kind hold a row
			t.Fatalf("lane %d has %#x, want %#x", i, v, want)
		}
	}
}
