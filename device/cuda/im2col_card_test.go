package cuda_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// im2colText loads 64 pixels of 8 channels at the coordinates at, with offsets, and writes them to out.
const im2colText = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 pout, .param .align 8 .b8 at[24])
{
	.reg .pred p; .reg .b32 a, b, v, n, c<4>; .reg .b16 o<2>; .reg .b64 out, state, m;
	.shared .align 1024 .b8 buf[2048];
	.shared .align 8 .b64 bar;
	ld.param.u64 out, [pout];
	ld.param.u32 c0, [at];
	ld.param.u32 c1, [at+4];
	ld.param.u32 c2, [at+8];
	ld.param.u32 c3, [at+12];
	ld.param.u16 o0, [at+16];
	ld.param.u16 o1, [at+18];
	mov.u32 a, buf;
	mov.u32 b, bar;
	mbarrier.init.shared.b64 [b], 1;
	fence.proxy.async.shared::cta;
	mbarrier.arrive.expect_tx.shared.b64 state, [b], 2048;
	mov.b64 m, map;
	cvta.param.u64 m, m;
	cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [a], [m, {c0, c1, c2, c3}], [b], {o0, o1};
wait:
	mbarrier.try_wait.parity.shared.b64 p, [b], 0;
	@!p bra wait;
	mov.u32 n, 0;
loop:
	ld.shared.u32 v, [a];
	st.global.u32 [out], v;
	add.u32 a, a, 4;
	add.u64 out, out, 4;
	add.u32 n, n, 4;
	setp.lt.u32 p, n, 2048;
	@p bra loop;
	ret;
}
`

// TestCardIm2col copies pixels in im2col mode on the GPU and on the emulator: the examples of the PTX
// manual, and others.
func TestCardIm2col(t *testing.T) {
	d := gpu(t)
	if !d.Info().Target.Runs(ptx.SM90) {
		t.Skipf("%s is not sm_90", d.Info().Name)
	}
	e, err := emu.New(ptx.SM90a, emu.Options{})
	check(t, err)
	for _, c := range im2colCases {
		if got, want := c.run(t, e), c.run(t, d); !bytes.Equal(got, want) {
			t.Errorf("%+v: the emulator copies\n%x\nthe GPU\n%x", c, got, want)
		}
	}
}

// TestIm2colCases checks that the emulator runs the cases of TestCardIm2col.
func TestIm2colCases(t *testing.T) {
	e, err := emu.New(ptx.SM90a, emu.Options{})
	check(t, err)
	for _, c := range im2colCases {
		c.run(t, e)
	}
}

// im2colCase is a copy of pixels of two images of 9×14 pixels with 16 channels.
type im2colCase struct {
	lower, upper [2]int32
	step         uint32
	at           [4]int32
	offsets      [2]uint16
	nan          bool
}

var im2colCases = []im2colCase{
	{[2]int32{-1, -1}, [2]int32{-1, -1}, 1, [4]int32{0, 7, 4, 0}, [2]uint16{0, 0}, false},
	{[2]int32{0, 0}, [2]int32{-2, -2}, 1, [4]int32{0, 6, 4, 0}, [2]uint16{2, 2}, false},
	{[2]int32{-1, -1}, [2]int32{-1, -1}, 2, [4]int32{0, 7, 5, 0}, [2]uint16{1, 1}, false},
	{[2]int32{-1, -1}, [2]int32{-1, -1}, 2, [4]int32{0, 6, 4, 0}, [2]uint16{1, 0}, false},
	{[2]int32{-2, 1}, [2]int32{1, 0}, 1, [4]int32{8, -2, 13, 1}, [2]uint16{0, 3}, true},
	{[2]int32{-2, -2}, [2]int32{2, 2}, 3, [4]int32{12, 1, 1, 1}, [2]uint16{2, 1}, true},
}

func (c im2colCase) run(t *testing.T, d device.Device) []byte {
	t.Helper()
	data := make([]byte, 2*14*9*16*4)
	for i := 0; i < len(data); i += 4 {
		binary.LittleEndian.PutUint32(data[i:], uint32(i+1))
	}
	in, err := d.Alloc(int64(len(data)))
	check(t, err)
	defer in.Free()
	out, err := d.Alloc(2048)
	check(t, err)
	defer out.Free()
	check(t, in.Write(0, data))
	m, err := d.TensorMap(device.TensorDesc{
		Type: ptx.F32, Addr: in.Addr(), Dims: []uint64{16, 9, 14, 2}, Strides: []uint64{64, 576, 8064}, Steps: []uint32{1, c.step, c.step, 1},
		Im2col: &device.Im2col{Lower: c.lower[:], Upper: c.upper[:], Channels: 8, Pixels: 64}, NaNFill: c.nan,
	})
	check(t, err)
	mod, err := d.Load("im2col.ptx", im2colText)
	check(t, err)
	defer mod.Close()
	k, err := mod.Kernel("k")
	check(t, err)
	at := make([]byte, 24)
	for i, v := range c.at {
		binary.LittleEndian.PutUint32(at[4*i:], uint32(v))
	}
	binary.LittleEndian.PutUint16(at[16:], c.offsets[0])
	binary.LittleEndian.PutUint16(at[18:], c.offsets[1])
	check(t, k.Launch(context.Background(), device.Launch{Grid: device.D(1), Block: device.D(1), Params: []device.Param{m.Param(), device.Ptr(out), at}}))
	result := make([]byte, 2048)
	check(t, out.Read(0, result))
	return result
}
