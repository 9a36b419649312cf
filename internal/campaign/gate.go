package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/replicate"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/shapes"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/timing"
)

// Gate judges kernels. Its exported fields are the values of the flags of attest gate.
type Gate struct {
	Selection
	Campaign
	Keeper
	Criteria
	Plan              string
	Shapes            shapes.List
	Seed              uint64   // the seed of the inputs that no kernel can know; 0 draws one at random
	CaseSeeds         []string // the seeds of the cases that are added
	Distributions     []string
	Time              time.Duration
	Modes, Caches     []string // how launches are timed; the plan's if both are empty
	Registers, Shared int
	Baseline          string
	Tag               string        // the git tag to set when every verdict is MERGE
	Timeout           time.Duration // for each kernel of a file
	Memory            cli.Bytes     // for each kernel of a file
	Strict            bool          // whether every outcome but MERGE and NO-CHANGE is an error

	seeds   []uint64
	methods []timing.Method // the timing methods that Modes and Caches name
}

// Distributions returns the values of --distribution.
func Distributions() (names []string) {
	for _, d := range ref.Distributions() {
		names = append(names, d.Name)
	}
	return names
}

// Run judges the named kernels, or the whole ladder without a name. The error asks for exit
// code 1 when a kernel is rejected or, with Strict, when a kernel is not ready to be merged. It
// asks for exit code 3 when attest itself failed on a kernel.
func (g *Gate) Run(ctx context.Context, env *cli.Env, names []string) error {
	progress := env.StartProgress()
	defer progress.Stop()
	if err := g.Open(); err != nil {
		return err
	}
	defer g.Close()
	progress.Say("building the kernels")
	g.On(&g.Machine)
	jobs, err := g.prepare(names)
	if err != nil {
		return err
	}
	if err := g.checkTag(ctx); err != nil {
		return err
	}
	if jobs, err = g.able(jobs, len(names) == 0); err != nil {
		return err
	}
	if err := g.openStore(); err != nil {
		return err
	}
	results, err := g.judgeAll(ctx, env, jobs, StartSteps(progress, len(jobs)))
	if err != nil {
		if len(results) > 0 {
			progress.Print(func() { g.interrupted(env, len(results), len(jobs)) })
		}
		return err
	}
	progress.Print(func() { err = g.finish(ctx, env, results) })
	if err != nil {
		return err
	}
	if slices.ContainsFunc(results, func(r *GateResult) bool { return r.record.Ended != nil && r.record.Ended.Internal }) {
		return cli.Exit(cli.Internal)
	}
	if slices.ContainsFunc(results, func(r *GateResult) bool { return !r.Verdict.OK() || g.Strict && !r.Verdict.Ready() }) {
		return cli.Exit(cli.Red)
	}
	return nil
}

// prepare checks the flags and returns the jobs.
func (g *Gate) prepare(names []string) (jobs []job, err error) {
	if err := errors.Join(g.Selection.Check(), g.Campaign.Check(), g.Criteria.Check(), g.check()); err != nil {
		return nil, err
	}
	if g.Seed, err = drawSeed(g.Seed); err != nil {
		return nil, err
	}
	if g.seeds, err = parseSeeds(g.CaseSeeds); err != nil {
		return nil, err
	}
	if len(g.Modes)+len(g.Caches) > 0 {
		if g.methods, err = Methods(g.Modes, g.Caches); err != nil {
			return nil, err
		}
	}
	if names, err = g.Named(names); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		jobs, err = g.ladder()
	} else {
		jobs, err = g.named(names)
	}
	if err == nil && g.Baseline != "" && g.Baseline != "none" {
		if _, err = jobs[0].chosen.Kernel(g.Baseline); err != nil {
			err = fmt.Errorf("--baseline: %w", err)
		}
	}
	return jobs, err
}

func (g *Gate) check() error {
	switch {
	case !slices.Contains(PlanNames, g.Plan):
		return fmt.Errorf("--plan %s: use %s", g.Plan, english.Or(PlanNames))
	case g.Timeout < 0:
		return errors.New("--timeout must not be negative")
	case g.Time < 0:
		return errors.New("--time must not be negative")
	case g.Registers < 0:
		return errors.New("--registers must not be negative")
	case g.Shared < 0:
		return errors.New("--shared must not be negative")
	}
	for _, n := range g.Shapes {
		if err := g.checkHeadDim(n); err != nil {
			return err
		}
	}
	for _, d := range g.Distributions {
		if !slices.Contains(Distributions(), d) {
			return fmt.Errorf("--distribution %s: use %s", d, english.Or(Distributions()))
		}
	}
	return nil
}

// parseSeeds returns the values of --case-seed, or 0 and 1 if there are none.
func parseSeeds(words []string) (seeds []uint64, err error) {
	if len(words) == 0 {
		return []uint64{0, 1}, nil
	}
	for _, w := range words {
		n, err := strconv.ParseUint(w, 0, 64)
		if err != nil {
			return nil, fmt.Errorf("--case-seed %s is not a whole number from 0 on", w)
		}
		seeds = append(seeds, n)
	}
	return seeds, nil
}

// moreCases returns the cases that --shape, --case-seed and --distribution add to the plan.
func (g *Gate) moreCases(j job) (list []lab.Case) {
	chosen := j.shapes
	if len(chosen) == 0 && len(g.CaseSeeds)+len(g.Distributions) > 0 {
		chosen = shapes.List{{Shape: problem.Square(2, 3, 33, 0).WithHeadDim(g.HeadDim)}, {Shape: problem.Square(1, 2, 129, 0).WithHeadDim(g.HeadDim)}}
	}
	distributions := g.Distributions
	if len(distributions) == 0 {
		distributions = []string{"normal"}
	}
	for _, d := range distributions {
		for _, n := range chosen {
			for _, seed := range g.seeds {
				list = append(list, lab.Case{Shape: n.Shape, Name: n.Name, Seed: seed, Distribution: d, Own: true})
			}
		}
	}
	return list
}

// judgeAll measures and judges one kernel after the other. Each result is shown and kept at
// once, so that an interruption costs one kernel.
func (g *Gate) judgeAll(ctx context.Context, env *cli.Env, jobs []job, progress *Steps) (results []*GateResult, err error) {
	references := &lab.References{}
	built := build(ctx)
	for _, j := range jobs {
		baseline, err := g.baselineOf(j)
		if err != nil {
			return results, err
		}
		p := g.plan(j, baseline)
		p.References, p.Build = references, built
		rec, err := g.measure(ctx, j, p, progress.Of(j.Name))
		if err != nil {
			return results, err
		}
		r := newGateResult(rec, j.Subject, j.file, g.Dir)
		r.Parity = g.parity(r, results)
		if r.OtherChips, err = g.otherChips(ctx, r, baseline, results); err != nil {
			return results, err
		}
		var kept error
		r.Record, r.VerdictHash, kept = g.keep(rec, r.Verdict, j.Subject, baseline)
		progress.Print(func() { r.Show(env, len(results) > 0) }) // before kept is checked: a full disk must not lose the result
		if kept != nil {
			return results, kept
		}
		results = append(results, r)
		progress.Next()
	}
	return results, nil
}

// measure measures a kernel by a plan. A kernel of a file gets a process of its own, since it
// may hang, crash or fill the memory; this is then what its record says.
func (g *Gate) measure(ctx context.Context, j job, p lab.Plan, progress func(lab.Progress)) (*record.Record, error) {
	if j.file == "" {
		return measureHere(ctx, j.Subject, p, progress)
	}
	if why := refused(j.Subject); why != "" {
		return lab.Unfinished(j.Subject, p, "", why, false)
	}
	sized := p.Sized(j.Subject)
	one := replicate.Job{Device: g.Name, Kernel: replicate.Contract(j.Subject), Baseline: replicate.Contract(p.Baseline), Plan: &sized, Arguments: j.Given()}
	rec, err := replicate.MeasureElsewhere(ctx, one, replicate.Limits{Time: g.Timeout, Memory: int64(g.Memory)}, progress)
	var ended *replicate.Ended
	if !errors.As(err, &ended) {
		return rec, err
	}
	if ended.Internal {
		bug := &device.Bug{Reason: ended.Why, Stack: ended.Stack}
		ended.Why += savedAs(bug, j.Subject.PTX, &one)
	}
	return lab.Unfinished(j.Subject, p, ended.Section, ended.Why, ended.Internal)
}

// parity compares the bits of a kernel with those of the kernel that it builds on: in this
// run, or in the newest record of it that the store had before.
func (g *Gate) parity(r *GateResult, results []*GateResult) *report.Parity {
	base := kernels.Base(r.Kernel.Name)
	if base == "" {
		return nil
	}
	same := func(other *record.Record) *report.Parity {
		if p := report.ParityOf(other, r.record); other.Kernel.Name == base && p.Of > 0 {
			return &p
		}
		return nil
	}
	for _, other := range slices.Backward(results) {
		if p := same(other.record); p != nil {
			return p
		}
	}
	for _, item := range slices.Backward(g.before()) {
		if p := same(item.Record); p != nil {
			return p
		}
	}
	return nil
}

// plan returns the plan for a kernel.
func (g *Gate) plan(j job, baseline *lab.Subject) lab.Plan {
	p := Plan(g.Plan)
	p.Device, p.Sensor, p.Baseline, p.Seed = g.Device, g.Sensor, baseline, g.Seed
	p.Cases = append(p.Cases, g.moreCases(j)...)
	for _, n := range j.shapes {
		p.Wanted = append(p.Wanted, n.Shape)
	}
	p.Budget = g.budget(j.Subject)
	p.Criteria, _ = g.criteria() // prepare has checked both
	p.Tolerance, _ = g.tolerance()
	if !g.GPU() {
		p.Times = nil
		return p
	}
	if p.Times == nil { // smoke and quick time one shape with a warm cache, which decides the verdict
		p.Times = lab.DefaultTimes()
		p.Times.Stop.Time = 5 * time.Second
		p.Times.Shapes = p.Times.Shapes[:1]
		p.Times.Methods = bothModes(timing.Warm)
	}
	if len(j.shapes) > 0 {
		p.Times.Shapes = j.shapes
	}
	if len(g.methods) > 0 {
		p.Times.Methods = g.methods
	}
	if g.Time > 0 {
		p.Times.Stop.Time = g.Time
	}
	p.Times.Seed = g.Seed
	p.Times = g.times(*p.Times, j.Subject, baseline)
	return p
}

// budget returns the budget of a kernel; nil selects [lab.Subject.Budget].
func (g *Gate) budget(s *lab.Subject) *record.Budget {
	if g.Registers == 0 && g.Shared == 0 {
		return nil
	}
	b := s.Budget()
	if g.Registers > 0 {
		b.Registers = g.Registers
	}
	if g.Shared > 0 {
		b.Shared = g.Shared
	}
	return &b
}
