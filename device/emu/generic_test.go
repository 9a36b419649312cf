package emu

import (
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestGenericWindows stores by name in each state space and loads at the generic address, and
// the reverse.
func TestGenericWindows(t *testing.T) {
	text := header + `.global .align 4 .u32 g = 1000;
.const .align 4 .u32 c = 7;
` + kernelText(`.shared .b32 s;
	.local .b32 l;
	st.shared.u32 [s], 20;
	st.local.u32 [l], %r0;
	cvta.shared.u64 %rd1, s;
	cvta.local.u64 %rd2, l;
	cvta.global.u64 %rd3, g;
	cvta.const.u64 %rd4, c;
	bar.sync 0;
	ld.u32 %r2, [%rd1];
	ld.u32 %r3, [%rd2];
	ld.u32 %r4, [%rd3];
	ld.u32 %r5, [%rd4];
	cvta.to.shared.u64 %rd5, %rd1;
	cvta.to.local.u64 %rd6, %rd2;
	cvta.to.global.u64 %rd7, %rd3;
	cvta.to.const.u64 %rd8, %rd4;
	ld.shared.u32 %r6, [%rd5];
	ld.local.u32 %r7, [%rd6];
	ld.global.u32 %r8, [%rd7];
	ld.const.u32 %r9, [%rd8];
	add.u32 %r1, %r2, %r3;
	add.u32 %r1, %r1, %r4;
	add.u32 %r1, %r1, %r5;
	add.u32 %r1, %r1, %r6;
	add.u32 %r1, %r1, %r7;
	add.u32 %r1, %r1, %r8;
	add.u32 %r1, %r1, %r9;
	ld.u32 %r2, [s];
	add.u32 %r1, %r1, %r2;` + store)[len(header):]
	for i, v := range u32s(runText(t, text, 1, 64, 256)) {
		if want := uint32(2*(20+1000+7+i) + 20); v != want {
			t.Fatalf("thread %d has %d, want %d", i, v, want)
		}
	}
}

func TestIsspacep(t *testing.T) {
	text := header + `.const .align 4 .u32 c = 7;
` + kernelText(`.shared .b32 s;
	.local .b32 l;
	cvta.shared.u64 %rd1, s;
	cvta.local.u64 %rd2, l;
	cvta.const.u64 %rd3, c;
	mov.u64 %rd4, out;
	cvta.param.u64 %rd4, %rd4;
	setp.eq.u32 %p1, %r0, 0;
	setp.eq.u32 %p2, %r0, 1;
	setp.eq.u32 %p3, %r0, 2;
	setp.eq.u32 %p4, %r0, 3;
	selp.b64 %rd5, %rd1, %rd0, %p1;
	selp.b64 %rd5, %rd2, %rd5, %p2;
	selp.b64 %rd5, %rd3, %rd5, %p3;
	selp.b64 %rd5, %rd4, %rd5, %p4;
	isspacep.shared %p5, %rd5;
	isspacep.shared::cta %p6, %rd5;
	isspacep.shared::cluster %p7, %rd5;
	isspacep.local %p8, %rd5;
	isspacep.const %p9, %rd5;
	isspacep.param::entry %p10, %rd5;
	isspacep.global %p11, %rd5;
	selp.u32 %r1, 1, 0, %p5;
	@%p6 add.u32 %r1, %r1, 2;
	@%p7 add.u32 %r1, %r1, 4;
	@%p8 add.u32 %r1, %r1, 8;
	@%p9 add.u32 %r1, %r1, 16;
	@%p10 add.u32 %r1, %r1, 32;
	@%p11 add.u32 %r1, %r1, 64;` + store)[len(header):]
	for i, v := range u32s(runText(t, text, 1, 5, 20)) {
		if want := []uint32{7, 8, 16, 32, 64}[i]; v != want {
			t.Errorf("address %d: %#x, want %#x", i, v, want)
		}
	}
}

// TestMapa writes to the shared memory of the next block of a cluster, at 32-bit and generic
// addresses, and reads the rank of the block of an address.
func TestMapa(t *testing.T) {
	text := kernelText(`.shared .align 8 .b32 s[4];
	mov.u32 %r2, %cluster_ctarank;
	add.u32 %r3, %r2, 1;
	and.b32 %r3, %r3, 3;
	mov.u32 %r4, s;
	mapa.shared::cluster.u32 %r5, %r4, %r3;
	add.u32 %r6, %r2, 100;
	st.shared::cluster.u32 [%r5], %r6;
	cvta.shared.u64 %rd2, s;
	mapa.u64 %rd3, %rd2, %r3;
	add.u32 %r6, %r2, 200;
	st.u32 [%rd3+4], %r6;
	getctarank.shared::cluster.u32 %r7, %r5;
	getctarank.u64 %r8, %rd3;
	getctarank.u64 %r9, %rd2;
	isspacep.shared::cta %p1, %rd3;
	isspacep.shared::cluster %p2, %rd3;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	ld.shared.u32 %r10, [s];
	ld.shared.u32 %r11, [s+4];
	mul.wide.u32 %rd4, %r2, 32;
	add.u64 %rd4, %rd0, %rd4;
	st.global.v4.u32 [%rd4], {%r7, %r8, %r9, %r10};
	selp.u32 %r12, 1, 0, %p1;
	@%p2 add.u32 %r12, %r12, 2;
	st.global.v2.u32 [%rd4+16], {%r11, %r12};`)
	d := deviceFor(t, ptx.SM90a, Options{})
	b, err := d.Alloc(128)
	if err != nil {
		t.Fatal(err)
	}
	l := device.Launch{Grid: device.D(4), Block: device.D(1), Cluster: device.D(4), Params: []device.Param{device.Ptr(b)}}
	if err := launchText(t, d, text, l); err != nil {
		t.Fatal(err)
	}
	out := make([]byte, 128)
	if err := b.Read(0, out); err != nil {
		t.Fatal(err)
	}
	w := u32s(out)
	for r := range uint32(4) {
		next, last := (r+1)&3, (r+3)&3
		for i, want := range []uint32{next, next, r, last + 100, last + 200, 2} {
			if got := w[8*r:][i]; got != want {
				t.Errorf("block %d, value %d: %d, want %d", r, i, got, want)
			}
		}
	}
}

// TestAlloca allocates different sizes of stack memory in different lanes, calls a function
// with its own stack memory, and restores the stack.
func TestAlloca(t *testing.T) {
	text := header + `.func (.reg .u32 r) sum(.reg .u64 a, .reg .u32 n)
{
	.local .b32 l[2];
	.reg .b32 %r<4>;
	.reg .b64 %rd<3>;
	.reg .pred %p;
	st.local.u32 [l], -1;
	mov.u64 %rd2, 64;
	alloca.u64 %rd1, %rd2;
	st.local.u32 [%rd1], -1;
	mov.u32 r, 0;
	mov.u32 %r1, 0;
LOOP:
	ld.local.u32 %r2, [a];
	add.u32 r, r, %r2;
	add.u64 a, a, 4;
	add.u32 %r1, %r1, 1;
	setp.lt.u32 %p, %r1, n;
	@%p bra LOOP;
	ret;
}
` + kernelText(`stacksave.u64 %rd9;
	add.u32 %r2, %r0, 1;
	mul.wide.u32 %rd2, %r2, 4;
	alloca.u64 %rd3, %rd2, 32;
	and.b64 %rd4, %rd3, 31;
	mov.u64 %rd5, %rd3;
	mov.u32 %r3, 0;
FILL:
	st.local.u32 [%rd5], %r3;
	add.u64 %rd5, %rd5, 4;
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p1, %r3, %r2;
	@%p1 bra FILL;
	call (%r1), sum, (%rd3, %r2);
	stackrestore.u64 %rd9;
	alloca.u64 %rd6, 8, 32;
	setp.ne.u64 %p2, %rd6, %rd3;
	@%p2 mov.u32 %r1, 111111;
	setp.ne.u64 %p3, %rd4, 0;
	@%p3 mov.u32 %r1, 222222;` + store)[len(header):]
	for i, v := range u32s(runText(t, text, 1, 32, 128)) {
		if want := uint32(i * (i + 1) / 2); v != want {
			t.Errorf("thread %d has %d, want %d", i, v, want)
		}
	}
}

func TestGenericFaults(t *testing.T) {
	d := deviceFor(t, ptx.SM90a, Options{})
	const constant = header + ".const .align 4 .u32 c = 7;\n"
	failText(t, d, constant+kernelText("cvta.const.u64 %rd1, c;\nst.u32 [%rd1], 1;")[len(header):], 1, 1, "write to constant memory")
	failText(t, d, kernelText("mov.u64 %rd1, 0;\nld.u32 %r1, [%rd1];"), 1, 1, "in no allocation")
	failText(t, d, kernelText("mov.u64 %rd1, 0;\ncvta.to.shared.u64 %rd1, %rd1;\nld.shared.u32 %r1, [%rd1];"), 1, 1, "shared address")
	failText(t, d, kernelText(".shared .b32 s[4];\ncvta.shared.u64 %rd1, s;\nld.u32 %r1, [%rd1+16];"), 1, 1, "shared-memory access")
	failText(t, d, kernelText("mov.u32 %r1, 400000;\nalloca.u32 %r2, %r1;\nalloca.u32 %r2, %r1;"), 1, 1, "alloca needs 400000 bytes of stack: a thread has 524288, of which 400000 are in use")
	for _, top := range []string{"8", "4294967295"} {
		failText(t, d, kernelText("mov.u32 %r1, "+top+";\nstackrestore.u32 %r1;"), 1, 1, "restore only what stacksave returned")
	}
	failText(t, d, kernelText("mov.u64 %rd1, -8;\nstackrestore.u64 %rd1;"), 1, 1, "restore only what stacksave returned")
	failText(t, d, kernelText("mov.u64 %rd1, 524288;\nst.local.u32 [%rd1], 1;"), 1, 1, "local access")
	failText(t, d, kernelText(".shared .b32 s;\nmapa.shared::cluster.u32 %r1, s, 3;\nst.shared::cluster.u32 [%r1], 1;"), 1, 1, "block 3 of a cluster of 1")
}

// TestDiscard checks that discard replaces all old values.
func TestDiscard(t *testing.T) {
	data := make([]byte, 256)
	for i := range data {
		data[i] = 1
	}
	out := runOn(t, deviceFor(t, ptx.SM90a, Options{}), kernelText("discard.global.L2 [%rd0+128], 128;"), 1, 1, data)
	for i, v := range out {
		if (v == 1) != (i < 128) {
			t.Fatalf("byte %d is %d", i, v)
		}
	}
}
