package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/campaign"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/machine"
	"github.com/GOATnote-Inc/attest/internal/ncu"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/predict/timeline"
	"github.com/GOATnote-Inc/attest/internal/profile"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/timing"
)

func profileCommand(env *cli.Env) *cobra.Command {
	x := &profiler{env: env}
	c := &cobra.Command{
		Use:   "profile KERNEL",
		Short: "Show where a kernel's time goes: tensor cores, arithmetic or memory",
		Long: `Show where a kernel's time goes, on one screen.

  attest profile stage3b --shape long

It predicts the time of the kernel on any known chip and shows how long the kernel keeps the
tensor cores, the arithmetic units (exponentials, floats, integers, issue slots) and memory
(shared, global) busy. Then it shows where the time goes: what the SMs wait for, by reason,
by phase and by line. Improving a part that takes a few per cent of the time does not pay.

It also shows how many blocks fit on an SM of each known chip and what another block would
lack, on any machine. ≈ marks registers that are estimated because ptxas is not installed.

The times are PREDICTED, in microseconds. A few blocks of the kernel run on the emulator, and
a simulator replays their warps with the latencies and throughputs of the chip: issue slots,
dependences, units, shared memory, caches, copies, barriers, blocks per SM and the order of
blocks. It does not know what the driver's compiler does to the PTX. The band after the time
comes from a comparison with measured kernels; it is wider for chips that were not measured.
The floor is the time of the busiest unit, as if it hid all others.

On a machine with a GPU and Nsight Compute (ncu), the kernel is also profiled there, and
those numbers are measured: the time, the use of the units, and what warps wait for beside
what was predicted. Phases are the source files of the kernel, or its lines where
there is one file; nvcc -lineinfo gives them for other kernels. A kernel of several
launches gets a row for each launch and their sum.

With --launch, KERNEL is a PTX file that computes anything, and the launch file says how to
launch it, as for attest exec. Then there are predictions only.

--trace writes the predicted timeline of the SMs that end last as trace events: each warp is a
track with what it runs and what it waits for. Open the file at ui.perfetto.dev.

--record runs the kernel with marks on the device of this run, a GPU or the emulator, and writes
what its warps did as trace events: a slice is the time before the end of a wait for a barrier,
copies or products, with its source line. Marks are inserted into the PTX of the first launch. They
cost a few per cent of the time. The clock of the emulator counts instructions, not time.

--html writes a page with the same timeline, drawn without a network, and where the time goes.

--metrics names metrics of ncu that are collected and shown as well (ncu --query-metrics
lists them). --evidence keeps what ncu wrote as a record: every metric with its unit, the
table as it was, ncu's version and flags, the kernel, and the output of ptxas -v if ptxas is
installed. attest evidence show prints the record. It has no verdict.

JSON: one object with these fields; times are in microseconds, shares of ncu in percent of
the peak:

  "kernel", "shape"  what was profiled
  "predicted"        {"chip", "mhz", "blocks", "us", "low_us", "high_us", "floor_us",
                     "limit", "units", "reasons", "phases", "lines", "warps"}; a unit is {"unit",
                     "us"}, and phases and lines have "us", "share" and "reasons"
  "launches"         a list of {"entry", "predicted", "counters"}
  "occupancy"        a list of {"chip", "blocks_per_sm", "warps", "limit", "registers",
                     "shared", "by"}
  "stalls"           a list of {"state", "predicted", "measured", "ncu"}: shares of the time of
                     all warps in per cent, and the names of the states in ncu
  "ncu"              {"us", "tensor", "arithmetic", "memory", "stalls", "metrics", "units",
                     "version"},
                     or null
  "ncu_note"         why there is nothing of ncu
  "record"           the hash in the evidence, or ""`,
		Example: `  attest profile stage3b
  attest profile stage5 --shape long --chip H200
  attest profile hopper --trace hopper.json
  attest profile hopper --html hopper.html
  attest profile hopper --record recorded.json
  attest profile mine.ptx --shape 1,8,512,64 --lines 20
  attest profile kernel.ptx --launch launch.json --chip H200
  attest profile hopper --metrics sm__warps_active.avg,dram__bytes_read.sum --evidence .attest
  attest profile stage3b --json | jq '.predicted.phases[] | [.name, .share]'`,
		RunE: func(c *cobra.Command, args []string) error { return x.run(c.Context(), args) },
	}
	kernelFlags(c, &x.Selection)
	lengthFlags(c, &x.Selection)
	deviceFlag(c, &x.Name)
	shapeFlag(c, &x.shape, "mission", "what is computed")
	chipFlag(c, &x.chip, "GPU to predict for", "the GPU of this machine, or one of the kernel's target")
	launchFlag(c, &x.launch)
	f := c.Flags()
	f.StringVar(&x.cache, "cache", string(timing.Warm), "where the operands are at the start of the predicted run: warm (in the L2) or cold (in DRAM)")
	complete(c, "cache", string(timing.Warm), string(timing.Cold))
	f.StringVar(&x.trace, "trace", "", "file for the predicted timeline of one SM or cluster, for ui.perfetto.dev")
	f.StringVar(&x.record, "record", "", "file for the timeline that the kernel records on the device of this run, for ui.perfetto.dev")
	f.StringVar(&x.html, "html", "", "file for a page with the predicted timeline and where the time goes")
	f.IntVar(&x.text.Lines, "lines", 8, "number of source lines to show")
	f.StringSliceVar(&x.metrics, "metrics", nil, "metrics of Nsight Compute to collect and show as well, with commas")
	keepFlag(c, &x.Dir, "", "what Nsight Compute measures")
	f.BoolVar(&x.text.Counters, "counters", false, "also show all counters")
	return c
}

// profiler is the profile command.
type profiler struct {
	env *cli.Env
	campaign.Selection
	machine.Machine
	campaign.Keeper
	shape   problem.Named
	chip    string
	metrics []string
	trace   string // file
	record  string // file
	html    string // file
	launch  string // launch file
	cache   string // warm or cold
	text    profile.Text
}

func (x *profiler) run(ctx context.Context, names []string) error {
	if x.text.Lines < 0 {
		return errors.New("--lines must not be negative")
	}
	if x.cache != string(timing.Warm) && x.cache != string(timing.Cold) {
		return fmt.Errorf("--cache %s: use warm or cold", x.cache)
	}
	if err := ncu.CheckMetrics(x.metrics); err != nil {
		return fmt.Errorf("--metrics: %w", err)
	}
	progress := x.env.StartProgress()
	defer progress.Stop()
	if x.launch != "" && x.record != "" {
		return errors.New("--record needs a kernel with a contract; --launch gives predictions only")
	}
	if x.launch != "" {
		return x.runLaunch(ctx, names, progress)
	}
	if err := x.Open(); err != nil {
		return err
	}
	defer x.Close()
	if err := x.OpenStore(); err != nil {
		return err
	}
	progress.Say("building the kernel")
	x.On(&x.Machine)
	s, err := x.OneFor(x.shape, names)
	if err != nil {
		return err
	}
	chip, err := x.findChip(s)
	if err != nil {
		return err
	}
	progress.Say("%s, %v: simulating", s.Name, x.shape.Shape)
	o := x.options()
	r, err := profile.Of(ctx, s, x.shape, chip, o)
	if err != nil {
		return err
	}
	if err := x.writeTimeline(r, o.Timeline); err != nil {
		return err
	}
	if err := x.recordTimeline(ctx, s, progress); err != nil {
		return err
	}
	if err := r.Fit(ctx); err != nil {
		return err
	}
	progress.Say("%s, %v: Nsight Compute", s.Name, x.shape.Shape)
	if err := r.Measure(ctx, &x.Machine, x.metrics); err != nil {
		return err
	}
	if err := x.keep(ctx, s, r); err != nil {
		return err
	}
	progress.Print(func() { x.print(r) })
	return nil
}

// writeTimeline writes the timeline to the files of --trace and --html.
func (x *profiler) writeTimeline(r *profile.Report, t *timeline.Timeline) error {
	var text bytes.Buffer
	if x.trace != "" {
		if err := t.Write(&text); err != nil {
			return err
		}
		if err := atomicfile.Write(x.trace, text.Bytes()); err != nil {
			return err
		}
	}
	if x.html == "" {
		return nil
	}
	text.Reset()
	if err := r.WriteHTML(&text, t); err != nil {
		return err
	}
	return atomicfile.Write(x.html, text.Bytes())
}

// recordTimeline runs the kernel with marks and writes what it recorded, if --record names a file.
func (x *profiler) recordTimeline(ctx context.Context, s *lab.Subject, progress *term.Progress) error {
	if x.record == "" {
		return nil
	}
	progress.Say("%s, %v: recording", s.Name, x.shape.Shape)
	var text bytes.Buffer
	if err := profile.Record(ctx, x.Device, s, x.shape.Shape, &text); err != nil {
		return fmt.Errorf("--record: %w", err)
	}
	return atomicfile.Write(x.record, text.Bytes())
}

// keep keeps what Nsight Compute measured, if --evidence names a folder.
func (x *profiler) keep(ctx context.Context, s *lab.Subject, r *profile.Report) error {
	if x.Dir == "" {
		return nil
	}
	p, err := r.Record()
	if err != nil {
		return err
	}
	r.Hash, err = x.KeepProfile(ctx, s, &x.Machine, p)
	return err
}

// findChip returns the chip to predict for.
func (x *profiler) findChip(s *lab.Subject) (chips.Chip, error) {
	if x.chip == "" && x.GPU() {
		info := x.Device.Info()
		return chips.For(s.Target, &info), nil
	}
	return chipOf(x.chip, s.Target)
}

// chipOf returns the chip that --chip names, or else a common one of a target.
func chipOf(name string, target ptx.Target) (chips.Chip, error) {
	if name == "" {
		return chips.For(target, nil), nil
	}
	chip, err := chips.Find(name)
	if err == nil {
		err = chip.Runs(target)
	}
	if err != nil {
		err = fmt.Errorf("--chip: %w", err)
	}
	return chip, err
}

// launchedWorks returns the launches of a launch file and the chip to predict them for.
func launchedWorks(ctx context.Context, names []string, launch, chip string) ([]predict.Work, chips.Chip, error) {
	if len(names) != 1 || filepath.Ext(names[0]) != ".ptx" {
		return nil, chips.Chip{}, errors.New("--launch describes launches of one PTX file: name the file as KERNEL")
	}
	works, err := profile.LaunchedWorks(ctx, names[0], launch)
	if err != nil {
		return nil, chips.Chip{}, err
	}
	c, err := chipOf(chip, works[0].Trace.Module.Target)
	for i := range works {
		if err == nil {
			if err = works[i].Runs(c); err != nil {
				err = fmt.Errorf("--chip: %w", err)
			}
		}
	}
	return works, c, err
}

// runLaunch predicts the launches of a launch file.
func (x *profiler) runLaunch(ctx context.Context, names []string, progress *term.Progress) error {
	works, chip, err := launchedWorks(ctx, names, x.launch, x.chip)
	if err != nil {
		return err
	}
	o := x.options()
	r := profile.OfLaunches(names[0], works, chip, o)
	if err := x.writeTimeline(r, o.Timeline); err != nil {
		return err
	}
	progress.Print(func() { x.print(r) })
	return nil
}

// options returns what the report contains.
func (x *profiler) options() profile.Options {
	o := profile.Options{Counters: x.text.Counters || x.env.JSON, Cold: x.cache == string(timing.Cold)}
	if x.trace != "" || x.html != "" {
		o.Timeline = &timeline.Timeline{}
	}
	return o
}

// print writes the report.
func (x *profiler) print(r *profile.Report) {
	if x.env.JSON {
		x.env.Encode(r)
		return
	}
	r.WriteText(x.env, x.env.OutStyle(), x.text)
	if r.Hash != "" {
		fmt.Fprintf(x.env, "\nevidence  record %s in %s\n", r.Hash[:12], x.Dir)
	}
}
