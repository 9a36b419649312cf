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

// TestOnlyBeside checks which blocks of a launch run whose blocks count each other: the neighbours in x of the selected one, and
// those that differ in y only. If blocks may wait for each other, all run.
func TestOnlyBeside(t *testing.T) {
	const width, height = 40, 3
	const selected = width + 5 // the block at (5, 1)
	dev, err := emu.New(ptx.SM80, emu.Options{Only: func(c, n int) bool { return c == selected }})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		count string
		runs  func(x, y int) bool
	}{
		{"atom.global.inc.u32 %r1, [%rd1], 7;", func(x, y int) bool { return x == 5 || y == 1 && x <= 13 }},
		{"atom.global.add.u32 %r1, [%rd1], 7;", func(x, y int) bool { return true }},
	} {
		got := make([]byte, 4*width*height+8)
		runs(t, dev, c.count, device.D(width, height), got)
		for block := range width * height {
			x, y := block%width, block/width
			if ran := binary.LittleEndian.Uint32(got[8+4*block:]) == 1; ran != c.runs(x, y) {
				t.Errorf("%s: block (%d,%d) ran: %v", c.count, x, y, ran)
			}
		}
	}
}

// runs runs blocks that count and then mark themselves, and reads the counter and the marks.
func runs(t *testing.T, dev device.Device, count string, grid device.Dim, got []byte) {
	t.Helper()
	m, err := dev.Load("mark.ptx", `.version 7.0
.target sm_80
.address_size 64
.visible .entry mark(.param .u64 out)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [out];
	`+count+`
	st.global.u32 [%rd1+4], %r1;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ctaid.y;
	mov.u32 %r4, %nctaid.x;
	mad.lo.u32 %r2, %r3, %r4, %r2;
	mul.wide.u32 %rd2, %r2, 4;
	add.u64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3+8], 1;
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
	out, err := dev.Alloc(int64(len(got)))
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Write(0, got); err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(t.Context(), device.Launch{Grid: grid, Block: device.D(1), Params: []device.Param{device.Ptr(out)}}); err != nil {
		t.Fatal(err)
	}
	if err := out.Read(0, got); err != nil {
		t.Fatal(err)
	}
}
