package lab

import (
	"context"
	"slices"

	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/ref"
)

// impostor returns the output of an impostor, derived from the right output on the quantised
// inputs. It returns nil if the rows that are compared do not allow it.
func impostor(ctx context.Context, name string, a *Subject, in *inputs, right *ref.Result) (*rowsTensor, error) {
	if len(right.Rows) == 0 { // all sequences of Q are empty
		return nil, nil
	}
	t := newRows(right.Dims(), right.Rows)
	copy(t.o, right.O)
	d := t.dims.D
	from := func(other func(i int) int) *rowsTensor { // each row is another row of the right output
		for i := range t.rows {
			j := other(i)
			if j < 0 {
				return nil
			}
			copy(t.row(i), right.O[j*d:(j+1)*d])
		}
		return t
	}
	switch name {
	case gate.Zeros:
		clear(t.o)
	case gate.Constant:
		var mean float64
		for _, x := range right.O {
			mean += x / float64(len(right.O))
		}
		for i := range t.o {
			t.o[i] = mean
		}
	case gate.MeanOfV:
		meanOfV(a, in, t)
	case gate.Tail:
		clear(t.row(lastWithKeys(t)))
	case gate.SwapHeads:
		return from(func(i int) int { return otherHead(t.rows, i) }), nil
	case gate.ShiftRows:
		return from(func(i int) int { return otherRow(t.rows, i) }), nil
	case gate.MissingTile:
		return t, missing(ctx, a, in, t, in.shape.Skv-gate.TileOfKeys)
	case gate.MissingKey:
		return t, missing(ctx, a, in, t, in.shape.Skv-1)
	}
	return t, nil
}

// lastWithKeys returns the last row that is not zero. Rows of a sequence without keys are zero.
func lastWithKeys(t *rowsTensor) int {
	for i := len(t.rows) - 1; i > 0; i-- {
		if slices.ContainsFunc(t.row(i), func(x float64) bool { return x != 0 }) {
			return i
		}
	}
	return 0
}

// otherHead returns the row at the same position in a neighbouring head, or at another
// position if that row is not compared, or -1 if there is no other head.
func otherHead(rows []ref.Row, i int) int {
	found := -1
	for step := 1; step < len(rows); step++ {
		j := (i + step) % len(rows)
		if rows[j].B == rows[i].B && rows[j].H == rows[i].H {
			continue
		}
		if rows[j].S == rows[i].S {
			return j
		}
		if found < 0 {
			found = j
		}
	}
	return found
}

// otherRow returns the next row of the same head; the first row follows the last.
func otherRow(rows []ref.Row, i int) int {
	if j := i + 1; j < len(rows) && rows[j].B == rows[i].B && rows[j].H == rows[i].H {
		return j
	}
	j := i
	for j > 0 && rows[j-1].B == rows[i].B && rows[j-1].H == rows[i].H {
		j--
	}
	return j
}

// meanOfV writes the mean of the rows of V that a row sees.
func meanOfV(a *Subject, in *inputs, t *rowsTensor) {
	p := a.varied(in.vary).At(in.shape)
	sums := map[[2]int][][]float64{} // the running sums of each head
	for i, at := range t.rows {
		key := [2]int{at.B, in.shape.HeadKV(at.H)}
		m, ok := sums[key]
		if !ok {
			m = matrix(in.v, key[0], key[1])
			for j := 1; j < len(m); j++ {
				for c := range m[j] {
					m[j][c] += m[j-1][c]
				}
			}
			sums[key] = m
		}
		first, last := p.Sees(at.B, at.S)
		for c := range t.row(i) {
			t.row(i)[c] = 0
			if first < last {
				sum := m[last-1][c]
				if first > 0 {
					sum -= m[first-1][c]
				}
				t.row(i)[c] = sum / float64(last-first)
			}
		}
	}
}

// missing computes attention without the keys from first on.
func missing(ctx context.Context, a *Subject, in *inputs, t *rowsTensor, first int) error {
	if first == 0 {
		return nil
	}
	p := a.varied(in.vary).At(in.shape)
	var affected []ref.Row
	for _, at := range t.rows {
		if _, last := p.Sees(at.B, at.S); last > first {
			affected = append(affected, at)
		}
	}
	if len(affected) == 0 {
		return nil
	}
	// The mask stays where it is: a row sees the remaining keys that it saw before.
	opt := in.options(a)
	opt.Rows, opt.Hidden = affected, in.shape.Skv-first
	r, err := ref.Attention(ctx, in.q, in.k, in.v, opt)
	if err != nil {
		return err
	}
	for i, at := range r.Rows {
		copy(t.row(t.index[at]), r.O[i*t.dims.D:(i+1)*t.dims.D])
	}
	return nil
}
