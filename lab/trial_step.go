package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// trialStep is one run of the gates, with the sizes, inputs and schedules that Measure used for
// the original.
type trialStep struct {
	kind      stepKind
	set       Steps
	inputs    Case
	schedules []uint64 // for watchStep: the schedules
	sets      int      // for caseStep: how often Measure had allocated memory before
	// limit is the number of instructions that a warp may execute: four to eight times as many
	// as a warp of the original needs.
	limit uint64
}

// stepKind is what a step does.
type stepKind int

// The kinds.
const (
	watchStep stepKind = iota // a shape under the checkers
	nanStep                   // a shape under the checkers, with NaN in one head
	caseStep                  // a case of the correctness gate
	sweepStep                 // all lengths of the sweep
)

// stepsOf returns the steps of the gates that judged a record, cheap ones first.
func stepsOf(s *Subject, p Plan, r *record.Record) (steps []trialStep) {
	for i, shape := range r.Defects.Shapes {
		steps = append(steps, trialStep{kind: watchStep, inputs: watchedCase(shape, r.Defects.Inputs[i]), schedules: p.Defects.of(i)})
	}
	if shape, ok := shapeForNaN(s, r.Defects.Shapes); ok {
		steps = append(steps, trialStep{kind: nanStep, inputs: watchedCase(shape, "normal")})
	}
	sets := 0
	var before Case
	for i, c := range r.Correctness.Cases {
		if c.Sweep != nil {
			shape := problem.Shape{B: c.Sweep.Lengths, Hq: 1, Hkv: 1, Sq: c.Sweep.MostQ, Skv: c.Sweep.MostKV, D: c.Shape.D, DV: c.Shape.DV}
			steps = append(steps, trialStep{kind: sweepStep, inputs: Case{Shape: shape, Distribution: c.Distribution}, sets: sets})
			continue
		}
		one := Case{Shape: c.Shape, Name: c.Name, Seed: c.Seed, Distribution: c.Distribution, vary: variation{c.Scale, c.Window, c.Softcap, c.Batch}}
		if i > 0 && (before.Shape != one.Shape || before.vary != one.vary || s.ByValue()) {
			sets++
		}
		before = one
		steps = append(steps, trialStep{kind: caseStep, inputs: one, sets: sets})
	}
	sorted.By(steps, func(a, b trialStep) int { return cmp.Compare(a.cost(), b.cost()) })
	few := len(r.Correctness.Cases) / 2
	for i := range steps {
		switch {
		case steps[i].kind == sweepStep:
			steps[i].set = MoreCases
		case steps[i].kind != caseStep:
			steps[i].set = Checkers
		case few > 0:
			steps[i].set = FewCases
			few--
		default:
			steps[i].set = MoreCases
		}
	}
	return steps
}

// cost estimates the time of a step.
func (s *trialStep) cost() float64 {
	w := weight(s.inputs.Shape)
	switch s.kind {
	case watchStep:
		return float64(len(s.schedules)) * weightChecked * w
	case nanStep:
		return 2 * weightChecked * w
	}
	return w
}

func (s *trialStep) String() string {
	switch s.kind {
	case watchStep:
		return fmt.Sprintf("%v under the checkers", s.inputs.Shape)
	case nanStep:
		return fmt.Sprintf("%v with NaN in one head", s.inputs.Shape)
	case sweepStep:
		return fmt.Sprintf("a sweep of %d lengths", s.inputs.Shape.B)
	}
	return fmt.Sprintf("%v, %s, seed %d", s.inputs.Shape, s.inputs.Distribution, s.inputs.Seed)
}

// run runs the step and adds its result to the record of m.
func (s *trialStep) run(ctx context.Context, m *measurement) error {
	switch s.kind {
	case watchStep:
		return m.watchUntilRed(ctx, s.inputs, s.schedules)
	case nanStep:
		m.r.Defects = &record.Defects{Shapes: []problem.Shape{s.inputs.Shape}}
		return m.watchNaN(ctx)
	case sweepStep:
		return m.sweepAlone(ctx, s.sets)
	}
	return m.caseAlone(ctx, s.inputs, s.sets)
}

// watchUntilRed runs inputs under the checkers, one schedule after the other, until there is
// an error or the output differs.
func (m *measurement) watchUntilRed(ctx context.Context, one Case, schedules []uint64) error {
	resolved := m.resolved(one)
	in, err := newInputs(m.s, resolved)
	if err != nil {
		return err
	}
	d := &record.Defects{Shapes: []problem.Shape{one.Shape}, Schedules: schedules}
	m.r.Defects = d
	if d.Add(problem.Shape{}, suspects(m.s)...); d.Errors > 0 {
		return nil
	}
	var first *outputs
	for _, schedule := range schedules {
		found, out, _, err := m.watchOnce(ctx, in, schedule)
		if err != nil {
			return err
		}
		d.Add(one.Shape, found...)
		if first == nil {
			first = out
		}
		if out == nil || d.Errors > 0 {
			return nil
		}
		if err := m.judgeOrder(ctx, resolved, in, first, out); err != nil {
			return err
		}
		if d.Wrong != "" || d.Depends && m.s.Deterministic() {
			return nil
		}
	}
	return nil
}

// caseAlone runs one case in memory of its own. It has the number of SMs and the alignment that
// the case has after sets allocations.
func (m *measurement) caseAlone(ctx context.Context, one Case, sets int) (err error) {
	l, err := load(m.dev, m.s, fewSMs, m.p.Seed)
	if err != nil {
		return err
	}
	l.sets = sets
	table := &table{loaded: l}
	defer func() { err = errors.Join(err, table.clear(true), l.close()) }()
	c, err := m.judgeCase(ctx, table, one)
	if err != nil {
		return err
	}
	m.r.Correctness = &record.Correctness{Tolerance: gate.Tolerance, Cases: []record.Case{c}}
	return nil
}

// sweepAlone runs the sweep until a case is wrong, in memory of its own.
func (m *measurement) sweepAlone(ctx context.Context, sets int) (err error) {
	l, err := load(m.dev, m.s, fewSMs, m.p.Seed)
	if err != nil {
		return err
	}
	l.sets = sets
	table := &table{loaded: l}
	defer func() { err = errors.Join(err, table.clear(true), l.close()) }()
	_, c, _, err := m.runSweep(ctx, table, true)
	if err != nil {
		return err
	}
	m.r.Correctness = &record.Correctness{Tolerance: gate.Tolerance, Cases: []record.Case{c}}
	return nil
}
