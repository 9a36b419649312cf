package lab

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// inputs are Q, K and V of a case: the original values, the values after quantisation, and the
// bytes that the kernel reads.
type inputs struct {
	shape    problem.Shape
	vary     variation
	original *ref.Inputs
	// The values that the kernel computes with, after rounding and scaling.
	q, k, v ref.Tensor
	data    map[string][]byte // of q, k, v, qs, ks and vs
	scales  expr.Env          // qs, ks and vs, if each is one number
	sinks   []float64         // one logit per head of Q, if the problem has sinks
}

// newInputs returns the inputs of a case in the formats of a subject.
func newInputs(a *Subject, c Case) (*inputs, error) {
	original, err := ref.Generate(c.Distribution, c.Seed, c.Shape)
	if err != nil {
		return nil, err
	}
	in := &inputs{shape: c.Shape, vary: c.vary, original: original, data: map[string][]byte{}, scales: expr.Env{}}
	for _, part := range []struct {
		name string
		from *ref.Floats
		to   *ref.Tensor
	}{{"q", original.Q, &in.q}, {"k", original.K, &in.k}, {"v", original.V, &in.v}} {
		e, err := encodeTensor(a, part.from)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
		*part.to = e.values
		in.data[part.name] = permute(a.Problem.Layout, part.from.Shape, e.data, a.Problem.Format.Bytes())
		in.data[part.name+"s"] = float32s(e.scales)
		if len(e.scales) == 1 {
			in.scales[part.name+"s"] = expr.Float(float64(e.scales[0]))
		}
	}
	if a.Problem.Sinks {
		in.addSinks(c)
	}
	return in, nil
}

// addSinks draws one logit for each head of Q.
func (in *inputs) addSinks(c Case) {
	r := rand.New(rand.NewPCG(c.Seed, sinkStream))
	sinks := make([]float32, c.Shape.Hq)
	for i := range sinks {
		sinks[i] = float32(1 + r.NormFloat64())
		in.sinks = append(in.sinks, float64(sinks[i]))
	}
	in.data["sinks"] = float32s(sinks)
}

// sinkStream separates the random numbers of sinks from others of the same seed.
const sinkStream = 0x51

// options returns the options of the reference for these inputs.
func (in *inputs) options(a *Subject) ref.Options {
	opt := ref.For(a.varied(in.vary).Problem)
	opt.Sinks = in.sinks
	return opt
}

// decode derives the values of Q, K and V from their bytes, which another function has changed.
// The original values become those that the kernel computes with.
func (in *inputs) decode(a *Subject) error {
	original := *in.original
	for _, part := range []struct {
		name string
		dims fp8.Dims
		to   *ref.Tensor
		from **ref.Floats
	}{{"q", in.shape.Q(), &in.q, &original.Q}, {"k", in.shape.KV(), &in.k, &original.K}, {"v", in.shape.KV(), &in.v, &original.V}} {
		data := unpermute(a.Problem.Layout, part.dims, in.data[part.name], a.Problem.Format.Bytes())
		t, err := decodeTensor(a, part.dims, data, toFloat32s(in.data[part.name+"s"]))
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		*part.to, *part.from = t, floatsOf(t)
	}
	in.original = &original
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

func encodeTensor(a *Subject, x *ref.Floats) (e encoded, err error) {
	format, one := a.Problem.Format.FP8()
	switch {
	case !one && a.Problem.Format == problem.F16:
		e.data = halves(x.Data, fp8.F16)
	case !one && a.Problem.Format == problem.F32:
		e.data = float32s(x.Data)
	case !one:
		e.data = halves(x.Data, fp8.BF16)
	case a.Problem.Scaling == problem.NoScale:
		e.data = make([]byte, len(x.Data))
		for i, v := range x.Data {
			e.data[i] = format.EncodeSatfinite(float64(v))
		}
	default:
		t, err := fp8.Quantise(format, scalingOf(a), x.Shape, x.Data)
		if err != nil {
			return e, err
		}
		e.data, e.scales = t.Data, t.Scales
	}
	e.values, err = decodeTensor(a, x.Shape, e.data, e.scales)
	return e, err
}

// decodeTensor returns bytes in the format of a kernel as numbers.
func decodeTensor(a *Subject, d fp8.Dims, data []byte, scales []float32) (ref.Tensor, error) {
	format, one := a.Problem.Format.FP8()
	switch {
	case !one && a.Problem.Format == problem.F16:
		return ref.F16(d, data)
	case !one && a.Problem.Format == problem.F32:
		return ref.F32(d, toFloat32s(data))
	case !one:
		return ref.BF16(d, data)
	case a.Problem.Scaling == problem.NoScale:
		return &fp8.Tensor{Format: format, Scaling: fp8.PerTensor, Shape: d, Data: data, Scales: []float32{1}}, nil
	}
	return &fp8.Tensor{Format: format, Scaling: scalingOf(a), Shape: d, Data: data, Scales: scales}, nil
}

// scalingOf returns which elements of a tensor share a scale.
func scalingOf(a *Subject) fp8.Scaling {
	if a.Problem.Scaling == problem.PerTensor {
		return fp8.PerTensor
	}
	return fp8.PerHead
}

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

// permute converts [B,H,S,D] to a layout. unpermute is its inverse.
func permute(l problem.Layout, d fp8.Dims, data []byte, size int) []byte {
	if l != problem.BSHD {
		return data
	}
	return rows(d, data, size, true)
}

// unpermute converts a layout back to [B,H,S,D].
func unpermute(l problem.Layout, d fp8.Dims, data []byte, size int) []byte {
	if l != problem.BSHD {
		return data
	}
	return rows(d, data, size, false)
}

// rows moves the rows of [B,H,S,D] to their places in [B,S,H,D], or back.
func rows(d fp8.Dims, data []byte, size int, forth bool) []byte {
	out := make([]byte, len(data))
	n := d.D * size
	for b := range d.B {
		for h := range d.H {
			for s := range d.S {
				from, to := d.Row(b, h, s)*n, ((b*d.S+s)*d.H+h)*n
				if !forth {
					from, to = to, from
				}
				copy(out[to:to+n], data[from:from+n])
			}
		}
	}
	return out
}

// outputTensor returns O as numbers.
func outputTensor(a *Subject, d fp8.Dims, data []byte) (ref.Tensor, error) {
	data = unpermute(a.Problem.Layout, d, data, a.Problem.Output.Bytes())
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
