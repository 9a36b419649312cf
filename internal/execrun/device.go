package execrun

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
)

// The values of --fma.
const (
	FMAPtxas   = "ptxas"
	FMAWritten = "written"
)

// open opens the device of --device. An emulator runs a schedule and is watched.
func (x *Runner) open(seed uint64, fma string, out io.Writer, w *watch) (device.Device, error) {
	kind, arg, named := strings.Cut(x.Device, ":")
	switch {
	case kind == "emu":
		choose := func() (ptx.Target, error) { return emu.TargetFor(x.file.Module.Target) }
		if named {
			choose = func() (ptx.Target, error) { return ptx.ParseTarget(arg) }
		}
		target, err := choose()
		if err != nil {
			return nil, fmt.Errorf("--device %s: %w", x.Device, err)
		}
		opts := emu.Options{
			Schedule: seed, Output: out, MaxInstructions: x.MaxInstructions,
			Memory: int64(x.Memory), Observer: w.observer(), GuardShared: len(w.kinds) > 0, KeepGoing: len(w.kinds) > 0,
		}
		if fma == FMAWritten {
			opts.FMA = emu.FMAWritten
		}
		dev, err := emu.New(target, opts)
		if err != nil {
			return nil, fmt.Errorf("--device %s: %w", x.Device, err)
		}
		return dev, nil
	case seed != 0 || x.Schedules > 1 || x.MaxInstructions > 0:
		return nil, fmt.Errorf("--device %s: --schedule, --schedules and --max-instructions need the emulator: use --device emu", x.Device)
	}
	dev, err := device.Open(x.Device)
	if err != nil {
		return nil, fmt.Errorf("--device %s: %w", x.Device, err)
	}
	return dev, nil
}

// output is where kernels print to: the text is shown at once, or kept for the JSON.
type output struct {
	env      *cli.Env
	progress *term.Progress
	kept     bytes.Buffer
}

// of returns where the kernels of the i-th schedule print to. Only the first schedule is
// shown, since the others print the same.
func (o *output) of(i int) io.Writer {
	if i > 0 {
		return io.Discard
	}
	return o
}

func (o *output) Write(b []byte) (_ int, err error) {
	if o.env.JSON {
		return o.kept.Write(b)
	}
	// A kernel must not control the terminal.
	o.progress.Print(func() { _, err = io.WriteString(o.env, term.CleanLines(string(b))) })
	return len(b), err
}

// take returns what was kept since the last call.
func (o *output) take() string {
	s := o.kept.String()
	o.kept.Reset()
	return s
}
