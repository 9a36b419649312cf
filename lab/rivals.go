package lab

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

// Libraries are the rivals that were started. The kernels of a campaign share them, since
// starting Python with its libraries takes longer than timing a kernel. The zero value is
// empty, and Close stops all rivals. It is safe for concurrent use.
type Libraries struct {
	// Ahead says what will be timed, so that libraries compile it when they start; nil compiles nothing
	// before it is needed.
	Ahead *rival.Ahead

	mu      sync.Mutex
	started map[string]*rival.Rival
	failed  map[string]error
}

// Start starts the libraries that are not started yet, all at once: each takes about ten seconds to
// import what it needs. A library that failed to start is not tried again. A measurement starts what
// it needs itself; to call Start before, in another goroutine, hides the time that it takes.
func (l *Libraries) Start(ctx context.Context, choices []RivalChoice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.started == nil {
		l.started, l.failed = map[string]*rival.Rival{}, map[string]error{}
	}
	var names []string
	for _, c := range choices {
		if l.started[c.Library] == nil && l.failed[c.Library] == nil && !slices.Contains(names, c.Library) {
			names = append(names, c.Library)
		}
	}
	found, failed := make([]*rival.Rival, len(names)), make([]error, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		group.Go(func() { found[i], failed[i] = rival.Start(ctx, name, rival.Options{Ahead: l.Ahead}) })
	}
	group.Wait()
	for i, name := range names {
		if failed[i] != nil {
			l.failed[name] = failed[i]
		} else {
			l.started[name] = found[i]
		}
	}
}

// Close stops all libraries.
func (l *Libraries) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
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
	libraries.Start(ctx, choices)
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
	library string
	version string
	rmse    float64 // against float64, on the inputs of our kernel
}

// prepare prepares the rivals for the problem of a contestant. It returns why some of them are left out.
func (r *rivals) prepare(ctx context.Context, c *contestant) (list []*preparedRival, notes []string) {
	g := &given{inputs: c.input}
	defer g.remove()
	for _, one := range r.found {
		p, err := one.prepare(ctx, g, c.subject)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s on %v: %v", one.choice.Library, g.shape, err))
			continue
		}
		list = append(list, p)
	}
	return list, notes
}

// compare compares the outputs of rivals with the reference. It returns those that have one.
func (r *rivals) compare(ctx context.Context, list []*preparedRival, want *ref.Result) (compared []*preparedRival, notes []string) {
	for _, p := range list {
		var err error
		if p.rmse, err = p.error(ctx, want); err != nil {
			notes = append(notes, fmt.Sprintf("%s on %v: %v (and %v)", p.library, p.Case.Shape, err, p.Close()))
			continue
		}
		compared = append(compared, p)
	}
	return compared, notes
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

// given is the inputs of all rivals, in files. The files are written once for all rivals, since
// writing large ones takes longer than timing.
type given struct {
	*inputs
	dir   string
	files *rival.Inputs
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
	return &preparedRival{Prepared: p, library: s.choice.Library, version: s.Hello().Versions[s.choice.Library]}, nil
}

// writeInputs writes Q, K and V in half precision, which holds their numbers exactly.
func writeInputs(dir string, in *ref.Inputs) (*rival.Inputs, error) {
	files := &rival.Inputs{DType: "f16"}
	for _, f := range []struct {
		name string
		from *ref.Floats
		to   *string
	}{{"q", in.Q, &files.Q}, {"k", in.K, &files.K}, {"v", in.V, &files.V}} {
		data := make([]byte, 2*len(f.from.Data))
		eachPiece(data, func(first int, piece []byte) {
			for i := 0; i < len(piece); i += 2 {
				binary.LittleEndian.PutUint16(piece[i:], fp8.F16(f.from.Data[(first+i)/2]))
			}
		})
		*f.to = filepath.Join(dir, f.name)
		if err := os.WriteFile(*f.to, data, 0o600); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// error returns the root mean square error of the output, on the rows of the reference.
func (p *preparedRival) error(ctx context.Context, want *ref.Result) (float64, error) {
	got, err := p.output(ctx, want)
	if err != nil {
		return 0, err
	}
	e, err := want.Compare(got, ref.CompareOptions{})
	if err != nil {
		return 0, err
	}
	return e.RMSE, nil
}

// output returns the rows of the output that the reference has.
func (p *preparedRival) output(ctx context.Context, want *ref.Result) (ref.Tensor, error) {
	var places [][3]int
	for _, r := range want.Rows {
		places = append(places, [3]int{r.B, r.H, r.S})
	}
	values, err := p.Rows(ctx, places)
	if err != nil {
		return nil, err
	}
	got := newRows(want.Shape.O(), want.Rows)
	for i, x := range values {
		got.o[i] = float64(x)
	}
	return got, nil
}
