package rivalrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/gpus"
	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/internal/shapes"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/timing"
)

// Runner times one library. Its fields are the values of the flags of attest rival.
type Runner struct {
	Shapes                  shapes.List
	Implementations, DTypes []string // empty selects all
	Methods                 []timing.Method
	Causal                  bool
	Seed                    uint64
	Samples                 int
	Time, Timeout           time.Duration

	progress *term.Progress
	rival    *rival.Rival // nil if it does not run
}

// Run times a library on all shapes. The error asks for exit code 1 when the library fails
// where it should not.
func (x *Runner) Run(ctx context.Context, env *cli.Env, library string) error {
	if err := x.check(); err != nil {
		return err
	}
	x.progress = env.StartProgress()
	defer x.progress.Stop()
	defer x.stop()
	code := cli.OK
	for i, n := range x.Shapes {
		report, err := x.one(ctx, library, n.Shape)
		if err != nil {
			return err
		}
		if report.failed() {
			code = cli.Red
		}
		x.progress.Print(func() { report.Show(env, i > 0) })
		if report.Skipped != "" {
			break // the other shapes would be skipped for the same reason
		}
	}
	return cli.Exit(code)
}

func (x *Runner) check() error {
	switch {
	case x.Samples < 1:
		return errors.New("--samples must be at least 1")
	case x.Time <= 0:
		return errors.New("--time must be above 0")
	case x.Timeout <= 0:
		return errors.New("--timeout must be above 0")
	}
	return nil
}

// one measures one shape. What goes wrong inside the library is in the report.
func (x *Runner) one(ctx context.Context, library string, shape problem.Shape) (*Report, error) {
	report := &Report{Library: library, Shape: shape, Causal: x.Causal, Seed: x.Seed, Results: []*Result{}}
	err := x.measure(ctx, report)
	var died *rival.Died
	switch {
	case errors.Is(err, rival.ErrMissing):
		report.Skipped = err.Error()
	case errors.As(err, &died): // the library is bad, not the command line
		report.Failed = err.Error()
		x.stop() // the next shape gets a new process
	case err != nil:
		return nil, err
	}
	return report, nil
}

// start starts the library, unless it runs already.
func (x *Runner) start(ctx context.Context, library string) (err error) {
	if x.rival == nil {
		x.progress.Say("starting %s", library)
		x.rival, err = rival.Start(ctx, library, rival.Options{Timeout: x.Timeout})
	}
	return err
}

func (x *Runner) stop() {
	if x.rival != nil {
		x.rival.Close()
		x.rival = nil
	}
}

// measure prepares every case that the flags leave and times the cases in turns.
func (x *Runner) measure(ctx context.Context, report *Report) error {
	if err := x.start(ctx, report.Library); err != nil {
		return err
	}
	hello := x.rival.Hello()
	report.Hello = &hello
	defer report.free()
	var candidates []timing.Candidate
	for _, i := range hello.Implementations {
		for _, dtype := range i.DTypes {
			if !wanted(x.Implementations, i.Name) || !wanted(x.DTypes, dtype) {
				continue
			}
			x.progress.Say("%v: preparing %s %s", report.Shape, i.Name, dtype)
			found, err := x.prepare(ctx, report, rival.Case{Shape: report.Shape, Causal: x.Causal, DType: dtype, Implementation: i.Name, Seed: x.Seed})
			if err != nil {
				return err
			}
			candidates = append(candidates, found...)
		}
	}
	if len(report.Results) == 0 {
		return fmt.Errorf("--implementation and --dtype leave no implementation of %s: it has %v", report.Library, hello.Implementations)
	}
	if len(candidates) == 0 {
		return nil
	}
	plan := timing.Plan{
		Seed: x.Seed, Sensor: gpus.Sensor(hello.UUID),
		Stop: timing.Stop{Least: min(30, x.Samples), Most: x.Samples, Time: x.Time},
		Each: func(round int, _ timing.Batch) {
			x.progress.Say("%v: round %d over %s", report.Shape, round+1, english.Count(len(candidates), "case"))
		},
	}
	var err error
	report.Run, err = timing.Interleave(ctx, plan, candidates...)
	report.summarise()
	return err
}

func wanted(only []string, name string) bool { return len(only) == 0 || slices.Contains(only, name) }

// prepare adds the results of a case to the report, without their times yet.
func (x *Runner) prepare(ctx context.Context, report *Report, c rival.Case) (ready []timing.Candidate, err error) {
	p, err := x.rival.Prepare(ctx, c)
	var out *rival.Output
	if err == nil {
		report.prepared = append(report.prepared, p)
		out, err = p.Output(ctx, false)
	}
	for _, m := range x.Methods {
		res := &Result{Implementation: c.Implementation, DType: c.DType, Mode: string(m.Mode), Cache: string(m.Cache), unprepared: err != nil}
		report.Results = append(report.Results, res)
		why := err
		var candidate timing.Candidate
		if why == nil {
			res.Note, res.MaxError, res.MeanError = p.Note, out.Error.Max, out.Error.Mean
			candidate, why = p.Candidate(ctx, m.Mode, m.Cache)
		}
		switch {
		case fatal(why):
			return nil, why
		case why != nil:
			res.Why, res.Unsupported = why.Error(), errors.Is(why, rival.ErrUnsupported)
		default:
			res.index = len(report.timed)
			report.timed = append(report.timed, res)
			ready = append(ready, candidate)
		}
	}
	return ready, nil
}

// fatal reports whether the Python process answers nothing more after an error.
func fatal(err error) bool {
	var died *rival.Died
	return errors.As(err, &died) || errors.Is(err, context.Canceled)
}
