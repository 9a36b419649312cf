package lab

import (
	"math"
	"math/rand/v2"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// wider is by how much the numbers of large-q, large-k and large-v are larger if the format holds them. All numbers of a
// distribution fit f16, so a kernel for bf16 or f32 that converts to f16 would be right without this factor.
const wider = 1 << 10

// widening returns the factor between the numbers that a kernel gets as q, k or v, and those that the reference computes with.
// It is a power of 2, so rounding is the same. The logits are the same too, and outputTensor divides O by the factor of V.
func widening(a *Subject, distribution, name string) float32 {
	logits := holdsMore(a.Problem.QueryFormat()) && holdsMore(a.Problem.Format)
	switch {
	case distribution == "large-q" && name == "q" && logits, distribution == "large-k" && name == "k" && logits:
		return wider
	case distribution == "large-q" && name == "k" && logits, distribution == "large-k" && name == "q" && logits:
		return 1.0 / wider
	case distribution == gate.LargeV && name == "v" && holdsMore(a.Problem.Format) && holdsMore(a.Problem.Output):
		return wider
	}
	return 1
}

// holdsMore reports whether a format holds numbers above the largest of f16.
func holdsMore(f problem.Format) bool { return f == problem.BF16 || f == problem.F32 }

// widened returns the bytes of q, k or v for a kernel.
func (e encoded) widened(a *Subject, name string, x *ref.Floats, factor float32) []byte {
	if factor == 1 {
		return e.data
	}
	wide := make([]float32, len(x.Data))
	for i, v := range x.Data {
		wide[i] = factor * v
	}
	if formatOf(a, name) == problem.F32 {
		return float32s(wide)
	}
	return halves(wide, fp8.BF16)
}

// narrowed returns O without the factor of V.
func narrowed(f problem.Format, d fp8.Dims, data []byte, factor float32) (ref.Tensor, error) {
	var values []float32
	if f == problem.F32 {
		values = toFloat32s(data)
	} else {
		for i := 0; i+1 < len(data); i += 2 {
			values = append(values, fp8.FromBF16(uint16(data[i])|uint16(data[i+1])<<8))
		}
	}
	for i := range values {
		values[i] /= factor
	}
	return ref.F32(d, values)
}

// refine gives numbers of f32 all their bits. Those of a distribution have 11, so a kernel that rounds its inputs to f16 or tf32
// would be right without this. It leaves inputs alone whose logits are equal or exact, and kernels that claim weights
// of 11 bits: they may round as much before.
func refine(a *Subject, c Case, in *ref.Inputs) {
	if a.P() != problem.F32 || c.Distribution != "normal" && c.Distribution != "heads" {
		return
	}
	for _, part := range []struct {
		name string
		data []float32
	}{{"q", in.Q.Data}, {"k", in.K.Data}, {"v", in.V.Data}} {
		if formatOf(a, part.name) != problem.F32 {
			continue
		}
		const free = 23 - 10 // the bits of the fraction that f16 does not have
		r := rand.New(rand.NewPCG(c.Seed, refineStream+uint64(part.name[0])))
		for i, x := range part.data {
			if x != 0 {
				part.data[i] = math.Float32frombits(math.Float32bits(x) | r.Uint32()>>(32-free))
			}
		}
	}
}

// usualLogits makes Q larger or smaller if the scale of the softmax is far from 1/√D, so that the logits are as usual.
func usualLogits(a *Subject, in *ref.Inputs) {
	factor := a.Problem.Scale * math.Sqrt(float64(in.Shape.D))
	if factor == 0 || factor > 0.25 && factor < 4 || fixedRange(a.Problem.QueryFormat(), a.Problem.Filled().Scaling) {
		return
	}
	by := float32(math.Exp2(-math.Round(math.Log2(factor))))
	for i := range in.Q.Data {
		in.Q.Data[i] *= by
	}
}
