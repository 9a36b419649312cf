package emu

import (
	"errors"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// wgmmaGroupText is a kernel in which a warpgroup multiplies ones, first by ones and then by
// twos. A fifth warp overwrites the factor in between, as soon as warp 0 signals that the
// first product has ended. LATE stands for instructions before the first product.
const wgmmaGroupText = `.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 pout)
{
	.shared .align 128 .b8 as[2048];
	.shared .align 128 .b8 bs[256];
	.reg .pred p, no; .reg .b32 tid, warp, a, b, n; .reg .b64 out, aDesc, bDesc; .reg .f32 d<4>;
	ld.param.u64 out, [pout];
	mov.u32 tid, %tid.x;
	shr.u32 warp, tid, 5;
	mov.u32 a, as;
	shr.u32 n, a, 4;
	cvt.u64.u32 aDesc, n;
	or.b64 aDesc, aDesc, 0x0000001000080000;
	mov.u32 b, bs;
	shr.u32 n, b, 4;
	cvt.u64.u32 bDesc, n;
	or.b64 bDesc, bDesc, 0x0000001000080000;
	setp.ne.u32 no, 0, 0;
	setp.eq.u32 p, warp, 4;
	@p bra FIFTH;
	mad.lo.u32 a, tid, 16, a;
	st.shared.v4.b32 [a], {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00};
	fence.proxy.async;
	bar.sync 1, 160;
	LATE
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, aDesc, bDesc, no, 1, 1, 0, 0;
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	setp.ne.u32 p, warp, 0;
	@!p bar.arrive 2, 64;
	bar.sync 3, 160;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, aDesc, bDesc, !no, 1, 1, 0, 0;
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	cvt.rni.u32.f32 n, d0;
	mad.wide.u32 out, tid, 4, out;
	st.global.u32 [out], n;
	ret;
FIFTH:
	and.b32 n, tid, 31;
	mad.lo.u32 b, n, 8, b;
	st.shared.v2.b32 [b], {0x3c003c00, 0x3c003c00};
	fence.proxy.async;
	bar.sync 1, 160;
	bar.sync 2, 64;
	st.shared.v2.b32 [b], {0x40004000, 0x40004000};
	fence.proxy.async;
	bar.sync 3, 160;
	ret;
}
`

// TestWgmmaGroup checks that when the wait of one warp has ended, the product has ended for
// all four warps, so that its factors may be overwritten.
func TestWgmmaGroup(t *testing.T) {
	const late = `setp.ne.u32 p, warp, 3;
	@p bra GO;
	mov.u32 n, 0;
SPIN:	add.u32 n, n, 1;
	setp.lt.u32 p, n, 20000;
	@p bra SPIN;
GO:`
	for seed := range uint64(6) {
		d := deviceFor(t, ptx.SM90a, Options{Schedule: seed})
		for i, v := range u32s(runOn(t, d, strings.Replace(wgmmaGroupText, "LATE", late, 1), 1, 160, make([]byte, 512))) {
			if v != 48 {
				t.Fatalf("schedule %d: thread %d has %d, want 16·1 + 16·2", seed, i, v)
			}
		}
	}
}

// TestWgmmaGroupIncomplete checks that a product never ends if one warp of the warpgroup does
// not start it.
func TestWgmmaGroupIncomplete(t *testing.T) {
	const never = `setp.eq.u32 p, warp, 3;
	@p bar.sync 4, 32;
	@p bar.sync 4, 64;`
	d := deviceFor(t, ptx.SM90a, Options{})
	err := failText(t, d, strings.Replace(wgmmaGroupText, "LATE", never, 1), 1, 160, "deadlock")
	var lock *device.Deadlock
	if !errors.As(err, &lock) {
		t.Fatalf("%v is not a deadlock", err)
	}
	for _, w := range lock.Waiters {
		if w.Warp == 0 && !strings.Contains(w.For, "which warp 3 of the warpgroup has not committed") {
			t.Errorf("warp 0: %q", w.For)
		}
	}
}
