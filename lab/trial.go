package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// Trials judges variants of a kernel on the emulator, by the defects and the correctness gate.
// A variant has the call of the kernel and another text. Trials ends at the first red result
// and tries cheap steps first, so it judges most wrong variants in a fraction of the time of
// Measure. It is safe for concurrent use.
type Trials struct {
	original *Subject
	plan     Plan
	steps    []trialStep // cheap ones first
	lengths  []Case      // the lengths of the sweep
	jury     *jury
}

// Killed says how a variant was found to be wrong.
type Killed struct {
	By  string `json:"by"`  // "defects", "correctness" or "hang"
	Why string `json:"why"` // the first reason of the gate
	At  string `json:"at"`  // the inputs
}

// The values of Killed.By. A variant hangs if its threads wait for each other, or if a warp
// executes several times as many instructions as a warp of the original.
const (
	ByDefects     = string(record.DefectsGate)
	ByCorrectness = string(record.CorrectnessGate)
	ByHang        = "hang"
)

// Invalid is the error of a variant that the emulator refuses to load.
type Invalid struct{ Err error }

func (e *Invalid) Error() string { return e.Err.Error() }
func (e *Invalid) Unwrap() error { return e.Err }

// NewTrials measures the original by a plan: it must pass the gates. The plan runs on the
// emulator. progress, if not nil, is called before each step.
func NewTrials(ctx context.Context, s *Subject, p Plan, progress func(Progress)) (*Trials, error) {
	p.Device, p.Times, p.Baseline, p.Counters, p.Targets = nil, nil, nil, problem.Shape{}, nil
	p.Seed = cmp.Or(p.Seed, 1) // the same variants get the same score
	p.KeepGoing = true         // resources may be exceeded: a trial does not judge them
	if p.References == nil {
		p.References = &References{}
	}
	r, err := Measure(ctx, s, p, progress)
	if err != nil {
		return nil, err
	}
	for _, g := range gate.Judge(&record.Record{Kernel: r.Kernel, Defects: r.Defects, Correctness: r.Correctness}).Gates {
		if g.Status == record.Red {
			return nil, fmt.Errorf("%s fails the %s gate itself, so its variants prove nothing: %s", s.Name, g.Name, g.Summary)
		}
	}
	m, err := newMeasurement(s, p, nil)
	if err != nil {
		return nil, err
	}
	defer m.close()
	t := &Trials{original: s, plan: p, jury: newJury(s), lengths: m.lengths}
	t.steps = stepsOf(s, p, r)
	for i := range t.steps {
		if err := t.findLimit(ctx, &t.steps[i]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// smallLimit is the first limit that findLimit tries. A mutant that hangs costs the whole limit
// of each of its warps, so it is small.
const smallLimit = 1 << 12

// findLimit sets the limit of a step. The emulator does not report the instructions of one
// warp, so findLimit raises the limit until the original ends within it. It runs all schedules:
// in some of them, warps ask their barriers many times.
func (t *Trials) findLimit(ctx context.Context, s *trialStep) error {
	for s.limit = smallLimit; s.limit < 1<<34; s.limit *= 2 {
		killed, err := t.try(ctx, t.original, s)
		switch {
		case err != nil:
			return err
		case killed == nil:
			s.limit *= 4
			return nil
		case killed.By != ByHang:
			return fmt.Errorf("%s fails the %s gate on %s: %s", t.original.Name, killed.By, s, killed.Why)
		}
	}
	return fmt.Errorf("%s does not end on %s", t.original.Name, s)
}

// Variant returns the kernel with another text.
func (t *Trials) Variant(text string) *Subject {
	s, k := *t.original, *t.original.Kernel
	k.PTX = text
	s.Kernel = &k
	return &s
}

// Steps is a set of steps of the gates.
type Steps int

// The sets of steps. Most wrong variants fail one of the few cases, which are cheap.
const (
	FewCases  Steps = 1 << iota // the cheaper half of the cases of the correctness gate
	MoreCases                   // the other half
	Checkers                    // the defects gate
)

// Kill judges a variant by some steps, cheap ones first. It returns nil if the variant passes.
// The error is an *Invalid if the variant cannot be loaded, and a *device.Bug if the emulator
// failed.
func (t *Trials) Kill(ctx context.Context, s *Subject, which Steps) (*Killed, error) {
	if err := t.loads(s); err != nil {
		return nil, err
	}
	for i := range t.steps {
		if t.steps[i].set&which == 0 {
			continue
		}
		if killed, err := t.try(ctx, s, &t.steps[i]); killed != nil || err != nil {
			return killed, err
		}
	}
	return nil, nil
}

// loads returns an *Invalid if the emulator refuses a variant.
func (t *Trials) loads(s *Subject) (err error) {
	defer device.CatchBug(&err)
	dev, err := emulator(s.Target, emu.Options{})
	if err != nil {
		return err
	}
	l, err := load(dev, s, fewSMs, t.plan.Seed)
	if err != nil {
		return &Invalid{err}
	}
	return l.close()
}

// try judges a variant by one step.
func (t *Trials) try(ctx context.Context, s *Subject, step *trialStep) (killed *Killed, err error) {
	defer device.CatchBug(&err)
	m, err := t.measurement(s, step.limit)
	if err != nil {
		return nil, err
	}
	if err := step.run(ctx, m); err != nil {
		return nil, err
	}
	for _, g := range gate.Judge(m.r).Gates {
		if g.Status != record.Red {
			continue
		}
		by := ByDefects
		switch {
		case errors.Is(m.ended, device.ErrEndless) || errors.Is(m.ended, device.ErrDeadlock):
			by = ByHang
		case step.kind == caseStep || step.kind == sweepStep:
			by = ByCorrectness
		}
		return &Killed{By: by, Why: g.Reasons[0], At: step.String()}, nil
	}
	return nil, nil
}

// measurement returns a measurement of a variant that judges only what a trial measures.
func (t *Trials) measurement(s *Subject, limit uint64) (*measurement, error) {
	dev, err := emulator(s.Target, limited(limit))
	if err != nil {
		return nil, err
	}
	k := record.Kernel{Name: s.Name, Format: string(s.Problem.Format), Problem: record.Problem{Attention: s.Problem}}
	return &measurement{s: s, p: t.plan, meter: &meter{}, dev: dev, limit: limit, brief: true, lengths: t.lengths, r: &record.Record{Schema: record.Schema, Kernel: k}}, nil
}
