package attn

import (
	"encoding/binary"
	"math"
	"testing"

	"attest/build"
	"attest/device"
	"attest/ptx"
)

// TestFastExp compares the polynomial with 2^x over the range that a softmax needs.
func TestFastExp(t *testing.T) {
	k := build.New("fastexp", ptx.SM80)
	in, out, n := k.ParamGlobalF32("in"), k.ParamGlobalF32("out"), k.ParamU32("n")
	g := &gen{k: k, c: Config{FastExp: true}}
	i := k.CtaidX().MadLo(k.NtidX(), k.TidX())
	k.If(i.SetpLt(n), func() { out.At(i).St(g.exp2(in.At(i).Ld())) })

	var xs []float32
	for x := float32(-130); x < 0.6; x += 0.00317 {
		xs = append(xs, x)
	}
	xs = append(xs, 0, -1, -126, -127, -1e30, float32(math.Inf(-1)), float32(math.NaN()))
	data := make([]byte, 0, 4*len(xs))
	for _, x := range xs {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	b := &bench{t: t, dev: emulator(t, ptx.SM80, 0)}
	buf := b.buffer(make([]byte, len(data)))
	text, err := k.PTX()
	if err != nil {
		t.Fatal(err)
	}
	mod, err := b.dev.Load("fastexp.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := mod.Kernel("fastexp")
	if err != nil {
		t.Fatal(err)
	}
	err = kernel.Launch(t.Context(), device.Launch{Grid: device.D((len(xs) + 255) / 256), Block: device.D(256),
		Params: []device.Param{device.Ptr(b.buffer(data)), device.Ptr(buf), device.U32(uint32(len(xs)))}})
	if err != nil {
		t.Fatal(err)
	}
	if err := buf.Read(0, data); err != nil {
		t.Fatal(err)
	}
	for i, x := range xs {
		got, want := float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))), math.Exp2(float64(x))
		switch {
		case x != x:
			if got == got {
				t.Errorf("2^NaN is %v", got)
			}
		case x < -126.4: // the smallest normal numbers end, and zero is as good
			if got < 0 || got > 0x1p-126 {
				t.Errorf("2^%v is %g", x, got)
			}
		case math.Abs(got-want) > 4e-6*want || x == 0 && got != 1:
			t.Errorf("2^%v is %g, want %g", x, got, want)
		}
	}
}
