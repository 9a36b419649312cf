package kerneltest

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/cuda"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Emulator returns an emulated GPU of the target.
func Emulator(t testing.TB, target ptx.Target, o emu.Options) device.Device {
	t.Helper()
	dev, err := emu.New(target, o)
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// Card returns the first GPU of the machine. Without one, or if it does not run code for the
// target, the test is skipped.
func Card(t testing.TB, target ptx.Target) device.Device {
	t.Helper()
	dev, err := cuda.Open(0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { dev.Close() })
	if !dev.Info().Target.Runs(target) {
		t.Skipf("%s does not run code for %s", dev.Info().Name, target)
	}
	return dev
}

// Load compiles a kernel. If spoil is not nil, it changes the text first; a text that it leaves
// unchanged fails the test.
func Load(t testing.TB, dev device.Device, k Kernel, spoil func(ptx string) string) device.Kernel {
	t.Helper()
	text := PTX(t, k)
	if spoil != nil {
		spoilt := spoil(text)
		if spoilt == text {
			t.Fatalf("%s: there is nothing to spoil", k.Name())
		}
		text = spoilt
	}
	mod, err := dev.Load(k.Name()+".ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := mod.Kernel(k.Name())
	if err != nil {
		t.Fatal(err)
	}
	return kernel
}

// Buffer returns device memory that holds the given bytes. It is freed when the test ends.
func Buffer(t testing.TB, dev device.Device, data []byte) device.Buffer {
	t.Helper()
	buf, err := dev.Alloc(int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { buf.Free() })
	if err := buf.Write(0, data); err != nil {
		t.Fatal(err)
	}
	return buf
}

// Poison fills buffers with NaN and ignores nil buffers.
func Poison(t testing.TB, bufs ...device.Buffer) {
	t.Helper()
	for _, buf := range bufs {
		if buf == nil {
			continue
		}
		nan := make([]byte, buf.Size())
		for i := range nan {
			nan[i] = 0xff
		}
		if err := buf.Write(0, nan); err != nil {
			t.Fatal(err)
		}
	}
}

// Read returns the content of a buffer, nil for a nil buffer.
func Read(t testing.TB, buf device.Buffer) []byte {
	t.Helper()
	if buf == nil {
		return nil
	}
	data := make([]byte, buf.Size())
	if err := buf.Read(0, data); err != nil {
		t.Fatal(err)
	}
	return data
}

// Bytes returns numbers as they are in memory.
func Bytes(xs []float32) (data []byte) {
	for _, x := range xs {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	return data
}

// Floats returns the numbers in memory.
func Floats(data []byte) (xs []float32) {
	for ; len(data) >= 4; data = data[4:] {
		xs = append(xs, math.Float32frombits(binary.LittleEndian.Uint32(data)))
	}
	return xs
}
