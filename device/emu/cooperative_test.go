package emu

import (
	"strings"
	"testing"

	"attest/device"
	"attest/ptx"
)

// TestCooperative: a cooperative launch has memory for a barrier of the grid, whose size
// comes first and whose count starts at 0, each time; another launch has none.
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

// TestReservedShared: what cooperative groups keep for tiles of several warps lies in
// shared memory that a driver reserves. A kernel that asks where is refused: it would
// overwrite its own variables.
func TestReservedShared(t *testing.T) {
	d := deviceFor(t, ptx.SM80, Options{})
	_, err := d.Load("k.ptx", ".version 7.6\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\t.reg .b32 r;\n\tmov.u32 r, %reserved_smem_offset_1;\n\tret;\n}\n")
	if err == nil || !strings.Contains(err.Error(), "k.ptx:7:2") || !strings.Contains(err.Error(), "%reserved_smem_offset_1 is nowhere") {
		t.Errorf("%v", err)
	}
}
