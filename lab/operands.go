package lab

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/lab/abi"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// inputs are Q, K and V of a case: as they were, as the kernel sees them, and as the
// bytes that it is given.
type inputs struct {
	shape    problem.Shape
	original *ref.Inputs
	// What the kernel computes with: values after rounding and scaling.
	q, k, v ref.Tensor
	data    map[string][]byte // of q, k, v, qs, ks and vs
	vars    abi.Vars          // with the scales of tensors
}

// newInputs makes the inputs of a case in the form that an ABI wants.
func newInputs(a *abi.ABI, c Case) (*inputs, error) {
	original, err := ref.Generate(c.Distribution, c.Seed, c.Shape)
	if err != nil {
		return nil, err
	}
	if c.reversed {
		reverseRows(original.Q)
	}
	in := &inputs{shape: c.Shape, original: original, data: map[string][]byte{}, vars: abi.Vars{Shape: c.Shape}}
	for _, part := range []struct {
		name  string
		from  *ref.Floats
		to    *ref.Tensor
		scale *float64
	}{
		{"q", original.Q, &in.q, &in.vars.Qs}, {"k", original.K, &in.k, &in.vars.Ks}, {"v", original.V, &in.v, &in.vars.Vs},
	} {
		e, err := encodeTensor(a, part.from)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
		*part.to = e.values
		in.data[part.name] = permute(a.Layout, part.from.Shape, e.data, a.Format.Bytes())
		in.data[part.name+"s"] = float32s(e.scales)
		if len(e.scales) == 1 {
			*part.scale = float64(e.scales[0])
		}
	}
	return in, nil
}

// reverseRows puts the rows of each head in reverse.
func reverseRows(x *ref.Floats) {
	d := x.Shape
	for head := range d.B * d.H {
		rows := x.Data[head*d.S*d.D : (head+1)*d.S*d.D]
		for i, j := 0, d.S-1; i < j; i, j = i+1, j-1 {
			for c := range d.D {
				rows[i*d.D+c], rows[j*d.D+c] = rows[j*d.D+c], rows[i*d.D+c]
			}
		}
	}
}

// encoded is a tensor in the form of a kernel.
type encoded struct {
	values ref.Tensor
	data   []byte // [B,H,S,D]
	scales []float32
}

func encodeTensor(a *abi.ABI, x *ref.Floats) (encoded, error) {
	format, one := a.Format.FP8()
	switch {
	case !one && a.Format == abi.F16:
		data := halves(x.Data, fp8.F16)
		t, err := ref.F16(x.Shape, data)
		return encoded{values: t, data: data}, err
	case !one:
		data := halves(x.Data, fp8.BF16)
		t, err := ref.BF16(x.Shape, data)
		return encoded{values: t, data: data}, err
	case a.Scaling == abi.NoScale:
		t := &fp8.Tensor{Format: format, Scaling: fp8.PerTensor, Shape: x.Shape, Data: make([]byte, len(x.Data)), Scales: []float32{1}}
		for i, v := range x.Data {
			t.Data[i] = format.EncodeSatfinite(float64(v))
		}
		return encoded{values: t, data: t.Data}, nil
	}
	scaling := fp8.PerHead
	if a.Scaling == abi.PerTensor {
		scaling = fp8.PerTensor
	}
	t, err := fp8.Quantise(format, scaling, x.Shape, x.Data)
	if err != nil {
		return encoded{}, err
	}
	return encoded{t, t.Data, t.Scales}, nil
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

// permute brings [B,H,S,D] into a layout. It is its own inverse but for the extents:
// see unpermute.
func permute(l abi.Layout, d fp8.Dims, data []byte, size int) []byte {
	if l != abi.BSHD {
		return data
	}
	return rows(d, data, size, true)
}

// unpermute brings a layout back to [B,H,S,D].
func unpermute(l abi.Layout, d fp8.Dims, data []byte, size int) []byte {
	if l != abi.BSHD {
		return data
	}
	return rows(d, data, size, false)
}

// rows moves the rows of [B,H,S,D] to where [B,S,H,D] has them, or back.
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

// outputTensor is O as numbers.
func outputTensor(a *abi.ABI, d fp8.Dims, data []byte) (ref.Tensor, error) {
	data = unpermute(a.Layout, d, data, a.Output.Bytes())
	switch a.Output {
	case abi.BF16:
		return ref.BF16(d, data)
	case abi.F32:
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
