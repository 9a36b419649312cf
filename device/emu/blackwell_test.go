package emu

import (
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// blackwell returns the text of a kernel for the first target of Blackwell.
func blackwell(body string) string {
	return strings.Replace(kernelText(body), header, ".version 8.8\n.target sm_100a\n.address_size 64\n", 1)
}

// TestVectors32 loads and stores vectors of 32 bytes.
func TestVectors32(t *testing.T) {
	d := deviceFor(t, ptx.Blackwell[0], Options{})
	text := blackwell(`
	.reg .b64 %at;
	mul.wide.u32 %at, %r0, 64;
	add.u64 %at, %at, %rd0;
	ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%at];
	ld.global.nc.v4.b64 {%rd1, %rd2, %rd3, %rd4}, [%at];
	st.global.v8.b32 [%at], {%r8, %r7, %r6, %r5, %r4, %r3, %r2, %r1};
	st.global.v4.b64 [%at+32], {%rd4, %rd3, %rd2, %rd1};`)
	var in, want []uint32
	for i := range uint32(32) {
		b := i * 16
		in = append(in, b, b+1, b+2, b+3, b+4, b+5, b+6, b+7, 0, 0, 0, 0, 0, 0, 0, 0)
		want = append(want, b+7, b+6, b+5, b+4, b+3, b+2, b+1, b, b+6, b+7, b+4, b+5, b+2, b+3, b, b+1)
	}
	if got := u32s(runOn(t, d, text, 1, 32, bytesOf(in...))); !slices.Equal(got, want) {
		t.Errorf("memory holds %v, want %v", got, want)
	}
	failText(t, d, blackwell("ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd0+16];"), 1, 1, "aligned")
}

// TestBlackwellRefusal checks that a kernel for Blackwell is refused only if it uses the tensor
// cores.
func TestBlackwellRefusal(t *testing.T) {
	d := deviceFor(t, ptx.Blackwell[0], Options{})
	_, err := d.Load("test.ptx", blackwell("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f0, %f1, %f2, %f3};"))
	if err == nil || !strings.Contains(err.Error(), "kernel k cannot run on the emulator") || !strings.Contains(err.Error(), "Blackwell") {
		t.Errorf("mma for sm_100a: %v", err)
	}
}

// TestPackedArithmetic tests arithmetic that only Blackwell has.
func TestPackedArithmetic(t *testing.T) {
	got := u32s(runOn(t, deviceFor(t, ptx.Blackwell[0], Options{}), blackwell(`
	.reg .b16 %n<2>;
	ld.global.b64 %rd1, [%rd0]; // 1, 2
	ld.global.b64 %rd2, [%rd0+8]; // 3, -4
	add.rn.f32x2 %rd3, %rd1, %rd2;
	st.global.b64 [%rd0+16], %rd3;
	fma.rn.ftz.f32x2 %rd3, %rd2, %rd2, %rd1;
	st.global.b64 [%rd0+24], %rd3;
	sub.f32x2 %rd3, %rd1, %rd2;
	mul.rz.f32x2 %rd3, %rd3, %rd2;
	st.global.b64 [%rd0+32], %rd3;
	mov.b16 %n0, 0x3e00; // 1.5
	mov.f32 %f1, 0f3F800000;
	add.rn.f32.f16 %f2, %n0, %f1;
	st.global.f32 [%rd0+40], %f2;
	fma.rn.sat.f32.f16 %f2, %n0, %n0, %f1;
	st.global.f32 [%rd0+44], %f2;
	mov.f32 %f3, 0fC0800000; // -4
	mov.f32 %f4, 0f7FC00000; // NaN
	max.abs.f32 %f2, %f1, %f3, %f4;
	st.global.f32 [%rd0+48], %f2;
	min.NaN.f32 %f2, %f1, %f3, %f4;
	st.global.f32 [%rd0+52], %f2;
	redux.sync.max.abs.f32 %f2, %f3, 1;
	st.global.f32 [%rd0+56], %f2;`), 1, 1, bytesOf(0x3f800000, 0x40000000, 0x40400000, 0xc0800000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
	want := []uint32{0x40800000, 0xc0000000, 0x41200000, 0x41900000, 0xc0c00000, 0xc1c00000, 0x40200000, 0x3f800000, 0x40800000, 0x7fffffff, 0x40800000}
	if !slices.Equal(got[4:], want) {
		t.Errorf("memory holds %#x, want %#x", got[4:], want)
	}
}

// TestMultimem accesses multicast memory with one copy.
func TestMultimem(t *testing.T) {
	got := u32s(runOn(t, deviceFor(t, ptx.SM90a, Options{}), kernelText(`
	multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%rd0];
	multimem.ld_reduce.weak.global.add.acc::f32.v2.f16x2 {%r2, %r3}, [%rd0+8];
	multimem.st.weak.global.u32 [%rd0+4], %r1;
	multimem.red.release.gpu.global.max.s32 [%rd0], 9;
	multimem.st.weak.global.v2.f32 [%rd0+16], {0f3F800000, 0f40000000};
	multimem.red.relaxed.gpu.global.add.v2.f16x2 [%rd0+8], {%r2, %r3};`), 1, 1, bytesOf(7, 0, 0x3c003c00, 0x40003c00, 0, 0)))
	if want := []uint32{9, 7, 0x40004000, 0x44004000, 0x3f800000, 0x40000000}; !slices.Equal(got, want) {
		t.Errorf("memory holds %#x, want %#x", got, want)
	}
}

// TestBlackwellRefused checks that instructions that are not executed refuse only their kernel.
func TestBlackwellRefused(t *testing.T) {
	text := blackwell("") + `.visible .entry narrow() { .reg .b8 %b; .reg .f32 %f; cvt.rn.satfinite.e2m1x2.f32 %b, %f, %f; ret; }
.visible .entry tensor() { tcgen05.wait::ld.sync.aligned; ret; }
.visible .entry sparse() { .reg .b32 %r<12>; .reg .f32 %f<4>;
	mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%f0, %f1, %f2, %f3}, %r8, 0; ret; }
`
	m, err := deviceFor(t, ptx.Blackwell[0], Options{}).Load("test.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"k": "", "narrow": "formats of 4 and 6 bits", "tensor": "tensor memory", "sparse": "how the tensor cores of Blackwell round",
	} {
		_, err := m.Kernel(name)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("kernel %s: %v, want %q", name, err, want)
		}
	}
}
