package device

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/GOATnote-Inc/attest/finding"
)

// ErrDeadlock is in the error of a launch whose threads all wait for each other.
var ErrDeadlock = errors.New("deadlock")

// ErrNoDevice is in the error of opening a device that does not exist. Programs should
// treat it as a normal case, because most machines have no GPU.
var ErrNoDevice = errors.New("no such device")

// ErrLost is in the error of a launch whose fault makes the device unusable for this
// process, and in the errors of all later calls.
var ErrLost = errors.New("this process can no longer use the device")

// ErrRunning is in the error of a launch that did not end in time and cannot be
// stopped, and in the errors of all later calls until it ends.
var ErrRunning = errors.New("a kernel is still running")

// ErrEndless is in the error of a launch of which a warp executed more instructions than the
// device allows.
var ErrEndless = errors.New("too many instructions")

// Bug is the error of a load or a launch in which the device itself failed, and not the kernel.
// The emulator returns it for a mistake in its own code or in the code of an observer.
type Bug struct {
	Reason any    // the value of the panic
	Stack  string // the stack of the goroutine
}

// NewBug returns the error for a value that recover returned. The deferred function that
// recovers must call it, so that the stack is the stack of the panic.
func NewBug(reason any) *Bug { return &Bug{Reason: reason, Stack: string(debug.Stack())} }

// CatchBug turns a panic into a *Bug. It must be deferred.
func CatchBug(err *error) {
	if r := recover(); r != nil {
		*err = NewBug(r)
	}
}

func (b *Bug) Error() string {
	return fmt.Sprintf("internal error of attest, not a defect of the kernel: %v", b.Reason)
}

// Fault is the error of a launch that ended because of an instruction. The finding holds the
// place in the PTX, the threads and the reason. Fields that the device does not know are
// empty.
type Fault struct {
	finding.Finding        // has the kind finding.Fault
	File            string // the name of the PTX text
	// Class is the kind under which the emulator's checkers report the fault, for example
	// "oob-global" or "misaligned". It may be empty.
	Class finding.Kind
	// Endless says that the instruction exceeded the number that a warp may execute.
	Endless bool
}

// Is reports whether err is ErrEndless and the fault is of that kind.
func (f *Fault) Is(err error) bool { return err == ErrEndless && f.Endless }

func (f *Fault) Error() string {
	s := fmt.Sprintf("%s: %s: %s in %s, %s", f.In(f.File), f.Inst, f.Message, f.Kernel, f.Who())
	if f.Source != "" {
		s += " (" + f.Source + ")"
	}
	return s
}

// Deadlock is the error of a launch whose threads all wait. It is ErrDeadlock.
type Deadlock struct {
	finding.Finding // has the kind finding.Deadlock
}

// NewDeadlock returns the error for a kernel whose threads wait. The place of the finding is
// the place of the first waiter.
func NewDeadlock(kernel string, waiters []finding.Waiter) *Deadlock {
	f := finding.Finding{
		Kind: finding.Deadlock, Severity: finding.Error, Kernel: kernel, Count: 1, Waiters: waiters,
		Message: fmt.Sprintf("%v in %s: no thread can continue", ErrDeadlock, kernel), Place: finding.Place{Warp: finding.NoWarp},
	}
	if len(waiters) > 0 {
		first := &waiters[0]
		f.Func, f.Pos, f.Source, f.Inst, f.Callers = first.Func, first.Pos, first.Source, first.Inst, first.Callers
	}
	return &Deadlock{f}
}

// Is reports whether err is ErrDeadlock.
func (d *Deadlock) Is(err error) bool { return err == ErrDeadlock }

func (d *Deadlock) Error() string {
	const maxShown = 32
	var s strings.Builder
	s.WriteString(d.Message)
	for i, w := range d.Waiters {
		if i == maxShown {
			fmt.Fprintf(&s, "\n  and %d more", len(d.Waiters)-maxShown)
			break
		}
		fmt.Fprintf(&s, "\n  block %v warp %d lanes %08x at line %d: %s", w.Block, w.Warp, uint32(w.Lanes), w.Line, w.Inst)
		if w.For != "" {
			s.WriteString(": " + w.For)
		}
	}
	return s.String()
}

// FindingOf returns the error of a kernel's launch as a finding.
func FindingOf(kernel string, err error) finding.Finding {
	var fault *Fault
	var dead *Deadlock
	switch {
	case errors.As(err, &fault):
		return fault.Finding
	case errors.As(err, &dead):
		return dead.Finding
	}
	f := finding.Finding{
		Kind: finding.Fault, Severity: finding.Error, Kernel: kernel, Message: err.Error(), Count: 1,
		Place: finding.Place{Warp: finding.NoWarp},
	}
	switch {
	case errors.Is(err, ErrDeadlock):
		f.Kind = finding.Deadlock
	case errors.Is(err, context.DeadlineExceeded):
		f.Kind = finding.Timeout
	}
	return f
}
