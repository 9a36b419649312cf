package emu_test

import (
	"encoding/binary"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestOnly checks that only the selected blocks of a launch run.
func TestOnly(t *testing.T) {
	dev, err := emu.New(ptx.SM80, emu.Options{Only: func(c, n int) bool { return c == n-2 }})
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load("mark.ptx", `.version 7.0
.target sm_80
.address_size 64
.visible .entry mark(.param .u64 out)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %ctaid.x;
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd2, %rd0, %rd1;
	st.global.u32 [%rd2], 1;
	ret;
}
`)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("mark")
	if err != nil {
		t.Fatal(err)
	}
	out, err := dev.Alloc(16)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Write(0, make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(t.Context(), device.Launch{Grid: device.D(4), Block: device.D(1), Params: []device.Param{device.Ptr(out)}}); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 16)
	if err := out.Read(0, got); err != nil {
		t.Fatal(err)
	}
	for block := range 4 {
		if ran := binary.LittleEndian.Uint32(got[4*block:]) == 1; ran != (block == 2) {
			t.Errorf("block %d ran: %v", block, ran)
		}
	}
}
