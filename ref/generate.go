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

// Distribution is a named way to generate inputs.
type Distribution struct {
	Name string
	Doc  string // what it is for, in one line
	// q, k and v generate the rows of the tensors; nil generates normal rows.
	q, k, v rowFunc
}

// Distributions returns the distributions that Generate knows.
func Distributions() []Distribution {
	return []Distribution{
		{"normal", "N(0,1): ordinary inputs", nil, nil, nil},
		{"uniform", "uniform in [-1,1): no tails, so one scale fits all elements", uniform, uniform, uniform},
		{"outliers", "N(0,1) with one element in 512 sixteen times as large: makes scales too large for the rest", outliers, outliers, outliers},
		{"large-logits", "logits with a standard deviation of 64: a softmax that does not subtract the maximum overflows", times8, times8, nil},
		{"ties", "K has only four different rows: many logits are equal to the maximum", few, period4, nil},
		{"one-hot", "each row of O is one row of V: shows rows that are swapped, shifted or left out", chosen, signs, nil},
		{"constant-v", "all rows of V are equal: every row of O is that row, for any weights", nil, nil, constant},
		{"biased-v", "V has a mean other than zero in each column: shows errors of one sign, which add up over many keys", nil, nil, lean},
		{"rising", "logits rise along the sequence: the running maximum changes with every tile", lean, rising, nil},
		{"falling", "logits fall along the sequence: the first tile has almost all the weight", lean, falling, nil},
		{"negative", "all logits are far below zero, in odd heads those of half of the rows: shows a maximum that starts at zero or at a bound", someAlong, against, nil},
		{"steps", "logits jump up and down every eight keys, differently in each row: the maxima of rows change in different tiles", levels, groups, nil},
		{"equal", "in half of the rows all logits are equal, so O is the mean of V: shows each key that is left out or added", halfAlong, halfSame, signs},
		{"equal-half", "equal with V half as large: an error of a weight of two bits then is within the tolerance", halfAlong, halfSame, halfSigns},
		{"heads", "each head has its own magnitude: shows the use of another head's scale", headsOfQ, headsOfK, headsOfV},
		{"large-q", "Q is 4096 times as large and K as small as usual, so the logits are as usual: shows an assumption about scales", larger, smaller, nil},
		{"large-k", "the same with Q and K exchanged", smaller, larger, nil},
		{"large-v", "V is 4096 times as large as usual: shows a bound on V, on its scale or on O", nil, nil, larger},
		{"small-v", "V is 4096 times as small as usual: shows a lower bound on its scale", nil, nil, smaller},
		{"sink", "the first key has a quarter of the weight, and each other key little: shows small weights that are dropped", sinkQuery, sinkKey, nil},
		{"flat", "all logits are near 0, half of the rows of K are zero, and V grows along the sequence: shows a bound on the sum of the weights, and keys that are taken for padding", by16, flatKeys, risingBy16},
		{"large-scales", "a column of Q and another one of K are large, and the other tensor is 0 there: logits are as usual, and the scales of Q and K are 64", apart(0, 1), apart(1, 0), nil},
		{"subnormal", "one row of K and V without weight is 2^14 times as large as the others: half of their codes in e4m3 are subnormal or -0", subnormalQ, subnormalK, subnormalV},
		{"sparse", "a third of the rows of K and a third of the rows of V are zero: shows rows that are taken for padding", nil, sparse, sparse},
		{"tiny", "magnitudes of 1e-7: too small for a scale of their own, which must then be 1", tiny, tiny, tiny},
		{"zeros", "all zeros: shows a division by a scale of zero", zeros, zeros, zeros},
	}
}

// Generate generates the inputs of a distribution. The same name, seed and shape give the
// same bits on every machine.
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

// rowsOfPiece is the number of rows of a head that one core makes at a time.
const rowsOfPiece = 1024

// rows makes a tensor and rounds it to half precision.
func (m *maker) rows(row rowFunc) *Floats {
	if row == nil {
		row = normal
	}
	t := &Floats{m.dims, make([]float32, m.dims.Len())}
	d, pieces := m.dims, (m.dims.S+rowsOfPiece-1)/rowsOfPiece
	parallel(d.B*d.H*pieces, func(i int) {
		head, first := i/pieces, i%pieces*rowsOfPiece
		for s := first; s < min(first+rowsOfPiece, d.S); s++ {
			p := place{head / d.H, head % d.H, s}
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
