package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"attest/fp8"
	"attest/internal/cli"
	"attest/internal/predict"
	"attest/internal/term"
	"attest/internal/tune"
	"attest/kernels/attn"
	"attest/lab"
	"attest/lab/gate"
	"attest/record"
	"attest/ref"
	"attest/timing"
)

func tuneCommand(env *cli.Env) *cobra.Command {
	x := &tuner{env: env}
	c := &cobra.Command{
		Use:   "tune KERNEL",
		Short: "Search over toggles and tiles for the best three",
		Long: `Search over the configurations of a kernel, from a preset on: tiles of rows and keys,
stages of the ring, producer warps and every toggle, one change at a time, always going
on from the best, until the best three have no neighbour that was not tried or --budget
configurations were.

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
  attest tune stage3b --json | jq -r '.best[].name'`,
		RunE: func(c *cobra.Command, args []string) error { return x.run(c, args) },
	}
	f := c.Flags()
	f.StringVar(&x.format, "format", fp8.U8.String(), "of Q, K and V: u8, u8-legacy, e4m3, e5m2")
	f.StringVar(&x.output, "output", "f16", "of O: f16, bf16")
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

	named    ref.Named
	start    *lab.Subject
	space    tune.Space
	target   predict.Chip
	plan     lab.Plan
	startLow float64 // the start's time, which PREDICTED ratios are to
}

// tuneReport is the JSON of tune.
type tuneReport struct {
	Goal  tune.Goal    `json:"goal"`
	Tried int          `json:"tried"`
	Green int          `json:"green"`
	Spent bool         `json:"spent"` // the budget ended the search
	Start tune.Trial   `json:"start"`
	Best  []tune.Trial `json:"best"`
	State string       `json:"state"`
}

func (x *tuner) run(c *cobra.Command, names []string) error {
	if err := x.prepare(c, names); err != nil {
		return err
	}
	if err := x.open(); err != nil {
		return err
	}
	defer x.close()
	if _, err := x.fitting([]*lab.Subject{x.start}, false); err != nil {
		return err
	}
	preset, err := attn.FindPreset(names[0], x.dim)
	if err != nil {
		return err
	}
	goal, err := x.goal(names[0])
	if err != nil {
		return err
	}
	state, err := tune.Load(x.state, goal)
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	if err := state.Save(x.state); err != nil { // better now than after an hour
		return fmt.Errorf("--state: %w", err)
	}
	progress := term.StartProgress(x.env.Err)
	defer progress.Stop()
	if n := len(state.Trials); n > 0 {
		progress.Print(func() { fmt.Fprintf(x.env.Err, "%s: going on after %s\n", x.state, count(n, "configuration")) })
		x.startLow = state.Trials[0].Micros
	}
	steps := startSteps(progress, x.budget-len(state.Trials))
	search := &tune.Search{
		Space: x.space, Start: preset.Config, Budget: x.budget,
		Try: func(ctx context.Context, c attn.Config) (tune.Trial, error) { return x.try(ctx, c, steps) },
		Each: func(s *tune.State) error {
			steps.next()
			return s.Save(x.state)
		},
	}
	spent, err := search.Run(c.Context(), state)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			progress.Print(func() {
				fmt.Fprintf(x.env.Err, "%s tried; the same command goes on from %s\n", count(len(state.Trials), "configuration"), x.state)
			})
		}
		return err
	}
	r := &tuneReport{Goal: goal, Tried: len(state.Trials), Green: state.Green(), Spent: spent, Start: state.Trials[0], Best: state.Best(tune.Keep), State: x.state}
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
	if len(names) == 1 && slices.Contains(presetNames(), names[0]) && stageOf(names[0]) == nil {
		return fmt.Errorf("%s is no stage: only they have toggles and tiles to search over; see attest list presets", names[0])
	}
	if x.start, err = x.one(c, names); err != nil {
		return err
	}
	if err := x.start.Serves(x.named.Shape); err != nil {
		return fmt.Errorf("--shape: %w", err)
	}
	if x.state == "" {
		x.state = "tune-" + names[0] + ".json"
	}
	x.space, err = x.newSpace()
	return err
}

// newSpace is the problem that configurations have to serve, on the target of the
// start.
func (x *tuner) newSpace() (tune.Space, error) {
	s := x.named.Shape
	format, err := fp8.ParseFormat(x.format)
	p := attn.Problem{Batch: s.B, Heads: s.Hq, Seq: s.Sq, HeadDim: s.D, Format: format}
	if x.output == attn.BF16.String() {
		p.Output = attn.BF16
	}
	return tune.Space{Problem: p, Target: x.start.Target}, err
}

// goal is what is searched for; it also chooses how times are found.
func (x *tuner) goal(name string) (tune.Goal, error) {
	g := tune.Goal{Kernel: name, Format: x.format, Output: x.output, Target: x.start.Target.String(), Shape: x.named.Shape.String(), Measure: tune.Predicted}
	x.plan = planOf("smoke")
	x.plan.Device, x.plan.Sensor, x.plan.References = x.dev, x.sensor, &lab.References{}
	x.plan.Counters = ref.Shape{}
	if x.gpu() {
		if x.chip != "" {
			return g, errors.New("--chip is for predictions; on a GPU times are measured: --device emu predicts")
		}
		g.Measure, g.Device = tune.Measured, x.dev.Info().Name
		x.plan.Baseline = x.start
		x.plan.Times = &lab.Times{Shapes: []ref.Named{x.named}, Methods: methods([]timing.Mode{timing.Graph}, []timing.Cache{timing.Warm})}
		return g, nil
	}
	x.target = predict.For(x.start.Target, nil)
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
func (x *tuner) try(ctx context.Context, c attn.Config, progress *steps) (tune.Trial, error) {
	s, err := lab.Kernel(c.String(), c, x.choice())
	if err != nil {
		return tune.Trial{}, err
	}
	k := s.Kernel()
	t := tune.Trial{Config: c, Name: c.String(), SHA256: k.SHA256}
	p := x.plan
	if k.SHA256 == x.start.Kernel().SHA256 {
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
func measured(t *tune.Trial, rec *record.Record) error {
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
