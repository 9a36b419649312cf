package execrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/findingtext"
	"github.com/GOATnote-Inc/attest/internal/limited"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/internal/version"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// Runner runs the launches of a file under one or several schedules. Its exported fields are
// the values of the flags of attest exec.
type Runner struct {
	Launch          string // the launch file
	Device          string
	Check           string // all, none or kinds with commas
	SARIF           string // the file of findings, "" for none
	Counters        bool
	Listing         string // the file of the listing, [Stdout], or "" for none
	Schedule        uint64
	Schedules       int
	Stats           bool
	Timeout         time.Duration
	MaxInstructions uint64
	Root            string    // the folder of the files that the launch file names, "" for that of the launch file
	Memory          cli.Bytes // the memory limit of the process; 0 is no limit
	FMA             string    // FMAPtxas or FMAWritten; "" is FMAPtxas

	env      *cli.Env
	kinds    []finding.Kind // the kinds that Check names
	file     *cli.File
	launches *launchfile.File

	others     map[string]*cli.File // PTX files that the launch file names
	launchText []byte
	files      *files
}

// Stdout is the name that stands for standard output.
const Stdout = "-"

// Run runs the kernels of a PTX file. The error asks for exit code 1 when a launch fails,
// a buffer differs or a checker finds an error, and for 2 when the kernels cannot be run.
func (x *Runner) Run(ctx context.Context, env *cli.Env, path string) error {
	x.env = env
	if err := x.misuse(); err != nil {
		return err
	}
	x.file = x.env.Load(path)
	if x.file.Module == nil {
		x.file.Print(x.env)
		return cli.Exit(cli.Misuse)
	}
	if err := x.readLaunches(); err != nil {
		return err
	}
	defer x.files.root.Close()
	within, cancel := limitMemory(ctx, int64(x.Memory))
	defer cancel()
	report, err := x.all(within)
	var invalid *verify.Invalid
	var bug *device.Bug
	switch memory := memoryLimit(0); {
	case errors.As(context.Cause(within), &memory):
		return memory
	case errors.As(err, &bug):
		return x.describe(bug)
	case errors.As(err, &invalid):
		x.file.Add(invalid.Findings...)
		x.file.Print(x.env)
		return cli.Exit(cli.Misuse)
	case err != nil:
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

// readLaunches reads the launch file and opens the folder of the files that it names.
func (x *Runner) readLaunches() (err error) {
	if x.launchText, err = limited.ReadFile(x.Launch, limited.Small); err != nil {
		return fmt.Errorf("--launch: %w", err)
	}
	if x.launches, err = launchfile.Parse(x.Launch, x.launchText); err != nil {
		return err
	}
	most := int64(x.Memory)
	if most == 0 {
		most = math.MaxInt64 - 1
	}
	if x.files, err = openFiles(x.Root, x.Launch, most); err != nil {
		return err
	}
	x.files.protect(x.Launch)
	x.files.protect(x.file.Path)
	return nil
}

// save writes the files of --listing and --sarif.
func (x *Runner) save(r *Report, code int) error {
	if x.Listing != "" && x.Listing != Stdout {
		var b bytes.Buffer
		x.list(&b, term.Style{}, r)
		if err := atomicfile.Write(x.Listing, b.Bytes()); err != nil {
			return fmt.Errorf("--listing: %w", err)
		}
	}
	if x.SARIF == "" {
		return nil
	}
	data, err := findingtext.SARIF(x.logs(r, code)...)
	if err == nil {
		err = atomicfile.Write(x.SARIF, data)
	}
	if err != nil {
		return fmt.Errorf("--sarif: %w", err)
	}
	return nil
}

// logs returns what was found in each PTX file.
func (x *Runner) logs(r *Report, code int) (logs []*findingtext.Log) {
	of := map[*cli.File]*findingtext.Log{}
	add := func(f *cli.File) *findingtext.Log {
		if of[f] == nil {
			of[f] = &findingtext.Log{
				Version: version.This().Version, File: f.File, Text: f.Text, ExitCode: code,
				Rules: slices.Concat(check.Rules(), finding.Rules),
			}
			logs = append(logs, of[f])
		}
		return of[f]
	}
	add(x.file)
	for i, l := range r.Launches {
		log := add(x.fileOf(l))
		log.Findings = append(log.Findings, l.found.All()...)
		log.Findings = append(log.Findings, l.mismatches(i)...)
	}
	return logs
}

func (x *Runner) misuse() (err error) {
	if x.kinds, err = cli.ParseKinds(x.Check); err != nil {
		return err
	}
	kind, _, _ := strings.Cut(x.Device, ":")
	switch {
	case x.Launch == "":
		return errors.New("no --launch is given: name the file that describes the launch; attest exec --help explains it")
	case x.Schedules < 1:
		return errors.New("--schedules must be at least 1")
	case x.Memory < 0:
		return errors.New("--memory must not be negative")
	case x.FMA != "" && x.FMA != FMAPtxas && x.FMA != FMAWritten:
		return fmt.Errorf("--fma %s: use ptxas or written", x.FMA)
	case x.Timeout < 0:
		return errors.New("--timeout must not be negative")
	case x.Listing == Stdout && x.env.JSON:
		return errors.New("--json has standard output for itself; write the listing to a file: --listing=FILE")
	case kind != "emu" && (len(x.kinds) > 0 || x.Counters || x.Listing != ""):
		return fmt.Errorf("--device %s: --check, --counters and --listing watch the emulator and see nothing of a GPU; run them with --device emu", x.Device)
	}
	return nil
}

// all runs the launches under every schedule. The report has the first schedule in full,
// and of the others what they do differently and what the checkers find.
func (x *Runner) all(ctx context.Context) (*Report, error) {
	report := &Report{Schedules: x.Schedules, Launches: []*Launch{}}
	progress := x.env.StartProgress()
	defer progress.Stop()
	out := &output{env: x.env, progress: progress}
	for i := range x.Schedules {
		seed := x.Schedule + uint64(i)
		progress.Say("schedule %d of %d: running %s", i+1, x.Schedules, x.file.File)
		w := &watch{kinds: x.kinds, count: i == 0 && (x.Counters || x.Listing != "")}
		err := x.once(ctx, seed, x.FMA, out.of(i), w, func(name string, res *launchfile.Result) {
			found, counts := w.take()
			if i == 0 {
				report.Device = name
				l := newLaunch(res, out.take())
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
	if err := x.tryOtherFMA(ctx, report); err != nil {
		return nil, err
	}
	report.skipped = len(x.launches.Launches) - len(report.Launches)
	return report, nil
}

// add adds what a schedule showed: what the checkers found, why a launch failed, and the
// buffers whose bits differ from those of the first schedule.
func (x *Runner) add(l *Launch, res *launchfile.Result, found []finding.Finding, seed uint64) {
	l.add(seed, found...)
	switch first := l.result; {
	case res.Fault != nil && (first == res || first.Fault == nil):
		if !explained(found, res.Fault) {
			l.add(seed, device.FindingOf(l.Entry, res.Fault))
		}
	case res.Fault == nil && first.Fault == nil && first != res:
		l.add(seed, differences(res, first, seed, x.Schedule, len(x.kinds) > 0)...)
	}
}

// once runs the launches under one schedule and one mode of --fma, on a device of its own. The
// error is a *device.Bug if the emulator, a checker or a counter fails.
func (x *Runner) once(ctx context.Context, seed uint64, fma string, out io.Writer, w *watch, each func(string, *launchfile.Result)) (err error) {
	defer device.CatchBug(&err)
	dev, err := x.open(seed, fma, out, w)
	if err != nil {
		return err
	}
	defer dev.Close()
	mod, err := x.load(ctx, dev, x.file)
	if err != nil {
		return err
	}
	defer mod.Close()
	more := modules{x: x, dev: dev, loaded: map[string]device.Module{}}
	defer more.close()
	load := func(name string) (device.Module, error) { return more.load(ctx, name) }
	r := launchfile.Runner{Device: dev, Module: mod, Load: load, Timeout: x.Timeout, Keep: x.Schedules > 1, Read: x.files.Read}
	if seed == x.Schedule && fma == x.FMA {
		r.Save = x.files.Save
	}
	var failed error
	err = r.Run(ctx, x.launches, func(res *launchfile.Result) {
		if bug := (*device.Bug)(nil); errors.As(res.Fault, &bug) {
			failed = bug
			return
		}
		each(dev.Info().Name, res)
	})
	return errors.Join(err, failed)
}
