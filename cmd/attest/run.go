package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/errmap"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/timing"
)

func runCommand(env *cli.Env) *cobra.Command {
	x := &runner{env: env}
	c := &cobra.Command{
		Use:   "run KERNEL --shape SHAPE",
		Short: "Run a kernel once: how far it is from float64, and how long it takes",
		Long: `Run a kernel on one shape, seed and distribution and say how far its output is from
attention in float64, over the inputs as they were and as they were quantised, beside
what a plain computation in the same precision reaches.

On a GPU the time of one launch is measured, in a replayed graph and between events,
with a warm cache. On the emulator it is PREDICTED; attest profile says more. A wrong
output is not timed. This is a look and no judgement: attest gate judges, and keeps
evidence. Exit code 1 when the output is outside of the tolerance, or memory or inputs
were changed.

JSON: {"kernel", "shape", "case": the errors, as in the evidence, "wrong": [why],
"performance": the times, as in the evidence, or null, "predicted": {"chip",
"low_us", "high_us", …} or null}.`,
		Example: `  attest run stage3b --shape mission
  attest run stage3b --shape 2,3,100,64 --seed 7 --distribution one-hot --format e4m3
  attest run --ptx mine.ptx --abi mine.json --shape 1,8,512,64 --json | jq .case.errors.max`,
		RunE: func(c *cobra.Command, args []string) error { return x.run(c, args) },
	}
	x.kernelFlags.register(c, false)
	x.campaign.register(c, false)
	shapeFlag(c, &x.shape, "small", "what is computed")
	f := c.Flags()
	f.Uint64Var(&x.seed, "seed", 0, "the seed of the inputs")
	f.StringVar(&x.distribution, "distribution", "normal", "the distribution of the inputs; attest list distributions")
	complete(c, "distribution", distributionNames()...)
	return c
}

// runner is the run command.
type runner struct {
	env *cli.Env
	kernelFlags
	campaign
	shape        string
	seed         uint64
	distribution string
}

// runReport is the JSON of run.
type runReport struct {
	Kernel      record.Kernel       `json:"kernel"`
	Shape       string              `json:"shape"`
	Device      string              `json:"device"`
	Case        *record.Case        `json:"case"`
	Wrong       []string            `json:"wrong"`
	Performance *record.Performance `json:"performance"`
	Predicted   *predict.Profile    `json:"predicted"`
}

// rowsCompared is how many rows of a large output are.
const rowsCompared = 4096

func (x *runner) run(c *cobra.Command, names []string) error {
	shape, err := parseShape(x.shape)
	if err != nil {
		return fmt.Errorf("--shape: %w", err)
	}
	if !slices.Contains(distributionNames(), x.distribution) {
		return fmt.Errorf("--distribution: no %q; attest list distributions shows them", x.distribution)
	}
	x.dim, x.want = shape.Shape.D, shape.Shape
	s, err := x.one(c, names)
	if err != nil {
		return err
	}
	if err := s.Serves(shape.Shape); err != nil {
		return fmt.Errorf("--shape: %w", err)
	}
	if err := x.open(); err != nil {
		return err
	}
	defer x.close()
	if _, err := x.fitting([]*lab.Subject{s}, false); err != nil {
		return err
	}
	progress := term.StartProgress(x.env.Err)
	defer progress.Stop()
	r, err := x.measure(c, s, shape, startSteps(progress, 1))
	if err != nil {
		return err
	}
	progress.Print(func() {
		if x.env.JSON {
			x.env.Encode(r)
		} else {
			x.print(r)
		}
	})
	if len(r.Wrong) > 0 {
		return cli.Exit(cli.Red)
	}
	return nil
}

func (x *runner) measure(c *cobra.Command, s *lab.Subject, shape problem.Named, progress *steps) (*runReport, error) {
	p := lab.Plan{
		Device: x.dev, Sensor: x.sensor, KeepGoing: true, Rows: rowsCompared,
		Cases: []lab.Case{{Shape: shape.Shape, Name: shape.Name, Seed: x.seed, Distribution: x.distribution}},
	}
	rec, err := lab.Measure(c.Context(), s, p, progress.of(s.Name))
	if err != nil {
		return nil, err
	}
	if rec.Correctness == nil || len(rec.Correctness.Cases) != 1 {
		return nil, errors.New("the case was not run")
	}
	r := &runReport{Kernel: rec.Kernel, Shape: shape.Shape.String(), Device: rec.Build.Device.Name, Case: &rec.Correctness.Cases[0]}
	r.Wrong = wrongWith(r)
	switch {
	case len(r.Wrong) > 0: // what is wrong is not fast
	case x.gpu():
		p.Times = &lab.Times{Shapes: []problem.Named{shape}, Methods: methods([]timing.Mode{timing.Graph, timing.Event}, []timing.Cache{timing.Warm}), Seed: x.seed}
		r.Performance, err = lab.Time(c.Context(), s, p, progress.of(s.Name))
	default:
		progress.Say("%s, %v: counting", s.Name, shape.Shape)
		var counted *profileReport
		if counted, err = profileOf(c.Context(), s, shape, predict.For(s.Target, nil)); err == nil {
			r.Predicted = counted.Predicted
		}
	}
	return r, err
}

// wrongWith is what the correctness gate would hold against the one case.
func wrongWith(r *runReport) []string {
	c := r.Case
	why := []string{}
	if c.Failure != "" {
		return []string{c.Failure}
	}
	for _, w := range []struct {
		is   bool
		what string
	}{
		{c.Unwritten > 0, fmt.Sprintf("%s of the output never written", term.Count(c.Unwritten, "element"))},
		{c.Overrun, "memory outside of the buffers was written"},
		{!c.InputsKept, "the inputs were changed"},
		{!c.Repeatable, "a second run gave other bits"},
	} {
		if w.is {
			why = append(why, w.what)
		}
	}
	return append(why, gate.Within(gate.Tolerance, r.Kernel.Format, r.Kernel.Config["causal"] == "true", c)...)
}

func (x *runner) print(r *runReport) {
	s := x.env.OutStyle()
	c := r.Case
	fmt.Fprintf(x.env, "%s  %s\n", s.Bold(term.Clean(r.Kernel.Name)), s.Dim(fmt.Sprintf("%s, %s%s, shape %s, %s inputs of seed %d, on %s", r.Kernel.Format, r.Kernel.Target, configured(r.Kernel), r.Shape, c.Distribution, c.Seed, r.Device)))
	if c.Errors != nil {
		t := term.Table{Indent: "  ", Right: "lrrr", Style: s}
		t.Head("error against float64 on", "max", "mean", "rms")
		for _, row := range []struct {
			name string
			e    *ref.Errors
		}{
			{"the inputs as they were", c.Errors}, {"  plain computation", c.Plain},
			{"the quantised inputs", c.Dequantised}, {"  plain computation", c.PlainDequantised},
		} {
			if row.e != nil {
				t.Row(row.name, fmt.Sprintf("%.3g", row.e.Max), fmt.Sprintf("%.3g", row.e.Mean), fmt.Sprintf("%.3g", row.e.RMSE))
			}
		}
		t.WriteTo(x.env)
	}
	if len(r.Wrong) > 0 {
		errmap.Write(x.env, s, c, gate.Tolerance.Max)
	}
	x.printTime(r)
	if len(r.Wrong) == 0 {
		fmt.Fprintf(x.env, "%s: within the tolerance, inputs and memory kept, the same bits twice\n", s.Green("ok"))
		return
	}
	for _, why := range r.Wrong {
		fmt.Fprintf(x.env, "%s: %s\n", s.Red("bad"), term.Clean(why))
	}
}

func (x *runner) printTime(r *runReport) {
	switch {
	case r.Performance != nil && r.Performance.Skipped != "":
		fmt.Fprintf(x.env, "  not timed: %s\n", term.Clean(r.Performance.Skipped))
	case r.Performance != nil:
		for i := range r.Performance.Shapes {
			t := &r.Performance.Shapes[i]
			sum := t.Summaries[0]
			fmt.Fprintf(x.env, "  %s µs (median; %s to %s), %.3g TFLOP/s; %s, %s cache\n", micros(sum.P50), micros(sum.Median.Low), micros(sum.Median.High), t.TFLOPs[0], t.Method.Mode, t.Method.Cache)
		}
	case r.Predicted != nil:
		fmt.Fprintf(x.env, "  %s %s to %s µs on %s; not measured\n", x.env.OutStyle().Yellow("PREDICTED"), micros(r.Predicted.Low), micros(r.Predicted.High), r.Predicted.Chip)
	}
}
