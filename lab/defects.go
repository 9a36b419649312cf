package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// fewSMs is the number of SMs that persistent kernels are launched for on the emulator, so
// that each block has several work items even for small problems.
const fewSMs = 3

// mostWatched is the number of instructions per warp after which a kernel under the checkers
// counts as endless. The presets need a hundredth of it on the shapes of the plans.
const mostWatched uint64 = 1 << 24

// defects runs the kernel under all checkers, on several shapes and in several orders of
// warps, and compares the outputs. Each order also has its own numbers of SMs and launches and its
// own clock, so an output that depends on them differs too. It adds no guard bands, since the emulator has its own,
// which also catch reads.
func (m *measurement) defects(ctx context.Context) error {
	if len(m.p.Defects.Shapes) == 0 {
		return nil
	}
	d := &record.Defects{Schedules: m.p.Defects.Schedules, Found: []record.Found{}}
	d.Add(problem.Shape{}, suspects(m.s)...)
	for _, wanted := range m.p.Defects.Shapes {
		s, refused, ok := m.served(wanted)
		if refused != nil {
			d.Refused = append(d.Refused, m.refusal(wanted, refused))
		}
		if !ok || slices.Contains(d.Shapes, s) {
			continue
		}
		d.Shapes = append(d.Shapes, s)
		ended, err := m.watch(ctx, d, s)
		if err != nil {
			return err
		}
		if !ended || d.Errors > 0 && !m.p.KeepGoing {
			break // the gate is red, and another failure may take long
		}
	}
	m.r.Defects = d
	return nil
}

// watch runs one shape in all schedules. It reports whether all launches succeeded.
func (m *measurement) watch(ctx context.Context, d *record.Defects, s problem.Shape) (ended bool, err error) {
	in, err := newInputs(m.s, m.resolved(Case{Shape: s, Seed: 1, Distribution: "normal"}))
	if err != nil {
		return false, err
	}
	var first *outputs
	for _, schedule := range m.p.Defects.Schedules {
		m.meter.at("defects", fmt.Sprintf("%v, schedule %d", s, schedule))
		found, out, err := m.watchOnce(ctx, in, schedule)
		if err != nil {
			return false, err
		}
		for i := range found {
			found[i].Schedule = schedule
		}
		d.Add(s, found...)
		switch {
		case out == nil:
			return false, nil
		case first == nil:
			first = out
		case !first.same(*out):
			d.Depends = true
		}
		m.meter.step(weightChecked * weight(s))
	}
	return true, nil
}

// watchOnce runs the kernel once under the checkers. A launch that fails is a defect.
func (m *measurement) watchOnce(ctx context.Context, in *inputs, schedule uint64) ([]finding.Finding, *outputs, error) {
	checker, suspect := check.New(), newSuspectWatch(m.s)
	dev, err := emulator(m.emulated(), emu.Options{
		Schedule: schedule, Moment: schedule, Observer: observe.Tee(checker, suspect), GuardShared: true, KeepGoing: true,
		MaxInstructions: cmp.Or(m.limit, mostWatched), Output: io.Discard,
	})
	if err != nil {
		return nil, nil, err
	}
	defer dev.Close()
	l, err := load(dev, m.s, fewSMs, m.p.Seed)
	if err != nil {
		return nil, nil, err
	}
	defer l.close()
	l.guard = 0
	b, err := l.set(in)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(b.write(in), b.spoil()); err != nil {
		return nil, nil, err
	}
	suspect.expect(b)
	err = b.work.Run(ctx)
	found := append(checker.Findings(), suspect.findings()...)
	m.ended = err
	var bug *device.Bug
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case errors.As(err, &bug):
		return nil, nil, err
	}
	if err != nil {
		if errs, _ := finding.Count(found); errs == 0 {
			found = append(found, device.FindingOf(m.s.Entries()[0], err))
		}
		return found, nil, nil
	}
	out, err := b.outputs()
	return found, &out, err
}

// emulated returns the target for the emulator that the checkers watch. Where cases run on
// an emulator, it is that emulator's target, so that both give the same bits.
func (m *measurement) emulated() ptx.Target {
	if info := m.dev.Info(); info.Driver == "emu" {
		return info.Target
	}
	return m.s.Target
}
