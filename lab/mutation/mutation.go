package mutation

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/mutate"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/record"
)

// Options say which mutants are tried, and how.
type Options struct {
	Plan     lab.Plan // of the gates; only its defects and its cases are used
	PlanName string
	Build    record.Build
	// Count is the number of mutants beside those of the synchronisation, which are all tried.
	Count int
	Seed  uint64
	Jobs  int // mutants that run at the same time; 0 is the number of processors
	// Progress, if not nil, is called from one goroutine at a time.
	Progress func(Progress)
	// Save, if not nil, gets the text of each wrong survivor and of each mutant on which the
	// emulator failed, with the stack of the failure.
	Save func(m record.Mutant, text, stack string) error
}

// Progress is the progress of a run.
type Progress struct {
	What        string // the current step while the original is measured, or ""
	Done, Total int    // mutants
	Score       *record.Score
}

// Run measures the score of a kernel. If ctx ends, it returns the score of the mutants that
// were judged by then, together with the error.
func Run(ctx context.Context, s *lab.Subject, o Options) (*record.Score, error) {
	p, err := mutate.Parse(s.Name, s.PTX)
	if err != nil {
		return nil, err
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	trials, err := lab.NewTrials(ctx, s, o.Plan, func(p lab.Progress) {
		o.Progress(Progress{What: p.Section + " " + p.What})
	})
	if err != nil {
		return nil, err
	}
	all := p.Mutants()
	r := &run{Options: o, program: p, trials: trials, total: min(len(all), o.Count)}
	r.score = record.Score{Schema: record.Schema, Kernel: s.Describe(), Build: o.Build, Plan: o.PlanName, Seed: o.Seed, Possible: len(all)}
	for _, m := range all {
		if m.Sync() {
			r.score.Sync++
			r.total++
		}
	}
	err = r.run(ctx, all)
	r.score.Interrupted = err != nil
	r.arrange()
	return &r.score, err
}

// run is the state of Run.
type run struct {
	Options
	program *mutate.Program
	trials  *lab.Trials
	total   int

	mu    sync.Mutex // guards what follows
	score record.Score
}

// run judges the sample.
func (r *run) run(ctx context.Context, all []*mutate.Mutant) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs := r.Jobs
	if jobs <= 0 {
		jobs = runtime.NumCPU()
	}
	queue := make(chan *mutate.Mutant)
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for m := range queue {
				if err := r.one(ctx, m); err != nil {
					cancel(err)
				}
			}
		})
	}
	for m := range r.program.Pick(all, r.Count, r.Seed) {
		select {
		case queue <- m:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
	}
	close(queue)
	wg.Wait()
	return context.Cause(ctx)
}

// one judges a mutant and counts it.
func (r *run) one(ctx context.Context, m *mutate.Mutant) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text := r.program.Text(m)
	found, stack, err := r.judge(ctx, m, text)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.score.Add(found)
	r.Progress(Progress{Done: r.score.Tried, Total: r.total, Score: &r.score})
	if r.Save != nil && (found.Fate == record.Survived || found.Fate == record.Failed) {
		return r.Save(found, text, stack)
	}
	return nil
}

// judge decides the fate of a mutant. stack is that of a failure of the emulator.
func (r *run) judge(ctx context.Context, m *mutate.Mutant, text string) (found record.Mutant, stack string, err error) {
	found = record.Mutant{
		Operator: m.Operator, Region: string(m.Region), Part: string(m.Part), Func: m.Func, Line: m.Line, Source: m.Source, Before: m.Before, After: m.After,
	}
	variant := r.trials.Variant(text)
	killed, err := r.trials.Kill(ctx, variant, m.Sync())
	var same lab.Comparison
	if killed == nil && err == nil {
		same, err = r.trials.Compare(ctx, variant, m.Sync())
	}
	var invalid *lab.Invalid
	var bug *device.Bug
	switch {
	case ctx.Err() != nil:
		return found, "", ctx.Err()
	case errors.As(err, &bug):
		found.Fate, found.Why = record.Failed, bug.Error()
		return found, bug.Stack, nil
	case errors.As(err, &invalid):
		found.Fate, found.Why = record.Refused, err.Error()
	case err != nil:
		return found, "", fmt.Errorf("%s, %s: %w", m.Place(), m.Change(), err)
	case killed != nil:
		found.Fate, found.By, found.Why, found.At = record.Killed, killed.By, killed.Why, killed.At
	default:
		found.Fate, found.Why, found.At = fates[same.Likeness], same.Why, same.At
	}
	return found, "", nil
}

var fates = map[lab.Likeness]record.Fate{lab.SameBits: record.Equivalent, lab.AsAccurate: record.Accurate, lab.Wrong: record.Survived}

// arrange puts the lists of the score in an order that does not depend on which job ended
// first.
func (r *run) arrange() {
	byPlace := func(a, b record.Mutant) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return order(a.Operator) - order(b.Operator)
	}
	slices.SortStableFunc(r.score.Survivors, byPlace)
	slices.SortStableFunc(r.score.Failures, byPlace)
	slices.SortStableFunc(r.score.Tallies, func(a, b record.Tally) int {
		if a.Operator != b.Operator {
			return order(a.Operator) - order(b.Operator)
		}
		return slices.Index(mutate.Regions, mutate.Region(a.Region)) - slices.Index(mutate.Regions, mutate.Region(b.Region))
	})
}

// order returns the place of an operator in the list of operators.
func order(name string) int {
	return slices.IndexFunc(mutate.Operators, func(o mutate.Operator) bool { return o.Name == name })
}
