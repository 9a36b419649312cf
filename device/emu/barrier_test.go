package emu

import (
	"fmt"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// store is the end of a kernel: it stores %r1 in the thread's word.
const store = `
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd1, %rd0, %rd1;
	st.global.u32 [%rd1], %r1;`

// TestBarrierExchange passes values through shared memory between warps.
func TestBarrierExchange(t *testing.T) {
	for _, bar := range []string{"bar.sync 0", "bar.cta.sync 3", "barrier.sync 1", "barrier.sync.aligned 2, 256", "bar.sync %r9", "bar.sync 15, %r10"} {
		body := `.shared .b32 s[256];
	mov.u32 %r9, 7;
	mov.u32 %r10, 256;
	mov.u32 %r2, s;
	shl.b32 %r3, %r0, 2;
	add.u32 %r4, %r2, %r3;
	mul.lo.u32 %r5, %r0, 3;
	st.shared.u32 [%r4], %r5;
	` + bar + `;
	xor.b32 %r6, %r3, 1020;
	add.u32 %r6, %r2, %r6;
	ld.shared.u32 %r1, [%r6];
	` + store
		for i, v := range u32s(runText(t, kernelText(body), 1, 256, 1024)) {
			if want := uint32(255-i) * 3; v != want {
				t.Fatalf("%s: thread %d has %d, want %d", bar, i, v, want)
			}
		}
	}
}

// TestBarrierInLoop uses one barrier many times: no thread may be a round ahead.
func TestBarrierInLoop(t *testing.T) {
	body := `.shared .b32 s[128];
	mov.u32 %r2, s;
	shl.b32 %r3, %r0, 2;
	add.u32 %r4, %r2, %r3;
	add.u32 %r5, %r3, 132;
	and.b32 %r5, %r5, 511;
	add.u32 %r5, %r5, %r2;
	mov.u32 %r1, %r0;
	mov.u32 %r7, 0;
LOOP:
	st.shared.u32 [%r4], %r1;
	bar.sync 0;
	ld.shared.u32 %r1, [%r5];
	bar.sync 0;
	add.u32 %r7, %r7, 1;
	setp.lt.u32 %p1, %r7, 100;
	@%p1 bra LOOP;
	` + store
	for _, schedule := range []uint64{0, 1, 2, 99} {
		d := deviceFor(t, ptx.SM90a, Options{Schedule: schedule})
		for i, v := range u32s(runOn(t, d, kernelText(body), 1, 128, make([]byte, 512))) {
			if want := uint32(i+33*100) % 128; v != want {
				t.Fatalf("schedule %d: thread %d has %d, want %d", schedule, i, v, want)
			}
		}
	}
}

// TestBarrierReduce tests all forms of bar.red.
func TestBarrierReduce(t *testing.T) {
	for _, c := range []struct {
		inst string
		want uint32
	}{
		{"bar.red.popc.u32 %r1, 0, %p1", 37},
		{"bar.red.popc.u32 %r1, 0, !%p1", 91},
		{"barrier.red.popc.aligned.u32 %r1, 1, 128, %p1", 37},
		{"bar.red.and.pred %p2, 0, %p1", 0},
		{"bar.red.or.pred %p2, 0, %p1", 1},
		{"bar.red.and.pred %p2, 0, %p3", 1},
		{"bar.red.or.pred %p2, 0, !%p3", 0},
		{"barrier.red.or.pred %p2, 4, 128, !%p1", 1},
	} {
		body := `setp.lt.u32 %p1, %r0, 37;
	setp.lt.u32 %p3, %r0, 999;
	setp.ne.u32 %p2, %r0, %r0;
	mov.u32 %r1, 0;
	` + c.inst + `;
	@%p2 mov.u32 %r1, 1;
	` + store
		for i, v := range u32s(runText(t, kernelText(body), 1, 128, 512)) {
			if v != c.want {
				t.Fatalf("%s: thread %d has %d, want %d", c.inst, i, v, c.want)
			}
		}
	}
}

// TestBarrierProducerConsumer passes a token back and forth with arrive and sync:
// warp 0 produces, warp 1 consumes.
func TestBarrierProducerConsumer(t *testing.T) {
	body := `.shared .b32 s[32];
	mov.u32 %r2, s;
	and.b32 %r3, %r0, 31;
	shl.b32 %r3, %r3, 2;
	add.u32 %r2, %r2, %r3;
	mov.u32 %r1, 0;
	mov.u32 %r7, 1;
	setp.ge.u32 %p1, %r0, 32;
	@%p1 bra CONSUME;
PRODUCE:
	st.shared.u32 [%r2], %r7;
	bar.arrive 1, 64;
	bar.sync 2, 64;
	add.u32 %r7, %r7, 1;
	setp.le.u32 %p2, %r7, 50;
	@%p2 bra PRODUCE;
	bra END;
CONSUME:
	bar.sync 1, 64;
	ld.shared.u32 %r8, [%r2];
	add.u32 %r1, %r1, %r8;
	bar.arrive 2, 64;
	add.u32 %r7, %r7, 1;
	setp.le.u32 %p2, %r7, 50;
	@%p2 bra CONSUME;
END:
	` + store
	for i, v := range u32s(runText(t, kernelText(body), 1, 64, 256)) {
		if want := uint32(i / 32 * 1275); v != want {
			t.Fatalf("thread %d has %d, want %d", i, v, want)
		}
	}
}

// TestBarrierExited checks that a barrier does not wait for threads that have ended: whole
// warps or parts of them, before or after the first threads have arrived.
func TestBarrierExited(t *testing.T) {
	for _, leave := range []string{"32", "40", "100", "127"} {
		body := fmt.Sprintf(`mov.u32 %%r1, 7;
	setp.ge.u32 %%p1, %%r0, %s;
	@%%p1 exit;
	bar.sync 0;
	`, leave) + store
		n := 0
		for _, v := range u32s(runText(t, kernelText(body), 1, 128, 512)) {
			if v == 7 {
				n++
			}
		}
		if fmt.Sprint(n) != leave {
			t.Errorf("%d threads passed the barrier, want %s", n, leave)
		}
	}
}

// TestBarrierDivergent arrives at one barrier with two different instructions.
func TestBarrierDivergent(t *testing.T) {
	body := `.shared .b32 s[64];
	mov.u32 %r2, s;
	shl.b32 %r3, %r0, 2;
	add.u32 %r4, %r2, %r3;
	st.shared.u32 [%r4], %r0;
	and.b32 %r5, %r0, 1;
	setp.eq.u32 %p1, %r5, 0;
	@%p1 bra EVEN;
	barrier.sync 0;
	xor.b32 %r6, %r3, 252;
	bra JOIN;
EVEN:
	barrier.sync 0;
	xor.b32 %r6, %r3, 252;
JOIN:
	add.u32 %r6, %r2, %r6;
	ld.shared.u32 %r1, [%r6];
	` + store
	for i, v := range u32s(runText(t, kernelText(body), 1, 64, 256)) {
		if v != uint32(63-i) {
			t.Fatalf("thread %d has %d, want %d", i, v, 63-i)
		}
	}
}

// TestBarrierPartialWarp uses a block whose last warp is not full.
func TestBarrierPartialWarp(t *testing.T) {
	body := `setp.lt.u32 %p1, %r0, 999;
	bar.red.popc.u32 %r1, 0, %p1;` + store
	for i, v := range u32s(runText(t, kernelText(body), 1, 41, 164)) {
		if v != 41 {
			t.Fatalf("thread %d counts %d threads, want 41", i, v)
		}
	}
}

func TestBarrierFaults(t *testing.T) {
	d := deviceFor(t, ptx.SM90a, Options{})
	for _, c := range []struct{ body, want string }{
		{"mov.u32 %r1, 16;\nbar.sync %r1;", "barrier 16"},
		{"mov.u32 %r1, 33;\nbar.sync 0, %r1;", "multiple of 32"},
		{"bar.sync 0, 128;", "a block of 64"},
		{"setp.lt.u32 %p1, %r0, 32;\n@%p1 bar.arrive 0, 32;\n@!%p1 bar.sync 0, 64;", "deadlock"},
		{"setp.lt.u32 %p1, %r0, 32;\n@%p1 bar.sync 0, 64;\n@!%p1 bar.sync 0, 32;", "barrier 0 awaits 32 threads"},
	} {
		failText(t, d, kernelText(c.body), 1, 64, c.want)
	}
}

// TestBarrierDeadlock checks that the error says which warps wait and which are missing.
func TestBarrierDeadlock(t *testing.T) {
	body := `setp.lt.u32 %p1, %r0, 64;
	@%p1 bra A;
	bar.sync 1;
	bra END;
A:
	bar.sync 2, 96;
END:`
	failText(t, deviceFor(t, ptx.SM90a, Options{}), kernelText(body), 1, 96,
		"deadlock in k", "warp 0", "bar.sync: barrier 2 has 64 of 96 threads; no thread of warps 2 has arrived",
		"warp 2", "bar.sync: barrier 1 has 32 of 96 threads; no thread of warps 0 1 has arrived")
}
