package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

func profileCommand(env *cli.Env) *cobra.Command {
	x := &profiler{env: env}
	c := &cobra.Command{
		Use:   "profile KERNEL",
		Short: "Where a kernel's time goes: tensor cores, arithmetic or memory",
		Long: `Say where a kernel's time goes, on one screen: how long it keeps the tensor cores,
the arithmetic units (exponentials, floats, integers, issue slots) and memory (shared,
global) busy, then by phase and by line. A part that is a few per cent of the time
cannot pay, whatever is done to it.

The figures are PREDICTED: the kernel runs once on the emulator, which counts what it
does, and the counts are divided by what the units of a chip do in a clock. They are
no measurement: throughputs without latencies, PTX without what the driver makes of
it. Two times are given, as if the busiest unit hid all the others and as if nothing
were hidden.

On a machine with a GPU and Nsight Compute (ncu), the kernel is also profiled there,
and those figures are measured. Phases are the files of the kernel's sources, or lines
where there is one file; nvcc -lineinfo gives them for other kernels.

JSON: {"kernel", "shape", "predicted": {"chip", "blocks", "low_us", "high_us",
"limit", "units": [{"unit", "us"}], "phases", "lines"}, "ncu": {"us", "tensor",
"arithmetic", "memory", "metrics"} or null, "ncu_note", "counters"}; shares of ncu are
per cent of the peak.`,
		Example: `  attest profile stage3b
  attest profile stage5 --shape long --chip H200 --format e4m3
  attest profile --ptx mine.ptx --abi mine.json --shape 1,8,512,64 --lines 20
  attest profile stage3b --json | jq '.predicted.phases[] | [.name, .share]'`,
		RunE: func(c *cobra.Command, args []string) error { return x.run(c, args) },
	}
	x.kernelFlags.register(c, false)
	x.campaign.register(c, false)
	shapeFlag(c, &x.shape, "mission", "what is computed")
	f := c.Flags()
	f.StringVar(&x.chip, "chip", "", "the GPU to predict for: A100, L4, RTX-4090, H100, H200; the one that is here when empty, or one of the kernel's target")
	f.IntVar(&x.lines, "lines", 8, "how many lines are shown")
	f.BoolVar(&x.counters, "counters", false, "show all counters too")
	var chips []string
	for _, p := range predict.Chips {
		chips = append(chips, p.Name)
	}
	complete(c, "chip", chips...)
	return c
}

// profiler is the profile command.
type profiler struct {
	env *cli.Env
	kernelFlags
	campaign
	shape    string
	chip     string
	lines    int
	counters bool
}

// profileReport is the JSON of profile.
type profileReport struct {
	Kernel    string           `json:"kernel"`
	Shape     string           `json:"shape"`
	Predicted *predict.Profile `json:"predicted"`
	NCU       *ncuProfile      `json:"ncu"`
	NCUNote   string           `json:"ncu_note"` // why there is none, or ""
	Counters  *lab.Counted     `json:"-"`
	Counts    any              `json:"counters"`
}

func (x *profiler) run(c *cobra.Command, names []string) error {
	shape, err := parseShape(x.shape)
	if err != nil {
		return fmt.Errorf("--shape: %w", err)
	}
	if x.lines < 0 {
		return errors.New("--lines must not be negative")
	}
	x.dim, x.want = shape.Shape.D, shape.Shape
	s, err := x.one(c, names)
	if err != nil {
		return err
	}
	if err := x.open(); err != nil {
		return err
	}
	defer x.close()
	chip, err := x.findChip(s)
	if err != nil {
		return err
	}
	progress := term.StartProgress(x.env.Err)
	defer progress.Stop()
	progress.Say("%s, %v: counting on the emulator", s.Name, shape.Shape)
	r, err := profileOf(c.Context(), s, shape, chip)
	if err != nil {
		return err
	}
	progress.Say("%s, %v: Nsight Compute", s.Name, shape.Shape)
	if err := x.nsight(c.Context(), s, r); err != nil {
		return err
	}
	progress.Print(func() {
		if x.env.JSON {
			x.env.Encode(r)
		} else {
			x.print(s, shape, r)
		}
	})
	return nil
}

// findChip is the chip to predict for.
func (x *profiler) findChip(s *lab.Subject) (predict.Chip, error) {
	if x.chip != "" {
		chip, err := predict.Find(x.chip)
		if err != nil {
			err = fmt.Errorf("--chip: %w", err)
		}
		return chip, err
	}
	var present *device.Info
	if x.gpu() {
		info := x.dev.Info()
		present = &info
	}
	return predict.For(s.Target, present), nil
}

// everyItem makes persistent kernels start a block for each item of work: the model
// deals the blocks out over the SMs itself.
const everyItem = 1 << 20

func profileOf(ctx context.Context, s *lab.Subject, shape problem.Named, chip predict.Chip) (*profileReport, error) {
	counted, err := lab.Count(ctx, s, shape.Shape, everyItem)
	if err != nil {
		return nil, err
	}
	work := predict.Work{Counts: counted.Counts, Blocks: counted.Launch.Grid.Norm().Count(), Bytes: counted.Bytes}
	return &profileReport{Kernel: s.Name, Shape: shape.Shape.String(), Predicted: predict.Of(work, chip), Counters: counted, Counts: counted.Counts}, nil
}

// nsight adds what Nsight Compute measures, or why it does not.
func (x *profiler) nsight(ctx context.Context, s *lab.Subject, r *profileReport) error {
	path, err := exec.LookPath("ncu")
	switch {
	case !x.gpu():
		r.NCUNote = "no GPU here"
		return nil
	case err != nil:
		r.NCUNote = "ncu is not on PATH"
		return nil
	}
	r.NCU, err = runNCU(ctx, path, x.device, s, r.Shape)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.NCUNote = err.Error() // without the right to counters there is still the prediction
	}
	return nil
}
