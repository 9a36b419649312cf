package kerneltest

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// Inputs are an attention problem with Q, K and V, before and after quantisation.
type Inputs struct {
	P        problem.Attention
	Original *ref.Inputs
	*ref.Quantised
	Sinks  []float32   // one logit per head of Q, if the problem has sinks
	Mask   *ref.Mask   // if the problem has a mask in memory
	Places *ref.Places // where rows lie in memory
}

// Generate makes the inputs of a problem.
func Generate(t testing.TB, distribution string, p problem.Attention, seed uint64) Inputs {
	t.Helper()
	p = p.Filled()
	in, err := ref.Generate(distribution, seed, p.Shape)
	if err != nil {
		t.Fatal(err)
	}
	codec, ok := p.Format.FP8()
	if !ok {
		t.Fatalf("%s is no one-byte format", p.Format)
	}
	x := Inputs{P: p, Original: in, Quantised: quantise(t, p, codec, in), Places: ref.NewPlaces(p, seed)}
	if p.Sinks {
		for h := range p.Hq {
			x.Sinks = append(x.Sinks, float32(h%5)-2)
		}
	}
	if p.Masked { // two of three keys are visible, and in row 1 none
		r := rand.New(rand.NewPCG(seed, 7))
		x.Mask = &ref.Mask{Sq: p.Sq, Skv: p.Skv, Visible: make([]bool, p.B*p.Sq*p.Skv)}
		for i := range x.Mask.Visible {
			x.Mask.Visible[i] = r.IntN(3) > 0 && i/p.Skv != 1
		}
	}
	return x
}

// quantise quantises Q, K and V with the scales of a problem. With scales of rows, neighbours
// have scales that differ by up to four, so that exchanged scales show.
func quantise(t testing.TB, p problem.Attention, codec fp8.Format, in *ref.Inputs) *ref.Quantised {
	t.Helper()
	q, kv := fp8.PerHead, fp8.PerHead
	switch p.Scaling {
	case problem.PerTensor:
		q, kv = fp8.PerTensor, fp8.PerTensor
	case problem.PerBatch:
		q, kv = fp8.PerBlock(p.Sq), fp8.PerBlock(p.Skv)
	case problem.PerToken, problem.PerBlock:
		q, kv = fp8.PerBlock(p.ScaleBlockQ), fp8.PerBlock(p.ScaleBlockKV)
	case problem.PerPage:
		kv = fp8.PerBlock(p.PageSize)
	}
	one := func(x *ref.Floats, s fp8.Scaling) *fp8.Tensor {
		data := slices.Clone(x.Data)
		if s > 0 {
			for i := range data {
				row := i / x.Shape.D
				data[i] *= float32(math.Exp2(-float64(s.Index(x.Shape, row/x.Shape.S/x.Shape.H, row/x.Shape.S%x.Shape.H, row%x.Shape.S)%5) / 2))
			}
		}
		y, err := fp8.Quantise(codec, s, x.Shape, data)
		if err != nil {
			t.Fatal(err)
		}
		return y
	}
	return &ref.Quantised{Q: one(in.Q, q), K: one(in.K, kv), V: one(in.V, kv)}
}

// Query returns Q as the kernel reads it: quantised, or in 16 bits.
func (in Inputs) Query(t testing.TB) (values ref.Tensor, data []byte) {
	t.Helper()
	if in.P.FormatQ == "" {
		return in.Q, in.Q.Data
	}
	round, view := fp8.F16, ref.F16
	if in.P.FormatQ == problem.BF16 {
		round, view = fp8.BF16, ref.BF16
	}
	for _, x := range in.Original.Q.Data {
		data = binary.LittleEndian.AppendUint16(data, round(x))
	}
	values, err := view(in.P.Q(), data)
	if err != nil {
		t.Fatal(err)
	}
	return values, data
}

// Options returns the options of the reference.
func (in Inputs) Options() ref.Options {
	o := ref.For(in.P)
	o.Mask = in.Mask
	for _, x := range in.Sinks {
		o.Sinks = append(o.Sinks, float64(x))
	}
	return o
}

// Bench is a device with the memory of one attention problem. Its kernels may be of any
// family: their contracts say how they are called.
type Bench struct {
	T    testing.TB
	Dev  device.Device
	In   Inputs
	O    device.Buffer
	LSE  device.Buffer // nil where the problem has none
	data map[string]device.Buffer
	// spread holds the operands with gaps, which lie in their buffers as a kernel wants them.
	spread map[string]*kernel.Strides

	Spoil  func(ptx string) string // if set, changes the PTX of kernels before they are loaded
	SMs    int                     // if set, the number of SMs that persistent kernels fill
	Values expr.Env                // if set, values that replace the problem's in expressions
}

// NewBench lays out the memory of a problem.
func NewBench(t testing.TB, dev device.Device, in Inputs) *Bench {
	t.Helper()
	if in.Places == nil {
		in.Places = ref.NewPlaces(in.P, 0)
	}
	b := &Bench{T: t, Dev: dev, In: in, data: map[string]device.Buffer{}, spread: map[string]*kernel.Strides{}}
	for _, x := range []struct {
		name string
		*fp8.Tensor
		rows, scales ref.RowPlaces
	}{{"q", in.Q, in.Places.Q, in.Places.Qs}, {"k", in.K, in.Places.KV, in.Places.KVs}, {"v", in.V, in.Places.KV, in.Places.KVs}} {
		data, n := x.Data, x.Shape.D
		if x.name == "q" {
			_, data = in.Query(t)
			n *= in.P.QueryFormat().Bytes()
		}
		b.data[x.name], b.data[x.name+"s"] = Buffer(t, dev, x.rows.Scatter(data, n)), Buffer(t, dev, x.scales.Scatter(Bytes(x.Scales), 4))
	}
	if in.P.Ragged() {
		for name, data := range in.Places.Operands(in.P) {
			b.data[name] = Buffer(t, dev, data)
		}
	}
	if in.P.Sinks {
		b.data["sinks"] = Buffer(t, dev, Bytes(in.Sinks))
	}
	if in.Mask != nil {
		b.data["mask"] = Buffer(t, dev, in.Mask.Bytes(in.P.MaskBits))
	}
	rows := in.Places.Q.Rows(in.P.Q())
	b.O = Buffer(t, dev, make([]byte, in.P.Output.Bytes()*rows*in.P.DimV()))
	b.data["o"] = b.O
	if in.P.LSE {
		b.LSE = Buffer(t, dev, make([]byte, 4*rows))
		b.data["lse"] = b.LSE
	}
	return b
}

// Data returns the buffer of an operand.
func (b *Bench) Data(operand string) device.Buffer { return b.data[operand] }

// Load compiles a kernel and binds it to the problem.
func (b *Bench) Load(k *kernel.Kernel) (*device.Program, *device.Work) {
	b.T.Helper()
	if b.Spoil != nil {
		spoilt := *k
		if spoilt.PTX = b.Spoil(k.PTX); spoilt.PTX == k.PTX {
			b.T.Fatalf("%s: there is nothing to spoil", k.Name)
		}
		k = &spoilt
	}
	p, err := device.LoadProgram(b.Dev, k)
	if err != nil {
		b.T.Fatal(err)
	}
	p.SMs = b.SMs
	plan, err := p.Bind(b.In.P, b.Values)
	if err != nil {
		b.T.Fatal(err)
	}
	var memory []device.Slice
	for _, m := range plan.Memory {
		if b.data[m.Name] == nil && m.Role == kernel.Workspace {
			space := Buffer(b.T, b.Dev, make([]byte, m.Bytes))
			Poison(b.T, space)
			memory = append(memory, device.Slice{Buffer: space})
			continue
		}
		b.space(m)
		memory = append(memory, device.Slice{Buffer: b.data[m.Name]})
	}
	w, err := p.Work(plan, memory)
	if err != nil {
		b.T.Fatal(err)
	}
	return p, w
}

// space gives an operand its gaps, which hold NaN.
func (b *Bench) space(m kernel.Memory) {
	if m.Strides == nil || b.spread[m.Name] != nil {
		return
	}
	b.spread[m.Name] = m.Strides
	b.data[m.Name] = Buffer(b.T, b.Dev, m.Strides.Spread(Read(b.T, b.data[m.Name]), m.Bytes, 0xff))
	if m.Name == "o" {
		b.O = b.data["o"]
	}
}

// output returns O without gaps. A gap that was written fails the test.
func (b *Bench) output() []byte {
	data := Read(b.T, b.O)
	s := b.spread["o"]
	if s == nil {
		return data
	}
	o := s.Compact(data)
	if !bytes.Equal(s.Spread(o, int64(len(data)), 0xff), data) {
		b.T.Errorf("%v: a gap of O was written", b.In.P)
	}
	return o
}

// Only returns the entry and the launch of a kernel that has a single one.
func (b *Bench) Only(k *kernel.Kernel) (device.Kernel, device.Launch) {
	b.T.Helper()
	p, w := b.Load(k)
	return p.Entry(k.Launches[0].Entry), w.Launches()[0]
}

// Run poisons the outputs and runs a kernel on the problem.
func (b *Bench) Run(k *kernel.Kernel) Result {
	b.T.Helper()
	_, w := b.Load(k)
	Poison(b.T, b.O, b.LSE)
	if err := w.Run(context.Background()); err != nil {
		b.T.Fatalf("%s: %v", k.Name, err)
	}
	return b.Read()
}

// Read returns what the last kernel wrote.
func (b *Bench) Read() Result {
	b.T.Helper()
	return Result{P: b.In.P, O: b.output(), LSE: Floats(Read(b.T, b.LSE)), places: b.In.Places}
}

// Result is what a kernel wrote, bit for bit, as it lies in memory.
type Result struct {
	P      problem.Attention
	O      []byte
	LSE    []float32
	places *ref.Places
}

// Same reports whether two results agree in every bit.
func (r Result) Same(as Result) bool {
	bits := func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }
	return bytes.Equal(r.O, as.O) && slices.EqualFunc(r.LSE, as.LSE, bits)
}

// Rows returns the bits of O as [B,Hq,Sq,DV], wherever its rows lie in memory.
func (r Result) Rows() []byte { return r.places.Q.Gather(r.O, r.P.DimV()*r.P.Output.Bytes()) }

// Tensor returns O as numbers.
func (r Result) Tensor(t testing.TB) ref.Tensor {
	t.Helper()
	view := ref.F16
	if r.P.Output == problem.BF16 {
		view = ref.BF16
	}
	o, err := view(r.P.O(), r.Rows())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// LogSums returns the LSE of each row, [B,H,S], or nil.
func (r Result) LogSums() []float32 {
	if r.LSE == nil {
		return nil
	}
	return Floats(r.places.LSE.Gather(Bytes(r.LSE), 4))
}
