package runfuzz

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
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
	outcomes
)

// Result is what became of a text.
type Result struct {
	Outcome  Outcome
	Launches int
}

// mostTime is far more than a launch takes on a busy machine.
const mostTime = time.Minute

// Run loads a text and runs its kernels in one setting. The error is a *device.Bug if attest fails,
// and another error if it hangs. Refusals of the text and failures of its kernels are not errors.
func Run(ctx context.Context, text string, s Setting) (res Result, err error) {
	defer device.CatchBug(&err)
	target, ok := targetOf(text)
	if !ok {
		_, _ = parse.Parse("k.ptx", text)
		return Result{}, nil
	}
	if s.Newer {
		target = newer(target, s.Args)
	}
	w := &watch{}
	dev, err := emu.New(target, s.options(w))
	if err != nil {
		return Result{}, err
	}
	start := time.Now()
	mod, err := dev.Load("k.ptx", text)
	if took := time.Since(start); took > mostTime {
		return Result{}, fmt.Errorf("loading took %v", took)
	}
	if err != nil {
		return refused(err)
	}
	defer mod.Close()
	a := &args{dev: dev, r: random(s.Args, 4), functions: functions(mod, text)}
	if s.Again {
		first := mod
		if mod, err = dev.Load("k.ptx", text); err != nil {
			return refused(err) // the memory does not suffice for two
		}
		if s.Check {
			_ = first.Close() // a kernel may then use a variable or a function that is gone
		}
	}
	if s.Check {
		m, err := parse.Parse("k.ptx", text)
		if err != nil {
			return Result{}, fmt.Errorf("a text that was loaded does not parse: %w", err)
		}
		verify.Check(m) // must not panic, whatever it finds
	}
	res = Result{Outcome: Unloaded}
	for name := range entries(text) {
		k, err := mod.Kernel(name)
		if err != nil {
			continue // it uses what the emulator does not support
		}
		for _, l := range s.Launches {
			res.Outcome = Ran
			res.Launches++
			w.off = !l.Watch
			if err := launch(ctx, a, k, l.Launch, w, text); err != nil {
				return res, err
			}
		}
	}
	if s.Compare && res.Outcome == Ran {
		return res, compare(ctx, text, target, s)
	}
	return res, nil
}

// newer returns a GPU that runs code for a target.
func newer(target ptx.Target, choice uint64) ptx.Target {
	all := slices.Concat(emu.Targets(), ptx.Blackwell)
	if t := all[choice%uint64(len(all))]; t.Runs(target) {
		return t
	}
	return target
}

// functions returns the addresses of the device functions of a module.
func functions(m device.Module, text string) (all []uint64) {
	f, ok := m.(device.FunctionModule)
	if !ok {
		return nil
	}
	for name := range names(text, ".func") {
		if addr, err := f.Function(name); err == nil {
			all = append(all, addr)
		}
	}
	return all
}

// entries returns the names of the kernels of a text.
func entries(text string) iter.Seq[string] { return names(text, ".entry") }

// names returns the names of the kernels or of the functions of a text. It is faster than a parser.
func names(text, directive string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			var ok bool
			if _, text, ok = strings.Cut(text, directive); !ok {
				return
			}
			text = strings.TrimLeft(text, " \t\n")
			if strings.HasPrefix(text, "(") { // the results of a function
				_, text, _ = strings.Cut(text, ")")
				text = strings.TrimLeft(text, " \t\n")
			}
			if end := strings.IndexAny(text, "( \t\n{"); end > 0 && !yield(text[:end]) {
				return
			}
		}
	}
}

// targetOf returns the emulated GPU that runs a text.
func targetOf(text string) (ptx.Target, bool) {
	_, rest, ok := strings.Cut(text, ".target")
	if !ok {
		return ptx.Target{}, false
	}
	rest = strings.TrimLeft(rest, " \t")
	end := strings.IndexAny(rest, ", \t\n\r/")
	if end < 0 {
		end = len(rest)
	}
	t, err := ptx.ParseTarget(rest[:end])
	if err != nil {
		return ptx.Target{}, false
	}
	t, err = emu.TargetFor(t)
	return t, err == nil
}

// refused says how far a text came that was not loaded.
func refused(err error) (Result, error) {
	var bug *device.Bug
	var invalid *verify.Invalid
	var syntax parse.Errors
	switch {
	case errors.As(err, &bug):
		return Result{}, err
	case errors.As(err, &invalid), errors.As(err, &syntax):
		return Result{}, nil
	}
	return Result{Outcome: Unloaded}, nil
}

// launch runs a kernel once and makes the reports of what was observed.
func launch(ctx context.Context, a *args, k device.Kernel, l device.Launch, w *watch, text string) error {
	var buffers []device.Buffer
	if l.Params == nil {
		l.Params, buffers = a.params(k.Info())
	}
	limited, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	err := k.Launch(limited, l)
	var bug *device.Bug
	switch {
	case errors.As(err, &bug), ctx.Err() != nil:
		return err
	case limited.Err() != nil:
		return fmt.Errorf("%s does not end within %v, although its instructions are limited", k.Info().Name, mostTime)
	}
	w.render(text)
	for _, b := range buffers {
		_ = b.Free()
	}
	return nil
}

// options returns the options of a device. What kernels print is not shown.
func (s Setting) options(w *watch) emu.Options {
	o := s.Options
	o.Memory, o.Output = mostMemory, io.Discard
	if w != nil {
		o.Observer = w
	}
	return o
}
