package ref

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
)

// Inputs are the operands of attention. All their numbers are half-precision numbers.
type Inputs struct {
	Shape   problem.Shape
	Q, K, V *Floats
}

// Distribution is a way to make inputs.
type Distribution struct {
	Name string
	Doc  string // what it is for, in one line
	// A nil function makes normal rows.
	q, k, v rowFunc
}

// Distributions are the distributions that Generate knows.
func Distributions() []Distribution {
	return []Distribution{
		{"normal", "N(0,1): what the original effort measured with", nil, nil, nil},
		{"uniform", "even in [-1,1): no tails, so a scale fits all", uniform, uniform, uniform},
		{"outliers", "N(0,1) with one element in 512 sixteen times as large: spoils scales", outliers, outliers, outliers},
		{"large-logits", "logits of some 64 standard deviations: overflows a softmax without a maximum", times8, times8, nil},
		{"ties", "only four different rows of K: many equal maxima", few, period4, nil},
		{"one-hot", "each row of O is one row of V: shows what is swapped, shifted or left out", chosen, signs, nil},
		{"constant-v", "all rows of V are equal: O is that row, whatever the weights", nil, nil, constant},
		{"rising", "logits rise along K: the running maximum changes with every tile", lean, rising, nil},
		{"falling", "logits fall along K: the first tile has all the weight", lean, falling, nil},
		{"tiny", "magnitudes of 1e-7: below what has a scale", tiny, tiny, tiny},
		{"zeros", "nothing: no division by a zero scale", zeros, zeros, zeros},
	}
}

// Generate makes inputs. The same name, seed and shape give the same bits on every
// machine.
func Generate(name string, seed uint64, s problem.Shape) (*Inputs, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	var names []string
	for _, d := range Distributions() {
		if d.Name == name {
			return d.generate(seed, s), nil
		}
		names = append(names, d.Name)
	}
	return nil, fmt.Errorf("distribution %q is not known: use %s", name, strings.Join(names, ", "))
}

func (d Distribution) generate(seed uint64, s problem.Shape) *Inputs {
	in := &Inputs{Shape: s}
	in.Q = newMaker(seed, s, tensorQ).rows(d.q)
	in.K = newMaker(seed, s, tensorK).rows(d.k)
	in.V = newMaker(seed, s, tensorV).rows(d.v)
	return in
}

// rows makes a tensor and rounds it to half precision.
func (m *maker) rows(row rowFunc) *Floats {
	if row == nil {
		row = normal
	}
	t := &Floats{m.dims, make([]float32, m.dims.Len())}
	parallel(m.dims.B*m.dims.H, func(i int) {
		for s := range m.dims.S {
			p := place{i / m.dims.H, i % m.dims.H, s}
			to := t.row(p.b, p.h, p.s)
			row(m, p, to)
			for i, v := range to {
				to[i] = fp8.FromF16(fp8.F16(v))
			}
		}
	})
	return t
}

// Quantised are inputs with one byte per element.
type Quantised struct {
	Shape   problem.Shape
	Q, K, V *fp8.Tensor
}

// Quantise quantises Q, K and V in the same way.
func (in *Inputs) Quantise(f fp8.Format, s fp8.Scaling) (*Quantised, error) {
	q := &Quantised{Shape: in.Shape}
	for _, part := range []struct {
		to   **fp8.Tensor
		from *Floats
	}{{&q.Q, in.Q}, {&q.K, in.K}, {&q.V, in.V}} {
		t, err := fp8.Quantise(f, s, part.from.Shape, part.from.Data)
		if err != nil {
			return nil, err
		}
		*part.to = t
	}
	return q, nil
}
