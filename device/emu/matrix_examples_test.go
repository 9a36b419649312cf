package emu

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"attest/device"
	"attest/device/emu/num"
	"attest/ptx"
)

// runExample launches one of the example kernels under several schedules and has
// check look at the output, which it allocates with n bytes.
func runExample(t *testing.T, target ptx.Target, name string, n int, launch func(d *Device, out device.Buffer) device.Launch, check func(out []uint32)) {
	t.Helper()
	text, err := os.ReadFile("../../examples/testdata/" + name + ".ptx")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(4) {
		d := deviceFor(t, target, Options{Schedule: seed})
		m, err := d.Load(name+".ptx", string(text))
		if err != nil {
			t.Fatal(err)
		}
		k, err := m.Kernel(name)
		if err != nil {
			t.Fatal(err)
		}
		out := bufferWith(t, d, make([]byte, n))
		if err := k.Launch(context.Background(), launch(d, out)); err != nil {
			t.Fatalf("schedule %d: %v", seed, err)
		}
		check(u32s(contents(t, out)))
	}
}

// smallNumbers are whole numbers from -8 to 8, and their bytes by a conversion.
func smallNumbers(r *rand.Rand, n int, put func(b []byte, bits uint32) []byte) (v []float32, b []byte) {
	for range n {
		x := float32(r.IntN(17) - 8)
		v = append(v, x)
		b = put(b, math.Float32bits(x))
	}
	return v, b
}

func putF16(b []byte, v uint32) []byte {
	return binary.LittleEndian.AppendUint16(b, num.CvtF16F32(v))
}

func TestExamplePipeline(t *testing.T) {
	const tiles = 7
	in := make([]uint32, 1024*tiles)
	for i := range in {
		in[i] = uint32(i)
	}
	runExample(t, ptx.SM80, "pipeline", 4096*tiles, func(d *Device, out device.Buffer) device.Launch {
		src := bufferWith(t, d, bytesOf(in...))
		return device.Launch{Grid: device.D(3), Block: device.D(256), Params: []device.Param{device.Ptr(src), device.Ptr(out), device.U32(tiles)}}
	}, func(out []uint32) {
		for i, v := range out {
			if want := i/1024*1024 + 1023 - i%1024; v != uint32(want) {
				t.Fatalf("element %d is %d, want %d", i, v, want)
			}
		}
	})
}

func TestExampleMatmul(t *testing.T) {
	const m, n, kdim = 128, 64, 96
	r := rand.New(rand.NewPCG(3, 4))
	a, aBytes := smallNumbers(r, m*kdim, putF16)
	b, bBytes := smallNumbers(r, kdim*n, putF16)
	runExample(t, ptx.SM80, "matmul", 4*m*n, func(d *Device, out device.Buffer) device.Launch {
		pa, pb := bufferWith(t, d, aBytes), bufferWith(t, d, bBytes)
		return device.Launch{Grid: device.D(n/64, m/64), Block: device.D(128),
			Params: []device.Param{device.Ptr(pa), device.Ptr(pb), device.Ptr(out), device.U32(n), device.U32(kdim)}}
	}, func(out []uint32) {
		for i := range m {
			for j := range n {
				want := float32(0)
				for k := range kdim {
					want += a[i*kdim+k] * b[k*n+j]
				}
				if got := math.Float32frombits(out[i*n+j]); got != want {
					t.Fatalf("c[%d][%d] = %v, want %v", i, j, got, want)
				}
			}
		}
	})
}

func TestExampleRing(t *testing.T) {
	const tiles = 11
	in := make([]uint32, 512*tiles)
	for i := range in {
		in[i] = math.Float32bits(float32(i))
	}
	runExample(t, ptx.SM90, "ring", 2048*tiles, func(d *Device, out device.Buffer) device.Launch {
		src := bufferWith(t, d, bytesOf(in...))
		m, err := d.TensorMap(device.TensorDesc{Type: ptx.F32, Addr: src.Addr(), Dims: []uint64{64, 8 * tiles}, Strides: []uint64{256}, Box: []uint32{64, 8}})
		if err != nil {
			t.Fatal(err)
		}
		return device.Launch{Grid: device.D(2), Block: device.D(160), Params: []device.Param{m.Param(), device.Ptr(out), device.U32(tiles)}}
	}, func(out []uint32) {
		for i, v := range out {
			if got := math.Float32frombits(v); got != float32(2*i) {
				t.Fatalf("element %d is %v, want %d", i, got, 2*i)
			}
		}
	})
}

func TestExampleWgmma(t *testing.T) {
	const m, n, kdim = 64, 64, 128
	r := rand.New(rand.NewPCG(5, 6))
	put := func(b []byte, v uint32) []byte { return append(b, num.CvtE4M3F32(v)) }
	a, aBytes := smallNumbers(r, m*kdim, put)
	b, bBytes := smallNumbers(r, n*kdim, put)
	runExample(t, ptx.SM90a, "wgmma", 4*m*n, func(d *Device, out device.Buffer) device.Launch {
		var maps [2]device.TensorMap
		for i, data := range [][]byte{aBytes, bBytes} {
			var err error
			maps[i], err = d.TensorMap(device.TensorDesc{Type: ptx.U8, Addr: bufferWith(t, d, data).Addr(), Dims: []uint64{kdim, 64},
				Strides: []uint64{kdim}, Box: []uint32{kdim, 64}, Swizzle: device.Swizzle128B})
			if err != nil {
				t.Fatal(err)
			}
		}
		return device.Launch{Grid: device.D(1), Block: device.D(128), Params: []device.Param{maps[0].Param(), maps[1].Param(), device.Ptr(out)}}
	}, func(out []uint32) {
		for i := range m {
			for j := range n {
				want := float32(0)
				for k := range kdim {
					want += a[i*kdim+k] * b[j*kdim+k]
				}
				if got := math.Float32frombits(out[i*n+j]); got != want {
					t.Fatalf("d[%d][%d] = %v, want %v", i, j, got, want)
				}
			}
		}
	})
}
