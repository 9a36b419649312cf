package check_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/ptx"
)

// bench is a kernel in a file with a launch.
type bench struct {
	file, entry string
	target      ptx.Target
	launch      func(tb testing.TB, d device.Device) device.Launch
}

var benches = []bench{
	{"testdata/bench/tiled.ptx", "tiled", ptx.SM80, launchTiled},
	{"../../../examples/testdata/matmul.ptx", "matmul", ptx.SM80, launchMatmul},
	{"../../../ptx/parse/testdata/triton36/mm_fp16_8_90.ptx", "matmul", ptx.SM90a, launchTritonMatmul},
	{"../../../ptx/parse/testdata/triton36/attn_fp8e5_90.ptx", "attn", ptx.SM90a, launchTritonAttention},
}

// BenchmarkSlowdown runs kernels alternately with and without all checkers. It reports the ratio
// of the times; lower is better.
func BenchmarkSlowdown(b *testing.B) {
	for _, k := range benches {
		b.Run(filepath.Base(k.file), func(b *testing.B) {
			plain, checked := k.load(b, emu.Options{}), k.load(b, emu.Options{Observer: check.New(), GuardShared: true, KeepGoing: true})
			var without, with time.Duration
			for b.Loop() {
				without += plain(b)
				with += checked(b)
			}
			b.ReportMetric(float64(with)/float64(without), "times-slower")
		})
	}
}

// load returns a function that runs the kernel once and returns the time that it took.
func (k bench) load(tb testing.TB, opts emu.Options) func(tb testing.TB) time.Duration {
	tb.Helper()
	text, err := os.ReadFile(k.file)
	if err != nil {
		tb.Fatal(err)
	}
	d, err := emu.New(k.target, opts)
	if err != nil {
		tb.Fatal(err)
	}
	m, err := d.Load(k.file, string(text))
	if err != nil {
		tb.Fatal(err)
	}
	entry, err := m.Kernel(k.entry)
	if err != nil {
		tb.Fatal(err)
	}
	l := k.launch(tb, d)
	return func(tb testing.TB) time.Duration {
		start := time.Now()
		if err := entry.Launch(context.Background(), l); err != nil {
			tb.Fatal(err)
		}
		return time.Since(start)
	}
}

// TestTriton: the checkers find nothing in large correct kernels that Triton compiled.
func TestTriton(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and long")
	}
	for _, k := range benches {
		c := check.New()
		k.load(t, emu.Options{Observer: c, GuardShared: true, KeepGoing: true})(t)
		for _, d := range c.Findings() {
			t.Errorf("%s: %s", k.file, d.String())
		}
	}
}

// numbers returns a buffer of n random bytes. Read as f16 or as fp8, the numbers have both signs
// and exponents around zero.
func numbers(tb testing.TB, d device.Device, n int) device.Param {
	tb.Helper()
	r := rand.New(rand.NewPCG(1, uint64(n)))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(r.Uint32())&0x9f | 0x20
	}
	b, err := d.Alloc(int64(n))
	if err != nil {
		tb.Fatal(err)
	}
	if err := b.Write(0, data); err != nil {
		tb.Fatal(err)
	}
	return device.Ptr(b)
}

func launchTiled(tb testing.TB, d device.Device) device.Launch {
	const n = 256
	return device.Launch{Grid: device.D(8, 8), Block: device.D(16, 16), Params: []device.Param{
		numbers(tb, d, 4*n*n), numbers(tb, d, 4*n*n), numbers(tb, d, 4*n*n), device.U32(n)}}
}

func launchMatmul(tb testing.TB, d device.Device) device.Launch {
	const m, n, k = 128, 128, 512
	return device.Launch{Grid: device.D(n/64, m/64), Block: device.D(128), Params: []device.Param{
		numbers(tb, d, 2*m*k), numbers(tb, d, 2*k*n), numbers(tb, d, 4*m*n), device.U32(n), device.U32(k)}}
}

func launchTritonMatmul(tb testing.TB, d device.Device) device.Launch {
	const m, n, k = 256, 128, 512
	return device.Launch{Grid: device.D(m/128, n/128), Block: device.D(256), Shared: 200 << 10, Params: []device.Param{
		numbers(tb, d, 2*m*k), numbers(tb, d, 2*k*n), numbers(tb, d, 2*m*n), device.U32(m), device.U32(n), device.U32(k),
		device.U64(0), device.U64(0)}}
}

func launchTritonAttention(tb testing.TB, d device.Device) device.Launch {
	const heads, length, dim = 2, 512, 64
	size := heads * length * dim
	return device.Launch{Grid: device.D(length/128, heads), Block: device.D(128), Shared: 200 << 10, Params: []device.Param{
		numbers(tb, d, size), numbers(tb, d, size), numbers(tb, d, size), numbers(tb, d, 2*size),
		device.U32(length), device.F32(0.125), device.U64(0), device.U64(0)}}
}
