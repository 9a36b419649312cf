package tile_test

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/cuda"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/ptx"
)

// devices returns the devices of a test: the emulator in two orders of warps, and a GPU if
// there is one that runs the target's code.
func devices(t *testing.T, target ptx.Target) map[string]device.Device {
	t.Helper()
	all := map[string]device.Device{}
	for name, schedule := range map[string]uint64{"emu": 0, "emu, schedule 3": 3} {
		dev, err := emu.New(target, emu.Options{Schedule: schedule})
		if err != nil {
			t.Fatal(err)
		}
		all[name] = dev
	}
	if gpu, err := cuda.Open(0); err == nil {
		t.Cleanup(func() { gpu.Close() })
		if gpu.Info().Target.Runs(target) {
			all["cuda"] = gpu
		}
	}
	return all
}

// words runs a kernel and returns n words of output. The parameters of the kernel are one buffer
// per element of data, and then the output buffer.
func words(t *testing.T, dev device.Device, k *build.Kernel, threads, n int, data ...[]byte) []uint32 {
	t.Helper()
	text, err := k.PTX()
	if err != nil {
		t.Fatal(err)
	}
	mod, err := dev.Load(k.Name()+".ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	defer mod.Close()
	kernel, err := mod.Kernel(k.Name())
	if err != nil {
		t.Fatal(err)
	}
	var params []device.Param
	out := make([]byte, 4*n)
	var last device.Buffer
	for _, d := range append(data, out) {
		b, err := dev.Alloc(int64(len(d)))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Free()
		if err := b.Write(0, d); err != nil {
			t.Fatal(err)
		}
		params, last = append(params, device.Ptr(b)), b
	}
	if err := kernel.Launch(context.Background(), device.Launch{Grid: device.D(1), Block: device.D(threads), Params: params}); err != nil {
		t.Fatal(err)
	}
	if err := last.Read(0, out); err != nil {
		t.Fatal(err)
	}
	ws := make([]uint32, n)
	for i := range ws {
		ws[i] = binary.LittleEndian.Uint32(out[4*i:])
	}
	return ws
}

// matrix returns the bytes of a matrix in row-major order. encode appends one element.
func matrix(rows, cols int, at func(r, c int) float32, encode func([]byte, float32) []byte) (b []byte) {
	for r := range rows {
		for c := range cols {
			b = encode(b, at(r, c))
		}
	}
	return b
}

func half(b []byte, v float32) []byte { return binary.LittleEndian.AppendUint16(b, fp8.F16(v)) }

func single(b []byte, v float32) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
}

func octet(b []byte, v float32) []byte { return append(b, byte(v)) }

// number returns an integer for a row and a column. Most places have different numbers.
func number(r, c int) float32 { return float32((37*r + 11*c + r*c%5) % 256) }

// small returns an integer so small that sums of products are exact.
func small(r, c int) float32 { return float32((7*r+3*c+r*c%5)%16 - 8) }
