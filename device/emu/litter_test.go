package emu_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

const litterText = `.version 7.0
.target sm_80
.address_size 64
.visible .entry litter(.param .u64 out)
{
	.reg .pred %p<2>;
	.reg .b16 %h<2>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<5>;
	.local .align 8 .b64 memory[2];
	mov.u32 %r0, %tid.x;
	ld.param.u64 %rd0, [out];
	mad.wide.u32 %rd0, %r0, 40, %rd0;
	cvt.u64.u16 %rd1, %h1;
	st.global.u64 [%rd0], %rd1;
	cvt.u64.u32 %rd1, %r3;
	st.global.u64 [%rd0+8], %rd1;
	st.global.u64 [%rd0+16], %rd4;
	selp.u64 %rd1, 1, 0, %p1;
	st.global.u64 [%rd0+24], %rd1;
	ld.local.u64 %rd1, [memory+8];
	st.global.u64 [%rd0+32], %rd1;
	ret;
}
`

// TestLitter reads registers and local memory that nobody has written. They are zero without a moment, and arbitrary
// with one, within the sizes of their types.
func TestLitter(t *testing.T) {
	run := func(moment uint64) (values [5][]uint64) {
		dev, err := emu.New(ptx.SM80, emu.Options{Moment: moment})
		if err != nil {
			t.Fatal(err)
		}
		m, err := dev.Load("litter.ptx", litterText)
		if err != nil {
			t.Fatal(err)
		}
		k, err := m.Kernel("litter")
		if err != nil {
			t.Fatal(err)
		}
		out, _ := dev.Alloc(40 * 32)
		if err := k.Launch(t.Context(), device.Launch{Grid: device.D(1), Block: device.D(32), Params: []device.Param{device.Ptr(out)}}); err != nil {
			t.Fatal(err)
		}
		data := make([]byte, 40*32)
		if err := out.Read(0, data); err != nil {
			t.Fatal(err)
		}
		for i := range 5 * 32 {
			values[i%5] = append(values[i%5], binary.LittleEndian.Uint64(data[8*i:]))
		}
		return values
	}
	for i, bits := range []int{16, 32, 64, 1, 64} {
		if plain := run(0)[i]; slices.Max(plain) != 0 {
			t.Errorf("value %d without a moment: %#x", i, plain)
		}
		got := run(7)[i]
		if slices.Min(got) == slices.Max(got) || bits < 64 && slices.Max(got)>>bits != 0 || bits > 1 && slices.Max(got)>>(bits-2) == 0 {
			t.Errorf("value %d of %d bits with a moment: %#x", i, bits, got)
		}
	}
}
