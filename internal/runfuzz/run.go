package runfuzz

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/device/emu/cover"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/internal/findingtext"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// Outcome is how far a text came.
type Outcome int

// The outcomes.
const (
	Refused  Outcome = iota // it does not parse, or an assembler refuses it
	Unloaded                // the emulator refuses it
	Ran                     // at least one kernel was launched
)

// The size of the launches. Two warps race with each other, and two blocks do. Kernels of the
// corpus that end need fewer than 300 instructions. Mutants often do not end, and the checkers
// remember more with each round of a loop.
const (
	blocks, threads = 2, 64
	bufferBytes     = 4096
	shared          = 2048
	mostSteps       = 1000        // instructions of a warp
	mostTime        = time.Minute // far more than a launch takes on a busy machine
)

// Run loads a text and runs its kernels with all checkers, counters and the recorder of
// coverage. The error is a *device.Bug if attest fails, and another error if it hangs. Refusals
// of the text and failures of its kernels are not errors.
func Run(ctx context.Context, text string, schedule uint64) (out Outcome, err error) {
	defer device.CatchBug(&err)
	m, err := parse.Parse("k.ptx", text)
	if err != nil {
		return Refused, nil
	}
	verify.Check(m) // must not panic, whatever it finds
	target, err := emu.TargetFor(m.Target)
	if err != nil {
		return Refused, nil
	}
	watch := &watch{}
	dev, err := emu.New(target, emu.Options{
		Schedule: schedule, Memory: 1 << 28, Output: io.Discard, MaxInstructions: mostSteps,
		Observer: watch, GuardShared: true, KeepGoing: true,
	})
	if err != nil {
		return Unloaded, err
	}
	start := time.Now()
	mod, err := dev.Load("k.ptx", text)
	var bug *device.Bug
	var invalid *verify.Invalid
	switch {
	case errors.As(err, &bug):
		return Unloaded, err
	case time.Since(start) > mostTime:
		return Unloaded, fmt.Errorf("loading took %v", time.Since(start))
	case errors.As(err, &invalid):
		return Refused, nil
	case err != nil:
		return Unloaded, nil
	}
	defer mod.Close()
	for _, f := range m.Funcs() {
		if !f.Entry {
			continue
		}
		if err := launch(ctx, dev, mod, f, watch, text); err != nil {
			return Ran, err
		}
		out = Ran
	}
	return out, nil
}

// launch runs one kernel and renders what was observed.
func launch(ctx context.Context, dev *emu.Device, mod device.Module, f *ptx.Func, w *watch, text string) error {
	k, err := mod.Kernel(f.Sym.Name)
	if err != nil {
		return nil // it uses what the emulator does not support
	}
	ps, _ := params(dev, k.Info())
	l := device.Launch{Grid: device.D(blocks), Block: device.D(threads), Shared: shared, Params: ps}
	limited, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	err = k.Launch(limited, l)
	var bug *device.Bug
	switch {
	case errors.As(err, &bug), ctx.Err() != nil:
		return err
	case limited.Err() != nil:
		return fmt.Errorf("%s does not end within %v, although its instructions are limited", f.Sym.Name, mostTime)
	}
	w.render(text)
	return nil
}

// params returns arguments of a kernel: pointers to small buffers where a pointer may stand, and
// small numbers elsewhere.
func params(dev *emu.Device, info device.KernelInfo) (ps []device.Param, buffers []device.Buffer) {
	for _, p := range info.Params {
		data := make(device.Param, p.Size)
		switch {
		case p.Size == 8:
			if b, err := dev.Alloc(bufferBytes); err == nil {
				data, buffers = device.Ptr(b), append(buffers, b)
			}
		case p.Size > 0:
			data[0] = 8
		}
		ps = append(ps, data)
	}
	return ps, buffers
}

// watch makes all observers for each launch.
type watch struct {
	checker *check.Checker
	counter *count.Counter
	cover   *cover.Cover
}

// Launch is called by the emulator.
func (w *watch) Launch(info *observe.LaunchInfo) observe.LaunchObserver {
	w.checker, w.counter, w.cover = check.New(), count.New(), cover.New()
	return observe.Tee(w.checker, w.counter, w.cover).Launch(info)
}

// render makes the reports of the last launch, as commands do.
func (w *watch) render(text string) {
	if w.checker == nil {
		return
	}
	found := w.checker.Findings()
	findingtext.NewPrinter(io.Discard, term.Style{}, "k.ptx", text).Print(found)
	for i := range found {
		findingtext.RecordOf(&found[i])
	}
	w.counter.Launches()
	w.cover.Near()
	w.checker = nil
}
