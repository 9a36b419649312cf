package tune

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/campaign"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/timing"
)

// Driver is the search that attest tune starts. Its fields are the values of its flags.
type Driver struct {
	campaign.Selection
	campaign.Campaign
	Shape  problem.Named
	Chip   string // the chip to predict for; "" is a chip of the kernel's target
	Budget int    // the largest number of configurations that are tried
	State  string // the file of the search; "" is tune-KERNEL.json in the folder of evidence
	Out    string // the folder for the best kernels; "" writes none

	subject *lab.Subject // the kernel that the search starts from
	chip    chips.Chip
	plan    lab.Plan
}

// Run searches from the named kernel. The error asks for exit code 1 when that kernel does not
// pass the gates.
func (x *Driver) Run(ctx context.Context, env *cli.Env, names []string) error {
	progress := env.StartProgress()
	defer progress.Stop()
	if err := x.Open(); err != nil {
		return err
	}
	defer x.Close()
	progress.Say("building the kernel")
	x.On(&x.Machine)
	if err := x.prepare(names); err != nil {
		return err
	}
	if _, err := x.Fitting([]*lab.Subject{x.subject}, false); err != nil {
		return err
	}
	name := x.subject.Name
	f, _, err := kernels.Find(name)
	if err != nil {
		return err
	}
	space := Space{Family: f, Problem: x.subject.At(x.Shape.Shape), Chip: kernel.Chip{Target: x.subject.Target}}
	start, err := kernels.Configure(name, space.Problem, space.Chip)
	if err != nil {
		return err
	}
	s := &search{Driver: x, env: env, progress: progress, start: start, space: space}
	return s.run(ctx, name)
}

// prepare checks the flags and builds the kernel that the search starts from.
func (x *Driver) prepare(names []string) (err error) {
	if x.Budget < 1 {
		return errors.New("--budget must be at least 1")
	}
	if len(names) == 0 {
		return errors.New("no KERNEL is given: name the one to start from; attest list kernels shows the names")
	}
	if x.subject, err = x.OneFor(x.Shape, names); err != nil {
		return err
	}
	x.Format = string(x.subject.Problem.Format) // the default if --format is not given
	x.Selection = x.For(x.Shape)
	if err := x.subject.ServesShape(x.Shape.Shape); err != nil {
		return fmt.Errorf("--shape: %w", err)
	}
	if x.State == "" {
		x.State = StateFile(names[0])
		return evidence.MakeDir(evidence.Dir)
	}
	return nil
}

// goal returns the goal of the search. On a GPU times are measured, without one they are
// predicted.
func (x *Driver) goal(name string) (Goal, error) {
	g := Goal{Kernel: name, Format: x.Format, Output: x.Output, Target: x.subject.Target.String(), Shape: x.Shape.Shape.String(), Causal: x.Causal, Measure: Predicted}
	if words := strings.TrimPrefix(x.subject.At(x.Shape.Shape).String(), g.Shape); x.Serving != (campaign.Serving{}) {
		g.Features = strings.TrimSpace(words)
	}
	x.plan = campaign.Plan("smoke")
	x.plan.Device, x.plan.Sensor, x.plan.References = x.Device, x.Sensor, &lab.References{}
	x.plan.Counters = problem.Shape{}
	if x.GPU() {
		if x.Chip != "" {
			return g, errors.New("--chip is for predictions, but on a GPU times are measured; use --device emu to predict")
		}
		g.Measure, g.Device = Measured, x.Device.Info().Name
		x.plan.Baseline = x.subject
		x.plan.Times = &lab.Times{Shapes: []problem.Named{x.Shape}, Methods: []timing.Method{{Mode: timing.Graph, Cache: timing.Warm}}}
		return g, nil
	}
	x.chip = chips.For(x.subject.Target, nil)
	if x.Chip != "" {
		var err error
		if x.chip, err = chips.Find(x.Chip); err == nil {
			err = x.chip.Runs(x.subject.Target)
		}
		if err != nil {
			return g, fmt.Errorf("--chip: %w", err)
		}
	}
	g.Device = x.chip.Name
	return g, nil
}

// search is a search over the configurations of one family of kernels.
type search struct {
	*Driver
	env      *cli.Env
	progress *term.Progress
	start    attn.Config
	space    Space

	startMicros float64 // the predicted time of the start; ratios are relative to it
}

// kernel returns the kernel of a configuration.
func (x *search) kernel(name string, c attn.Config) (*lab.Subject, error) {
	s, err := lab.Configured(x.space.Family, name, x.space.Problem, x.space.Chip, c)
	if err != nil {
		return nil, err
	}
	return s, s.Give(x.subject.Given())
}

func (x *search) run(ctx context.Context, name string) error {
	goal, err := x.goal(name)
	if err != nil {
		return err
	}
	state, err := Load(x.State, goal)
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	if err := state.Save(x.State); err != nil { // before the search, which may take hours, to find out whether the file can be written
		return fmt.Errorf("--state: %w", err)
	}
	progress := x.progress
	if n := len(state.Trials); n > 0 {
		progress.Print(func() {
			fmt.Fprintf(x.env.Err, "%s: continuing after %s\n", x.State, english.Count(n, "configuration"))
		})
		x.startMicros = state.Trials[0].Micros
	}
	steps := campaign.StartSteps(progress, x.Budget-len(state.Trials))
	s := &Search{
		Neighbours: x.space.Neighbours, Start: x.start, Budget: x.Budget,
		Try: func(ctx context.Context, c attn.Config) (Trial, error) { return x.try(ctx, c, steps) },
		Each: func(s *State) error {
			steps.Next()
			return s.Save(x.State)
		},
	}
	spent, err := s.Run(ctx, state)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			progress.Print(func() {
				fmt.Fprintf(x.env.Err, "%s tried; the same command continues from %s\n", english.Count(len(state.Trials), "configuration"), x.State)
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

// StateFile returns the default file of the search that starts from a kernel.
func StateFile(kernel string) string { return filepath.Join(evidence.Dir, "tune-"+kernel+".json") }
