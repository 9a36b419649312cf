package mutation

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/GOATnote-Inc/attest/internal/mutate"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/record"
)

// Options say which mutants are tried, and how.
type Options struct {
	Plan     lab.Plan // the plan of the gates; only its defects and its cases are used
	PlanName string
	Build    record.Build
	// Count is the number of mutants beside those of the synchronisation, which are all tried.
	Count int
	Seed  uint64
	// Time, if not 0, is how long mutants are started, from the begin of Run. Those that have
	// started are judged to the end: the mutants that the gates let pass take longest, and without
	// them the score would be too high.
	Time time.Duration
	Jobs int // mutants that run at the same time; 0 is the number of processors
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
	start := time.Now()
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
	for _, in := range p.SyncOps() {
		r.sync = append(r.sync, lab.SyncOp{Line: int(in.Pos.Line), Text: in.String()})
	}
	for _, m := range all {
		if m.Sync() {
			r.total++
		}
	}
	if o.Time > 0 {
		r.end = start.Add(o.Time)
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
	end     time.Time    // when the last mutant may start; zero is no limit
	sync    []lab.SyncOp // the synchronisation of the program

	mu      sync.Mutex // guards what follows
	score   record.Score
	waiting []candidate
}

// run judges the sample: first each mutant alone, and then those that may be equivalent in groups.
// Mutants of the sample that are left when the time is up are only counted.
func (r *run) run(ctx context.Context, all []*mutate.Mutant) error {
	planned := 0
	sample := func(yield func(func(context.Context) error) bool) {
		for m := range r.program.Pick(all, r.Count, r.Seed) {
			place := planned
			planned++
			if !r.late() && !yield(func(ctx context.Context) error { return r.one(ctx, place, m) }) {
				return
			}
		}
	}
	if err := r.each(ctx, sample); err != nil {
		return err
	}
	r.score.Planned = planned
	groups := func(yield func(func(context.Context) error) bool) {
		for _, g := range grouped(r.waiting) {
			if !yield(func(ctx context.Context) error { return r.group(ctx, g) }) {
				return
			}
		}
	}
	return r.each(ctx, groups)
}

// each calls functions in several goroutines, until one fails or ctx ends.
func (r *run) each(ctx context.Context, list iter.Seq[func(context.Context) error]) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs := r.Jobs
	if jobs <= 0 {
		jobs = runtime.NumCPU()
	}
	queue := make(chan func(context.Context) error)
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for do := range queue {
				if ctx.Err() != nil {
					continue
				}
				if err := do(ctx); err != nil {
					cancel(err)
				}
			}
		})
	}
	for do := range list {
		select {
		case queue <- do:
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

// late reports whether the time for starting mutants is up.
func (r *run) late() bool { return !r.end.IsZero() && !time.Now().Before(r.end) }

// one judges a mutant alone. It counts the mutant, unless the mutant waits for a group or is handed
// over after the time is up.
func (r *run) one(ctx context.Context, place int, m *mutate.Mutant) error {
	if r.late() {
		return nil
	}
	c := candidate{mutant: m, place: place}
	decided, err := r.judge(ctx, &c)
	if err != nil {
		return err
	}
	if decided {
		return r.count(c)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, c)
	return nil
}

// count adds a mutant to the score.
func (r *run) count(c candidate) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.score.Add(c.found)
	r.Progress(Progress{Done: r.score.Tried, Total: r.total, Score: &r.score})
	if r.Save != nil && (c.found.Fate == record.Survived || c.found.Fate == record.Failed) {
		return r.Save(c.found, r.program.Text(c.mutant), c.stack)
	}
	return nil
}

// arrange puts the lists of the score in an order that does not depend on which job ended
// first.
func (r *run) arrange() {
	byPlace := func(a, b record.Mutant) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return order(a.Operator) - order(b.Operator)
	}
	sorted.By(r.score.Survivors, byPlace)
	sorted.By(r.score.Failures, byPlace)
	sorted.By(r.score.Tallies, func(a, b record.Tally) int {
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
