package main

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

// open opens the device that the flags name, with a schedule, watched.
func (x *executor) open(seed uint64, out io.Writer, w *watch) (device.Device, error) {
	kind, arg, named := strings.Cut(x.device, ":")
	switch {
	case kind == "emu":
		choose := func() (ptx.Target, error) { return emu.TargetFor(x.file.Module.Target) }
		if named {
			choose = func() (ptx.Target, error) { return ptx.ParseTarget(arg) }
		}
		target, err := choose()
		if err != nil {
			return nil, fmt.Errorf("--device %s: %w", x.device, err)
		}
		dev, err := emu.New(target, emu.Options{
			Schedule: seed, Output: out, MaxInstructions: x.maxInstructions,
			Observer: w.observer(), GuardShared: len(w.kinds) > 0,
		})
		if err != nil {
			return nil, fmt.Errorf("--device %s: %w", x.device, err)
		}
		return dev, nil
	case seed != 0 || x.schedules > 1 || x.maxInstructions > 0:
		return nil, fmt.Errorf("--device %s: schedules and limits of instructions are the emulator's", x.device)
	}
	dev, err := device.Open(x.device)
	if err != nil {
		return nil, fmt.Errorf("--device %s: %w", x.device, err)
	}
	return dev, nil
}

// output is what kernels print: shown at once, or kept for the JSON.
type output struct {
	env      *cli.Env
	progress *term.Progress
	kept     bytes.Buffer
}

// of is where the kernels of the i-th schedule print: the first is shown, the
// others print the same.
func (o *output) of(i int) io.Writer {
	if i > 0 {
		return io.Discard
	}
	return o
}

func (o *output) Write(b []byte) (n int, err error) {
	if o.env.JSON {
		return o.kept.Write(b)
	}
	o.progress.Print(func() { n, err = o.env.Write(b) })
	return n, err
}

// take is what was kept since the last time.
func (o *output) take() string {
	s := o.kept.String()
	o.kept.Reset()
	return s
}
