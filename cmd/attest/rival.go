package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/gpus"
	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/timing"
)

func rivalCommand(env *cli.Env) *cobra.Command {
	x := &rivals{env: env}
	c := &cobra.Command{
		Use:   "rival " + strings.Join(rival.Libraries, "|"),
		Short: "Time the attention of another library on this GPU",
		Long: `Time the attention of PyTorch (SDPA: flash, cudnn, efficient, math), of
FlashAttention-3 (its flash_attn_interface, in 16 bits and FP8), of Triton (a fused
kernel that comes with attest, in 16 bits and FP8) or of JAX (cuDNN, in 16 bits and
FP8) on this machine's GPU, through the Python that is installed.

All implementations take turns in random order, in one process. A figure is the
time of one launch: "graph" is many launches in a graph, replayed, divided by their
number; "event" is one launch between two events. "warm" uses the same buffers
again, "cold" others, or flushes the L2 cache. JAX has neither: its "graph" is a
compiled loop by the host's clock. Inputs are N(0,1). The error is the largest against
float64 on the inputs as the library got them. TFLOP/s count 4·B·H·Sq·Skv·D, half for
causal.

Without Python, the library or a GPU there is nothing to time: the command says so
and exits with 0. A library that does not serve a case says why. Exit code 1: one
failed where it should not have.

JSON, one object a shape: {"library", "skipped", "hello", "shape", "causal", "seed",
"results": [{"implementation", "dtype", "mode", "cache", "note", "why", "summary", "tflops",
"max_error", "mean_error"}], "run"}; "run" has every sample, in the order taken.`,
		Example: `  attest rival torch --shape 1,8,512,64
  attest rival triton --shape mission --shape long --dtype e4m3,e5m2
  attest rival fa3 --shape big128 --shape 4,32/4,4096,128 --causal
  attest rival jax --shape big128 --mode graph --json | jq '.results[].tflops'
  ATTEST_PYTHON=~/venv/bin/python attest rival torch --shape long --cache warm,cold`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(rival.Libraries, args[0]) {
				return fmt.Errorf("give one of %s; see %s --help", strings.Join(rival.Libraries, ", "), c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return x.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	f.StringArrayVar(&x.shapes, "shape", []string{"mission"}, "B,H,S,D (H may be Hq/Hkv, S may be Sq/Skv) or a name: small, mission, mission256, long, big64, big128, huge64, huge128; may be repeated")
	f.BoolVar(&x.causal, "causal", false, "hide keys after the query")
	f.StringSliceVar(&x.implementations, "implementation", nil, "only these implementations")
	f.StringSliceVar(&x.dtypes, "dtype", nil, "only these types: f16, bf16, e4m3, e5m2")
	f.StringSliceVar(&x.modes, "mode", []string{"graph", "event"}, "how a launch is timed: graph, event")
	f.StringSliceVar(&x.caches, "cache", []string{"warm"}, "what is in the L2 cache: warm, cold")
	f.Uint64Var(&x.seed, "seed", 0, "the seed of the inputs and of the order")
	f.IntVar(&x.samples, "samples", 100, "how many samples each gets at most")
	f.DurationVar(&x.time, "time", 20*time.Second, "how long is measured at most")
	f.DurationVar(&x.timeout, "timeout", 5*time.Minute, "how long Python may take for one answer")
	return c
}

// rivals is the rival command.
type rivals struct {
	env                                    *cli.Env
	shapes                                 []string
	implementations, dtypes, modes, caches []string
	causal                                 bool
	seed                                   uint64
	samples                                int
	time, timeout                          time.Duration

	progress *term.Progress
	rival    *rival.Rival // nil while none runs
}

func (x *rivals) run(ctx context.Context, library string) error {
	var shapes []problem.Shape
	for _, text := range x.shapes {
		shape, err := problem.ParseShape(text)
		if err != nil {
			return fmt.Errorf("--shape: %w", err)
		}
		shapes = append(shapes, shape)
	}
	if err := x.misuse(); err != nil {
		return err
	}
	x.progress = term.StartProgress(x.env.Err)
	defer x.progress.Stop()
	defer x.stop()
	code := cli.OK
	for i, shape := range shapes {
		report, err := x.one(ctx, library, shape)
		if err != nil {
			return err
		}
		if report.failed() {
			code = cli.Red
		}
		x.progress.Print(func() { report.show(x.env, i > 0) })
		if report.Skipped != "" {
			break // the other shapes would be too
		}
	}
	return cli.Exit(code)
}

// one measures one shape. What goes wrong with the library is in the report.
func (x *rivals) one(ctx context.Context, library string, shape problem.Shape) (*rivalReport, error) {
	report := &rivalReport{Library: library, Shape: shape, Causal: x.causal, Seed: x.seed, Results: []*rivalResult{}}
	err := x.measure(ctx, report)
	var died *rival.Died
	switch {
	case errors.Is(err, rival.ErrMissing):
		report.Skipped = err.Error()
	case errors.As(err, &died): // it is the library that is bad, not the command line
		report.Failed = err.Error()
		x.stop() // the next shape gets a new one
	case err != nil:
		return nil, err
	}
	return report, nil
}

// start starts the library, unless it runs already.
func (x *rivals) start(ctx context.Context, library string) (err error) {
	if x.rival == nil {
		x.progress.Say("starting %s", library)
		x.rival, err = rival.Start(ctx, library, rival.Options{Timeout: x.timeout})
	}
	return err
}

func (x *rivals) stop() {
	if x.rival != nil {
		x.rival.Close()
		x.rival = nil
	}
}

func (x *rivals) misuse() error {
	for _, m := range x.modes {
		if m != string(timing.Graph) && m != string(timing.Event) {
			return fmt.Errorf("--mode %s: use graph or event", m)
		}
	}
	for _, c := range x.caches {
		if c != string(timing.Warm) && c != string(timing.Cold) {
			return fmt.Errorf("--cache %s: use warm or cold", c)
		}
	}
	if x.samples < 1 || x.time <= 0 || x.timeout <= 0 {
		return errors.New("--samples, --time and --timeout must be above 0")
	}
	return nil
}

// measure prepares every case that the flags leave and times them in turns.
func (x *rivals) measure(ctx context.Context, report *rivalReport) error {
	if err := x.start(ctx, report.Library); err != nil {
		return err
	}
	hello := x.rival.Hello()
	report.Hello = &hello
	defer report.free()
	var candidates []timing.Candidate
	for _, i := range hello.Implementations {
		for _, dtype := range i.DTypes {
			if !wanted(x.implementations, i.Name) || !wanted(x.dtypes, dtype) {
				continue
			}
			x.progress.Say("%v: preparing %s %s", report.Shape, i.Name, dtype)
			found, err := x.prepare(ctx, report, rival.Case{Shape: report.Shape, Causal: x.causal, DType: dtype, Implementation: i.Name, Seed: x.seed})
			if err != nil {
				return err
			}
			candidates = append(candidates, found...)
		}
	}
	if len(report.Results) == 0 {
		return fmt.Errorf("%s has none of what --implementation and --dtype leave: it has %v", report.Library, hello.Implementations)
	}
	if len(candidates) == 0 {
		return nil
	}
	plan := timing.Plan{
		Seed: x.seed, Sensor: gpus.Sensor(hello.UUID),
		Stop: timing.Stop{Least: min(30, x.samples), Most: x.samples, Time: x.time},
		Each: func(round int, _ timing.Batch) {
			x.progress.Say("%v: round %d over %s", report.Shape, round+1, term.Count(len(candidates), "case"))
		},
	}
	var err error
	report.Run, err = timing.Interleave(ctx, plan, candidates...)
	report.summarise()
	return err
}

func wanted(only []string, name string) bool { return len(only) == 0 || slices.Contains(only, name) }

// prepare adds the results of a case to the report, without their times yet.
func (x *rivals) prepare(ctx context.Context, report *rivalReport, c rival.Case) (ready []timing.Candidate, err error) {
	p, err := x.rival.Prepare(ctx, c)
	var out *rival.Output
	if err == nil {
		report.prepared = append(report.prepared, p)
		out, err = p.Output(ctx, false)
	}
	for _, mode := range x.modes {
		for _, cache := range x.caches {
			res := &rivalResult{Implementation: c.Implementation, DType: c.DType, Mode: mode, Cache: cache, unprepared: err != nil}
			report.Results = append(report.Results, res)
			why := err
			var candidate timing.Candidate
			if why == nil {
				res.Note, res.MaxError, res.MeanError = p.Note, out.Error.Max, out.Error.Mean
				candidate, why = p.Candidate(ctx, timing.Mode(mode), timing.Cache(cache))
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
	}
	return ready, nil
}

// fatal errors are those after which the Python answers nothing more.
func fatal(err error) bool {
	var died *rival.Died
	return errors.As(err, &died) || errors.Is(err, context.Canceled)
}
