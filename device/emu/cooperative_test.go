package emu

import (
	"errors"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestCooperative checks that a cooperative launch has memory for a grid barrier: its size is
// in the first word, and its count starts at 0 in each launch. Other launches have no such
// memory.
func TestCooperative(t *testing.T) {
	const text = `.version 7.4
.target sm_80
.address_size 64
.visible .entry k(.param .u64 pout)
{
	.reg .b32 hi, lo; .reg .b64 out, ws, v;
	ld.param.u64 out, [pout];
	mov.u32 hi, %envreg1;
	mov.u32 lo, %envreg2;
	mov.b64 ws, {lo, hi};
	st.global.u64 [out], ws;
	.reg .pred none;
	setp.eq.u64 none, ws, 0;
	@none ret;
	ld.global.u64 v, [ws];
	st.global.u64 [out+8], v;
	st.global.u32 [ws+4], 7;
	ret;
}
`
	d := deviceFor(t, ptx.SM80, Options{})
	out, err := d.Alloc(16)
	if err != nil {
		t.Fatal(err)
	}
	for _, cooperative := range []bool{true, true, false} {
		if err := launchText(t, d, text, device.Launch{Grid: device.D(1), Block: device.D(1), Cooperative: cooperative, Params: []device.Param{device.Ptr(out)}}); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 16)
		if err := out.Read(0, got); err != nil {
			t.Fatal(err)
		}
		if v := u64s(got); (v[0] != 0) != cooperative || cooperative && v[1] != 8 {
			t.Errorf("cooperative %v: memory at %#x holds %#x", cooperative, v[0], v[1])
		}
	}
	err = launchText(t, d, text, device.Launch{Grid: device.D(1 << 20), Block: device.D(1), Cooperative: true, Params: []device.Param{device.Ptr(out)}})
	if err == nil || !strings.Contains(err.Error(), "a cooperative launch of 1048576 blocks") {
		t.Errorf("more blocks than fit: %v", err)
	}
}

// TestReservedShared checks the shared memory that the driver reserves, which cooperative
// groups use for tiles of several warps: a kernel may read its address, but an access faults.
func TestReservedShared(t *testing.T) {
	for use, want := range map[string]string{"": "", "atom.shared.add.u32 r, [r], 1;": "the emulator does not have the shared memory that the driver reserves"} {
		d := deviceFor(t, ptx.SM80, Options{})
		text := ".version 7.6\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\t.reg .b32 r;\n\tmov.u32 r, %reserved_smem_offset_1;\n\t" + use + "\n\tret;\n}\n"
		err := launchText(t, d, text, device.Launch{Grid: device.D(1), Block: device.D(32)})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", use, err)
		}
	}
}

// TestBeforeShared checks that a generic address just before shared memory is reported as a
// shared-memory fault, not as a global one.
func TestBeforeShared(t *testing.T) {
	d := deviceFor(t, ptx.SM80, Options{})
	text := ".version 7.6\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\t.shared .align 4 .b32 s[4];\n\t.reg .b64 a;\n\tmov.u64 a, s;\n\tcvta.shared.u64 a, a;\n\tst.u32 [a+-4], 1;\n\tret;\n}\n"
	err := launchText(t, d, text, device.Launch{Grid: device.D(1), Block: device.D(1)})
	var fault *device.Fault
	if !errors.As(err, &fault) || fault.Class != "oob-shared" || !strings.Contains(fault.Message, "4 bytes before its start") {
		t.Errorf("%v", err)
	}
}
