package emu

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// benchLoop runs a loop with the given instructions in one block, which runs on one core. It
// reports thread instructions per second.
func benchLoop(b *testing.B, lines ...string) {
	const unroll, loops = 8, 2000
	text := kernelText(`
	cvt.rn.f32.u32 %f0, %r0;
	mov.f32 %f1, 0f3F7FF000;
	mov.f32 %f2, 0f3E000000;
	mov.u32 %r1, 0x38123789;
	mov.u32 %r2, %r0;
	mov.u32 %r3, 0;
	mov.u64 %rd1, %rd0;
loop:
` + strings.Repeat(strings.Join(lines, "\n")+"\n", unroll) + fmt.Sprintf(`
	add.u32 %%r3, %%r3, 1;
	setp.lt.u32 %%p1, %%r3, %d;
	@%%p1 bra loop;
	st.global.u32 [%%rd0], %%r2;
	st.global.f32 [%%rd0], %%f0;`, loops))
	d := deviceFor(b, ptx.SM90a, Options{})
	buf, err := d.Alloc(4096)
	if err != nil {
		b.Fatal(err)
	}
	m, err := d.Load("bench.ptx", text)
	if err != nil {
		b.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		b.Fatal(err)
	}
	l := device.Launch{Grid: device.D(1), Block: device.D(128), Params: []device.Param{device.Ptr(buf)}}
	var total uint64
	for b.Loop() {
		s, err := k.(*entryPoint).Run(context.Background(), l)
		if err != nil {
			b.Fatal(err)
		}
		total += s.ThreadInstructions
	}
	b.ReportMetric(float64(total)/1e6/b.Elapsed().Seconds(), "Minst/s")
}

func BenchmarkU32(b *testing.B) {
	benchLoop(b, "mad.lo.u32 %r2, %r2, %r1, %r0;", "add.u32 %r2, %r2, %r1;", "xor.b32 %r2, %r2, %r0;")
}

func BenchmarkFma(b *testing.B) { benchLoop(b, "fma.rn.f32 %f0, %f0, %f1, %f2;") }

func BenchmarkFmaFtz(b *testing.B) { benchLoop(b, "fma.rn.ftz.f32 %f0, %f0, %f1, %f2;") }

func BenchmarkAddMulMax(b *testing.B) {
	benchLoop(b, "add.f32 %f0, %f0, %f1;", "mul.f32 %f0, %f0, %f2;", "max.f32 %f0, %f0, %f2;")
}

func BenchmarkCompareSelect(b *testing.B) {
	benchLoop(b, "setp.lt.s32 %p2, %r2, %r0;", "selp.b32 %r2, %r1, %r2, %p2;", "setp.gt.f32 %p3, %f0, %f1;", "selp.f32 %f0, %f1, %f2, %p3;")
}

func BenchmarkAddress(b *testing.B) {
	benchLoop(b, "mul.wide.u32 %rd1, %r0, 4;", "add.s64 %rd2, %rd0, %rd1;", "cvt.u64.u32 %rd3, %r1;", "shl.b64 %rd3, %rd3, 2;")
}

func BenchmarkHalf2(b *testing.B) {
	benchLoop(b, "fma.rn.f16x2 %r2, %r1, %r1, %r1;", "max.f16x2 %r2, %r2, %r1;")
}

func BenchmarkCvt(b *testing.B) {
	benchLoop(b, "cvt.rn.f16x2.f32 %r2, %f0, %f1;", "cvt.rn.satfinite.e4m3x2.f32 %h1, %f0, %f1;", "cvt.rn.f32.s32 %f0, %r0;")
}

func BenchmarkApprox(b *testing.B) {
	benchLoop(b, "ex2.approx.ftz.f32 %f3, %f0;", "rcp.approx.ftz.f32 %f4, %f1;")
}
