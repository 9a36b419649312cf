package lab

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

// Libraries are rivals that were started, so that the kernels of a campaign share them:
// an interpreter with its libraries takes longer to start than a kernel to time. The zero
// value has none, and Close ends them.
type Libraries struct {
	started map[string]*rival.Rival
	failed  map[string]error
}

// start is a library, started if it was not. What is not there is not there the next
// time either.
func (l *Libraries) start(ctx context.Context, name string) (*rival.Rival, error) {
	if l.started == nil {
		l.started, l.failed = map[string]*rival.Rival{}, map[string]error{}
	}
	if err := l.failed[name]; err != nil {
		return nil, err
	}
	if r := l.started[name]; r != nil {
		return r, nil
	}
	r, err := rival.Start(ctx, name, rival.Options{})
	if err != nil {
		l.failed[name] = err
		return nil, err
	}
	l.started[name] = r
	return r, nil
}

// Close ends all that were started.
func (l *Libraries) Close() {
	for _, r := range l.started {
		r.Close() // it ends with this process in any case
	}
	l.started, l.failed = nil, nil
}

// rivals are libraries that were found.
type rivals struct {
	found []startedRival
}

type startedRival struct {
	*rival.Rival
	choice RivalChoice
}

// startRivals starts what is there, and notes what is not: that is a normal state of
// a machine.
func startRivals(ctx context.Context, libraries *Libraries, choices []RivalChoice, perf *record.Performance) *rivals {
	r := &rivals{}
	for _, c := range choices {
		one, err := libraries.start(ctx, c.Library)
		if err != nil {
			perf.Notes = append(perf.Notes, fmt.Sprintf("%s: %v", c.Library, err))
			continue
		}
		r.found = append(r.found, startedRival{one, c})
	}
	return r
}

// preparedRival is a rival's attention of a shape, ready to be timed.
type preparedRival struct {
	*rival.Prepared
	version string
	rmse    float64 // against float64 on the inputs that our kernel has
}

// prepare makes the rivals ready for what a contestant computes.
func (r *rivals) prepare(ctx context.Context, m *measurement, c *contestant) (list []*preparedRival) {
	g := &given{inputs: c.inputs[0], want: c.want}
	defer g.remove()
	for _, one := range r.found {
		p, err := one.prepare(ctx, g, c.subject)
		if err != nil {
			m.r.Performance.Notes = append(m.r.Performance.Notes, fmt.Sprintf("%s on %v: %v", one.choice.Library, g.shape, err))
			continue
		}
		list = append(list, p)
	}
	return list
}

func (r *rivals) drop(list []*preparedRival) {
	for _, p := range list {
		p.Close() // a rival that cannot forget is ended with its process
	}
}

// implementation is which of a library's implementations is meant, and the type that
// it computes in.
func (s *startedRival) implementation(format problem.Format) (name, dtype string, err error) {
	for _, i := range s.Hello().Implementations {
		if s.choice.Implementation != "" && s.choice.Implementation != i.Name {
			continue
		}
		for _, d := range []string{s.choice.DType, string(format), "f16"} {
			if slices.Contains(i.DTypes, d) {
				return i.Name, d, nil
			}
		}
	}
	return "", "", fmt.Errorf("no implementation %q of %s or f16", s.choice.Implementation, format)
}

// given is what all rivals compute with, in files, and what ought to come of it. The files are
// made once for all of them: those of a large shape take longer than its times.
type given struct {
	*inputs
	dir   string
	files *rival.Inputs
	want  *ref.Result
}

func (g *given) make() (err error) {
	if g.files != nil {
		return nil
	}
	if g.dir == "" {
		if g.dir, err = os.MkdirTemp("", "attest-rival"); err != nil {
			return err
		}
	}
	g.files, err = writeInputs(g.dir, g.original)
	return err
}

func (g *given) remove() {
	if g.dir != "" {
		os.RemoveAll(g.dir)
	}
}

func (s *startedRival) prepare(ctx context.Context, g *given, a *Subject) (*preparedRival, error) {
	name, dtype, err := s.implementation(a.Problem.Format)
	if err != nil {
		return nil, err
	}
	if err := g.make(); err != nil {
		return nil, err
	}
	p, err := s.Prepare(ctx, rival.Case{Shape: g.shape, Causal: a.Problem.Causal, DType: dtype, Implementation: name, Inputs: g.files})
	if err != nil {
		return nil, err
	}
	made := &preparedRival{Prepared: p, version: s.Hello().Versions[s.choice.Library]}
	if made.rmse, err = g.error(ctx, p); err != nil {
		return nil, fmt.Errorf("%w (and %v)", err, p.Close())
	}
	return made, nil
}

// writeInputs writes Q, K and V as float32.
func writeInputs(dir string, in *ref.Inputs) (*rival.Inputs, error) {
	files := &rival.Inputs{DType: "f32"}
	for _, f := range []struct {
		name string
		from *ref.Floats
		to   *string
	}{{"q", in.Q, &files.Q}, {"k", in.K, &files.K}, {"v", in.V, &files.V}} {
		data := make([]byte, 0, 4*len(f.from.Data))
		for _, x := range f.from.Data {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
		}
		*f.to = filepath.Join(dir, f.name)
		if err := os.WriteFile(*f.to, data, 0o600); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// error is the root mean square error of a rival's output.
func (g *given) error(ctx context.Context, p *rival.Prepared) (float64, error) {
	out, err := p.Output(ctx, true)
	if err != nil {
		return 0, err
	}
	got, err := ref.F32(g.shape.Q(), out.Values)
	if err != nil {
		return 0, err
	}
	e, err := g.want.Compare(got, ref.CompareOptions{})
	if err != nil {
		return 0, err
	}
	return e.RMSE, nil
}
