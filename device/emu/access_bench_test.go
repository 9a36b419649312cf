package emu

import "testing"

// BenchmarkMemory measures instructions that access memory or other lanes. One warp runs a
// loop of four instructions. "loop" is the loop without them.
func BenchmarkMemory(b *testing.B) {
	const loops = 100000
	for _, c := range []struct{ name, inst string }{
		{"loop", ""},
		{"ld.global.u32", "ld.global.u32 %r1, [%rd1];"},
		{"ld.global.v4.u32", "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];"},
		{"st.global.u32", "st.global.u32 [%rd1], %r1;"},
		{"ld.shared.u32", "ld.shared.u32 %r1, [%r6];"},
		{"st.shared.u32", "st.shared.u32 [%r6], %r1;"},
		{"ld.u64", "ld.u64 %rd5, [%rd1];"},
		{"red.shared.add.u32", "red.shared.add.u32 [%r6], 1;"},
		{"shfl.sync.bfly", "shfl.sync.bfly.b32 %r1, %r1, 16, 31, -1;"},
		{"bar.sync", "bar.sync 0;"},
	} {
		b.Run(c.name, func(b *testing.B) {
			text := kernelText(`.shared .align 16 .b8 s[512];
	mov.u32 %r7, 0;
	mul.wide.u32 %rd1, %r0, 16;
	add.u64 %rd1, %rd0, %rd1;
	shl.b32 %r6, %r0, 4;
	mov.u32 %r5, s;
	add.u32 %r6, %r6, %r5;
LOOP:
	` + c.inst + `
	add.u32 %r7, %r7, 1;
	setp.lt.u32 %p1, %r7, 100000;
	@%p1 bra LOOP;`)
			for b.Loop() {
				runText(b, text, 1, 32, 512)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/loops, "ns/round")
		})
	}
}
