package lab

import (
	"math"
	"math/rand/v2"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// addBias draws a bias for each logit. Some keys are hidden by a bias of -∞, but never all keys of a
// row.
func (in *inputs) addBias(c Case, format problem.Format) {
	r := rand.New(rand.NewPCG(c.Seed, biasStream))
	s := c.Shape
	b := &ref.Bias{Hq: s.Hq, Sq: s.Sq, Skv: s.Skv, Values: make([]float64, s.B*s.Hq*s.Sq*s.Skv)}
	values := make([]float32, len(b.Values))
	for i := range values {
		values[i] = float32(2 * r.NormFloat64())
		if r.IntN(8) == 0 {
			values[i] = float32(math.Inf(-1))
		}
	}
	for row := range s.B * s.Hq * s.Sq {
		if n := in.places.Keys[row/s.Sq/s.Hq]; n > 0 {
			values[row*s.Skv+r.IntN(n)] = float32(r.NormFloat64())
		}
	}
	switch format {
	case problem.F16:
		in.data["bias"] = halves(values, fp8.F16)
		for i, v := range values {
			b.Values[i] = float64(fp8.FromF16(fp8.F16(v)))
		}
	case problem.BF16:
		in.data["bias"] = halves(values, fp8.BF16)
		for i, v := range values {
			b.Values[i] = float64(fp8.FromBF16(fp8.BF16(v)))
		}
	default:
		in.data["bias"] = float32s(values)
		for i, v := range values {
			b.Values[i] = float64(v)
		}
	}
	in.bias = b
}

// addAngles makes the tables of a rotary embedding. The base of the frequencies differs from case to
// case, so a kernel must read the tables.
func (in *inputs) addAngles(c Case) {
	base := 1000 * math.Exp2(4*rand.New(rand.NewPCG(c.Seed, angleStream)).Float64())
	s := c.Shape
	for position := range max(s.Sq, s.Skv) {
		for i := range s.D / 2 {
			sin, cos := math.Sincos(float64(position) * math.Pow(base, -2*float64(i)/float64(s.D)))
			in.cos, in.sin = append(in.cos, float32(cos)), append(in.sin, float32(sin))
		}
	}
	in.data["rope_cos"], in.data["rope_sin"] = float32s(in.cos), float32s(in.sin)
}

// rotate rotates the values of Q and K that the reference computes with, if the problem rotates rows.
// The kernel reads the bytes from before and rotates them itself.
func (in *inputs) rotate(a *Subject) {
	if a.Problem.Rope == "" {
		return
	}
	turned := func(t ref.Tensor, position func(b, s int) int) ref.Tensor {
		return &ref.Rotated{Tensor: t, By: a.Problem.Rope, Cos: in.cos, Sin: in.sin, Position: position}
	}
	query := func(b, s int) int { return s + max(0, in.places.Keys[b]-in.places.Queries[b]) }
	key := func(_, s int) int { return s }
	in.q, in.k = turned(in.q, query), turned(in.k, key)
	if in.original != nil {
		original := *in.original
		original.Q, original.K = floatsOf(turned(original.Q, query)), floatsOf(turned(original.K, key))
		in.original = &original
	}
}
