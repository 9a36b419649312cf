package lab

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// inputs are Q, K and V of a case: the original values, the values after quantisation, and the
// bytes that the kernel reads.
type inputs struct {
	shape    problem.Shape
	vary     variation
	larger   float32     // the factor by which V, and with it O, is larger for the kernel than for the reference
	original *ref.Inputs // nil if there are no others than the quantised ones
	// The values that the kernel computes with, after rounding and scaling.
	q, k, v ref.Tensor
	places  *ref.Places
	strided map[string]kernel.Memory // operands with gaps between their elements
	data    map[string][]byte        // by the name of the operand
	after   map[string][]byte        // K and V after the launch, if the kernel appends rows to them
	scales  expr.Env                 // qs, ks and vs, if each is one number
	sinks   []float64                // one logit per head of Q, if the problem has sinks
	mask    *ref.Mask                // if the problem has a mask in memory
	bias    *ref.Bias                // if the problem has a bias
	cos     []float32                // if the problem rotates rows: [position, D/2]
	sin     []float32
}

// newInputs returns the inputs of a case in the formats of a subject.
func newInputs(a *Subject, c Case) (*inputs, error) {
	original, err := ref.Generate(c.Distribution, c.Seed, c.Shape)
	if err != nil {
		return nil, err
	}
	a = a.varied(c.vary)
	p := a.At(c.Shape)
	if err := p.Check(); err != nil {
		return nil, err
	}
	usualLogits(a, original)
	refine(a, c, original)
	in := &inputs{shape: c.Shape, vary: c.vary, original: original, places: ref.NewPlaces(p, c.Seed), scales: expr.Env{}, larger: widening(a, c.Distribution, "v")}
	in.data = in.places.Operands(p)
	for i, part := range []struct {
		name        string
		from        *ref.Floats
		to          *ref.Tensor
		rows, scale ref.RowPlaces
	}{{"q", original.Q, &in.q, in.places.Q, in.places.Qs}, {"k", original.K, &in.k, in.places.KV, in.places.KVs}, {"v", original.V, &in.v, in.places.KV, in.places.KVs}} {
		e, err := encodeTensor(a, part.name, part.from, rand.New(rand.NewPCG(c.Seed, scaleStream+uint64(i))))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
		*part.to = e.values
		data := e.widened(a, part.name, part.from, widening(a, c.Distribution, part.name))
		in.data[part.name] = c.scatter(p, part.rows, data, part.from.Shape.D*formatOf(a, part.name).Bytes())
		if len(e.scales) > 0 { // Q of 16 bits has none
			in.data[part.name+"s"] = c.scatter(p, part.scale, float32s(e.scales), 4)
		}
		if len(e.scales) == 1 {
			in.scales[part.name+"s"] = expr.Float(float64(e.scales[0]))
		}
	}
	if p.Appends {
		in.detachNew(a)
	}
	if a.Problem.Sinks {
		in.addSinks(c)
	}
	if a.Problem.Masked {
		in.addMask(c, a.Problem.MaskBits)
	}
	if a.Problem.Bias != "" {
		in.addBias(c, a.Problem.Bias)
	}
	if a.Problem.Rope != "" {
		in.addAngles(c)
		in.rotate(a)
	}
	return in, in.spread(a, p)
}

// scatter returns the memory of a tensor with rows of n bytes. What belongs to no sequence is NaN, which
// shows each use of it, and in some cases rows of the tensor: a server leaves old numbers there, so a kernel
// must not take NaN for the end of a sequence. A sweep has each length once, so it has NaN. So has a kernel that
// appends rows: what it must not change is compared with NaN.
func (c Case) scatter(p problem.Attention, rows ref.RowPlaces, data []byte, n int) []byte {
	memory := rows.Scatter(data, n)
	if r := rand.New(rand.NewPCG(c.Seed, staleStream)); r.IntN(3) == 0 && !gate.HalfEqual(c.Distribution) && !c.watched && !p.Appends {
		rows.FillUnused(memory, n, data, r.IntN)
	}
	return memory
}

// addMask draws which keys each query sees: most of them, and at least one of the sequence. Their bytes are any but 0.
func (in *inputs) addMask(c Case, bits bool) {
	r := rand.New(rand.NewPCG(c.Seed, maskStream))
	s := c.Shape
	m := &ref.Mask{Sq: s.Sq, Skv: s.Skv, Visible: make([]bool, s.B*s.Sq*s.Skv)}
	for i := range m.Visible {
		m.Visible[i] = r.IntN(3) > 0
	}
	for row := range s.B * s.Sq {
		if n := in.places.Keys[row/s.Sq]; n > 0 {
			m.Visible[row*s.Skv+r.IntN(n)] = true
		}
	}
	data := m.Bytes(bits)
	for i := range data {
		if !bits && data[i] != 0 {
			data[i] = byte(1 + r.IntN(255))
		}
	}
	in.mask, in.data["mask"] = m, data
}

// negativeInputs is the distribution whose logits are far below zero.
const negativeInputs = "negative"

// hardlyAny is a logit of a sink that has no weight beside the logits of any distribution.
const hardlyAny = -1e6

// addSinks draws one logit for each head of Q. Most are as large as usual logits. Some are much smaller, and some of a
// shape with several heads much larger: a kernel may bound them. A head with a large sink has a small O, which shows few
// mistakes, so the first two heads and the last one have none. If the logits are far below zero, so are the sinks, which
// would have all the weight otherwise.
func (in *inputs) addSinks(c Case) {
	r := rand.New(rand.NewPCG(c.Seed, sinkStream))
	sinks := make([]float32, c.Shape.Hq)
	for i := range sinks {
		x := 1 + r.NormFloat64()
		switch kind := r.IntN(6); {
		case c.Distribution == negativeInputs:
			x += hardlyAny
		case kind == 0:
			x -= 20
		case kind == 1 && i >= 2 && i < len(sinks)-1:
			x += 10
		}
		sinks[i] = float32(x)
		in.sinks = append(in.sinks, float64(sinks[i]))
	}
	in.data["sinks"] = float32s(sinks)
}

// These numbers separate the random numbers of different inputs with the same seed.
const (
	sinkStream  = 0x51
	maskStream  = 0x3a
	biasStream  = 0xb1
	angleStream = 0xa9
	scaleStream = 0x5c
	staleStream = 0x57
	// refineStream is for the low bits of f32: one stream for each tensor.
	refineStream = 0xf320
	// biasedStream is for shapes.
	biasedStream = 0xb5
)

// options returns the options of the reference for these inputs.
func (in *inputs) options(a *Subject) ref.Options {
	opt := ref.For(a.varied(in.vary).Problem)
	opt.Sinks, opt.Mask, opt.Bias = in.sinks, in.mask, in.bias
	return opt
}

// decode derives the values of Q, K and V from their bytes, which another function has changed.
// There are no original values any more.
func (in *inputs) decode(a *Subject) error {
	a = a.varied(in.vary)
	for _, part := range []struct {
		name        string
		dims        fp8.Dims
		to          *ref.Tensor
		rows, scale ref.RowPlaces
	}{
		{"q", in.shape.Q(), &in.q, in.places.Q, in.places.Qs}, {"k", in.shape.K(), &in.k, in.places.KV, in.places.KVs},
		{"v", in.shape.V(), &in.v, in.places.KV, in.places.KVs},
	} {
		data := part.rows.Gather(in.compact(part.name, in.data[part.name]), part.dims.D*formatOf(a, part.name).Bytes())
		var scales []float32
		if s := in.data[part.name+"s"]; s != nil {
			scales = toFloat32s(part.scale.Gather(in.compact(part.name+"s", s), 4))
		}
		t, err := decodeTensor(a, part.name, part.dims, data, scales)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		*part.to = t
	}
	in.original = nil
	in.rotate(a)
	return nil
}

// floatsOf returns a tensor as numbers.
func floatsOf(t ref.Tensor) *ref.Floats {
	d := t.Dims()
	f := &ref.Floats{Shape: d, Data: make([]float32, 0, d.Len())}
	row := make([]float64, d.D)
	for i := range d.B * d.H * d.S {
		t.Row(i/d.S/d.H, i/d.S%d.H, i%d.S, row)
		for _, x := range row {
			f.Data = append(f.Data, float32(x))
		}
	}
	return f
}

// encoded is a tensor in the format of a kernel.
type encoded struct {
	values ref.Tensor
	data   []byte // [B,H,S,D]
	scales []float32
}

// formatOf returns the format of q, k or v.
func formatOf(a *Subject, name string) problem.Format {
	if name == "q" {
		return a.Problem.QueryFormat()
	}
	return a.Problem.Format
}

// encodeTensor encodes q, k or v.
func encodeTensor(a *Subject, name string, x *ref.Floats, r *rand.Rand) (e encoded, err error) {
	of := formatOf(a, name)
	format, one := of.FP8()
	switch {
	case !one && of == problem.F16:
		e.data = halves(x.Data, fp8.F16)
	case !one && of == problem.F32:
		e.data = float32s(x.Data)
	case !one:
		e.data = halves(x.Data, fp8.BF16)
	case a.Problem.Scaling == problem.NoScale:
		e.data = make([]byte, len(x.Data))
		for i, v := range x.Data {
			e.data[i] = format.EncodeSatfinite(float64(v))
		}
	default:
		t, err := fp8.Quantise(format, scalingOf(a, name), x.Shape, x.Data)
		if err != nil {
			return e, err
		}
		if t.Scaling > 0 && (format == fp8.E4M3 || format == fp8.E5M2) { // u8 would lose precision
			rescale(t, x.Data, r)
		}
		if of == problem.U8 {
			lowest(t.Data)
		}
		e.data, e.scales = t.Data, t.Scales
	}
	e.values, err = decodeTensor(a, name, x.Shape, e.data, e.scales)
	return e, err
}

// lowest lowers the codes 1 of u8 to 0 if they are few. The encoder never gives 0, which is one step below the smallest
// number, but a kernel must decode it.
func lowest(data []byte) {
	if n := bytes.Count(data, []byte{1}); n*256 > len(data) {
		return
	}
	for i, x := range data {
		if x == 1 {
			data[i] = 0
		}
	}
}

// decodeTensor returns the bytes of q, k or v as numbers.
func decodeTensor(a *Subject, name string, d fp8.Dims, data []byte, scales []float32) (ref.Tensor, error) {
	of := formatOf(a, name)
	format, one := of.FP8()
	switch {
	case !one && of == problem.F16:
		return ref.F16(d, data)
	case !one && of == problem.F32:
		return ref.F32(d, toFloat32s(data))
	case !one:
		return ref.BF16(d, data)
	case a.Problem.Scaling == problem.NoScale:
		return &fp8.Tensor{Format: format, Scaling: fp8.PerTensor, Shape: d, Data: data, Scales: []float32{1}}, nil
	}
	return &fp8.Tensor{Format: format, Scaling: scalingOf(a, name), Shape: d, Data: data, Scales: scales}, nil
}

// rescale makes the scales of a tensor up to four times as large, at random. The scales of
// neighbouring rows would otherwise be so similar that a kernel could exchange them unnoticed.
func rescale(t *fp8.Tensor, x []float32, r *rand.Rand) {
	for i := range t.Scales {
		t.Scales[i] *= float32(1 + 3*r.Float64())
	}
	d := t.Shape
	for i, v := range x {
		row := i / d.D
		s := t.Scales[t.Scaling.Index(d, row/d.S/d.H, row/d.S%d.H, row%d.S)]
		t.Data[i] = t.Format.EncodeSatfinite(float64(v) / float64(s))
	}
}

// scalingOf returns which elements of q, k or v share a scale.
func scalingOf(a *Subject, name string) fp8.Scaling {
	switch p := a.Problem.Filled(); {
	case p.Scaling == problem.PerTensor:
		return fp8.PerTensor
	case p.Scaling == problem.PerBatch:
		return fp8.PerBlock(maxRows) // one block has all rows
	case p.Scaling == problem.PerPage && name != "q":
		return fp8.PerBlock(p.PageSize)
	case p.Scaling != problem.PerToken && p.Scaling != problem.PerBlock:
		return fp8.PerHead
	case name == "q":
		return fp8.PerBlock(p.ScaleBlockQ)
	default:
		return fp8.PerBlock(p.ScaleBlockKV)
	}
}

// maxRows is more rows than a head can have.
const maxRows = 1 << 30

func halves(x []float32, to func(float32) uint16) []byte {
	data := make([]byte, 0, 2*len(x))
	for _, v := range x {
		data = binary.LittleEndian.AppendUint16(data, to(v))
	}
	return data
}

func float32s(x []float32) (data []byte) {
	for _, v := range x {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return data
}

// outputTensor returns O as numbers.
func (in *inputs) outputTensor(a *Subject, data []byte) (ref.Tensor, error) {
	d := in.shape.O()
	data = in.places.Q.Gather(in.compact("o", data), d.D*a.Problem.Output.Bytes())
	if in.larger > 1 {
		return narrowed(a.Problem.Output, d, data, in.larger)
	}
	switch a.Problem.Output {
	case problem.BF16:
		return ref.BF16(d, data)
	case problem.F32:
		return ref.F32(d, toFloat32s(data))
	}
	return ref.F16(d, data)
}

func toFloat32s(data []byte) []float32 {
	out := make([]float32, len(data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return out
}

// lse returns the log-sum-exp of an output, [B,H,Sq].
func (in *inputs) lse(out outputs) []float32 {
	return toFloat32s(in.places.LSE.Gather(in.compact("lse", out.lse), 4))
}
