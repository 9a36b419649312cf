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
	numbers := map[uint64]bool{}
	for moment := range uint64(8) {
		numbers[run(1 + moment)[0][3]&1] = true
	}
	if len(numbers) != 2 {
		t.Error("the number of SMs is always even, or always odd")
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

// TestMomentAddresses wants allocations at addresses that depend on the moment only.
func TestMomentAddresses(t *testing.T) {
	addresses := func(moment uint64) (list [3]uint64) {
		dev, err := emu.New(ptx.SM80, emu.Options{Moment: moment})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			b, err := dev.Alloc(1000)
			if err != nil {
				t.Fatal(err)
			}
			if list[i] = b.Addr(); list[i]%256 != 0 || list[i]>>42 == 0 || list[i]>>47 != 0 || i > 0 && list[i] < list[i-1]+1000 {
				t.Errorf("moment %d: allocation %d is at %#x", moment, i, list[i])
			}
		}
		return list
	}
	plain, one, other := addresses(0), addresses(7), addresses(8)
	if plain != addresses(0) || one != addresses(7) {
		t.Error("the same moment gives other addresses")
	}
	if plain[0]>>40 != 0x70 || plain[1]-plain[0] > 4096 {
		t.Errorf("without a moment: %#x", plain)
	}
	if one[0] == other[0] || one[1]-one[0] == other[1]-other[0] || one[1]-one[0] < 4096 && other[1]-other[0] < 4096 {
		t.Errorf("%#x and %#x", one, other)
	}
}

const warpsText = `.version 7.0
.target sm_80
.address_size 64
.visible .entry warps(.param .u64 out)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	shr.u32 %r2, %r2, 5;
	mad.lo.u32 %r1, %r1, 4, %r2;
	mul.wide.u32 %rd2, %r1, 8;
	add.u64 %rd1, %rd1, %rd2;
	mov.u32 %r3, %warpid;
	st.global.u32 [%rd1], %r3;
	mov.u32 %r4, %nwarpid;
	st.global.u32 [%rd1+4], %r4;
	ret;
}
`

// TestMomentWarps wants the numbers of the warps of a block to be those of its threads without a moment,
// and else different numbers that do not begin with 0 in every block.
func TestMomentWarps(t *testing.T) {
	for _, moment := range []uint64{0, 5, 6} {
		dev, err := emu.New(ptx.SM80, emu.Options{Moment: moment})
		if err != nil {
			t.Fatal(err)
		}
		out, data := launchWarps(t, dev), make([]byte, 8*4*16)
		if err := out.Read(0, data); err != nil {
			t.Fatal(err)
		}
		zero := 0
		for block := range 16 {
			seen := map[uint32]bool{}
			for warp := range 4 {
				at := data[8*(4*block+warp):]
				id, most := binary.LittleEndian.Uint32(at), binary.LittleEndian.Uint32(at[4:])
				if moment == 0 && id != uint32(warp) || id >= most || most != 64 && most != 48 {
					t.Errorf("moment %d: warp %d of block %d is %d of %d", moment, warp, block, id, most)
				}
				if seen[id] = true; id == 0 && warp == 0 {
					zero++
				}
			}
			if len(seen) != 4 {
				t.Errorf("moment %d: the warps of block %d are %v", moment, block, seen)
			}
		}
		if first := zero == 16; first != (moment == 0) {
			t.Errorf("moment %d: %d blocks begin with warp 0", moment, zero)
		}
	}
}

func launchWarps(t *testing.T, dev *emu.Device) device.Buffer {
	t.Helper()
	m, err := dev.Load("warps.ptx", warpsText)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("warps")
	if err != nil {
		t.Fatal(err)
	}
	out, err := dev.Alloc(8 * 4 * 16)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(t.Context(), device.Launch{Grid: device.D(16), Block: device.D(128), Params: []device.Param{device.Ptr(out)}}); err != nil {
		t.Fatal(err)
	}
	return out
}
