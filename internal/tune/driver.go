package tune

import (
	"context"
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/campaign"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/timing"
)

// Driver is the search that attest tune starts. Its fields are the values of its flags.
type Driver struct {
	campaign.Selection
	campaign.Campaign
	Shape  problem.Named
	Chip   string // to predict for; "" is one of the kernel's target
	Budget int    // how many configurations are tried at most
	State  string // the file of the search; "" is tune-KERNEL.json
	Out    string // the folder for the best kernels; "" writes none

	subject *lab.Subject // where the search starts
	chip    predict.Chip
	plan    lab.Plan
}

// Run searches from the named kernel on. The error asks for exit code 1 when that kernel
// itself does not pass the gates.
func (x *Driver) Run(ctx context.Context, env *cli.Env, names []string) error {
	if err := x.prepare(names); err != nil {
		return err
	}
	if err := x.Open(); err != nil {
		return err
	}
	defer x.Close()
	if _, err := x.Fitting([]*lab.Subject{x.subject}, false); err != nil {
		return err
	}
	if d, err := hopper.FindDesign(names[0]); err == nil {
		p, err := x.hopperProblem()
		if err != nil {
			return err
		}
		s := &search[hopper.Config]{Driver: x, env: env, start: d.Config(p, lab.SMs), neighbours: Hopper{Problem: p}.Neighbours, kernel: lab.Hopper}
		return s.run(ctx, names[0])
	}
	preset, err := stages.FindPreset(names[0], x.Shape.Shape.D)
	if err != nil {
		return err
	}
	p, err := x.stagesProblem()
	if err != nil {
		return err
	}
	s := &search[stages.Config]{Driver: x, env: env, start: preset.Config, neighbours: Stages{Problem: p, Target: x.subject.Target}.Neighbours, kernel: lab.Kernel}
	return s.run(ctx, names[0])
}

// prepare checks the flags and builds the kernel that the search starts from.
func (x *Driver) prepare(names []string) (err error) {
	if x.Budget < 1 {
		return errors.New("--budget must be at least 1")
	}
	if x.subject, err = x.OneFor(x.Shape, names); err != nil {
		return err
	}
	x.Format = string(x.subject.ABI.Format) // the default, where --format is not given
	x.Selection = x.For(x.Shape)
	if err := x.subject.Serves(x.Shape.Shape); err != nil {
		return fmt.Errorf("--shape: %w", err)
	}
	if x.State == "" {
		x.State = "tune-" + names[0] + ".json"
	}
	return nil
}

// stagesProblem returns what configurations of stages have to compute.
func (x *Driver) stagesProblem() (stages.Problem, error) {
	s := x.Shape.Shape
	format, err := fp8.ParseFormat(x.Format)
	p := stages.Problem{Batch: s.B, Heads: s.Hq, Seq: s.Sq, HeadDim: s.D, Format: format}
	if x.Output == stages.BF16.String() {
		p.Output = stages.BF16
	}
	return p, err
}

// hopperProblem returns what configurations of kernels for Hopper have to compute.
func (x *Driver) hopperProblem() (hopper.Problem, error) {
	s := x.Shape.Shape
	p, err := x.stagesProblem()
	return hopper.Problem{
		Batch: s.B, Heads: s.Hq, HeadsKV: s.Hkv, SeqQ: s.Sq, SeqKV: s.Skv, HeadDim: s.D,
		Format: p.Format, Output: p.Output, Causal: x.Causal,
	}, err
}

// goal returns what is searched for. It also decides how times are found: on a GPU they are
// measured, without one they are predicted.
func (x *Driver) goal(name string) (Goal, error) {
	g := Goal{Kernel: name, Format: x.Format, Output: x.Output, Target: x.subject.Target.String(), Shape: x.Shape.Shape.String(), Causal: x.Causal, Measure: Predicted}
	x.plan = campaign.Plan("smoke")
	x.plan.Device, x.plan.Sensor, x.plan.References = x.Device, x.Sensor, &lab.References{}
	x.plan.Counters = problem.Shape{}
	if x.GPU() {
		if x.Chip != "" {
			return g, errors.New("--chip is for predictions, and on a GPU times are measured: use --device emu to predict")
		}
		g.Measure, g.Device = Measured, x.Device.Info().Name
		x.plan.Baseline = x.subject
		x.plan.Times = &lab.Times{Shapes: []problem.Named{x.Shape}, Methods: []timing.Method{{Mode: timing.Graph, Cache: timing.Warm}}}
		return g, nil
	}
	x.chip = predict.For(x.subject.Target, nil)
	if x.Chip != "" {
		var err error
		if x.chip, err = predict.Find(x.Chip); err != nil {
			return g, fmt.Errorf("--chip: %w", err)
		}
	}
	g.Device = x.chip.Name
	return g, nil
}

// search is a search over the configurations of one kind of kernels.
type search[C Config] struct {
	*Driver
	env        *cli.Env
	start      C
	neighbours func(C) []C
	kernel     func(name string, c C, choice lab.Choice) (*lab.Subject, error)

	startMicros float64 // the predicted time of the start, which ratios refer to
}

func (x *search[C]) run(ctx context.Context, name string) error {
	goal, err := x.goal(name)
	if err != nil {
		return err
	}
	state, err := Load[C](x.State, goal)
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	if err := state.Save(x.State); err != nil { // now, so that an unwritable file is found before an hour of work
		return fmt.Errorf("--state: %w", err)
	}
	progress := term.StartProgress(x.env.Err)
	defer progress.Stop()
	if n := len(state.Trials); n > 0 {
		progress.Print(func() { fmt.Fprintf(x.env.Err, "%s: going on after %s\n", x.State, term.Count(n, "configuration")) })
		x.startMicros = state.Trials[0].Micros
	}
	steps := campaign.StartSteps(progress, x.Budget-len(state.Trials))
	s := &Search[C]{
		Neighbours: x.neighbours, Start: x.start, Budget: x.Budget,
		Try: func(ctx context.Context, c C) (Trial[C], error) { return x.try(ctx, c, steps) },
		Each: func(s *State[C]) error {
			steps.Next()
			return s.Save(x.State)
		},
	}
	spent, err := s.Run(ctx, state)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			progress.Print(func() {
				fmt.Fprintf(x.env.Err, "%s tried; the same command goes on from %s\n", term.Count(len(state.Trials), "configuration"), x.State)
			})
		}
		return err
	}
	r := newReport(state, spent, x.State)
	progress.Print(func() { r.show(x.env, x.Shape, x.Budget) })
	if err := x.write(r); err != nil {
		return err
	}
	if !state.Trials[0].Green {
		return cli.Exit(cli.Red)
	}
	return nil
}
