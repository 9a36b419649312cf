package hopper

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

// shape is the problem as the reference names it.
func (p Problem) shape() problem.Shape {
	return problem.Shape{B: p.Batch, Hq: p.Heads, Hkv: p.HeadsKV, Sq: p.SeqQ, Skv: p.SeqKV, D: p.HeadDim}
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
		b.data[i], b.scales[i] = kerneltest.Buffer(t, dev, x.Data), kerneltest.Buffer(t, dev, kerneltest.Bytes(x.Scales))
	}
	rows := in.p.Batch * in.p.Heads * in.p.SeqQ
	b.o = kerneltest.Buffer(t, dev, make([]byte, 2*rows*in.p.HeadDim))
	if in.p.LSE {
		b.lse = kerneltest.Buffer(t, dev, make([]byte, 4*rows))
	}
	return b
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
	kernel := kerneltest.Load(b.t, b.dev, k, b.spoil)
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

// run runs a config over the problem, its outputs poisoned before.
func (b *bench) run(c Config) result {
	b.t.Helper()
	kernel, launch := b.load(c)
	kerneltest.Poison(b.t, b.o, b.lse)
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

// same says whether all bits are.
func (r result) same(as result) bool {
	bits := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
	return bytes.Equal(r.o, as.o) && slices.EqualFunc(r.lse, as.lse, bits)
}

func (b *bench) read() result {
	b.t.Helper()
	return result{p: b.in.p, o: kerneltest.Read(b.t, b.o), lse: kerneltest.Floats(kerneltest.Read(b.t, b.lse))}
}

// tensor is O as numbers.
func (r result) tensor(t testing.TB) ref.Tensor {
	t.Helper()
	d := fp8.Dims{B: r.p.Batch, H: r.p.Heads, S: r.p.SeqQ, D: r.p.HeadDim}
	view := ref.F16
	if r.p.Output == stages.BF16 {
		view = ref.BF16
	}
	o, err := view(d, r.o)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// emulator is a Hopper GPU with its warps in the order of a schedule.
func emulator(t testing.TB, schedule uint64, o observe.Observer) device.Device {
	t.Helper()
	return kerneltest.Emulator(t, ptx.SM90a, emu.Options{Schedule: schedule, Observer: o})
}

// named is the problem of a shape with a name.
func named(t testing.TB, name string) Problem {
	t.Helper()
	s, err := problem.ParseShape(name)
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
