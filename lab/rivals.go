package lab

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

// Libraries are the rivals that were started. The kernels of a campaign share them, since
// starting Python with its libraries takes longer than timing a kernel. The zero value is
// empty, and Close stops all rivals.
type Libraries struct {
	started map[string]*rival.Rival
	failed  map[string]error
}

// start starts the libraries that are not started yet, all at once: each takes about ten seconds to
// import what it needs. A library that failed to start is not tried again.
func (l *Libraries) start(ctx context.Context, choices []RivalChoice) {
	if l.started == nil {
		l.started, l.failed = map[string]*rival.Rival{}, map[string]error{}
	}
	var names []string
	for _, c := range choices {
		if l.started[c.Library] == nil && l.failed[c.Library] == nil && !slices.Contains(names, c.Library) {
			names = append(names, c.Library)
		}
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	for _, name := range names {
		group.Go(func() {
			r, err := rival.Start(ctx, name, rival.Options{})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				l.failed[name] = err
			} else {
				l.started[name] = r
			}
		})
	}
	group.Wait()
}

// Close stops all libraries.
func (l *Libraries) Close() {
	for _, r := range l.started {
		r.Close() // the library ends with this process in any case
	}
	l.started, l.failed = nil, nil
}

// rivals are the libraries that this machine has.
type rivals struct {
	found []startedRival
}

type startedRival struct {
	*rival.Rival
	choice RivalChoice
}

// startRivals starts the libraries that are installed, and notes those that are missing.
func startRivals(ctx context.Context, libraries *Libraries, choices []RivalChoice, perf *record.Performance) *rivals {
	r := &rivals{}
	libraries.start(ctx, choices)
	for _, c := range choices {
		if err := libraries.failed[c.Library]; err != nil {
			perf.Notes = append(perf.Notes, fmt.Sprintf("%s: %v", c.Library, err))
			continue
		}
		r.found = append(r.found, startedRival{libraries.started[c.Library], c})
	}
	return r
}

// preparedRival is the attention of a rival for a shape, ready to be timed.
type preparedRival struct {
	*rival.Prepared
	version string
	rmse    float64 // against float64, on the inputs of our kernel
}

// prepare prepares the rivals for the problem of a contestant.
func (r *rivals) prepare(ctx context.Context, m *measurement, c *contestant) (list []*preparedRival) {
	g := &given{inputs: c.input, want: c.want}
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
		p.Close() // an error does not matter: the rival ends with its process
	}
}

// implementation returns the implementation of a library that was chosen, and the type that it
// computes in.
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
	return "", "", fmt.Errorf("there is no implementation %q for %s or f16", s.choice.Implementation, format)
}

// given is the inputs of all rivals, in files, and the reference. The files are written once for
// all rivals, since writing large ones takes longer than timing.
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
	if p := a.Problem; p.Masked || p.Bias != "" || p.Rope != "" || p.Ragged() || p.Window.Limited() || p.Softcap != 0 || p.Sinks {
		return nil, fmt.Errorf("rivals compute attention over full sequences, causal or without a mask, but the kernel computes %v", a.At(g.shape))
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

// error returns the root mean square error of the output of a rival.
func (g *given) error(ctx context.Context, p *rival.Prepared) (float64, error) {
	out, err := p.Output(ctx, true)
	if err != nil {
		return 0, err
	}
	got, err := ref.F32(g.shape.O(), out.Values)
	if err != nil {
		return 0, err
	}
	e, err := g.want.Compare(got, ref.CompareOptions{})
	if err != nil {
		return 0, err
	}
	return e.RMSE, nil
}
