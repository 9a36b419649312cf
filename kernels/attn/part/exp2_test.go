package part

import (
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestPolynomials compares both polynomials with 2^x over the range that a softmax needs.
func TestPolynomials(t *testing.T) {
	for name, c := range map[string]struct {
		p         Polynomial
		tolerance float64
	}{"f16": {ForF16, 4e-6}, "e4m3": {ForE4M3, 1.8e-3}} {
		xs := []float32{0, -1, c.p.Least, -1e30, float32(math.Inf(-1)), float32(math.NaN())}
		for x := c.p.Least - 3; x < 8; x += 0.00317 {
			xs = append(xs, x)
		}
		for i, y := range powers(t, c.p, xs) {
			x, got, want := xs[i], float64(y), math.Exp2(float64(xs[i]))
			switch {
			case x != x:
				if got == got {
					t.Errorf("%s: 2^NaN is %v", name, got)
				}
			case x < c.p.Least+0.6: // the range of the polynomial ends
				if got < 0 || got > math.Exp2(float64(c.p.Least)+1) {
					t.Errorf("%s: 2^%v is %g", name, x, got)
				}
			case math.Abs(got-want) > c.tolerance*want:
				t.Errorf("%s: 2^%v is %g, want %g", name, x, got, want)
			}
		}
	}
	if y := powers(t, ForF16, []float32{0})[0]; y != 1 {
		t.Errorf("f16: 2^0 is %v, want 1", y)
	}
}

// powers runs the polynomial on the emulator.
func powers(t *testing.T, p Polynomial, xs []float32) []float32 {
	t.Helper()
	k := build.New("powers", ptx.SM80)
	in, out, n := build.ParamGlobal[build.F32](k, "in"), build.ParamGlobal[build.F32](k, "out"), k.ParamU32("n")
	i := k.CtaidX().MadLo(k.NtidX(), k.TidX())
	k.If(i.SetpLt(n), func() { out.At(i).St(p.Exp2(k, in.At(i).Ld())) })
	dev, err := emu.New(ptx.SM80, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	data := kerneltest.Bytes(xs)
	buf := kerneltest.Buffer(t, dev, make([]byte, len(data)))
	err = kerneltest.Load(t, dev, k, nil).Launch(t.Context(), device.Launch{Grid: device.D((len(xs) + 255) / 256), Block: device.D(256),
		Params: []device.Param{device.Ptr(kerneltest.Buffer(t, dev, data)), device.Ptr(buf), device.U32(uint32(len(xs)))}})
	if err != nil {
		t.Fatal(err)
	}
	return kerneltest.Floats(kerneltest.Read(t, buf))
}
