package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// Time measures only the performance section, in this process. Another process calls it for
// Plan.Times.Elsewhere.
func Time(ctx context.Context, s *Subject, p Plan, progress func(Progress)) (*record.Performance, error) {
	if p.Times != nil {
		alone := *p.Times
		alone.Elsewhere = nil
		p.Times = &alone
	}
	m, err := newMeasurement(s, p, progress)
	if err == nil {
		defer m.close()
		err = m.performance(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return m.r.Performance, nil
}

// performance times the kernel if the device is a GPU.
func (m *measurement) performance(ctx context.Context) error {
	m.r.Performance = &record.Performance{Shapes: []record.Times{}}
	switch {
	case !timed(m.dev):
		m.r.Performance.Skipped = "no GPU (the emulator does not measure time)"
		return nil
	case m.s.Problem.Appends:
		m.r.Performance.Skipped = "a kernel that appends keys is not timed: each launch would need another cache"
		return nil
	case m.p.Times == nil || len(m.p.Times.Shapes)*len(m.p.Times.Methods) == 0:
		m.r.Performance.Skipped = "the plan times nothing"
		return nil
	}
	if err := m.timeHere(ctx); err != nil {
		return err
	}
	if err := m.timeElsewhere(ctx); err != nil {
		return err
	}
	m.conclude()
	return nil
}

// timeHere measures all shapes and methods in this process.
func (m *measurement) timeHere(ctx context.Context) (err error) {
	perf := m.r.Performance
	timer, err := timing.New(m.dev)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, timer.Close()) }()
	libraries := m.p.Times.Libraries
	if libraries == nil {
		libraries = &Libraries{}
		defer libraries.Close()
	}
	if len(m.p.Times.Rivals) > 0 {
		m.meter.at("performance", "starting rivals")
	}
	rivals := startRivals(ctx, libraries, m.p.Times.Rivals, perf)
	if c := m.p.Times.Ceiling; c != nil {
		perf.Ceiling = *c
	} else { // after the start of the rivals, which use the device too
		m.meter.at("performance", "ceilings of the device")
		if perf.Ceiling, err = ceilings(ctx, m.dev, timer); err != nil {
			return err
		}
	}
	for _, n := range m.p.Times.Shapes {
		shape, refused, ok := m.served(n.Shape)
		if refused != nil || !ok {
			perf.Notes = append(perf.Notes, fmt.Sprintf("%v: %v", n.Shape, refused))
			continue
		}
		if err := m.timeShape(ctx, timer, rivals, problem.Named{Name: n.Name, Shape: shape}); err != nil {
			return fmt.Errorf("%v: %w", shape, err)
		}
	}
	return nil
}

// timeShape measures one shape by all methods.
func (m *measurement) timeShape(ctx context.Context, timer *timing.Timer, rivals *rivals, n problem.Named) (err error) {
	subjects := []*Subject{m.s}
	if b := m.p.Baseline; b != nil {
		if why := b.ServesShape(n.Shape); why != nil {
			m.r.Performance.Notes = append(m.r.Performance.Notes, fmt.Sprintf("%v: the baseline does not support it: %v", n.Shape, why))
			return nil
		}
		subjects = append(subjects, b)
	}
	var own []*contestant
	defer func() {
		for _, c := range own {
			err = errors.Join(err, c.close())
		}
	}()
	for _, s := range subjects {
		c, err := m.newContestant(ctx, s, n.Shape)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		own = append(own, c)
	}
	prepared, err := m.judgeAndPrepare(ctx, own, rivals)
	defer func() { rivals.drop(prepared) }()
	if err != nil {
		return err
	}
	for _, method := range m.p.Times.Methods {
		what := fmt.Sprintf("%v, %s, %s cache", n.Shape, method.Mode, method.Cache)
		m.meter.at("performance", what)
		tick := func(share float64) { m.meter.part("performance", what, weightTimed*share) }
		if err := m.timeOnce(ctx, timer, method, n, own, prepared, tick); err != nil {
			return fmt.Errorf("%s, %s cache: %w", method.Mode, method.Cache, err)
		}
		m.meter.step(weightTimed)
	}
	return nil
}

// judgeAndPrepare compares the first outputs of our kernels with the reference, and prepares the rivals
// at the same time: the reference needs only the cores of the host, and preparing needs one of them.
func (m *measurement) judgeAndPrepare(ctx context.Context, own []*contestant, rivals *rivals) (prepared []*preparedRival, err error) {
	var notes, more []string
	var group sync.WaitGroup
	group.Go(func() { prepared, notes = rivals.prepare(ctx, own[0]) })
	for _, c := range own {
		if failed := m.judgeFirst(ctx, c); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", c.subject.Name, failed))
		}
	}
	group.Wait()
	if err == nil {
		prepared, more = rivals.compare(ctx, prepared, own[0].want)
	}
	m.r.Performance.Notes = append(append(m.r.Performance.Notes, notes...), more...)
	return prepared, err
}

// timeOnce measures one shape by one method, all candidates in turns.
func (m *measurement) timeOnce(ctx context.Context, timer *timing.Timer, method timing.Method, n problem.Named, own []*contestant, prepared []*preparedRival, tick func(share float64)) (err error) {
	t := record.Times{Shape: n.Shape, Name: n.Name, Inputs: timedInputs, RMSE: own[0].rmse, Rows: len(own[0].want.Rows)}
	var candidates []timing.Candidate
	for _, c := range own {
		timed, err := c.candidate(ctx, timer, method)
		if err != nil {
			return err
		}
		defer timed.Close()
		candidates = append(candidates, timed)
	}
	t.Method = candidates[0].Method()
	for _, p := range prepared {
		c, err := p.Candidate(ctx, method.Mode, method.Cache)
		if err != nil {
			m.r.Performance.Notes = append(m.r.Performance.Notes, fmt.Sprintf("%s, %s, %s cache: %v", p.Name(), method.Mode, method.Cache, err))
			continue
		}
		candidates = append(candidates, c)
		t.Rivals = append(t.Rivals, record.Rival{Name: p.Name(), Version: p.version, Note: p.Note, RMSE: p.rmse})
	}
	for _, c := range candidates {
		t.Names = append(t.Names, c.Name())
	}
	start, longest := time.Now(), m.p.Times.Stop.MaxTime()
	plan := timing.Plan{
		WarmUp: m.p.Times.WarmUp, Stop: m.p.Times.Stop, Seed: m.p.Times.Seed, Sensor: m.p.Sensor,
		Each: func(round int, b timing.Batch) {
			if b.Candidate < len(own) {
				own[b.Candidate].witness(ctx, round)
			}
			tick(min(float64(time.Since(start))/float64(longest), 1))
		},
	}
	run, err := timing.Interleave(ctx, plan, candidates...)
	if err != nil {
		return err
	}
	t.Runs, t.OutputsOK, t.Compared = []timing.Run{*run}, true, own[0].compared
	m.energy(ctx, timer, &t, own, candidates)
	for _, c := range own {
		if err := m.afterward(ctx, c); err != nil {
			return err
		}
		drawn, err := m.tryLengths(ctx, timer, method, c)
		if err != nil {
			return err
		}
		t.Drawn += drawn
		if c.wrong != "" {
			t.OutputsOK, t.Wrong = false, c.subject.Name+": "+c.wrong
		}
	}
	m.r.Performance.Shapes = append(m.r.Performance.Shapes, t)
	return nil
}

// timeElsewhere adds the measurements of other processes.
func (m *measurement) timeElsewhere(ctx context.Context) error {
	times := m.p.Times
	if times.Elsewhere == nil {
		return nil
	}
	for process := 1; process < times.Processes; process++ {
		m.meter.at("performance", fmt.Sprintf("process %d of %d", process+1, times.Processes))
		other, err := times.Elsewhere(ctx, process)
		if err != nil {
			return fmt.Errorf("process %d: %w", process, err)
		}
		if other.Skipped != "" {
			return fmt.Errorf("process %d measured nothing: %s", process, other.Skipped)
		}
		m.merge(other)
	}
	return nil
}

// merge adds the runs of another process to those of the same shape and method, and keeps the
// higher ceilings.
func (m *measurement) merge(other *record.Performance) {
	perf := m.r.Performance
	c, o := &perf.Ceiling, other.Ceiling
	c.Bandwidth, c.FLOPs = max(c.Bandwidth, o.Bandwidth), max(c.FLOPs, o.FLOPs)
	if o.Launch > 0 {
		c.Launch = min(c.Launch, o.Launch)
	}
	for i := range perf.Shapes {
		t := &perf.Shapes[i]
		before := len(t.Runs)
		for j := range other.Shapes {
			u := &other.Shapes[j]
			if t.Shape != u.Shape || t.Method.Mode != u.Method.Mode || t.Method.Cache != u.Method.Cache || !slices.Equal(t.Names, u.Names) {
				continue
			}
			t.Runs = append(t.Runs, u.Runs...)
			t.Compared += u.Compared
			t.Drawn += u.Drawn
			if !u.OutputsOK && t.OutputsOK {
				t.OutputsOK, t.Wrong = false, u.Wrong
			}
		}
		if len(t.Runs) == before {
			perf.Notes = append(perf.Notes, fmt.Sprintf("%s, %s, %s cache: another process did not time all of %s, so its times do not count", t.Shape, t.Method.Mode, t.Method.Cache, strings.Join(t.Names, ", ")))
		}
	}
}

// conclude computes from the samples what reports show. The gate computes it again.
func (m *measurement) conclude() {
	perf := m.r.Performance
	perf.Processes = max(m.p.Times.Processes, 1)
	for i := range perf.Shapes {
		t := &perf.Shapes[i]
		t.Floor = gate.Floor(m.r, t)
		flop := m.s.At(t.Shape).FLOP()
		for j := range t.Names {
			var all []float64
			for k := range t.Runs {
				all = append(all, t.Runs[k].Times(j)...)
			}
			s := stats.Summarise(all)
			t.Summaries = append(t.Summaries, s)
			t.TFLOPs = append(t.TFLOPs, ref.Float(flop/s.P50/1e6))
		}
		own := len(t.Names) - len(t.Rivals)
		for j := 1; j < len(t.Names); j++ {
			c, err := against(t, j)
			if err != nil {
				continue // the gate reports it
			}
			if j < own {
				t.Baseline = &c
			} else {
				t.Rivals[j-own].Comparison = c
			}
		}
	}
}

// against compares the kernel with a candidate.
func against(t *record.Times, old int) (stats.Comparison, error) {
	var reps []stats.Replicate
	for i := range t.Runs {
		reps = append(reps, t.Runs[i].Replicate(old, 0))
	}
	return stats.Compare(reps, stats.Options{})
}
