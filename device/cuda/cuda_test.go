package cuda_test

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/cuda"
	"github.com/GOATnote-Inc/attest/examples"
)

// gpu opens the first GPU, or skips the test if there is none.
func gpu(t *testing.T) *cuda.Device {
	t.Helper()
	d, err := cuda.Open(0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestSaxpy(t *testing.T) {
	d := gpu(t)
	text, err := examples.Saxpy().PTX()
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load("saxpy.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("saxpy")
	if err != nil {
		t.Fatal(err)
	}
	if k.Info().Registers == 0 {
		t.Error("the driver reports no registers")
	}
	const n = 1000
	x, y := floats(t, d, n, 1), floats(t, d, n, 100)
	err = k.Launch(context.Background(), device.Launch{
		Grid: device.D(4), Block: device.D(256),
		Params: []device.Param{device.Ptr(x), device.Ptr(y), device.F32(2), device.U32(n)},
	})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]byte, 4*n)
	if err := y.Read(0, out); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if got := math.Float32frombits(binary.LittleEndian.Uint32(out[4*i:])); got != float32(2*(1+i)+100+i) {
			t.Fatalf("y[%d] = %v", i, got)
		}
	}
}

// floats returns a buffer of n consecutive floats that starts with first.
func floats(t *testing.T, d device.Device, n int, first float32) device.Buffer {
	t.Helper()
	b, err := d.Alloc(int64(4 * n))
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 4*n)
	for i := range n {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(first+float32(i)))
	}
	if err := b.Write(0, data); err != nil {
		t.Fatal(err)
	}
	return b
}
