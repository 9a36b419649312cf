package lab

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// watchNaN runs the kernel once more with NaN in all inputs of one head. The launch must end, and
// the outputs of the other heads must stay finite. What the head itself holds does not matter.
func (m *measurement) watchNaN(ctx context.Context) error {
	d := m.r.Defects
	shape, ok := shapeForNaN(m.s, d.Shapes)
	if !ok || d.Errors > 0 {
		return nil
	}
	in, err := newInputs(m.s, m.resolved(watchedCase(shape, "normal")))
	if err != nil {
		return err
	}
	m.meter.at("defects", fmt.Sprintf("%v, NaN in one head", shape))
	_, clean, _, err := m.watchOnce(ctx, in, 0)
	if err != nil || clean == nil {
		return err
	}
	bad := in.badHead(m.s)
	found, spoiled, _, err := m.watchOnce(ctx, bad.in, 0)
	if err != nil {
		return err
	}
	d.Add(shape, found...)
	if spoiled == nil {
		return nil
	}
	n, err := bad.spread(m.s, *clean, *spoiled)
	if n > 0 {
		f := finding.Finding{Kind: finding.NaNSpread, Severity: finding.Error, Count: 1,
			Message: fmt.Sprintf("NaN in the inputs of head %d of batch %d makes %s of other heads NaN or infinite", bad.head, bad.batch, english.Count(n, "element"))}
		i := slices.IndexFunc(finding.Rules, func(r finding.Rule) bool { return r.Kind == f.Kind })
		f.Why, f.Fix = finding.Rules[i].Full, finding.Rules[i].Help
		d.Add(shape, f)
	}
	return err
}

// shapeForNaN returns the first of the watched shapes that is small and has several heads.
func shapeForNaN(a *Subject, watched []problem.Shape) (s problem.Shape, ok bool) {
	at := slices.IndexFunc(watched, func(s problem.Shape) bool { return s.B*s.Hkv > 1 && s.FLOP() < mostAddedFLOP })
	if at < 0 || a.Problem.Format.Decoded() == problem.U8 || a.Problem.Appends { // u8 has no NaN, and new rows of K are another operand
		return s, false
	}
	return watched[at], true
}

// badHead is inputs in which one head of K and V, and the heads of Q that use it, are NaN.
type badHead struct {
	in          *inputs
	batch, head int // the batch entry and the head of K and V
}

// badHead returns the inputs with NaN in the last head of a full sequence.
func (in *inputs) badHead(a *Subject) badHead {
	s, other := in.shape, *in
	other.data = maps.Clone(in.data)
	b := badHead{&other, slices.Index(in.places.Keys, slices.Max(in.places.Keys)), s.Hkv - 1}
	for _, t := range []struct {
		name string
		rows ref.RowPlaces
		dims fp8.Dims
	}{{"q", in.places.Q, s.Q()}, {"k", in.places.KV, s.K()}, {"v", in.places.KV, s.V()}} {
		n := t.dims.D * formatOf(a, t.name).Bytes()
		data := slices.Clone(t.rows.Gather(in.compact(t.name, in.data[t.name]), n))
		rows := len(data) / n / s.B / t.dims.H // the rows of a head
		group := t.dims.H / s.Hkv
		first := (b.batch*t.dims.H + b.head*group) * rows * n
		copy(data[first:], filled(int64(group*rows*n), poison))
		data = t.rows.Scatter(data, n)
		if m, ok := in.strided[t.name]; ok {
			data = m.Strides.Spread(data, m.Bytes, poison)
		}
		other.data[t.name] = data
	}
	return b
}

// spread returns how many elements of other heads are finite in an output on the original inputs
// and not in the output on the inputs with NaN.
func (b badHead) spread(a *Subject, clean, spoiled outputs) (n int, err error) {
	var both [2]ref.Tensor
	for i, out := range []outputs{clean, spoiled} {
		if both[i], err = b.in.outputTensor(a, out.o); err != nil {
			return 0, err
		}
	}
	s := b.in.shape
	before, after := make([]float64, s.DimV()), make([]float64, s.DimV())
	for batch, rows := range b.in.places.Queries {
		for h := range s.Hq {
			if batch == b.batch && s.HeadKV(h) == b.head {
				continue
			}
			for row := range rows {
				both[0].Row(batch, h, row, before)
				both[1].Row(batch, h, row, after)
				for i, x := range before {
					if finite(x) && !finite(after[i]) {
						n++
					}
				}
			}
		}
	}
	return n, nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
