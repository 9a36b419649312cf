package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/findingtext"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/internal/version"
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

What a kernel prints goes to standard output. A fault, a deadlock, a mismatch, a
defect that is an error, or bits that depend on the schedule: exit code 1. Exit
code 2: it cannot be run.

--check all watches the kernel on the emulator and names defects that a GPU shows
once in a thousand runs, each with its line, its threads and, for a race, the other
access. Errors make the exit code 1, warnings do not. The kinds are

` + kindsHelp() + `

--counters prints what the kernel did, --listing its PTX with the counters beside
each line: how often warps executed it, the share of lanes that were there, bank
conflicts and sectors of global memory a request. --sarif writes the defects for
editors and CI.

JSON: {"device", "schedules", "launches": [{"entry", "ok", "compared",
"mismatches", "buffers", "defects": [{"kind", "severity", "message", "ptx_line",
"source", "block", "warp", "lanes", "address", "other", "why", "fix", …}],
"output", "stats": {"thread_instructions", "warp_instructions", "seconds"},
"counters"}]}; the comment of attest/cmd/attest has all of it.`,
		Example: `  attest exec kernel.ptx --launch launch.json
  attest exec kernel.ptx --launch launch.json --check all --schedules 4
  attest exec kernel.ptx --launch launch.json --check shared-race,deadlock
  attest exec kernel.ptx --launch launch.json --counters --listing=kernel.lst
  attest exec kernel.ptx --launch launch.json --check all --sarif kernel.sarif
  attest exec kernel.ptx --launch launch.json --device emu:sm_89 --stats
  attest exec kernel.ptx --launch launch.json --json | jq '.launches[].ok'`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 2 && x.listing == stdout {
				return errors.New("--listing takes its file with an equals sign: --listing=FILE")
			}
			if len(args) != 1 {
				return fmt.Errorf("%s given, want one; see %s --help", term.Count(len(args), "FILE"), c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return x.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	f.StringVar(&x.launch, "launch", "", "the launch file")
	f.StringVar(&x.device, "device", "emu", "where to run: emu, emu:sm_89 …, cuda:0; emu alone is the module's own target")
	f.StringVar(&x.check, "check", "none", "defects to look for, on the emulator: all, none or kinds with commas")
	f.StringVar(&x.sarif, "sarif", "", "write the defects to this file as SARIF 2.1.0")
	f.BoolVar(&x.counters, "counters", false, "count instructions, bank conflicts, sectors, divergence, bytes (emulator)")
	f.StringVar(&x.listing, "listing", "", "print the PTX with counters and defects at its lines; --listing=FILE writes it there (emulator)")
	f.Lookup("listing").NoOptDefVal = stdout
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
	sarif           string
	counters        bool
	listing         string
	schedule        uint64
	schedules       int
	stats           bool
	timeout         time.Duration
	maxInstructions uint64

	kinds    []finding.Kind // that --check names
	file     *cli.File
	launches *launchfile.File
}

// stdout is the file name that stands for standard output.
const stdout = "-"

func (x *executor) run(ctx context.Context, path string) error {
	if err := x.misuse(); err != nil {
		return err
	}
	x.file = x.env.Load(path)
	if x.file.Module == nil {
		x.file.Print(x.env)
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
	code := cli.OK
	if !report.ok() {
		code = cli.Red
	}
	if err := x.save(report, code); err != nil {
		return err
	}
	return cli.Exit(code)
}

// save writes the files that were asked for.
func (x *executor) save(r *execReport, code int) error {
	if x.listing != "" && x.listing != stdout {
		var b bytes.Buffer
		x.list(&b, term.Style{}, r)
		if err := atomicfile.Write(x.listing, b.Bytes()); err != nil {
			return fmt.Errorf("--listing: %w", err)
		}
	}
	if x.sarif == "" {
		return nil
	}
	log := findingtext.Log{
		Version: version.This().Version, File: x.file.File, Text: x.file.Text, ExitCode: code,
		Rules: slices.Concat(check.Rules, finding.Rules),
	}
	for i, l := range r.Launches {
		log.Findings = append(log.Findings, l.found.All()...)
		log.Findings = append(log.Findings, l.mismatches(i)...)
	}
	data, err := log.SARIF()
	if err == nil {
		err = atomicfile.Write(x.sarif, data)
	}
	if err != nil {
		return fmt.Errorf("--sarif: %w", err)
	}
	return nil
}

func (x *executor) misuse() (err error) {
	if x.kinds, err = parseKinds(x.check); err != nil {
		return err
	}
	kind, _, _ := strings.Cut(x.device, ":")
	switch {
	case x.launch == "":
		return errors.New("no --launch is given; see attest exec --help")
	case x.schedules < 1:
		return errors.New("--schedules must be at least 1")
	case x.timeout < 0:
		return errors.New("--timeout must not be negative")
	case x.listing == stdout && x.env.JSON:
		return errors.New("--json has standard output for itself; write the listing to a file: --listing=FILE")
	case kind != "emu" && (len(x.kinds) > 0 || x.counters || x.listing != ""):
		return fmt.Errorf("--device %s: --check, --counters and --listing watch the emulator and see nothing of a GPU; run them with --device emu", x.device)
	}
	return nil
}

// all runs the launches under every schedule. The first one is told in full; of
// the others, what they do differently and the defects that they show.
func (x *executor) all(ctx context.Context) (*execReport, error) {
	report := &execReport{Schedules: x.schedules, Launches: []*execLaunch{}}
	progress := term.StartProgress(x.env.Err)
	defer progress.Stop()
	out := &output{env: x.env, progress: progress}
	for i := range x.schedules {
		seed := x.schedule + uint64(i)
		progress.Say("schedule %d of %d: running %s", i+1, x.schedules, x.file.File)
		w := &watch{kinds: x.kinds, count: i == 0 && (x.counters || x.listing != "")}
		err := x.once(ctx, seed, out.of(i), w, func(name string, res *launchfile.Result) {
			found, counts := w.take()
			if i == 0 {
				report.Device = name
				l := newExecLaunch(res, out.take())
				l.Counters = counts
				report.Launches = append(report.Launches, l)
			} else if res.Index >= len(report.Launches) {
				return // the first schedule failed earlier
			}
			x.add(report.Launches[res.Index], res, found, seed)
		})
		if err != nil {
			return nil, err
		}
	}
	for _, l := range report.Launches {
		l.finish()
	}
	report.skipped = len(x.launches.Launches) - len(report.Launches)
	return report, nil
}

// add takes in what a schedule showed: what the checkers found, why it failed, and
// buffers that the first schedule left with other bits.
func (x *executor) add(l *execLaunch, res *launchfile.Result, found []finding.Finding, seed uint64) {
	l.add(seed, found...)
	switch first := l.result; {
	case res.Fault != nil && (first == res || first.Fault == nil):
		if !explained(found, res.Fault) {
			l.add(seed, device.FindingOf(l.Entry, res.Fault))
		}
	case res.Fault == nil && first.Fault == nil && first != res:
		l.add(seed, differences(res, first, seed, x.schedule, len(x.kinds) > 0)...)
	}
}

// once runs the launches on a device of its own.
func (x *executor) once(ctx context.Context, seed uint64, out io.Writer, w *watch, each func(string, *launchfile.Result)) error {
	dev, err := x.open(seed, out, w)
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
