package hopper

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"attest/device"
	"attest/device/emu"
	"attest/fp8"
	"attest/kernels/attn"
	"attest/ptx"
	"attest/ref"
)

// shape is the problem as the reference names it.
func (p Problem) shape() ref.Shape {
	return ref.Shape{B: p.Batch, Hq: p.Heads, Hkv: p.HeadsKV, Sq: p.SeqQ, Skv: p.SeqKV, D: p.HeadDim}
}

// inputs are a problem with its factors, quantised and as they were before.
type inputs struct {
	p        Problem
	original *ref.Inputs
	*ref.Quantised
}

func generate(t testing.TB, distribution string, p Problem, seed uint64) inputs {
	t.Helper()
	in, err := ref.Generate(distribution, seed, p.shape())
	if err != nil {
		t.Fatal(err)
	}
	q, err := in.Quantise(p.Format, fp8.PerHead)
	if err != nil {
		t.Fatal(err)
	}
	return inputs{p, in, q}
}

// bench is a device with the buffers of one problem.
type bench struct {
	t       testing.TB
	dev     device.Device
	in      inputs
	data    [3]device.Buffer // Q, K, V
	scales  [3]device.Buffer
	o, lse  device.Buffer
	spoil   func(ptx string) string // changes kernels before they are loaded, if set
	maxGrid int                     // blocks of a persistent kernel, if set
}

func newBench(t testing.TB, dev device.Device, in inputs) *bench {
	t.Helper()
	b := &bench{t: t, dev: dev, in: in}
	for i, x := range []*fp8.Tensor{in.Q, in.K, in.V} {
		b.data[i] = b.buffer(x.Data)
		var s []byte
		for _, v := range x.Scales {
			s = binary.LittleEndian.AppendUint32(s, math.Float32bits(v))
		}
		b.scales[i] = b.buffer(s)
	}
	rows := in.p.Batch * in.p.Heads * in.p.SeqQ
	b.o = b.buffer(make([]byte, 2*rows*in.p.HeadDim))
	if in.p.LSE {
		b.lse = b.buffer(make([]byte, 4*rows))
	}
	return b
}

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

// tensorMap has the device encode a map of a buffer.
func (b *bench) tensorMap(m Map, buf device.Buffer) device.Param {
	b.t.Helper()
	d := device.TensorDesc{Type: m.Type, Addr: buf.Addr(), Dims: m.Dims, Strides: m.Strides, Box: m.Box, Swizzle: device.Swizzle64B}
	if m.Swizzle == 128 {
		d.Swizzle = device.Swizzle128B
	}
	t, err := b.dev.TensorMap(d)
	if err != nil {
		b.t.Fatal(err)
	}
	return t.Param()
}

// load compiles a kernel for the problem and says how to start it.
func (b *bench) load(c Config) (device.Kernel, device.Launch) {
	b.t.Helper()
	p := b.in.p
	k, err := Build(p, c)
	if err != nil {
		b.t.Fatal(err)
	}
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
	mq, mk, mv := c.Maps(p)
	params := []device.Param{b.tensorMap(mq, b.data[0]), b.tensorMap(mk, b.data[1]), b.tensorMap(mv, b.data[2])}
	for _, s := range b.scales {
		params = append(params, device.Ptr(s))
	}
	params = append(params, device.Ptr(b.o))
	if p.LSE {
		params = append(params, device.Ptr(b.lse))
	}
	for _, n := range []int{p.Batch * p.Heads, p.Heads / p.HeadsKV, p.Heads, p.SeqQ, p.SeqKV} {
		params = append(params, device.U32(uint32(n)))
	}
	params = append(params, device.F32(float32(1/math.Sqrt(float64(p.HeadDim)))))
	l := c.Launch(p, b.dev.Info().SMs)
	if b.maxGrid > 0 && c.Persistent {
		l.GridX = min(l.GridX, b.maxGrid)
	}
	launch := device.Launch{Grid: device.D(l.GridX, l.GridY), Block: device.D(l.Block), Shared: l.Shared, Params: params}
	if l.Cluster > 1 {
		launch.Cluster = device.D(l.Cluster)
	}
	return kernel, launch
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

// run runs a config over the problem, its outputs poisoned before.
func (b *bench) run(c Config) result {
	b.t.Helper()
	kernel, launch := b.load(c)
	b.poison(b.o)
	if b.lse != nil {
		b.poison(b.lse)
	}
	if err := kernel.Launch(context.Background(), launch); err != nil {
		b.t.Fatalf("%v: %v", c, err)
	}
	return b.read()
}

// result is what a kernel wrote, bit for bit.
type result struct {
	p   Problem
	o   []byte
	lse []float32
}

func (b *bench) read() result {
	b.t.Helper()
	r := result{p: b.in.p, o: make([]byte, b.o.Size())}
	if err := b.o.Read(0, r.o); err != nil {
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

// tensor is O as numbers.
func (r result) tensor(t testing.TB) ref.Tensor {
	t.Helper()
	d := fp8.Dims{B: r.p.Batch, H: r.p.Heads, S: r.p.SeqQ, D: r.p.HeadDim}
	view := ref.F16
	if r.p.Output == attn.BF16 {
		view = ref.BF16
	}
	o, err := view(d, r.o)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// emulator is a Hopper GPU with its warps in the order of a schedule.
func emulator(t testing.TB, schedule uint64, o emu.Observer) device.Device {
	t.Helper()
	dev, err := emu.New(ptx.SM90a, emu.Options{Schedule: schedule, Observer: o})
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// named is the problem of a shape with a name.
func named(t testing.TB, name string) Problem {
	t.Helper()
	s, err := ref.ParseShape(name)
	if err != nil {
		t.Fatal(err)
	}
	return Square(s.B, s.Hq, s.Sq, s.D, fp8.E4M3)
}

func (p Problem) String() string {
	s := fmt.Sprintf("b%d h%d-%d s%d-%d d%d %s %s", p.Batch, p.Heads, p.HeadsKV, p.SeqQ, p.SeqKV, p.HeadDim, p.Format, p.Output)
	if p.Causal {
		s += " causal"
	}
	return s
}
