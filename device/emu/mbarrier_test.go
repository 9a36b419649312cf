package emu

import (
	"fmt"
	"testing"
)

// mbarrierBody runs on one thread. b is an mbarrier for two arrivals. "show" writes p as 0 or
// 1 to the next word of the output.
const (
	mbarrierBody = "mov.u32 b, bar; mbarrier.init.shared::cta.b64 [b], 2;\n"
	show         = "selp.u32 v, 1, 0, p; st.global.u32 [out], v; add.u64 out, out, 4;\n"
	showCount    = "mbarrier.pending_count.b64 v, state; st.global.u32 [out], v; add.u64 out, out, 4;\n"
	test0        = "mbarrier.test_wait.parity.shared.b64 p, [b], 0;" + show
	test1        = "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [b], 1, 100;" + show
	arrive1      = "mbarrier.arrive.shared.b64 state, [b];\n"
)

func TestMbarrierPhases(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want []uint32
	}{
		"parity": {test0 + test1 + arrive1 + showCount + test0 + arrive1 + showCount + test0 + test1,
			[]uint32{0, 1, 2, 0, 1, 1, 0}},
		"count": {"mbarrier.arrive.release.cta.shared::cta.b64 state, [b], 2;" + showCount + test0, []uint32{2, 1}},
		"state": {arrive1 + "mbarrier.test_wait.shared.b64 p, [b], state;" + show + "mbarrier.arrive.b64 x, [y];" +
			"mbarrier.try_wait.shared.b64 p, [b], state;" + show, []uint32{0, 1}},
		"drop": {"mbarrier.arrive_drop.shared.b64 state, [b];" + arrive1 + test0 + test1 + arrive1 + showCount + test1,
			[]uint32{1, 0, 1, 1}},
		"no complete": {"mbarrier.arrive.noComplete.shared.b64 state, [b], 1;" + test0 + "mbarrier.arrive_drop.noComplete.shared.b64 state, [b], 0;", nil},
		"bytes": {"mbarrier.arrive.expect_tx.shared.b64 state, [b], 16;" + arrive1 + test0 +
			"mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [b], 10;" + test0 +
			"mbarrier.complete_tx.shared.b64 [b], 6;" + test0, []uint32{0, 0, 1}},
		"bytes first": {"mbarrier.complete_tx.shared.b64 [b], 16;" + arrive1 + arrive1 + test0 +
			"mbarrier.expect_tx.relaxed.cta.shared.b64 [b], 16;" + test0, []uint32{0, 1}},
		"remote": {"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [b];" + test0 +
			"mbarrier.arrive.expect_tx.shared::cluster.b64 _, [b], 0;" + test0, []uint32{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			body := "cvt.u64.u32 x, b; cvta.shared.u64 y, x;\n"
			got, err := runAsync(t, Options{}, 1, mbarrierBody+body+c.body, counting(16))
			if c.want == nil {
				wantFault(t, err, "0 arrivals")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantWords(t, got, c.want...)
		})
	}
}

func TestMbarrierFaults(t *testing.T) {
	for body, want := range map[string]string{
		"mov.u32 b, bar; " + arrive1:                                                        "there is no mbarrier at this address",
		"mov.u32 b, bar; mbarrier.init.shared.b64 [b], 0;":                                  "for 0 arrivals",
		"mov.u32 b, bar; mbarrier.init.shared.b64 [b+4], 1;":                                "not aligned to 8",
		mbarrierBody + "mbarrier.inval.shared.b64 [b];" + test0:                             "there is no mbarrier at this address",
		mbarrierBody + "mbarrier.arrive.shared.b64 state, [b], 3;":                          "3 arrivals at an mbarrier that awaits 2",
		mbarrierBody + "mbarrier.arrive.noComplete.shared.b64 state, [b], 2;":               "complete the phase",
		mbarrierBody + "mbarrier.expect_tx.shared.b64 [b], 1048576;":                        "counts up to",
		mbarrierBody + "mbarrier.test_wait.parity.shared.b64 p, [b], 2;":                    "phase parity 2",
		mbarrierBody + "mbarrier.arrive.b64 state, [in];":                                   "not in shared memory",
		mbarrierBody + "mbarrier.arrive.shared::cluster.b64 _, [b+0x5000000];":              "of a cluster of 1",
		mbarrierBody + "wait: mbarrier.try_wait.parity.shared.b64 p, [b], 0; @!p bra wait;": "deadlock",
	} {
		_, err := runAsync(t, Options{}, 1, body, counting(4))
		wantFault(t, err, want)
	}
}

// TestMbarrierPingPong passes a token back and forth between two warps, and between two lanes
// of a warp, under several schedules.
func TestMbarrierPingPong(t *testing.T) {
	const body = `
	mov.u32 b, bar;
	setp.eq.u32 p, tid, 0;
	@p mbarrier.init.shared.b64 [b], 1;
	@p mbarrier.init.shared.b64 [b+8], 1;
	bar.sync 0;
	// Threads 0 and %d each add one, 50 times, in turns.
	mov.u32 a, buf;
	mov.u32 n, 0;
	setp.eq.u32 p, tid, %d;
	@p bra second;
	setp.ne.u32 p, tid, 0;
	@p ret;
first:
	and.b32 c, n, 1;
	ld.shared.u32 v, [a];
	add.u32 v, v, 1;
	st.shared.u32 [a], v;
	mbarrier.arrive.shared.b64 state, [b];
w1:	mbarrier.try_wait.parity.shared.b64 q, [b+8], c;
	@!q bra w1;
	add.u32 n, n, 1;
	setp.lt.u32 p, n, 50;
	@p bra first;
	ld.shared.u32 v, [a];
	st.global.u32 [out], v;
	ret;
second:
	and.b32 c, n, 1;
w2:	mbarrier.try_wait.parity.shared.b64 q, [b], c;
	@!q bra w2;
	ld.shared.u32 v, [a];
	shl.b32 v, v, 1;
	and.b32 v, v, 0xffff;
	st.shared.u32 [a], v;
	mbarrier.arrive.shared.b64 state, [b+8];
	add.u32 n, n, 1;
	setp.lt.u32 p, n, 50;
	@p bra second;`
	want := uint32(0)
	for range 50 {
		want = (want + 1) * 2 & 0xffff
	}
	for _, other := range []int{1, 32, 63} {
		for seed := range uint64(4) {
			got, err := runAsync(t, Options{Schedule: seed}, 64, fmt.Sprintf(body, other, other), counting(1))
			if err != nil {
				t.Fatalf("other %d, schedule %d: %v", other, seed, err)
			}
			wantWords(t, got, want)
		}
	}
}
