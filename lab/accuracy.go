package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

// AccuracyPlan says on which inputs the errors of a kernel are compared with those of rivals.
type AccuracyPlan struct {
	Device        device.Device
	Build         record.Build
	Seed          uint64 // of the inputs
	Shapes        []problem.Named
	Distributions []string
	Rivals        []RivalChoice
	Libraries     *Libraries // the rivals that other subjects have started, too
}

// Accuracy runs a kernel and rivals over the same quantised inputs, with the same scales, and returns a
// record of their errors against float64.
func Accuracy(ctx context.Context, s *Subject, p AccuracyPlan, progress func(Progress)) (*record.Record, error) {
	m, err := newMeasurement(s, Plan{Device: p.Device, Build: p.Build, Seed: p.Seed}, progress)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	defer m.close()
	if err := m.accuracy(ctx, p); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return m.r, nil
}

// accuracy compares the errors on all inputs of the plan.
func (m *measurement) accuracy(ctx context.Context, p AccuracyPlan) (err error) {
	sms := 0
	if !timed(m.dev) {
		sms = fewSMs
	}
	l, err := load(m.dev, m.s, sms, p.Seed)
	if err != nil {
		return err
	}
	t := &table{loaded: l}
	defer func() { err = errors.Join(err, t.clear(err != nil), l.close()) }()
	m.meter.at("accuracy", "starting rivals")
	var notes record.Performance
	rivals := startRivals(ctx, p.Libraries, p.Rivals, &notes)
	m.r.Accuracy = &record.Accuracy{Cases: []record.AccuracyCase{}, Notes: notes.Notes}
	for _, n := range p.Shapes {
		m.meter.plan(len(p.Distributions), float64(len(p.Distributions))*m.weight(n.Shape))
	}
	for _, n := range p.Shapes {
		for _, d := range p.Distributions {
			m.meter.at("accuracy", fmt.Sprintf("%v, %s", n.Shape, d))
			one := Case{Shape: n.Shape, Name: n.Name, Seed: p.Seed, Distribution: d, vary: m.s.own()}
			c, err := m.deviations(ctx, t, rivals, one)
			if err != nil {
				return fmt.Errorf("%v, %s: %w", n.Shape, d, err)
			}
			m.r.Accuracy.Cases = append(m.r.Accuracy.Cases, c)
			m.meter.step(m.weight(n.Shape))
		}
	}
	return nil
}

// deviations measures the errors of the kernel and of the rivals on one case.
func (m *measurement) deviations(ctx context.Context, t *table, r *rivals, one Case) (record.AccuracyCase, error) {
	c := record.AccuracyCase{Shape: one.Shape, Name: one.Name, Distribution: one.Distribution, Seed: one.Seed, Rivals: []record.Deviation{}}
	in, err := newInputs(m.s, one)
	if err != nil {
		return c, err
	}
	if err := t.lay(in); err != nil {
		return c, err
	}
	if err := t.bench.write(in); err != nil {
		return c, err
	}
	out, err := t.bench.run(ctx)
	if err != nil {
		return c, err
	}
	got, err := in.outputTensor(m.s, out.o)
	if err != nil {
		return c, err
	}
	want, err := newExact(ctx, m.s, in)
	if err != nil {
		return c, err
	}
	c.Rows, c.Kernel.Name = len(want.quantised.Rows), m.s.Name
	if err := want.compare(&c.Kernel, got); err != nil {
		return c, err
	}
	dir, err := os.MkdirTemp("", "attest-rival")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(dir)
	files, err := writeQuantised(dir, in)
	if err != nil {
		return c, err
	}
	for _, other := range r.found {
		d := record.Deviation{Version: other.Hello().Versions[other.choice.Library]}
		if err := other.deviation(ctx, m.s, files, want, &d); ctx.Err() != nil {
			return c, ctx.Err()
		} else if err != nil {
			d.Why = err.Error()
		}
		c.Rivals = append(c.Rivals, d)
	}
	return c, nil
}

// deviation measures the errors of a rival.
func (s *startedRival) deviation(ctx context.Context, a *Subject, files *rival.Inputs, want *exactOutput, d *record.Deviation) (err error) {
	d.Name = s.choice.Library
	name, dtype, err := s.implementation(a.Problem.Format)
	if err != nil {
		return err
	}
	p, err := s.Prepare(ctx, rival.Case{Shape: want.quantised.Shape, Causal: a.Problem.Causal, DType: dtype, Implementation: name, Inputs: files, Scale: a.Problem.Scale})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	d.Name, d.Note = p.Name(), p.Note
	got, err := (&preparedRival{Prepared: p}).output(ctx, want.quantised)
	if err != nil {
		return err
	}
	return want.compare(d, got)
}

// exactOutput is attention in float64, for some rows.
type exactOutput struct{ original, quantised *ref.Result }

// The rows of O that are compared: fewer for long sequences, because each takes longer.
const (
	mostExactRows  = 1024
	leastExactRows = 64
	exactPairs     = 1 << 22 // of rows and keys
)

func newExact(ctx context.Context, a *Subject, in *inputs) (e *exactOutput, err error) {
	opt := in.options(a)
	opt.Rows = evenRows(in.shape, min(max(exactPairs/in.shape.Skv, leastExactRows), mostExactRows))
	e = &exactOutput{}
	if e.quantised, err = ref.Attention(ctx, in.q, in.k, in.v, opt); err != nil {
		return nil, err
	}
	e.original, err = ref.Attention(ctx, in.original.Q, in.original.K, in.original.V, opt)
	return e, err
}

// evenRows returns n rows, or all if there are not more, spread evenly over the sequence, from all heads in turn. Other
// rows are compared elsewhere, such as those at the edges of tiles: under a causal mask, the first rows see few keys and
// have errors that would hide those of the others.
func evenRows(s problem.Shape, n int) (rows []ref.Row) {
	heads := s.B * s.Hq
	n = min(n, heads*s.Sq)
	for i := range n {
		head := i % heads
		rows = append(rows, ref.Row{B: head / s.Hq, H: head % s.Hq, S: (2*(i/heads) + 1) * s.Sq / (2 * ((n + heads - 1) / heads))})
	}
	return rows
}

// compare measures the errors of an output.
func (e *exactOutput) compare(d *record.Deviation, got ref.Tensor) error {
	for _, x := range []struct {
		want *ref.Result
		to   *record.Spread
	}{{e.original, &d.Total}, {e.quantised, &d.Added}} {
		errs, err := x.want.Compare(got, ref.CompareOptions{})
		if err != nil {
			return err
		}
		*x.to = record.Spread{RMSE: errs.RMSE, Max: errs.Max}
	}
	return nil
}

// writeQuantised writes Q, K and V as the kernel reads them, with their scales.
func writeQuantised(dir string, in *inputs) (*rival.Inputs, error) {
	files := &rival.Inputs{Scales: &rival.Scales{}}
	for _, f := range []struct {
		name   string
		from   ref.Tensor
		to     *string
		scales *[][]float32
	}{{"q", in.q, &files.Q, &files.Scales.Q}, {"k", in.k, &files.K, &files.Scales.K}, {"v", in.v, &files.V, &files.Scales.V}} {
		x, ok := f.from.(*fp8.Tensor)
		if !ok || x.Scaling > 0 || x.Format != fp8.E4M3 && x.Format != fp8.E5M2 {
			return nil, fmt.Errorf("%s: rivals are compared on e4m3 and e5m2 with a scale per head or per tensor", f.name)
		}
		if files.DType = "e4m3"; x.Format == fp8.E5M2 {
			files.DType = "e5m2"
		}
		*f.scales = make([][]float32, x.Shape.B)
		for b := range *f.scales {
			for h := range x.Shape.H {
				(*f.scales)[b] = append((*f.scales)[b], x.Scales[x.Scaling.Index(x.Shape, b, h, 0)])
			}
		}
		*f.to = filepath.Join(dir, f.name)
		if err := os.WriteFile(*f.to, x.Data, 0o600); err != nil {
			return nil, err
		}
	}
	return files, nil
}
