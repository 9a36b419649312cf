package emu

import (
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// TestOrder checks for which kernels blocks may run in any order.
func TestOrder(t *testing.T) {
	d := deviceFor(t, ptx.SM90a, Options{})
	for _, c := range []struct {
		body   string
		serial bool
	}{
		{"st.global.u32 [%rd0], 1;", false},
		{"red.global.add.u32 [%rd0], 1;", false},
		{"red.global.add.u32 [%rd0], 1;\nred.global.add.s32 [%rd0+4], 1;", false},
		{"red.global.add.u32 [%rd0], 1;\nred.global.max.u32 [%rd0], 1;", true},
		{"red.global.add.u32 [%rd0], 1;\nred.global.add.u64 [%rd0], 1;", true},
		{"red.global.or.b64 [%rd0], %rd0;", false},
		{"atom.global.add.u32 %r1, [%rd0], 1;", false},
		{"atom.global.add.u32 _, [%rd0], 1;", false},
		{"atom.global.add.u32 %r1, [%rd0], 1;\nst.global.u32 [%rd0], %r1;", true},
		{"atom.global.add.u32 %r1, [%rd0], 1;\nsetp.eq.u32 %p1, %r1, 0;", true},
		{"red.global.add.f32 [%rd0], %f1;", true},
		{"red.global.inc.u32 [%rd0], 5;", true},
		{"atom.global.exch.b32 %r1, [%rd0], 5;", true},
		{"atom.global.cas.b32 %r1, [%rd0], 5, 6;", true},
		{"atom.shared.cas.b32 %r1, [%r2], 5, 6;\nst.global.u32 [%rd0], %r1;", false},
		{"red.shared.add.f32 [%r2], %f1;", false},
		{"red.add.f32 [%rd0], %f1;", true},
		{"ld.volatile.global.u32 %r1, [%rd0];", true},
		{"ld.volatile.shared.u32 %r1, [%r2];", false},
		{"ld.relaxed.gpu.global.u32 %r1, [%rd0];", true},
		{"ld.acquire.sys.u32 %r1, [%rd0];", true},
		{"ld.acquire.cta.u32 %r1, [%rd0];", false},
		{"membar.gl;", true},
		{"membar.cta;", false},
		{"fence.acq_rel.gpu;", true},
		{"fence.acq_rel.cluster;", false},
		{"fence.proxy.async;", false},
		{"fence.proxy.tensormap::generic.release.gpu;", false},
		{"call quiet;", false},
		{"call deeper;", true},
		{"mov.u64 %rd1, quiet;\nproto: .callprototype _ ();\ncall %rd1, proto;", true},
	} {
		text := header + `.global .u32 v;
.func quiet() { ret; }
.func loud() { .reg .b32 %r; atom.global.exch.b32 %r, [v], 1; ret; }
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
		if got := k.(*entryPoint).kernel.Entry.Serial; got != c.serial {
			t.Errorf("%s: serial is %v, want %v", c.body, got, c.serial)
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
