package fp8_test

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	_ "github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/fp8"
)

// converter is a kernel that converts pairs of floats, one pair a thread.
const converter = `.version 8.1
.target sm_89
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
	.reg .b16 %%h;
	.reg .b32 %%r<4>;
	.reg .b64 %%rd<6>;
	.reg .f32 %%f<2>;
	ld.param.u64 %%rd0, [in];
	ld.param.u64 %%rd1, [out];
	mov.u32 %%r0, %%ctaid.x;
	mov.u32 %%r1, %%ntid.x;
	mov.u32 %%r2, %%tid.x;
	mad.lo.u32 %%r3, %%r0, %%r1, %%r2;
	mad.wide.u32 %%rd2, %%r3, 8, %%rd0;
	mad.wide.u32 %%rd3, %%r3, 2, %%rd1;
	ld.global.v2.f32 {%%f0, %%f1}, [%%rd2];
	cvt.rn.satfinite.%sx2.f32 %%h, %%f1, %%f0;
	st.global.b16 [%%rd3], %%h;
	ret;
}
`

var deviceName = flag.String("device", "emu:sm_89", "the device that converts: cuda:0 is a GPU")

// TestDeviceAgrees has the same numbers converted by cvt.rn.satfinite on a device.
func TestDeviceAgrees(t *testing.T) {
	dev, err := device.Open(*deviceName)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	x := inputs()
	for _, f := range []fp8.Format{fp8.E4M3, fp8.E5M2} {
		got := convert(t, dev, f, x)
		for i, v := range x {
			if want := f.EncodeSatfinite(float64(v)); got[i] != want {
				t.Fatalf("%v: the device makes %#02x of %g (%#x), EncodeSatfinite %#02x", f, got[i], v, math.Float32bits(v), want)
			}
		}
	}
}

// inputs are all halves and bfloat16s, and what lies beside them in float32. Their
// number is a multiple of a block's.
func inputs() (x []float32) {
	for i := range uint32(1 << 16) {
		b := math.Float32bits(fp8.FromF16(uint16(i)))
		for _, bits := range []uint32{b, b + 1, b - 1, i << 16, i<<16 | 0xffff} {
			x = append(x, math.Float32frombits(bits))
		}
	}
	return x
}

func convert(t *testing.T, dev device.Device, f fp8.Format, x []float32) []byte {
	t.Helper()
	mod, err := dev.Load("convert.ptx", fmt.Sprintf(converter, f))
	if err != nil {
		t.Fatal(err)
	}
	defer mod.Close()
	k, err := mod.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	var data []byte
	for _, v := range x {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	in, out := buffer(t, dev, len(data)), buffer(t, dev, len(x))
	if err := in.Write(0, data); err != nil {
		t.Fatal(err)
	}
	const threads = 256
	l := device.Launch{Grid: device.D(len(x) / 2 / threads), Block: device.D(threads), Params: []device.Param{device.Ptr(in), device.Ptr(out)}}
	if err := k.Launch(context.Background(), l); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(x))
	if err := out.Read(0, got); err != nil {
		t.Fatal(err)
	}
	return got
}

func buffer(t *testing.T, dev device.Device, size int) device.Buffer {
	t.Helper()
	b, err := dev.Alloc(int64(size))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
