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
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// fewSMs is the number of SMs that persistent kernels are launched for on the emulator, so
// that each block has several work items even for small problems.
const fewSMs = 3

// partSMs is the least number of SMs of a shape with as many keys as deriver.parts gives: some kernels
// divide the keys of a row into as many parts as there are SMs.
const partSMs = 16

// watchedSMs returns the number of SMs that a kernel is launched for under the checkers.
func watchedSMs(s problem.Shape) int {
	if s.Skv >= manyKeys {
		return partSMs
	}
	return fewSMs
}

// numbersOfSMs are the numbers of SMs that cases on the emulator have in turn.
var numbersOfSMs = []int{fewSMs, 8, 132, 2}

// mostWatched is the number of instructions per warp after which a kernel under the checkers
// counts as endless. The presets need a hundredth of it on the shapes of the plans.
const mostWatched uint64 = 1 << 24

// watchedInputs are the distributions of the inputs under the checkers. The shapes have them in
// turn, because some branches depend on the scores and not on the sizes.
var watchedInputs = []string{"normal", "rising", "normal", "large-logits"}

// watchedCase returns the inputs of a shape under the checkers. Shapes have different seeds, and so
// different windows and lengths: a window can be too narrow for some code to run.
func watchedCase(s problem.Shape, distribution string) Case {
	return Case{Shape: s, Seed: 1 + uint64(s.B+s.Hq+s.Sq+3*s.Skv)%16, Distribution: distribution, watched: true}
}

// defects runs the kernel under all checkers, on several shapes and in several orders of
// warps, and compares the outputs. Each order also has its own numbers of SMs and launches and its
// own clock, so an output that depends on them differs too. It adds no guard bands, since the
// emulator has its own, which also catch reads. Shapes that reach code which the others do not
// reach are added, to the cases of the correctness gate too.
func (m *measurement) defects(ctx context.Context) error {
	if len(m.p.Defects.Shapes) == 0 {
		return nil
	}
	d := &record.Defects{Schedules: m.p.Defects.Schedules, Found: []record.Found{}}
	m.r.Defects = d
	d.Add(problem.Shape{}, suspects(m.s)...)
	x := &reach{m: m}
	for _, wanted := range m.p.Defects.Shapes {
		s, refused, ok := m.served(wanted)
		if refused != nil {
			d.Refused = append(d.Refused, m.refusal(wanted, refused))
		}
		if !ok || slices.Contains(d.Shapes, s) {
			continue
		}
		if ended, err := m.watchShape(ctx, x, s); err != nil || !ended {
			return err
		}
	}
	more, err := x.search(ctx)
	if err != nil {
		return err
	}
	for _, s := range more {
		n := len(m.p.Defects.of(len(d.Shapes)))
		m.meter.plan(n, float64(n)*weightChecked*weight(s))
		if ended, err := m.watchShape(ctx, x, s); err != nil || !ended {
			return err
		}
	}
	if ended, err := m.watchValues(ctx, x); err != nil || !ended {
		return err
	}
	if err := m.watchNaN(ctx); err != nil {
		return err
	}
	m.addCases(more)
	report := m.cover.Report()
	d.Coverage = &report
	return nil
}

// addCases adds the shapes that reached new code to the cases, and small shapes that the checkers
// watched: the checkers do not see that an output is wrong.
func (m *measurement) addCases(found []problem.Shape) {
	if len(m.p.Cases) == 0 {
		return
	}
	shapes := found
	for _, b := range m.r.Defects.Beyond {
		if timed(m.dev) && b.Shape.FLOP() < mostOnGPU {
			shapes = append(shapes, b.Shape)
		}
	}
	if m.p.Depth != Listed {
		for _, s := range m.r.Defects.Shapes {
			if s.FLOP() < mostAddedFLOP && !slices.Contains(found, s) {
				shapes = append(shapes, s)
			}
		}
	}
	for _, s := range shapes {
		m.meter.plan(1, m.weight(s))
		m.p.Cases = append(m.p.Cases, Case{Shape: s, Seed: 5, Distribution: "normal"})
	}
}

// mostOnGPU is the size of a problem that a GPU runs in a fraction of a second, and the reference of
// some rows in seconds.
const mostOnGPU = 1e12

// mostAddedFLOP is the size of a watched shape that the emulator runs in a tenth of a second
// without checkers.
const mostAddedFLOP = 1e7

// mostValuesFLOP is the size of a shape that runs once with each distribution, without checkers.
const mostValuesFLOP = 1e8

// watchValues runs the largest of the watched shapes with each distribution of the cases that the checkers have not
// seen, and watches those whose values reach something new: a branch may depend on the scores. It reports whether more is
// worth running, as watch does.
func (m *measurement) watchValues(ctx context.Context, x *reach) (ended bool, err error) {
	d := m.r.Defects
	var shape problem.Shape
	for _, s := range d.Shapes {
		if s.FLOP() <= mostValuesFLOP && (shape == problem.Shape{} || s.FLOP() > shape.FLOP()) {
			shape = s
		}
	}
	if shape == (problem.Shape{}) {
		return true, nil
	}
	tried := slices.Clone(d.Inputs)
	for _, c := range m.p.Cases {
		if slices.Contains(tried, c.Distribution) {
			continue
		}
		tried = append(tried, c.Distribution)
		m.meter.at("defects", fmt.Sprintf("%v, %s, looking for code that has not run", shape, c.Distribution))
		one := m.resolved(watchedCase(shape, c.Distribution))
		in, err := newInputs(m.s, one)
		if err != nil {
			return false, err
		}
		before := m.cover.Facts()
		_, err = m.runBare(ctx, in)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err == nil && m.cover.Facts() == before {
			continue
		}
		n := len(m.p.Defects.of(len(d.Shapes)))
		m.meter.plan(n, float64(n)*weightChecked*weight(shape))
		if ended, err := m.watch(ctx, x, one); err != nil || !ended {
			return ended, err
		}
	}
	return true, nil
}

// watchShape watches a shape with the next of the watched inputs.
func (m *measurement) watchShape(ctx context.Context, x *reach, s problem.Shape) (ended bool, err error) {
	one := watchedCase(s, watchedInputs[len(m.r.Defects.Shapes)%len(watchedInputs)])
	one.Own = m.p.Defects.Own
	return m.watch(ctx, x, m.resolved(one))
}

// watch runs one case in all schedules. It reports whether more shapes are worth running: after
// an error the gate is red, and another failure may take long.
func (m *measurement) watch(ctx context.Context, x *reach, one Case) (ended bool, err error) {
	d, s := m.r.Defects, one.Shape
	d.Shapes, d.Inputs = append(d.Shapes, s), append(d.Inputs, one.Distribution)
	in, err := newInputs(m.s, one)
	if err != nil {
		return false, err
	}
	m.cover.Forget()
	var first *outputs
	var executed float64
	for _, schedule := range m.p.Defects.of(len(d.Shapes) - 1) {
		m.meter.at("defects", fmt.Sprintf("%v, schedule %d", s, schedule))
		found, out, n, err := m.watchOnce(ctx, in, schedule)
		if err != nil {
			return false, err
		}
		executed = n
		for i := range found {
			found[i].Schedule = schedule
		}
		d.Add(s, found...)
		if out == nil {
			return false, nil
		}
		if first == nil {
			first = out
		}
		if err := m.judgeOrder(ctx, one, in, first, out); err != nil {
			return false, err
		}
		m.meter.step(weightChecked * weight(s))
	}
	x.tried = append(x.tried, trial{s, m.cover.Near(), executed})
	return d.Errors == 0 || m.p.KeepGoing, nil
}

// judgeOrder compares the output in one order of warps with the output in the first order. The
// output of a kernel that is not deterministic may differ, but it must be right in every order.
func (m *measurement) judgeOrder(ctx context.Context, one Case, in *inputs, first, out *outputs) error {
	d := m.r.Defects
	d.Depends = d.Depends || !first.same(*out)
	if m.s.Deterministic() || d.Wrong != "" {
		return nil
	}
	s := m.s.varied(one.vary)
	r, err := m.p.References.findBare(ctx, s, one, in, m.rowsOf(one.Shape))
	if err != nil {
		return err
	}
	c := record.Case{Shape: one.Shape, Seed: one.Seed, Distribution: one.Distribution, Scale: one.vary.scale, Window: one.vary.window, Softcap: one.vary.softcap, Batch: one.vary.batch}
	if _, err := measureErrors(s, &c, r, in, *out); err != nil {
		return err
	}
	if why := gate.Within(gate.Tolerance, m.s.Problem, &c); len(why) > 0 {
		d.Wrong = fmt.Sprintf("%v, %s: %s", one.Shape, one.Distribution, why[0])
	}
	return nil
}

// watchOnce runs the kernel once under the checkers and returns their findings, the outputs and
// the number of instructions of warps. A launch that fails is a defect, and has no outputs.
func (m *measurement) watchOnce(ctx context.Context, in *inputs, schedule uint64) ([]finding.Finding, *outputs, float64, error) {
	checker, suspect := check.New(), newSuspectWatch(m.s)
	checker.Ignore(m.ignore...)
	observers := []observe.Observer{checker, suspect}
	if m.cover != nil {
		observers = append(observers, m.cover)
	}
	dev, err := emulator(m.emulated(), emu.Options{
		Schedule: schedule, Moment: schedule, Observer: observe.Tee(observers...), GuardShared: true, KeepGoing: true,
		MaxInstructions: cmp.Or(m.limit, mostWatched), Output: io.Discard,
	})
	if err != nil {
		return nil, nil, 0, err
	}
	defer dev.Close()
	l, err := load(dev, m.s, watchedSMs(in.shape), m.p.Seed)
	if err != nil {
		return nil, nil, 0, err
	}
	defer l.close()
	l.guard = 0
	b, err := l.set(in)
	if err != nil {
		return nil, nil, 0, err
	}
	if err := errors.Join(b.write(in), b.spoil()); err != nil {
		return nil, nil, 0, err
	}
	b.undefine()
	suspect.expect(b)
	n, err := b.work.RunCounted(ctx)
	executed := float64(n.WarpInstructions)
	found := append(checker.Findings(), suspect.findings()...)
	m.ended = err
	var bug *device.Bug
	switch {
	case ctx.Err() != nil:
		return nil, nil, 0, ctx.Err()
	case errors.As(err, &bug):
		return nil, nil, 0, err
	}
	if err != nil {
		if errs, _ := finding.Count(found); errs == 0 {
			found = append(found, device.FindingOf(m.s.Entries()[0], err))
		}
		return found, nil, executed, nil
	}
	out, err := b.outputs()
	return found, &out, executed, err
}

// emulated returns the target for the emulator that the checkers watch. Where cases run on
// an emulator, it is that emulator's target, so that both give the same bits.
func (m *measurement) emulated() ptx.Target {
	if info := m.dev.Info(); info.Driver == "emu" {
		return info.Target
	}
	return m.s.Target
}
