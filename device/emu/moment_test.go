package emu_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

const momentText = `.version 7.0
.target sm_80
.address_size 64
.visible .entry moment(.param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %ctaid.x;
	mad.wide.u32 %rd2, %r1, 32, %rd1;
	mov.u32 %r2, %smid;
	cvt.u64.u32 %rd3, %r2;
	st.global.u64 [%rd2], %rd3;
	mov.u64 %rd4, %globaltimer;
	st.global.u64 [%rd2+8], %rd4;
	mov.u64 %rd5, %gridid;
	st.global.u64 [%rd2+16], %rd5;
	mov.u32 %r3, %nsmid;
	cvt.u64.u32 %rd3, %r3;
	st.global.u64 [%rd2+24], %rd3;
	ret;
}
`

// TestMoment wants special registers that differ between launches if, and only if, a moment is
// given, and the same values for the same moment.
func TestMoment(t *testing.T) {
	const blocks = 64
	run := func(moment uint64) (launches [2][]uint64) {
		dev, err := emu.New(ptx.SM80, emu.Options{Moment: moment})
		if err != nil {
			t.Fatal(err)
		}
		m, err := dev.Load("moment.ptx", momentText)
		if err != nil {
			t.Fatal(err)
		}
		k, err := m.Kernel("moment")
		if err != nil {
			t.Fatal(err)
		}
		out, _ := dev.Alloc(32 * blocks)
		for i := range launches {
			if err := k.Launch(t.Context(), device.Launch{Grid: device.D(blocks), Block: device.D(1), Params: []device.Param{device.Ptr(out)}}); err != nil {
				t.Fatal(err)
			}
			data := make([]byte, 32*blocks)
			if err := out.Read(0, data); err != nil {
				t.Fatal(err)
			}
			for ; len(data) > 0; data = data[8:] {
				launches[i] = append(launches[i], binary.LittleEndian.Uint64(data))
			}
		}
		return launches
	}
	plain, one, again := run(0), run(7), run(7)
	if plain[0][4] != 1 || plain[0][1] > 100 || plain[0][2] != 1 || plain[1][2] != 2 || plain[0][3] != 108 {
		t.Errorf("without a moment: %v", plain[0][:8])
	}
	if !slices.Equal(one[0], again[0]) || !slices.Equal(one[1], again[1]) {
		t.Error("the same moment gives other values")
	}
	high := 0
	for i := 0; i < len(one[0]); i += 4 {
		sm := one[0][i]
		if sm >= one[0][i+3] {
			t.Errorf("SM %d of %d", sm, one[0][i+3])
		}
		if sm >= 100 {
			high++
		}
	}
	if high < 10 || high > blocks-10 {
		t.Errorf("%d of %d blocks are on SM 100 or above", high, blocks)
	}
	for i := range 3 {
		if one[0][i] == one[1][i] && one[0][4+i] == one[1][4+i] {
			t.Errorf("register %d has the same values in two launches", i)
		}
	}
}
