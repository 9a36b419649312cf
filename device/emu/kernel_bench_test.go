package emu

import (
	"context"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// wholeKernel is a kernel from a file with a launch of some blocks.
type wholeKernel struct {
	file, entry string
	target      ptx.Target
	flops       float64
	launch      func(b *testing.B, d *Device) device.Launch
}

// BenchmarkKernel runs whole kernels. It reports thread instructions per second and, for
// kernels that use tensor cores, floating-point operations per second.
func BenchmarkKernel(b *testing.B) {
	for _, k := range []wholeKernel{
		{"../../examples/testdata/matmul.ptx", "matmul", ptx.SM80, 2 * 128 * 128 * 512, launchMatmul},
		{"../../ptx/parse/testdata/triton36/mm_fp16_8_90.ptx", "matmul", ptx.SM90a, 2 * 256 * 128 * 512, launchTritonMatmul},
		{"../../ptx/parse/testdata/triton36/attn_fp8e5_90.ptx", "attn", ptx.SM90a, 4 * 2 * 512 * 512 * 64, launchTritonAttention},
	} {
		b.Run(k.file[6:], k.run)
	}
}

func (k wholeKernel) run(b *testing.B) {
	text, err := os.ReadFile(k.file)
	if err != nil {
		b.Fatal(err)
	}
	d := deviceFor(b, k.target, Options{})
	m, err := d.Load(k.file, string(text))
	if err != nil {
		b.Fatal(err)
	}
	entry, err := m.Kernel(k.entry)
	if err != nil {
		b.Fatal(err)
	}
	l := k.launch(b, d)
	var insts uint64
	for b.Loop() {
		s, err := entry.(*entryPoint).Run(context.Background(), l)
		if err != nil {
			b.Fatal(err)
		}
		insts += s.ThreadInstructions
	}
	b.ReportMetric(float64(insts)/1e6/b.Elapsed().Seconds(), "Minst/s")
	b.ReportMetric(k.flops*float64(b.N)/1e9/b.Elapsed().Seconds(), "GFLOP/s")
}

// randomBuffer returns a buffer of n random bytes. As f16 and as fp8, they are numbers of
// both signs with exponents around zero.
func randomBuffer(b *testing.B, d *Device, n int) device.Param {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(r.Uint32())&0x9f | 0x20
	}
	return device.Ptr(bufferWith(b, d, data))
}

func launchMatmul(b *testing.B, d *Device) device.Launch {
	const m, n, k = 128, 128, 512
	return device.Launch{Grid: device.D(n/64, m/64), Block: device.D(128), Params: []device.Param{
		randomBuffer(b, d, 2*m*k), randomBuffer(b, d, 2*k*n), randomBuffer(b, d, 4*m*n), device.U32(n), device.U32(k)}}
}

func launchTritonMatmul(b *testing.B, d *Device) device.Launch {
	const m, n, k = 256, 128, 512
	return device.Launch{Grid: device.D(m/128, n/128), Block: device.D(256), Shared: 200 << 10, Params: []device.Param{
		randomBuffer(b, d, 2*m*k), randomBuffer(b, d, 2*k*n), randomBuffer(b, d, 2*m*n), device.U32(m), device.U32(n), device.U32(k),
		device.U64(0), device.U64(0)}}
}

func launchTritonAttention(b *testing.B, d *Device) device.Launch {
	const heads, length, dim = 2, 512, 64
	size := heads * length * dim
	return device.Launch{Grid: device.D(length/128, heads), Block: device.D(128), Shared: 200 << 10, Params: []device.Param{
		randomBuffer(b, d, size), randomBuffer(b, d, size), randomBuffer(b, d, size), randomBuffer(b, d, 2*size),
		device.U32(length), device.F32(0.125), device.U64(0), device.U64(0)}}
}
