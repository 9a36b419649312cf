package emu

import (
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// TestOrder checks for which kernels blocks may run in any order, and for which a few of them may run alone.
func TestOrder(t *testing.T) {
	d := deviceFor(t, ptx.SM90a, Options{})
	for _, c := range []struct {
		body   string
		serial bool
		waits  bool
	}{
		{"st.global.u32 [%rd0], 1;", false, false},
		{"red.global.add.u32 [%rd0], 1;", false, false},
		{"red.global.add.u32 [%rd0], 1;\nred.global.add.s32 [%rd0+4], 1;", false, false},
		{"red.global.add.u32 [%rd0], 1;\nred.global.max.u32 [%rd0], 1;", true, false},
		{"red.global.add.u32 [%rd0], 1;\nred.global.add.u64 [%rd0], 1;", true, false},
		{"red.global.or.b64 [%rd0], %rd0;", false, false},
		{"atom.global.add.u32 %r1, [%rd0], 1;", false, false},
		{"atom.global.add.u32 _, [%rd0], 1;", false, false},
		{"atom.global.add.u32 %r1, [%rd0], 1;\nst.global.u32 [%rd0], %r1;", true, true},
		{"atom.global.add.u32 %r1, [%rd0], 1;\nsetp.eq.u32 %p1, %r1, 0;", true, true},
		{"red.global.add.f32 [%rd0], %f1;", true, false},
		{"red.global.inc.u32 [%rd0], 5;", true, false},
		{"atom.global.inc.u32 %r1, [%rd0], 5;\nst.global.u32 [%rd0], %r1;", true, false},
		{"atom.global.exch.b32 %r1, [%rd0], 5;", true, false},
		{"atom.global.cas.b32 %r1, [%rd0], 5, 6;\nst.global.u32 [%rd0], %r1;", true, true},
		{"atom.shared.cas.b32 %r1, [%r2], 5, 6;\nst.global.u32 [%rd0], %r1;", false, false},
		{"red.shared.add.f32 [%r2], %f1;", false, false},
		{"red.add.f32 [%rd0], %f1;", true, false},
		{"ld.volatile.global.u32 %r1, [%rd0];", true, true},
		{"ld.volatile.shared.u32 %r1, [%r2];", false, false},
		{"ld.relaxed.gpu.global.u32 %r1, [%rd0];", true, true},
		{"ld.acquire.sys.u32 %r1, [%rd0];", true, true},
		{"ld.acquire.cta.u32 %r1, [%rd0];", false, false},
		{"membar.gl;", true, true},
		{"membar.cta;", false, false},
		{"fence.acq_rel.gpu;", true, true},
		{"fence.acq_rel.cluster;", false, false},
		{"fence.proxy.async;", false, false},
		{"fence.proxy.tensormap::generic.release.gpu;", false, false},
		{"call quiet;", false, false},
		{"call deeper;", true, true},
		{"mov.u64 %rd1, quiet;\nproto: .callprototype _ ();\ncall %rd1, proto;", true, true},
	} {
		text := header + `.global .u32 v;
.func quiet() { ret; }
.func loud() { .reg .b32 %r; atom.global.exch.b32 %r, [v], 1; st.global.u32 [v], %r; ret; }
.func deeper() { call loud; ret; }
` + kernelText(c.body)[len(header):]
		m, err := d.Load("test.ptx", text)
		if err != nil {
			t.Fatalf("%s: %v", c.body, err)
		}
		k, err := m.Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		if e := k.(*entryPoint).kernel.Entry; e.Serial != c.serial || e.Waits != c.waits {
			t.Errorf("%s: serial is %v and waits is %v, want %v and %v", c.body, e.Serial, e.Waits, c.serial, c.waits)
		}
	}
}

// TestOrderRepeats adds floats in many blocks: rounding depends on the order, which must be
// the same in each run.
func TestOrderRepeats(t *testing.T) {
	text := kernelText(`mov.u32 %r2, %ctaid.x;
	mad.lo.u32 %r2, %r2, 64, %r0;
	cvt.rn.f32.u32 %f1, %r2;
	rcp.rn.f32 %f1, %f1;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 red.global.add.f32 [%rd0], %f1;`)
	d := deviceFor(t, ptx.SM90a, Options{})
	first := u32s(runOn(t, d, text, 300, 64, make([]byte, 4)))[0]
	for range 5 {
		if again := u32s(runOn(t, d, text, 300, 64, make([]byte, 4)))[0]; again != first {
			t.Fatalf("%#x and %#x", first, again)
		}
	}
}
