package part

import (
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestCodes compares codes with rounded weights: the code of a power of two is right, a sixth of all codes is
// off by one, none by two, and they are neither too large nor too small on average. A NaN stays one, and -∞ is 0.
func TestCodes(t *testing.T) {
	var logs []float32
	for x := float32(-6); x <= 8; x++ {
		logs = append(logs, x)
	}
	whole := len(logs)
	for x := float32(-5.9); x < 8; x += 0.00317 {
		logs = append(logs, x)
	}
	regular := len(logs)
	logs = append(logs, float32(math.NaN()), float32(math.Inf(-1)), -1e30, -8, -100)
	got := codesOf(t, logs)
	off, sum := 0, 0
	for i, x := range logs[:regular] {
		by := int(got[i]) - int(fp8.E4M3.EncodeSatfinite(math.Exp2(float64(x))))
		if by != 0 {
			off++
			sum += by
		}
		if by < -1 || by > 1 || i < whole && by != 0 {
			t.Errorf("the code of 2^%v is off by %d", x, by)
		}
	}
	if share := float64(off) / float64(regular); share < 0.14 || share > 0.19 {
		t.Errorf("%.3f of all codes are off by one, want about 0.17", share)
	}
	if mean := float64(sum) / float64(regular); math.Abs(mean) > 0.04 {
		t.Errorf("codes are %.3f too large on average", mean)
	}
	if code := got[regular]; code&0x7f != 0x7f {
		t.Errorf("the code of a NaN is %#x", code)
	}
	for i, x := range logs[regular+1:] {
		if code := got[regular+1+i]; code != 0 {
			t.Errorf("the code of 2^%v is %#x, want 0", x, code)
		}
	}
}

// codesOf computes codes on the emulator, those of four logarithms per thread.
func codesOf(t *testing.T, logs []float32) []byte {
	t.Helper()
	for len(logs)%4 != 0 {
		logs = append(logs, 0)
	}
	k := build.New("codes", ptx.SM80)
	in, out, n := build.ParamGlobal[build.F32](k, "in"), build.ParamGlobal[build.B32](k, "out"), k.ParamU32("n")
	i := k.CtaidX().MadLo(k.NtidX(), k.TidX())
	k.If(i.SetpLt(n), func() {
		var x [4]build.F32
		for e := range x {
			x[e] = in.At(i.Shl(2)).Plus(e).Ld().Add(codeOffset, build.Rn)
		}
		out.At(i).St(codeWord(k, x))
	})
	dev, err := emu.New(ptx.SM80, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	words := len(logs) / 4
	buf := kerneltest.Buffer(t, dev, make([]byte, 4*words))
	err = kerneltest.Load(t, dev, k, nil).Launch(t.Context(), device.Launch{Grid: device.D((words + 255) / 256), Block: device.D(256),
		Params: []device.Param{device.Ptr(kerneltest.Buffer(t, dev, kerneltest.Bytes(logs))), device.Ptr(buf), device.U32(uint32(words))}})
	if err != nil {
		t.Fatal(err)
	}
	return kerneltest.Read(t, buf)
}
