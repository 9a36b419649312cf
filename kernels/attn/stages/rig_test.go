package stages

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

// inputs are a problem with its factors, quantised and as they were before.
type inputs struct {
	p        Problem
	original *ref.Inputs
	*ref.Quantised
}

// normal makes a problem's inputs, N(0,1).
func normal(t testing.TB, p Problem, seed uint64) inputs {
	t.Helper()
	return generate(t, "normal", p, seed)
}

func generate(t testing.TB, distribution string, p Problem, seed uint64) inputs {
	t.Helper()
	in, err := ref.Generate(distribution, seed, problem.Square(p.Batch, p.Heads, p.Seq, p.HeadDim))
	if err != nil {
		t.Fatal(err)
	}
	q, err := in.Quantise(p.Format, fp8.PerHead)
	if err != nil {
		t.Fatal(err)
	}
	return inputs{p, in, q}
}

// result is what a kernel wrote, bit for bit.
type result struct {
	p   Problem
	o   []byte
	lse []float32
}

// tensor is O as numbers.
func (r result) tensor(t testing.TB) ref.Tensor {
	t.Helper()
	d := fp8.Dims{B: r.p.Batch, H: r.p.Heads, S: r.p.Seq, D: r.p.HeadDim}
	make := ref.F16
	if r.p.Output == BF16 {
		make = ref.BF16
	}
	o, err := make(d, r.o)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// same reports whether two results agree in every bit.
func same(a, b result) bool {
	bits := func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }
	return bytes.Equal(a.o, b.o) && slices.EqualFunc(a.lse, b.lse, bits)
}

// bench is a device with the buffers of one problem.
type bench struct {
	t        testing.TB
	dev      device.Device
	in       inputs
	params   []device.Param
	out, lse device.Buffer
	spoil    func(ptx string) string // changes kernels before they are loaded, if set
}

func newBench(t testing.TB, dev device.Device, in inputs) *bench {
	t.Helper()
	b := &bench{t: t, dev: dev, in: in}
	p := in.p
	for _, x := range []*fp8.Tensor{in.Q, in.K, in.V} {
		b.params = append(b.params, device.Ptr(kerneltest.Buffer(t, dev, x.Data)))
	}
	for _, x := range []*fp8.Tensor{in.Q, in.K, in.V} {
		b.params = append(b.params, device.Ptr(kerneltest.Buffer(t, dev, kerneltest.Bytes(x.Scales))))
	}
	rows := p.Batch * p.Heads * p.Seq
	b.out = kerneltest.Buffer(t, dev, make([]byte, 2*rows*p.HeadDim))
	b.params = append(b.params, device.Ptr(b.out))
	if p.LSE {
		b.lse = kerneltest.Buffer(t, dev, make([]byte, 4*rows))
		b.params = append(b.params, device.Ptr(b.lse))
	}
	b.params = append(b.params, device.U32(uint32(p.Batch)), device.U32(uint32(p.Heads)), device.U32(uint32(p.Seq)), device.F32(float32(1/math.Sqrt(float64(p.HeadDim)))))
	return b
}

// setScale changes the kernel's last parameter.
func (b *bench) setScale(scale float32) { b.params[len(b.params)-1] = device.F32(scale) }

// load compiles a kernel for the problem and says how to start it.
func (b *bench) load(k *build.Kernel, c Config, blocksPerSM int) (device.Kernel, device.Launch) {
	b.t.Helper()
	kernel := kerneltest.Load(b.t, b.dev, k, b.spoil)
	l := c.Launch(b.in.p, b.dev.Info().SMs, blocksPerSM)
	return kernel, device.Launch{Grid: device.D(l.Grid), Block: device.D(l.Block), Shared: l.Shared, Params: b.params}
}

// run runs a config over the problem, its outputs poisoned before.
func (b *bench) run(c Config, t ptx.Target) result {
	b.t.Helper()
	k, err := Build(b.in.p, c, t)
	if err != nil {
		b.t.Fatal(err)
	}
	kernel, launch := b.load(k, c, 1)
	if c.Persistent { // few blocks, so that each has several items
		launch.Grid = device.D(min(launch.Grid.X, 3))
	}
	kerneltest.Poison(b.t, b.out, b.lse)
	if err := kernel.Launch(context.Background(), launch); err != nil {
		b.t.Fatalf("%v: %v", c, err)
	}
	return b.read()
}

func (b *bench) read() result {
	b.t.Helper()
	return result{p: b.in.p, o: kerneltest.Read(b.t, b.out), lse: kerneltest.Floats(kerneltest.Read(b.t, b.lse))}
}

// emulator is a GPU of the target, with its warps in the order of a schedule.
func emulator(t testing.TB, target ptx.Target, schedule uint64) device.Device {
	t.Helper()
	return kerneltest.Emulator(t, target, emu.Options{Schedule: schedule})
}
