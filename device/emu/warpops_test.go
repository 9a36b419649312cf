package emu

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

// each runs a kernel body on one warp and returns %r1 of each lane.
func each(t *testing.T, body string) []uint32 {
	t.Helper()
	return u32s(runText(t, kernelText(body+store), 1, 32, 128))
}

// TestShfl compares every mode with the definition, with and without segments.
func TestShfl(t *testing.T) {
	source := func(mode string, lane, b, c int) (int, bool) {
		seg, clamp := c>>8&31, c&31
		high, low := lane&seg|clamp&^seg, lane&seg
		var j int
		var ok bool
		switch mode {
		case "up":
			j = lane - b
			ok = j >= high
		case "down":
			j = lane + b
			ok = j <= high
		case "bfly":
			j = lane ^ b
			ok = j <= high
		case "idx":
			j = low | b&^seg
			ok = j <= high
		}
		if !ok {
			j = lane
		}
		return j, ok
	}
	for _, c := range []struct {
		mode string
		b, c int
	}{
		{"up", 1, 0}, {"up", 5, 0x1800}, {"up", 0, 0}, {"up", 31, 0},
		{"down", 1, 31}, {"down", 16, 31}, {"down", 3, 0x1c1f}, {"down", 2, 20},
		{"bfly", 1, 31}, {"bfly", 16, 31}, {"bfly", 7, 0x181f},
		{"idx", 0, 31}, {"idx", 9, 31}, {"idx", 5, 0x181f}, {"idx", 20, 10},
	} {
		for _, inst := range []string{
			fmt.Sprintf("shfl.sync.%s.b32 %%r2|%%p1, %%r3, %d, %d, -1;", c.mode, c.b, c.c),
			fmt.Sprintf("mov.u32 %%r8, %d;\nmov.u32 %%r9, %d;\nshfl.sync.%s.b32 %%r3|%%p1, %%r3, %%r8, %%r9, 0xffffffff;\nmov.u32 %%r2, %%r3;", c.b, c.c, c.mode),
		} {
			got := each(t, "mul.lo.u32 %r3, %r0, 3;\n"+inst+"\nselp.u32 %r1, 1000, 0, %p1;\nadd.u32 %r1, %r1, %r2;")
			for lane, v := range got {
				j, ok := source(c.mode, lane, c.b, c.c)
				want := uint32(3 * j)
				if ok {
					want += 1000
				}
				if v != want {
					t.Errorf("%s: lane %d has %d, want %d", inst, lane, v, want)
				}
			}
		}
	}
}

// TestShflPartial reads from lanes that do not execute the shuffle: a lane must keep its own
// value.
func TestShflPartial(t *testing.T) {
	got := each(t, `mov.u32 %r1, 77;
	setp.lt.u32 %p1, %r0, 12;
	@%p1 shfl.sync.idx.b32 %r1, %r0, 11, 31, 0x00000fff;
	setp.ge.u32 %p2, %r0, 28;
	@%p2 shfl.sync.down.b32 %r1, %r0, 1, 31, 0xf0000000;
	setp.eq.u32 %p3, %r0, 20;
	@%p3 shfl.sync.idx.b32 %r1, %r0, 3, 31, 0x00100000;`)
	for lane, v := range got {
		want := uint32(77)
		switch {
		case lane < 12:
			want = 11
		case lane >= 28:
			want = min(uint32(lane)+1, 31)
		case lane == 20:
			want = 20
		}
		if v != want {
			t.Errorf("lane %d has %d, want %d", lane, v, want)
		}
	}
}

// TestGroups executes one vote with different member masks in the two halves of a warp.
func TestGroups(t *testing.T) {
	got := each(t, `setp.lt.u32 %p1, %r0, 16;
	selp.b32 %r2, 0x0000ffff, 0xffff0000, %p1;
	and.b32 %r3, %r0, 3;
	setp.eq.u32 %p2, %r3, 0;
	vote.sync.ballot.b32 %r1, %p2, %r2;
	vote.sync.any.pred %p3, %p1, %r2;
	@!%p3 add.u32 %r1, %r1, 1;
	redux.sync.add.u32 %r4, %r0, %r2;
	add.u32 %r1, %r1, %r4;`)
	for lane, v := range got {
		want := uint32(0x1111 + 120)
		if lane >= 16 {
			want = 0x11110000 + 1 + 376
		}
		if v != want {
			t.Errorf("lane %d has %#x, want %#x", lane, v, want)
		}
	}
}

func TestVote(t *testing.T) {
	for _, c := range []struct {
		inst string
		want uint32
	}{
		{"vote.sync.all.pred %p3, %p1, -1", 0},
		{"vote.sync.all.pred %p3, %p2, -1", 1},
		{"vote.sync.all.pred %p3, !%p1, -1", 0},
		{"vote.sync.any.pred %p3, %p1, -1", 1},
		{"vote.sync.any.pred %p3, !%p2, -1", 0},
		{"vote.sync.uni.pred %p3, %p1, -1", 0},
		{"vote.sync.uni.pred %p3, %p2, -1", 1},
		{"vote.sync.uni.pred %p3, !%p2, -1", 1},
		{"vote.sync.ballot.b32 %r1, %p1, -1", 0x1ff},
		{"vote.sync.ballot.b32 %r1, !%p1, -1", ^uint32(0x1ff)},
		{"@%p1 vote.sync.ballot.b32 %r1, %p2, 0x1ff", 0x1ff},
		{"@%p1 activemask.b32 %r1", 0x1ff},
		{"activemask.b32 %r1", machine.FullMask},
	} {
		got := each(t, `mov.u32 %r1, 0;
	setp.lt.u32 %p1, %r0, 9;
	setp.lt.u32 %p2, %r0, 99;
	setp.ne.u32 %p3, %r0, %r0;
	`+c.inst+`;
	@%p3 mov.u32 %r1, 1;`)
		for lane, v := range got {
			want := c.want
			if c.inst[0] == '@' && lane >= 9 {
				want = 0
			}
			if v != want {
				t.Errorf("%s: lane %d has %#x, want %#x", c.inst, lane, v, want)
			}
		}
	}
}

func TestMatch(t *testing.T) {
	got := each(t, `and.b32 %r2, %r0, 3;
	match.any.sync.b32 %r2, %r2, -1;
	mov.u32 %r1, %r2;`)
	for lane, v := range got {
		if want := uint32(0x11111111) << (lane & 3); v != want {
			t.Errorf("match.any: lane %d has %#x, want %#x", lane, v, want)
		}
	}
	got = each(t, `shr.u32 %r2, %r0, 4;
	cvt.u64.u32 %rd2, %r2;
	shl.b64 %rd2, %rd2, 40;
	match.any.sync.b64 %r1, %rd2, -1;`)
	for lane, v := range got {
		if want := uint32(0xffff) << (lane &^ 15); v != want {
			t.Errorf("match.any.b64: lane %d has %#x, want %#x", lane, v, want)
		}
	}
	got = each(t, `mov.u32 %r1, 5;
	mov.u32 %r2, 9;
	match.all.sync.b32 %r3|%p1, %r2, -1;
	match.all.sync.b32 %r4|%p2, %r0, -1;
	setp.lt.u32 %p4, %r0, 8;
	mov.u32 %r5, 0;
	@%p4 match.all.sync.b32 %r5, %r2, 0xff;
	selp.u32 %r1, 1, 0, %p1;
	@%p2 add.u32 %r1, %r1, 2;
	add.u32 %r3, %r3, 1;
	add.u32 %r1, %r1, %r3;
	add.u32 %r1, %r1, %r4;
	add.u32 %r1, %r1, %r5;`)
	for lane, v := range got {
		want := uint32(1)
		if lane < 8 {
			want += 255
		}
		if v != want {
			t.Errorf("match.all: lane %d has %d, want %d", lane, v, want)
		}
	}
}

func TestRedux(t *testing.T) {
	for _, c := range []struct {
		op   string
		want uint32
	}{
		{"add.u32", 0xfffffe70}, {"add.s32", 0xfffffe70},
		{"min.u32", 0}, {"max.u32", 0xffffffff},
		{"min.s32", 0xffffffe4}, {"max.s32", 3},
		{"and.b32", 0}, {"or.b32", 0xffffffff}, {"xor.b32", 0},
	} {
		for lane, v := range each(t, "sub.u32 %r2, 3, %r0;\nredux.sync."+c.op+" %r1, %r2, -1;") {
			if v != c.want {
				t.Errorf("redux.%s: lane %d has %#x, want %#x", c.op, lane, v, c.want)
			}
		}
	}
}

func TestElect(t *testing.T) {
	got := each(t, `setp.gt.u32 %p1, %r0, 6;
	mov.u32 %r1, 99;
	@%p1 elect.sync %r1|%p2, 0xffffff80;
	@%p2 add.u32 %r1, %r1, 100;
	elect.sync _|%p3, -1;
	@%p3 add.u32 %r1, %r1, 1000;`)
	for lane, v := range got {
		want := uint32(7)
		switch {
		case lane == 0:
			want = 1099
		case lane < 7:
			want = 99
		case lane == 7:
			want = 107
		}
		if v != want {
			t.Errorf("lane %d has %d, want %d", lane, v, want)
		}
	}
}

// TestSyncApart exchanges values between lanes at two different instructions, one of them in
// a function.
func TestSyncApart(t *testing.T) {
	text := header + `
.func (.reg .b32 d) swap(.reg .b32 a)
{
	shfl.sync.bfly.b32 d, a, 16, 31, -1;
	bar.warp.sync -1;
	ret;
}
` + kernelText(`setp.lt.u32 %p1, %r0, 16;
	@%p1 bra LOW;
	add.u32 %r2, %r0, 100;
	call (%r1), swap, (%r2);
	bra END;
LOW:
	shfl.sync.bfly.b32 %r1, %r0, 16, 31, -1;
	bar.warp.sync 0xffffffff;
END:
	` + store)[len(header):]
	for lane, v := range u32s(runText(t, text, 1, 32, 128)) {
		want := uint32(lane ^ 16)
		if lane < 16 {
			want += 100
		}
		if v != want {
			t.Errorf("lane %d has %d, want %d", lane, v, want)
		}
	}
}

// TestSyncWaits makes a lane arrive late at every place where the others wait.
func TestSyncWaits(t *testing.T) {
	got := each(t, `mov.u32 %r2, 0;
	mov.u32 %r3, 0;
LOOP:
	setp.ge.u32 %p1, %r2, %r0;
	@%p1 bra DONE;
	add.u32 %r2, %r2, 1;
	bra LOOP;
DONE:
	shfl.sync.idx.b32 %r4, %r2, 31, 31, -1;
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p2, %r3, 3;
	@%p2 bra LOOP;
	add.u32 %r1, %r4, %r3;`)
	for lane, v := range got {
		if v != 34 {
			t.Errorf("lane %d has %d, want 34", lane, v)
		}
	}
}

// TestSyncExited checks that there is no wait for lanes that have ended or do not exist.
func TestSyncExited(t *testing.T) {
	text := kernelText(`setp.gt.u32 %p1, %r0, 13;
	@%p1 exit;
	setp.lt.u32 %p2, %r0, 99;
	bar.warp.sync -1;
	vote.sync.ballot.b32 %r1, %p2, -1;` + store)
	for lane, v := range u32s(runText(t, text, 1, 20, 80)) {
		want := uint32(0x3fff)
		if lane > 13 {
			want = 0
		}
		if v != want {
			t.Errorf("lane %d has %#x, want %#x", lane, v, want)
		}
	}
}

// TestSyncDeadlock checks that the error names the missing lanes.
func TestSyncDeadlock(t *testing.T) {
	failText(t, deviceFor(t, ptx.SM90a, Options{}), kernelText(`setp.lt.u32 %p1, %r0, 4;
	@%p1 bra A;
	bar.sync 0;
	bra END;
A:	bar.warp.sync -1;
	bar.sync 0;
END:`), 1, 32, "lanes 0000000f", "waits for lanes fffffff0 of members ffffffff", "barrier 0 has 0 of 32 threads")
}

// TestNoOps executes instructions that have no visible effect.
func TestNoOps(t *testing.T) {
	for lane, v := range each(t, `griddepcontrol.wait;
	griddepcontrol.launch_dependents;
	setmaxnreg.dec.sync.aligned.u32 40;
	nanosleep.u32 100;
	membar.cta;
	membar.gl;
	fence.acq_rel.gpu;
	fence.proxy.async;
	prefetch.global.L2 [%rd0];
	prefetchu.L1 [%rd0];
	applypriority.global.L2::evict_normal [%rd0], 128;
	createpolicy.fractional.L2::evict_last.b64 %rd5, 0f3F800000;
	createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd6, [%rd0], 16, 32;
	createpolicy.cvt.L2.b64 %rd7, %rd6;
	mov.u32 %r1, %r0;`) {
		if v != uint32(lane) {
			t.Errorf("lane %d has %d", lane, v)
		}
	}
}

// TestSleepTime checks that nanosleep advances the clock of the thread.
func TestSleepTime(t *testing.T) {
	got := each(t, `mov.u64 %rd2, %globaltimer;
	nanosleep.u32 5000;
	mov.u64 %rd3, %globaltimer;
	sub.u64 %rd3, %rd3, %rd2;
	cvt.u32.u64 %r1, %rd3;`)
	if got[0] < 5000 || bits.Len32(got[0]) > 13 {
		t.Errorf("a sleep of 5000 ns took %d", got[0])
	}
}
