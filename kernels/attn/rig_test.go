package attn

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"attest/build"
	"attest/device"
	"attest/device/emu"
	"attest/fp8"
	"attest/ptx"
	"attest/ref"
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
	in, err := ref.Generate(distribution, seed, ref.Square(p.Batch, p.Heads, p.Seq, p.HeadDim))
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
		b.params = append(b.params, device.Ptr(b.buffer(x.Data)))
	}
	for _, x := range []*fp8.Tensor{in.Q, in.K, in.V} {
		var data []byte
		for _, s := range x.Scales {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(s))
		}
		b.params = append(b.params, device.Ptr(b.buffer(data)))
	}
	rows := p.Batch * p.Heads * p.Seq
	b.out = b.buffer(make([]byte, 2*rows*p.HeadDim))
	b.params = append(b.params, device.Ptr(b.out))
	if p.LSE {
		b.lse = b.buffer(make([]byte, 4*rows))
		b.params = append(b.params, device.Ptr(b.lse))
	}
	b.params = append(b.params, device.U32(uint32(p.Batch)), device.U32(uint32(p.Heads)), device.U32(uint32(p.Seq)), device.F32(float32(1/math.Sqrt(float64(p.HeadDim)))))
	return b
}

// setScale changes the kernel's last parameter.
func (b *bench) setScale(scale float32) { b.params[len(b.params)-1] = device.F32(scale) }

func (b *bench) buffer(data []byte) device.Buffer {
	b.t.Helper()
	buf, err := b.dev.Alloc(int64(len(data)))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { buf.Free() })
	if err := buf.Write(0, data); err != nil {
		b.t.Fatal(err)
	}
	return buf
}

// poison fills a buffer with NaN.
func (b *bench) poison(buf device.Buffer) {
	b.t.Helper()
	nan := make([]byte, buf.Size())
	for i := range nan {
		nan[i] = 0xff
	}
	if err := buf.Write(0, nan); err != nil {
		b.t.Fatal(err)
	}
}

// load compiles a kernel for the problem and says how to start it.
func (b *bench) load(k *build.Kernel, c Config, blocksPerSM int) (device.Kernel, device.Launch) {
	b.t.Helper()
	text, err := k.PTX()
	if err != nil {
		b.t.Fatal(err)
	}
	if b.spoil != nil {
		spoilt := b.spoil(text)
		if spoilt == text {
			b.t.Fatalf("%v: there is nothing to spoil", c)
		}
		text = spoilt
	}
	mod, err := b.dev.Load(k.Name()+".ptx", text)
	if err != nil {
		b.t.Fatal(err)
	}
	kernel, err := mod.Kernel(k.Name())
	if err != nil {
		b.t.Fatal(err)
	}
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
	b.poison(b.out)
	if b.lse != nil {
		b.poison(b.lse)
	}
	if err := kernel.Launch(context.Background(), launch); err != nil {
		b.t.Fatalf("%v: %v", c, err)
	}
	return b.read()
}

func (b *bench) read() result {
	b.t.Helper()
	r := result{p: b.in.p, o: make([]byte, b.out.Size())}
	if err := b.out.Read(0, r.o); err != nil {
		b.t.Fatal(err)
	}
	if b.lse == nil {
		return r
	}
	data := make([]byte, b.lse.Size())
	if err := b.lse.Read(0, data); err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(data); i += 4 {
		r.lse = append(r.lse, math.Float32frombits(binary.LittleEndian.Uint32(data[i:])))
	}
	return r
}

// emulator is a GPU of the target, with its warps in the order of a schedule.
func emulator(t testing.TB, target ptx.Target, schedule uint64) device.Device {
	t.Helper()
	dev, err := emu.New(target, emu.Options{Schedule: schedule})
	if err != nil {
		t.Fatal(err)
	}
	return dev
}
