package stages

import (
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/ptx"
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
	dev := emulator(t, ptx.SM80, 0)
	data := kerneltest.Bytes(xs)
	buf := kerneltest.Buffer(t, dev, make([]byte, len(data)))
	err := kerneltest.Load(t, dev, k, nil).Launch(t.Context(), device.Launch{Grid: device.D((len(xs) + 255) / 256), Block: device.D(256),
		Params: []device.Param{device.Ptr(kerneltest.Buffer(t, dev, data)), device.Ptr(buf), device.U32(uint32(len(xs)))}})
	if err != nil {
		t.Fatal(err)
	}
	results := kerneltest.Floats(kerneltest.Read(t, buf))
	for i, x := range xs {
		got, want := float64(results[i]), math.Exp2(float64(x))
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
