package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"attest/device/launchfile"
	"attest/internal/atomicfile"
	"attest/internal/cli"
	"attest/internal/diag"
	"attest/internal/term"
)

func execCommand(env *cli.Env) *cobra.Command {
	x := &executor{env: env}
	c := &cobra.Command{
		Use:   "exec FILE --launch LAUNCH.json",
		Short: "Run kernels and compare what they write",
		Long: `Run the kernels of a PTX file as a launch file says, on the emulator or a GPU, and
compare the buffers they write with what is expected.

A launch file is one launch or a list of them, in JSON:

  {"entry": "saxpy", "grid": [4], "block": [256], "shared": 0,
   "params": [
     {"buffer": "x.bin"},                      a device buffer with a file's bytes
     {"buffer": "y.bin", "expect": "out.bin"}, and what it must hold afterwards
     {"f32": 2.5}, {"u32": 1024}]}             values; also "bytes": "hex"

Other buffers are {"zeros": N} and {"poison": N} of N bytes; a {"tensormap": {…}}
describes one to the copy engine. A buffer with a "name" is there for later
launches as {"ref": "name"}. "type", "abs", "rel" and "ulp" loosen "expect";
"save": "file" writes the buffer out. Files are named relative to the launch file.
The package comment of attest/device/launchfile has it all.

What a kernel prints goes to standard output. A fault, a deadlock, a mismatch, or
bits that depend on the schedule: exit code 1. Exit code 2: it cannot be run.

JSON: {"device", "schedules", "launches": [{"entry", "ok", "compared",
"mismatches", "buffers", "defects": [{"kind", "severity", "message", "ptx_line",
"source", …}], "output", "stats": {"thread_instructions", "warp_instructions",
"seconds"}}]}.`,
		Example: `  attest exec kernel.ptx --launch launch.json
  attest exec kernel.ptx --launch launch.json --device emu:sm_89 --stats
  attest exec kernel.ptx --launch launch.json --schedules 8
  attest exec kernel.ptx --launch launch.json --json | jq '.launches[].ok'`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s given, want one; see %s --help", count(len(args), "FILE"), c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return x.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	f.StringVar(&x.launch, "launch", "", "the launch file")
	f.StringVar(&x.device, "device", "emu", "where to run: emu, emu:sm_89 …, cuda:0; emu alone is the module's own target")
	f.StringVar(&x.check, "check", "none", "checkers to run with: all, none or a list with commas")
	f.Uint64Var(&x.schedule, "schedule", 0, "the seed of the order in which warps run; 0 is the natural order")
	f.IntVar(&x.schedules, "schedules", 1, "try so many schedules, and demand the same bits of all")
	f.BoolVar(&x.stats, "stats", false, "say how many instructions ran and how long it took")
	f.DurationVar(&x.timeout, "timeout", 5*time.Minute, "how long a launch may take; 0 is for ever")
	f.Uint64Var(&x.maxInstructions, "max-instructions", 0, "how many instructions a warp may run; 0 is the emulator's own limit")
	return c
}

// executor is the exec command.
type executor struct {
	env             *cli.Env
	launch          string
	device          string
	check           string
	schedule        uint64
	schedules       int
	stats           bool
	timeout         time.Duration
	maxInstructions uint64

	file     *cli.File
	launches *launchfile.File
}

func (x *executor) run(ctx context.Context, path string) error {
	if err := x.misuse(); err != nil {
		return err
	}
	x.file = x.env.Load(path)
	if x.file.Module == nil {
		diag.Print(x.env.Err, x.env.ErrStyle(), &x.file.Report, x.file.Text)
		return cli.Exit(cli.Misuse)
	}
	text, err := os.ReadFile(x.launch)
	if err != nil {
		return err
	}
	if x.launches, err = launchfile.Parse(x.launch, text); err != nil {
		return err
	}
	report, err := x.all(ctx)
	if err != nil {
		return err
	}
	if x.env.JSON {
		x.env.Encode(report)
	} else {
		x.print(report)
	}
	if !report.ok() {
		return cli.Exit(cli.Red)
	}
	return nil
}

func (x *executor) misuse() error {
	switch {
	case x.launch == "":
		return errors.New("no --launch is given; see attest exec --help")
	case x.schedules < 1:
		return errors.New("--schedules must be at least 1")
	case x.timeout < 0:
		return errors.New("--timeout must not be negative")
	case x.check == "all":
		fmt.Fprintln(x.env.Err, "attest: this build has no checkers: --check all checks nothing")
	case x.check != "none":
		return fmt.Errorf("--check %s: this build has no checkers; only all and none are understood", x.check)
	}
	return nil
}

// all runs the launches under every schedule. The first one is told in full; of
// the others, what they do differently.
func (x *executor) all(ctx context.Context) (*execReport, error) {
	report := &execReport{Schedules: x.schedules, Launches: []*execLaunch{}}
	progress := term.StartProgress(x.env.Err)
	defer progress.Stop()
	out := &output{env: x.env, progress: progress}
	var first []*launchfile.Result
	for i := range x.schedules {
		seed := x.schedule + uint64(i)
		progress.Say("schedule %d of %d: running %s", i+1, x.schedules, x.file.File)
		err := x.once(ctx, seed, out.of(i), func(name string, res *launchfile.Result) {
			switch {
			case i == 0:
				report.Device = name
				first = append(first, res)
				report.Launches = append(report.Launches, newExecLaunch(res, out.take(), seed))
			case res.Index < len(first): // the first schedule may have failed earlier
				report.Launches[res.Index].compare(res, first[res.Index], seed, x.schedule)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	report.skipped = len(x.launches.Launches) - len(report.Launches)
	return report, nil
}

// once runs the launches on a device of its own.
func (x *executor) once(ctx context.Context, seed uint64, out io.Writer, each func(string, *launchfile.Result)) error {
	dev, err := x.open(seed, out)
	if err != nil {
		return err
	}
	defer dev.Close()
	mod, err := dev.Load(x.file.File, x.file.Text)
	if err != nil {
		return err
	}
	defer mod.Close()
	r := launchfile.Runner{Device: dev, Module: mod, Timeout: x.timeout, Keep: x.schedules > 1}
	r.Read = func(name string) ([]byte, error) { return os.ReadFile(x.beside(name)) }
	if seed == x.schedule {
		r.Save = func(name string, data []byte) error { return atomicfile.Write(x.beside(name), data) }
	}
	return r.Run(ctx, x.launches, func(res *launchfile.Result) { each(dev.Info().Name, res) })
}

// beside is a path as the launch file means it.
func (x *executor) beside(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(x.launch), filepath.FromSlash(name))
}
