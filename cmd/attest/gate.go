package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/timing"
)

func gateCommand(env *cli.Env) *cobra.Command {
	x := &gater{env: env}
	c := &cobra.Command{
		Use:   "gate [KERNEL…]",
		Short: "Judge kernels, with evidence: do they deserve to be merged?",
		Long: `Judge kernels by four gates, in this order; a red one stops the line.

  resources    registers, shared memory and spills against the budget, by ptxas, the
               driver's compiler or an estimate
  defects      the emulator's checkers over several schedules: races, missing fences,
               reads of what nobody wrote, deadlocks; and the same bits in all of them
  correctness  against float64 on shapes, seeds and distributions; outputs poisoned,
               guard bands, inputs unchanged, a second run with the same bits. On the
               same inputs zeros, the mean of V, swapped heads, a missing last tile …
               must fail, or the gate is void
  performance  on a GPU, in turns with the baseline and rivals; outputs of timed
               launches are checked, and no time may beat physics

Without a KERNEL: the whole ladder, from stage0 to hopper (attest list), as far as it
can be had in the format and run on the device, each against the one it builds on;
designs for Hopper against the last stage. Kernels of any compiler are judged with --ptx
and --abi. On a machine with a GPU cases run there, without one on the emulator, and
performance is skipped.

A kernel is written for one head dimension, and hopper for a shape, the mission without
--shapes: where --shapes need several texts, each is judged on its own shapes.

Verdicts: MERGE, REJECT (a gate is red or void), DEFER (the run could not tell),
VALID-NEGATIVE (right, measured, does not pay), NO-CHANGE (the PTX of the baseline).
Records and verdicts are kept under --evidence: attest evidence and attest report
show them. Exit code 1 when anything is REJECTed, else 0.

--plan smoke is the least that tells right from wrong, for the loop of editing and
trying; quick judges the ladder in minutes without a GPU; full has all named shapes up
to long, all tile edges and all distributions, and is meant for a GPU. --shapes,
--seeds and --distributions add cases to those of the plan, and --shapes is also what
is timed. Of outputs with more than 4096 rows that many are compared.

JSON, one object a kernel: {"kernel", "baseline", "device", "verdict": {"outcome",
"why", "gates": [{"name", "status", "summary", "reasons"}], …}, "record",
"verdict_hash", "evidence"}; the record itself is in the evidence.`,
		Example: `  attest gate
  attest gate stage3b stage4
  attest gate stage3b --plan smoke --evidence ""
  attest gate stage5 --baseline stage3b --format e4m3 --shapes mission --seeds 0,1,2
  attest gate --ptx mine.ptx --entry attn --abi mine.json
  attest gate --ptx mine.ptx --abi mine.json --registers 255 --shared 101376
  attest gate --against torch,fa3,triton,jax --time 2s
  attest gate --plan full --processes 5 --against torch,triton
  attest gate hopper --plan smoke --shapes mission,long,big64,big128 --against torch,jax
  attest gate --json | jq -r '[.kernel.name, .verdict.outcome] | @tsv'`,
		RunE: func(c *cobra.Command, args []string) error { return x.run(c.Context(), args) },
	}
	x.kernelFlags.register(c, true)
	x.campaign.register(c, true)
	f := c.Flags()
	f.StringVar(&x.plan, "plan", "quick", "how much is measured: smoke, quick or full")
	shapesFlag(c, &x.shapes, "judge and time these shapes too")
	f.StringSliceVar(&x.seeds, "seeds", nil, "seeds of the inputs of --shapes; 0,1 when empty")
	f.StringSliceVar(&x.distributions, "distributions", nil, "distributions of the inputs of --shapes; normal when empty")
	f.DurationVar(&x.time, "time", 0, "how long each shape and method is timed at most; 0 is 5s, and 20s with --plan full")
	f.IntVar(&x.registers, "registers", 0, "how many registers a thread may take; 0 is 128, or 168 for code of one architecture, as sm_90a")
	f.IntVar(&x.shared, "shared", 0, "how many bytes of shared memory a block may take; 0 is 65536, or 232448 for code of one architecture")
	f.StringVar(&x.baseline, "baseline", "", "the kernel to beat, or none; the one it builds on when empty")
	x.evidenceFlag(c, evidence.Dir, "records and verdicts are")
	complete(c, "plan", planNames...)
	complete(c, "baseline", append([]string{"none"}, presetNames()...)...)
	complete(c, "distributions", distributionNames()...)
	return c
}

// gater is the gate command.
type gater struct {
	env *cli.Env
	kernelFlags
	campaign
	keeper
	plan          string
	shapes        shapeList
	seeds         []string
	distributions []string
	time          time.Duration
	registers     int
	shared        int
	baseline      string

	seedList []uint64
}

// job is a kernel to judge: a text, and the shapes of --shapes that it is for.
type job struct {
	*lab.Subject
	flags  kernelFlags // that it was made with, for its baseline
	shapes shapeList
}

func distributionNames() (names []string) {
	for _, d := range ref.Distributions() {
		names = append(names, d.Name)
	}
	return names
}

func (x *gater) run(ctx context.Context, names []string) error {
	jobs, err := x.prepare(names)
	if err != nil {
		return err
	}
	if err := x.open(); err != nil {
		return err
	}
	defer x.close()
	if jobs, err = x.able(jobs, len(names) == 0); err != nil {
		return err
	}
	if err := x.openStore(); err != nil {
		return err
	}
	progress := term.StartProgress(x.env.Err)
	defer progress.Stop()
	results, err := x.judgeAll(ctx, jobs, startSteps(progress, len(jobs)))
	if err != nil && len(results) > 0 {
		progress.Print(func() { x.told(results, len(jobs)) })
	}
	if err != nil {
		return err
	}
	progress.Print(func() { err = x.finish(results) })
	if err != nil {
		return err
	}
	if slices.ContainsFunc(results, func(r *gateResult) bool { return !r.Verdict.OK() }) {
		return cli.Exit(cli.Red)
	}
	return nil
}

// able are the jobs that the device can do.
func (x *gater) able(jobs []job, leave bool) ([]job, error) {
	var subjects []*lab.Subject
	for _, j := range jobs {
		subjects = append(subjects, j.Subject)
	}
	fit, err := x.fitting(subjects, leave)
	return slices.DeleteFunc(jobs, func(j job) bool { return !slices.Contains(fit, j.Subject) }), err
}

// prepare reads the command line: what is to be judged.
func (x *gater) prepare(names []string) (jobs []job, err error) {
	if err := errors.Join(x.kernelFlags.misuse(), x.campaign.misuse()); err != nil {
		return nil, err
	}
	switch {
	case !slices.Contains(planNames, x.plan):
		return nil, fmt.Errorf("--plan %s: there are %s", x.plan, strings.Join(planNames, ", "))
	case x.time < 0 || x.registers < 0 || x.shared < 0:
		return nil, errors.New("--time, --registers and --shared must not be negative")
	}
	for _, n := range x.shapes {
		if x.dim != 0 && x.dim != n.Shape.D {
			return nil, fmt.Errorf("--head-dim is %d, and --shapes have %d", x.dim, n.Shape.D)
		}
	}
	for _, d := range x.distributions {
		if !slices.Contains(distributionNames(), d) {
			return nil, fmt.Errorf("--distributions: no %q; there are %s", d, strings.Join(distributionNames(), ", "))
		}
	}
	if x.seedList, err = parseSeeds(x.seeds); err != nil {
		return nil, err
	}
	if len(names) == 0 && x.ptx == "" {
		jobs, err = x.whole()
	} else {
		jobs, err = x.named(names)
	}
	if err == nil && x.baseline != "" && x.baseline != "none" {
		if _, err = jobs[0].flags.preset(x.baseline); err != nil {
			err = fmt.Errorf("--baseline: %w", err)
		}
	}
	return jobs, err
}

// whole is the ladder: all kernels that can be had in the format that is asked for.
func (x *gater) whole() (list []job, err error) {
	for _, name := range lab.Rungs() {
		jobs, refused := x.jobs(name)
		if refused != nil {
			err = refused
			continue
		}
		list = append(list, jobs...)
	}
	if len(list) > 0 {
		err = nil
	}
	return list, err
}

// named are the kernels that arguments and --ptx name, in that order.
func (x *gater) named(names []string) (list []job, err error) {
	for _, name := range names {
		jobs, err := x.jobs(name)
		if err != nil {
			return nil, err
		}
		list = append(list, jobs...)
	}
	if x.ptx != "" {
		s, err := x.external()
		if err != nil {
			return nil, err
		}
		flags := x.kernelFlags
		if len(x.shapes) > 0 {
			flags.dim, flags.want = x.shapes[0].Shape.D, x.shapes[0].Shape
		}
		list = append(list, job{s, flags, x.shapes})
	}
	return list, nil
}

// jobs are the texts of a kernel of ours, each with the shapes that it is for.
func (x *gater) jobs(name string) (list []job, err error) {
	if len(x.shapes) == 0 {
		s, err := x.preset(name)
		return []job{{s, x.kernelFlags, nil}}, err
	}
	for _, n := range x.shapes {
		flags := x.kernelFlags
		flags.dim, flags.want = n.Shape.D, n.Shape
		s, err := flags.preset(name)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(list, func(j job) bool { return sameText(j.Subject, s) })
		if i < 0 {
			i, list = len(list), append(list, job{s, flags, nil})
		}
		list[i].shapes = append(list[i].shapes, n)
	}
	return list, nil
}

// moreCases are the cases of --shapes, --seeds and --distributions.
func (x *gater) moreCases(j job) (list []lab.Case) {
	shapes := j.shapes
	if len(shapes) == 0 && len(x.seeds)+len(x.distributions) > 0 {
		shapes = shapeList{{Shape: problem.Square(2, 3, 33, x.dim)}, {Shape: problem.Square(1, 2, 129, x.dim)}}
	}
	distributions := x.distributions
	if len(distributions) == 0 {
		distributions = []string{"normal"}
	}
	for _, d := range distributions {
		for _, n := range shapes {
			for _, seed := range x.seedList {
				list = append(list, lab.Case{Shape: n.Shape, Name: n.Name, Seed: seed, Distribution: d})
			}
		}
	}
	return list
}

// judgeAll measures and judges one kernel after the other. What is done is shown and
// kept at once, so that an interruption costs one kernel.
func (x *gater) judgeAll(ctx context.Context, jobs []job, progress *steps) (results []*gateResult, err error) {
	references := &lab.References{}
	build := x.build(ctx)
	for _, j := range jobs {
		baseline, err := x.baselineOf(j)
		if err != nil {
			return results, err
		}
		p := x.newPlan(j, baseline)
		p.References, p.Build = references, build
		rec, err := lab.Measure(ctx, j.Subject, p, progress.of(j.Name))
		if err != nil {
			return results, err
		}
		r := &gateResult{Kernel: rec.Kernel, Device: rec.Build.Device.Name, Evidence: x.evidence, record: rec}
		if rec.Baseline != nil {
			r.Baseline = rec.Baseline.Name
		}
		v := gate.Judge(rec)
		v.Time = time.Now().UTC()
		r.Verdict = &v
		var kept error
		r.Record, r.VerdictHash, kept = x.keep(rec, r.Verdict)
		progress.Print(func() { r.show(x.env, len(results) > 0) }) // a full disk must not cost what was found
		if kept != nil {
			return results, kept
		}
		results = append(results, r)
		progress.next()
	}
	return results, nil
}

// baselineOf is what a kernel has to beat, nil for nothing.
func (x *gater) baselineOf(j job) (*lab.Subject, error) {
	name := x.baseline
	switch {
	case name == "none":
		return nil, nil
	case name == "":
		if name = lab.BuildsOn(j.Name); name == "" {
			return nil, nil
		}
	case name == j.Name:
		return nil, nil
	}
	same := j.flags // the baseline computes the same
	same.format, same.output, same.causal = string(j.ABI.Format), string(j.ABI.Output), j.ABI.Causal
	b, err := same.preset(name)
	if err != nil && x.baseline == "" {
		return nil, nil // a kernel for a format or a mask that the others do not have
	}
	return b, err
}

// newPlan is what is measured of a kernel.
func (x *gater) newPlan(j job, baseline *lab.Subject) lab.Plan {
	p := planOf(x.plan)
	p.Device, p.Sensor, p.Baseline = x.dev, x.sensor, baseline
	p.Cases = append(p.Cases, x.moreCases(j)...)
	p.Budget = x.budget(j.Subject)
	if !x.gpu() {
		p.Times = nil
		return p
	}
	if p.Times == nil { // quick: what decides, on one shape
		p.Times = lab.DefaultTimes()
		p.Times.Stop.Time = 5 * time.Second
		p.Times.Shapes = p.Times.Shapes[:1]
		p.Times.Methods = methods([]timing.Mode{timing.Graph, timing.Event}, []timing.Cache{timing.Warm})
	}
	if len(j.shapes) > 0 {
		p.Times.Shapes = j.shapes
	}
	if x.time > 0 {
		p.Times.Stop.Time = x.time
	}
	p.Times = x.times(*p.Times, j.Subject, baseline)
	return p
}

// budget is what a kernel may take, nil where nobody asks for another than the usual.
func (x *gater) budget(s *lab.Subject) *record.Budget {
	if x.registers == 0 && x.shared == 0 {
		return nil
	}
	b := gate.BudgetFor(s.Target.String())
	if x.registers > 0 {
		b.Registers = x.registers
	}
	if x.shared > 0 {
		b.Shared = x.shared
	}
	return &b
}

// gateResult is the JSON of gate: one kernel, judged.
type gateResult struct {
	Kernel      record.Kernel   `json:"kernel"`
	Baseline    string          `json:"baseline"`
	Device      string          `json:"device"`
	Verdict     *record.Verdict `json:"verdict"`
	Record      string          `json:"record"` // hash, "" when it was not kept
	VerdictHash string          `json:"verdict_hash"`
	Evidence    string          `json:"evidence"`

	record *record.Record
}
