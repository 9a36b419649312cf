package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/shapes"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// Bench times kernels. Its exported fields are the values of the flags of attest bench.
type Bench struct {
	Selection
	Campaign
	Keeper
	Shapes        shapes.List
	Modes, Caches []string
	Sweep         int // the number of random shapes
	Samples       int
	Time          time.Duration
	Limit         time.Duration // of all shapes together; 0 does not limit them
	Energy        time.Duration
	Seed          uint64
	Distributions []string // of the inputs on which errors are compared; empty times the kernels

	methods    []timing.Method
	references lab.References
	built      record.Build

	alone bool // whether each shape is measured by itself, as in a sweep
	// If so: the first record of each kernel, and the ceilings of the device.
	before  map[string]*record.Record
	ceiling *record.Ceiling
}

// Run times the named kernels, each against the first. The error asks for exit code 1 when
// a kernel is wrong.
func (x *Bench) Run(ctx context.Context, env *cli.Env, names []string) error {
	progress := env.StartProgress()
	defer progress.Stop()
	if err := x.Open(); err != nil {
		return err
	}
	defer x.Close()
	progress.Say("building the kernels")
	x.On(&x.Machine)
	batches, err := x.prepare(names)
	if err != nil {
		return err
	}
	total := 0
	for _, b := range batches {
		if _, err := x.Fitting(b.subjects, false); err != nil {
			return err
		}
		if total += len(b.subjects); len(b.subjects) > 1 && len(x.Distributions) == 0 {
			total-- // the first is the baseline of the others
		}
	}
	if err := x.openStore(); err != nil {
		return err
	}
	x.built, x.before = build(ctx), map[string]*record.Record{}
	if x.GPU() {
		x.libraries.Ahead = ahead(batches)
		go x.libraries.Start(ctx, x.rivals()) // while the first kernel is checked
	}
	start := time.Now()
	steps := StartSteps(progress, total)
	shown, wrong, swept := 0, false, swept{of: len(batches), noted: map[string]bool{}}
	show := func(r *BenchResult) {
		progress.Print(func() {
			if x.alone && r.Skipped == "" {
				swept.show(env, r)
			} else {
				r.Show(env, shown > 0)
			}
		})
		shown++
		wrong = wrong || len(r.Wrong) > 0
	}
	for i, b := range batches {
		if x.Limit > 0 && time.Since(start) > x.Limit {
			left := 0
			for _, b := range batches[i:] {
				left += len(b.shapes)
			}
			progress.Print(func() {
				fmt.Fprintf(env.Err, "attest: the time of --limit is over: %s not timed\n", english.Are(left, "shape"))
			})
			break
		}
		more, err := x.batch(ctx, b, steps, show)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	swept.end(env)
	if wrong {
		return cli.Exit(cli.Red)
	}
	return nil
}

// batch times the kernels of a batch. more is false if there is no GPU.
func (x *Bench) batch(ctx context.Context, b batch, steps *Steps, show func(*BenchResult)) (more bool, err error) {
	kernels, baseline := b.subjects, (*lab.Subject)(nil)
	if len(kernels) > 1 && len(x.Distributions) == 0 {
		baseline, kernels = kernels[0], kernels[1:] // the baseline is timed with each of the others
	}
	for _, s := range kernels {
		r, err := x.measure(ctx, s, baseline, b.shapes, steps)
		if r != nil {
			show(r) // before err is checked: a full disk must not lose the result
		}
		if err != nil {
			return false, err
		}
		steps.Next()
		if r.Skipped != "" {
			return false, nil
		}
	}
	for _, l := range b.left {
		show(&BenchResult{Kernel: record.Kernel{Name: l.name}, Baseline: b.subjects[0].Name, Shapes: b.shapes.Titles(), Skipped: l.why, Wrong: []string{}})
	}
	return true, nil
}

// batch is a group of shapes that the same kernels are timed on.
type batch struct {
	subjects []*lab.Subject
	left     []leftOut
	shapes   shapes.List
}

// leftOut is a kernel that is not timed on some shapes, and the reason.
type leftOut struct {
	name, why string
	refused   error // not nil when the kernel does not support the shapes
}

// prepare checks the flags and groups the shapes by the kernels that compute them.
func (x *Bench) prepare(names []string) ([]batch, error) {
	if err := errors.Join(x.Selection.Check(), x.Campaign.Check(), x.check()); err != nil {
		return nil, err
	}
	seed, err := drawSeed(x.Seed)
	if err != nil {
		return nil, err
	}
	x.Seed = seed
	names, err = x.Named(names)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("no KERNEL is given; see attest bench --help")
	}
	switch {
	case x.Sweep > 0:
		x.Shapes = x.drawn(names[0])
	case len(x.Shapes) == 0:
		x.Shapes = shapes.List{shapes.Default(x.HeadDim)}
	}
	var list []batch
	for i, n := range x.Shapes {
		if err := x.checkHeadDim(n); err != nil {
			return nil, err
		}
		b, err := x.newBatch(names, n, x.Causal || x.Sweep > 0 && n.Shape.Sq == n.Shape.Skv && i%2 == 1)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(list, func(o batch) bool { return slices.EqualFunc(o.subjects, b.subjects, sameText) })
		if i < 0 || x.alone {
			list = append(list, b)
			continue
		}
		list[i].shapes = append(list[i].shapes, n)
	}
	return list, neverSupported(names, list)
}

func (x *Bench) check() (err error) {
	x.alone = x.alone || x.Sweep > 0 // so that a sweep that ends early keeps what it has measured
	if x.methods, err = Methods(x.Modes, x.Caches); err != nil {
		return err
	}
	if err := x.checkDistributions(); err != nil {
		return err
	}
	switch {
	case x.Samples < 1:
		return errors.New("--samples must be at least 1")
	case x.Time <= 0:
		return errors.New("--time must be above 0")
	case x.Energy < 0:
		return errors.New("--energy must be above 0")
	case x.Limit < 0:
		return errors.New("--limit must be above 0")
	case x.Sweep < 0:
		return errors.New("--sweep must be at least 1")
	case x.Sweep > 0 && len(x.Shapes) > 0:
		return errors.New("--sweep draws the shapes at random: leave out --shape")
	}
	return nil
}

// newBatch returns the kernels for a shape. The first one must support it, since the others are
// compared with it.
func (x *Bench) newBatch(names []string, n problem.Named, causal bool) (batch, error) {
	chosen := x.For(n)
	chosen.Causal = causal
	b := batch{shapes: shapes.List{n}}
	for i, name := range names {
		s, err := chosen.Kernel(name)
		switch {
		case err != nil && i == 0:
			return b, err
		case err != nil:
			b.left = append(b.left, leftOut{name, err.Error(), err})
		case i > 0 && name != names[0] && sameText(s, b.subjects[0]):
			b.left = append(b.left, leftOut{name, "it has the same PTX as " + names[0] + " here", nil})
		default:
			b.subjects = append(b.subjects, s)
		}
	}
	return b, nil
}

// neverSupported returns why a kernel supports none of the shapes, or nil when each kernel
// supports at least one.
func neverSupported(names []string, list []batch) error {
	for _, name := range names {
		var why error
		for _, b := range list {
			i := slices.IndexFunc(b.left, func(l leftOut) bool { return l.name == name && l.refused != nil })
			if i < 0 {
				why = nil
				break
			}
			why = b.left[i].refused
		}
		if why != nil {
			return why
		}
	}
	return nil
}

// measure checks a kernel and times it.
func (x *Bench) measure(ctx context.Context, s, baseline *lab.Subject, on shapes.List, progress *Steps) (*BenchResult, error) {
	r := &BenchResult{Kernel: s.Describe(), Shapes: on.Titles(), Wrong: []string{}}
	if baseline != nil {
		r.Baseline = baseline.Name
	}
	if !x.GPU() {
		r.Skipped = "no GPU (the emulator does not measure time); attest profile predicts times"
		return r, nil
	}
	if len(x.Distributions) > 0 {
		return x.accuracy(ctx, r, s, on, progress)
	}
	rec, err := lab.Measure(ctx, s, x.plan(s, baseline, on), progress.Of(s.Name))
	if err != nil {
		return nil, err
	}
	x.remember(rec, s, baseline)
	r.Performance = rec.Performance
	for _, g := range gate.Judge(rec).Gates {
		if g.Status == record.Red || g.Status == record.Void {
			r.Wrong = append(r.Wrong, g.Reasons...)
		}
	}
	r.Record, _, err = x.keep(rec, nil, s, baseline)
	return r, err
}

// fewestSamples is the number of samples that the performance gate wants, however long they take.
const fewestSamples = 10

// plan returns the plan for some shapes.
func (x *Bench) plan(s, baseline *lab.Subject, on shapes.List) lab.Plan {
	quick := lab.Quick()
	p := lab.Plan{
		Device: x.Device, Sensor: x.Sensor, Baseline: baseline, Cases: quick.Cases, Rows: quick.Rows, Counters: quick.Counters,
		References: &x.references, Build: x.built, Seed: x.Seed,
	}
	times := lab.Times{Shapes: on, Methods: x.methods, Seed: x.Seed, Energy: x.Energy, Stop: timing.Stop{Least: min(30, x.Samples), Most: x.Samples, Time: x.Time, Fewest: fewestSamples}}
	if x.alone {
		times.WarmUp, times.Pairs, times.Ceiling = sweepWarmUp, sweepPairs, x.ceiling
		p.Cases, p.Counters, p.Before = lab.Smoke().Cases, problem.Shape{}, x.before[textOf(s, baseline)]
	}
	p.Times = x.times(times, s, baseline)
	return p
}
