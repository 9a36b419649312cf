package emu

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestSpinLock acquires a lock in every lane of every warp: the lanes that spin must let the
// lane that holds the lock run.
func TestSpinLock(t *testing.T) {
	for _, c := range []struct{ name, space, lock, count, wait string }{
		{"shared", ".shared", "s", "s+4", ""},
		{"shared with sleep", ".shared", "s", "s+4", "nanosleep.u32 20;"},
		{"global", ".global", "%rd0+8", "%rd0", ""},
	} {
		text := kernelText(`.shared .align 4 .b32 s[2];
	st.shared.u32 [s], 0;
	st.shared.u32 [s+4], 0;
	bar.sync 0;
SPIN:
	` + c.wait + `
	atom` + c.space + `.cas.b32 %r1, [` + c.lock + `], 0, 1;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra SPIN;
	ld` + c.space + `.u32 %r2, [` + c.count + `];
	add.u32 %r2, %r2, 1;
	st` + c.space + `.u32 [` + c.count + `], %r2;
	membar.gl;
	atom` + c.space + `.exch.b32 %r1, [` + c.lock + `], 0;
	bar.sync 0;
	ld` + c.space + `.u32 %r2, [` + c.count + `];
	st.global.u32 [%rd0+4], %r2;`)
		if got := u32s(runText(t, text, 1, 96, 16))[1]; got != 96 {
			t.Errorf("%s: %d threads had the lock, want 96", c.name, got)
		}
	}
}

// TestSpinLockNested acquires a lock around a branch that only some lanes take, while the
// other lanes are already further ahead.
func TestSpinLockNested(t *testing.T) {
	text := kernelText(`and.b32 %r3, %r0, 3;
	setp.eq.u32 %p2, %r3, 0;
	@!%p2 bra SKIP;
	mov.u32 %r4, 0;
AGAIN:
	atom.global.cas.b32 %r1, [%rd0], 0, 1;
	setp.eq.u32 %p1, %r1, 0;
	@!%p1 bra AGAIN;
	ld.volatile.global.u32 %r2, [%rd0+4];
	add.u32 %r2, %r2, 1;
	st.volatile.global.u32 [%rd0+4], %r2;
	atom.global.exch.b32 %r1, [%rd0], 0;
	add.u32 %r4, %r4, 1;
	setp.lt.u32 %p3, %r4, 10;
	@%p3 bra AGAIN;
SKIP:
	bar.warp.sync -1;`)
	if got := u32s(runText(t, text, 4, 64, 8))[1]; got != 4*16*10 {
		t.Errorf("%d threads had the lock, want 640", got)
	}
}

// TestSpinInWarp waits in lane 0 for a flag that lane 31 sets later in the program.
func TestSpinInWarp(t *testing.T) {
	text := kernelText(`.shared .align 4 .b32 s;
	st.shared.u32 [s], 0;
	bar.warp.sync -1;
	setp.ne.u32 %p1, %r0, 0;
	@%p1 bra OTHERS;
WAIT:
	ld.volatile.shared.u32 %r1, [s];
	setp.eq.u32 %p2, %r1, 0;
	@%p2 bra WAIT;
	st.global.u32 [%rd0], %r1;
	bra END;
OTHERS:
	setp.ne.u32 %p3, %r0, 31;
	@%p3 bra END;
	st.volatile.shared.u32 [s], 7;
END:`)
	if got := u32s(runText(t, text, 1, 32, 4))[0]; got != 7 {
		t.Errorf("lane 0 saw %d, want 7", got)
	}
}

// TestSpinWarps passes a token from warp to warp through shared memory, from the last to the
// first, so that all warps except one spin.
func TestSpinWarps(t *testing.T) {
	text := kernelText(`.shared .align 4 .b32 turn;
	st.shared.u32 [turn], 7;
	bar.sync 0;
	shr.u32 %r2, %r0, 5;
WAIT:
	ld.volatile.shared.u32 %r1, [turn];
	setp.ne.u32 %p1, %r1, %r2;
	@%p1 bra WAIT;
	ld.volatile.global.u32 %r3, [%rd0];
	mad.lo.u32 %r3, %r3, 10, %r2;
	and.b32 %r4, %r0, 31;
	setp.eq.u32 %p2, %r4, 0;
	@%p2 st.volatile.global.u32 [%rd0], %r3;
	bar.warp.sync -1;
	sub.u32 %r1, %r1, 1;
	st.volatile.shared.u32 [turn], %r1;`)
	for _, seed := range []uint64{0, 3, 4} {
		d := deviceFor(t, ptx.SM90a, Options{Schedule: seed})
		if got := u32s(runOn(t, d, text, 1, 256, make([]byte, 4)))[0]; got != 76543210 {
			t.Errorf("schedule %d: the token went %d", seed, got)
		}
	}
}

// TestSpinBlocks runs a barrier of the whole grid, and a chain in which each block waits for
// the next block.
func TestSpinBlocks(t *testing.T) {
	text := kernelText(`mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %nctaid.x;
	setp.ne.u32 %p1, %r0, 0;
	@%p1 bra JOIN;
	membar.gl;
	atom.global.add.u32 %r1, [%rd0], 1;
WAIT:
	ld.acquire.gpu.global.u32 %r1, [%rd0];
	setp.lt.u32 %p2, %r1, %r3;
	@%p2 bra WAIT;
	add.u32 %r5, %r2, 1;
	setp.eq.u32 %p3, %r5, %r3;
	@%p3 bra FIRST;
CHAIN:
	ld.acquire.gpu.global.u32 %r1, [%rd0+4];
	setp.ne.u32 %p4, %r1, %r5;
	@%p4 bra CHAIN;
FIRST:
	st.release.gpu.global.u32 [%rd0+4], %r2;
	red.global.add.u32 [%rd0+8], %r2;
JOIN:
	bar.sync 0;`)
	got := u32s(runText(t, text, 200, 64, 12))
	if got[0] != 200 || got[1] != 0 || got[2] != 199*100 {
		t.Errorf("%v, want [200 0 19900]", got)
	}
}

// TestSelfBranch checks that lanes in a loop that consists only of its branch wait for ever,
// and that the other lanes run to their end.
func TestSelfBranch(t *testing.T) {
	text := kernelText("setp.eq.u32 %p1, %r0, 3;\nLOOP:\n@%p1 bra LOOP;\nbar.warp.sync 0xfffffff7;")
	err := launchText(t, deviceFor(t, ptx.SM90a, Options{}), text, device.Launch{Grid: device.D(1), Block: device.D(32), Params: []device.Param{device.U64(0)}})
	var dead *device.Deadlock
	if !errors.As(err, &dead) || len(dead.Waiters) != 1 || dead.Waiters[0].Lanes != 1<<3 || dead.Waiters[0].Inst != "bra" {
		t.Errorf("got %v", err)
	}
}

// TestEndless stops a kernel that never ends, by the instruction limit and by cancelling the
// context.
func TestEndless(t *testing.T) {
	text := kernelText("LOOP:\nadd.u32 %r1, %r1, 1;\nbra LOOP;")
	d := deviceFor(t, ptx.SM90a, Options{MaxInstructions: 100000})
	failText(t, d, text, 3, 64, "test.ptx", "more than the limit of 100000 instructions")

	for i, body := range []string{
		"LOOP:\nadd.u32 %r1, %r1, 1;\nbra LOOP;",
		"LOOP:\nld.volatile.global.u32 %r1, [%rd0];\nbra LOOP;",
		"LOOP:\nnanosleep.u32 1;\nbra LOOP;",
	} {
		d := deviceFor(t, ptx.SM90a, Options{})
		b, err := d.Alloc(4)
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Load("test.ptx", kernelText(body))
		if err != nil {
			t.Fatal(err)
		}
		k, err := m.Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		start := time.Now()
		err = k.Launch(ctx, device.Launch{Grid: device.D(8), Block: device.D(128), Params: []device.Param{device.Ptr(b)}})
		cancel()
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("it took %v to stop", took)
		}
		// If all threads only poll or sleep, the deadlock may be detected before the timeout.
		idle := i > 0 && errors.Is(err, device.ErrDeadlock)
		if !idle && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("stopped with %v", err)
		}
	}
}

// TestPollInVain checks that a launch ends if all threads wait for words that no thread
// writes, and that a thread can stop waiting by the clock.
func TestPollInVain(t *testing.T) {
	failText(t, deviceFor(t, ptx.SM90a, Options{}), kernelText(`WAIT:
	ld.acquire.gpu.global.u32 %r1, [%rd0];
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra WAIT;`), 2, 32, "deadlock in k", "block [1 0 0] warp 0")
	got := u32s(runText(t, kernelText(`mov.u64 %rd1, %globaltimer;
WAIT:
	ld.volatile.global.u32 %r1, [%rd0];
	mov.u64 %rd2, %globaltimer;
	sub.u64 %rd2, %rd2, %rd1;
	setp.lt.u64 %p1, %rd2, 1000000;
	@%p1 bra WAIT;
	st.global.u32 [%rd0], 1;`), 1, 32, 4))
	if got[0] != 1 {
		t.Error("the thread did not stop waiting")
	}
}

// TestSleepers checks that a launch ends if all threads only sleep.
func TestSleepers(t *testing.T) {
	text := kernelText(`.shared .b32 s;
	st.shared.u32 [s], 0;
LOOP:
	nanosleep.u32 100;
	ld.volatile.shared.u32 %r1, [s];
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra LOOP;`)
	failText(t, deviceFor(t, ptx.SM90a, Options{}), text, 1, 32, "deadlock in k")
	text = kernelText(`mov.u32 %r2, 0;
LOOP:
	nanosleep.u32 100;
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p1, %r2, 70000;
	@%p1 bra LOOP;
	st.global.u32 [%rd0], %r2;`)
	if got := u32s(runText(t, text, 1, 32, 4))[0]; got != 70000 {
		t.Errorf("slept %d times", got)
	}
}
