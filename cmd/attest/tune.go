package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/internal/tune"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

func tuneCommand(env *cli.Env) *cobra.Command {
	x := &tuner{env: env}
	c := &cobra.Command{
		Use:   "tune KERNEL",
		Short: "Search over toggles and tiles for the best three",
		Long: `Search over the configurations of a kernel, from a preset on: tiles of rows and keys,
stages of the ring, producer warps and every toggle, one change at a time, always going
on from the best, until the best three have no neighbour that was not tried or --budget
configurations were. From a kernel for Hopper on it is its tiles, warpgroups, splits
and toggles, and the designs with names.

Green first: each must pass the gates of resources, defects and correctness, by the
smoke plan of attest gate, before its time counts. On a GPU times are measured, in turns with the preset. Without one they
are PREDICTED, which ranks by throughput alone: the middle between the busiest unit and
nothing hidden, as attest profile has them. Gate and measure the best before believing
them.

Everything that was tried is in --state, written after each; the same command goes on
from there after Ctrl-C or a crash. --out writes the PTX of the best three and how they
are called, ready for attest gate --ptx.

JSON: {"goal", "tried", "green", "spent", "start", "best": [{"name", "config",
"sha256", "us", "ratio"}], "state"}.`,
		Example: `  attest tune stage3b
  attest tune stage5 --shape long --format e4m3 --budget 100 --device cuda:0
  attest tune stage3b --chip H200 --out best
  attest tune hopper --shape long --device cuda:0
  attest tune stage3b --json | jq -r '.best[].name'`,
		RunE: func(c *cobra.Command, args []string) error { return x.run(c, args) },
	}
	f := c.Flags()
	f.StringVar(&x.format, "format", "", "of Q, K and V: u8, u8-legacy, e4m3, e5m2; u8 when empty, e4m3 for Hopper's")
	f.StringVar(&x.output, "output", "f16", "of O: f16, bf16")
	f.BoolVar(&x.causal, "causal", false, "hide keys after the query, for presets that can: Hopper's")
	x.campaign.register(c, false)
	shapeFlag(c, &x.shape, "mission", "what it is to be fast for")
	f.StringVar(&x.chip, "chip", "", "the GPU to predict for: A100, L4, RTX-4090, H100, H200; one of the kernel's target when empty")
	f.IntVar(&x.budget, "budget", 60, "how many configurations are tried at most")
	f.StringVar(&x.state, "state", "", "the file that keeps what was tried; tune-KERNEL.json when empty")
	f.StringVar(&x.out, "out", "", "write the PTX and the ABI of the best to this folder")
	complete(c, "format", formats()...)
	complete(c, "output", "f16", "bf16")
	c.ValidArgsFunction = cobra.FixedCompletions(presetNames(), cobra.ShellCompDirectiveNoFileComp)
	return c
}

// tuner is the tune command.
type tuner struct {
	env *cli.Env
	kernelFlags
	campaign
	shape  string
	chip   string
	budget int
	state  string
	out    string

	named    problem.Named
	subject  *lab.Subject // the start
	target   predict.Chip
	plan     lab.Plan
	startLow float64 // the start's time, which PREDICTED ratios are to
}

// tuneReport is the JSON of tune.
type tuneReport[C tune.Config] struct {
	Goal  tune.Goal       `json:"goal"`
	Tried int             `json:"tried"`
	Green int             `json:"green"`
	Spent bool            `json:"spent"` // the budget ended the search
	Start tune.Trial[C]   `json:"start"`
	Best  []tune.Trial[C] `json:"best"`
	State string          `json:"state"`
}

func (x *tuner) run(c *cobra.Command, names []string) error {
	if err := x.prepare(c, names); err != nil {
		return err
	}
	if err := x.open(); err != nil {
		return err
	}
	defer x.close()
	if _, err := x.fitting([]*lab.Subject{x.subject}, false); err != nil {
		return err
	}
	if d, err := hopper.FindDesign(names[0]); err == nil {
		p, err := x.hopperProblem()
		if err != nil {
			return err
		}
		search := &tuning[hopper.Config]{tuner: x, start: d.Config(p, lab.SMs), neighbours: tune.Hopper{Problem: p}.Neighbours, kernel: lab.Hopper}
		return search.run(c.Context(), names[0])
	}
	preset, err := stages.FindPreset(names[0], x.dim)
	if err != nil {
		return err
	}
	p, err := x.problem()
	if err != nil {
		return err
	}
	search := &tuning[stages.Config]{tuner: x, start: preset.Config, neighbours: tune.Stages{Problem: p, Target: x.subject.Target}.Neighbours, kernel: lab.Kernel}
	return search.run(c.Context(), names[0])
}

// tuning is a search over the configurations of one kind of kernels.
type tuning[C tune.Config] struct {
	*tuner
	start      C
	neighbours func(C) []C
	kernel     func(name string, c C, choice lab.Choice) (*lab.Subject, error)
}

func (x *tuning[C]) run(ctx context.Context, name string) error {
	goal, err := x.goal(name)
	if err != nil {
		return err
	}
	state, err := tune.Load[C](x.state, goal)
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	if err := state.Save(x.state); err != nil { // better now than after an hour
		return fmt.Errorf("--state: %w", err)
	}
	progress := term.StartProgress(x.env.Err)
	defer progress.Stop()
	if n := len(state.Trials); n > 0 {
		progress.Print(func() { fmt.Fprintf(x.env.Err, "%s: going on after %s\n", x.state, term.Count(n, "configuration")) })
		x.startLow = state.Trials[0].Micros
	}
	steps := startSteps(progress, x.budget-len(state.Trials))
	search := &tune.Search[C]{
		Neighbours: x.neighbours, Start: x.start, Budget: x.budget,
		Try: func(ctx context.Context, c C) (tune.Trial[C], error) { return x.try(ctx, c, steps) },
		Each: func(s *tune.State[C]) error {
			steps.next()
			return s.Save(x.state)
		},
	}
	spent, err := search.Run(ctx, state)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			progress.Print(func() {
				fmt.Fprintf(x.env.Err, "%s tried; the same command goes on from %s\n", term.Count(len(state.Trials), "configuration"), x.state)
			})
		}
		return err
	}
	r := &tuneReport[C]{Goal: goal, Tried: len(state.Trials), Green: state.Green(), Spent: spent, Start: state.Trials[0], Best: state.Best(tune.Keep), State: x.state}
	progress.Print(func() { x.show(r, state) })
	if err := x.write(r); err != nil {
		return err
	}
	if !state.Trials[0].Green {
		return cli.Exit(cli.Red)
	}
	return nil
}

// prepare reads the command line.
func (x *tuner) prepare(c *cobra.Command, names []string) (err error) {
	if x.named, err = parseShape(x.shape); err != nil {
		return fmt.Errorf("--shape: %w", err)
	}
	if x.budget < 1 {
		return errors.New("--budget must be at least 1")
	}
	x.dim, x.want = x.named.Shape.D, x.named.Shape
	if x.subject, err = x.one(c, names); err != nil {
		return err
	}
	x.format = string(x.subject.ABI.Format) // what was left open
	if err := x.subject.Serves(x.named.Shape); err != nil {
		return fmt.Errorf("--shape: %w", err)
	}
	if x.state == "" {
		x.state = "tune-" + names[0] + ".json"
	}
	return nil
}

// problem is what configurations of stages have to serve.
func (x *tuner) problem() (stages.Problem, error) {
	s := x.named.Shape
	format, err := fp8.ParseFormat(x.format)
	p := stages.Problem{Batch: s.B, Heads: s.Hq, Seq: s.Sq, HeadDim: s.D, Format: format}
	if x.output == stages.BF16.String() {
		p.Output = stages.BF16
	}
	return p, err
}

// hopperProblem is what configurations of kernels for Hopper have to serve.
func (x *tuner) hopperProblem() (hopper.Problem, error) {
	s := x.named.Shape
	p, err := x.problem()
	return hopper.Problem{
		Batch: s.B, Heads: s.Hq, HeadsKV: s.Hkv, SeqQ: s.Sq, SeqKV: s.Skv, HeadDim: s.D,
		Format: p.Format, Output: p.Output, Causal: x.causal,
	}, err
}

// goal is what is searched for; it also chooses how times are found.
func (x *tuner) goal(name string) (tune.Goal, error) {
	g := tune.Goal{Kernel: name, Format: x.format, Output: x.output, Target: x.subject.Target.String(), Shape: x.named.Shape.String(), Causal: x.causal, Measure: tune.Predicted}
	x.plan = planOf("smoke")
	x.plan.Device, x.plan.Sensor, x.plan.References = x.dev, x.sensor, &lab.References{}
	x.plan.Counters = problem.Shape{}
	if x.gpu() {
		if x.chip != "" {
			return g, errors.New("--chip is for predictions; on a GPU times are measured: --device emu predicts")
		}
		g.Measure, g.Device = tune.Measured, x.dev.Info().Name
		x.plan.Baseline = x.subject
		x.plan.Times = &lab.Times{Shapes: []problem.Named{x.named}, Methods: methods([]timing.Mode{timing.Graph}, []timing.Cache{timing.Warm})}
		return g, nil
	}
	x.target = predict.For(x.subject.Target, nil)
	if x.chip != "" {
		var err error
		if x.target, err = predict.Find(x.chip); err != nil {
			return g, fmt.Errorf("--chip: %w", err)
		}
	}
	g.Device = x.target.Name
	return g, nil
}

// try judges a configuration and, if it is green, finds its time.
func (x *tuning[C]) try(ctx context.Context, c C, progress *steps) (tune.Trial[C], error) {
	s, err := x.kernel(c.String(), c, x.choice())
	if err != nil {
		return tune.Trial[C]{}, err
	}
	k := s.Kernel()
	t := tune.Trial[C]{Config: c, Name: c.String(), SHA256: k.SHA256}
	p := x.plan
	if k.SHA256 == x.subject.Kernel().SHA256 {
		p.Baseline = nil
	}
	rec, err := lab.Measure(ctx, s, p, progress.of(s.Name))
	if err != nil {
		return t, err
	}
	for _, g := range gate.Judge(rec).Gates {
		if g.Status == record.Red || g.Status == record.Void {
			t.Why = fmt.Sprintf("%s is %s: %s", g.Name, g.Status, g.Summary)
			return t, nil
		}
	}
	t.Green = true
	if x.gpu() {
		return t, measured(&t, rec)
	}
	progress.Say("%s: counting", s.Name)
	r, err := profileOf(ctx, s, x.named, x.target)
	if err != nil {
		return t, err
	}
	t.Micros = (r.Predicted.Low + r.Predicted.High) / 2
	if x.startLow == 0 {
		x.startLow = t.Micros
	}
	t.Ratio = t.Micros / x.startLow
	return t, nil
}

// measured takes the time of a trial from its record.
func measured[C tune.Config](t *tune.Trial[C], rec *record.Record) error {
	p := rec.Performance
	if p == nil || len(p.Shapes) != 1 {
		return fmt.Errorf("%s was not timed", t.Name)
	}
	t.Micros, t.Ratio = p.Shapes[0].Summaries[0].P50, 1
	if c := p.Shapes[0].Baseline; c != nil {
		t.Ratio = c.Ratio
	}
	return nil
}
