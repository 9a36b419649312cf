package fuzzrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/difffuzz"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/version"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Runner compares two devices. Its fields are the values of the flags of attest fuzz.
type Runner struct {
	Device, Against, Target, Version string
	Out                              string // the folder of finds
	Seed                             uint64
	Duration                         time.Duration // 0 means no limit
	Kernels                          int           // 0 means no limit
	Batch, Workers                   int

	options                 difffuzz.Options
	deviceName, againstName string
}

// Serve runs the batches that arrive on in. It is the process that drives the GPU: a crash
// of the driver ends only this process, not the fuzzer.
func (x *Runner) Serve(in io.Reader, out io.Writer) error {
	return difffuzz.Serve(in, out, func() (device.Device, error) { return device.Open(x.Device) })
}

// Run fuzzes. If the devices differ, it returns an error for exit code 1.
func (x *Runner) Run(ctx context.Context, env *cli.Env) error {
	if err := x.check(); err != nil {
		return err
	}
	if err := x.choose(); err != nil {
		return err
	}
	start := time.Now()
	stats, err := x.fuzz(ctx, env, start)
	if err != nil {
		return fmt.Errorf("%w; continue with --seed %d", err, stats.Next)
	}
	x.show(env, stats, time.Since(start))
	if len(stats.Finds) > 0 {
		return cli.Exit(cli.Red)
	}
	return nil
}

// fuzz runs the fuzzer and shows its progress.
func (x *Runner) fuzz(ctx context.Context, env *cli.Env, start time.Time) (difffuzz.Stats, error) {
	if x.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, x.Duration)
		defer cancel()
	}
	progress := env.StartProgress()
	defer progress.Stop()
	progress.Say("generating the first kernels")
	f := &difffuzz.Fuzzer{
		Options: x.options, Seed: x.Seed, Batch: x.Batch, Kernels: x.Kernels, Workers: x.Workers, Open: x.open,
		Found: func(find *difffuzz.Find) error {
			if err := find.Write(x.Out); err != nil {
				return fmt.Errorf("writing the find: %w", err)
			}
			progress.Print(func() { fmt.Fprintf(env.Err, "%s: %s\n", find.Path, firstLine(find.Difference.String())) })
			return nil
		},
		Progress: func(s difffuzz.Stats) {
			rate := float64(s.Kernels) / time.Since(start).Seconds()
			progress.Say("%s, %.1f per second, %s", english.Count(s.Kernels, "kernel"), rate, english.Count(len(s.Finds), "difference"))
		},
	}
	return f.Run(ctx)
}

func (x *Runner) check() error {
	t, err := ptx.ParseTarget(x.Target)
	if err != nil {
		return fmt.Errorf("--target: %w", err)
	}
	var v ptx.Version
	if n, err := fmt.Sscanf(x.Version, "%d.%d", &v.Major, &v.Minor); n != 2 || err != nil || v.String() != x.Version {
		return fmt.Errorf("--ptx %s is not a version such as 8.4", x.Version)
	}
	switch {
	case !slices.Contains(emu.Targets(), t):
		return fmt.Errorf("--target %s: kernels are generated only for %s", x.Target, strings.Join(version.Targets(), ", "))
	case v.Less(ptx.Version{Major: 7, Minor: 8}) || v.Less(t.MinVersion()):
		return fmt.Errorf("--ptx %s: kernels for sm_%d need at least 7.8, kernels for sm_90a at least 8.0", x.Version, max(t.SM, 80))
	case x.Duration < 0:
		return errors.New("--duration must not be negative")
	case x.Kernels < 0:
		return errors.New("--kernels must not be negative")
	case x.Batch < 1:
		return errors.New("--batch must be at least 1")
	case x.Workers < 1:
		return errors.New("--workers must be at least 1")
	}
	x.options = difffuzz.Options{Target: t, Version: v}
	return nil
}
