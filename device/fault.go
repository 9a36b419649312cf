package device

import (
	"errors"
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// ErrDeadlock is in the error of a launch whose threads all wait for each other.
var ErrDeadlock = errors.New("deadlock")

// ErrNoDevice is in the error of opening a device that is not there: a machine
// without a GPU is a normal one.
var ErrNoDevice = errors.New("no such device")

// ErrLost is in the error of a launch that faulted so that the device can no
// longer be used by this process, and in those of all calls after it.
var ErrLost = errors.New("the device is lost to this process")

// ErrRunning is in the error of a launch that did not end in time and cannot be
// stopped, and in those of all calls until it does end.
var ErrRunning = errors.New("a kernel is still running")

// Fault is a launch that went wrong: where in the PTX, by whom, and why. Devices
// that know less leave fields empty.
type Fault struct {
	File   string
	Pos    ptx.Pos
	Source string // "file.cu:12:3", from .loc
	// Callers are the source lines of the calls that led there, the innermost first.
	Callers []string
	Inst    string
	Kernel  string
	Block   [3]int
	Warp    int
	Lane    int    // -1 when it is not one lane's doing
	Kind    string // the class of defects it belongs to: "oob-global", "misaligned"; "" for others
	Msg     string
}

func (f *Fault) Error() string {
	at := f.File
	if f.Pos.IsValid() {
		at = fmt.Sprintf("%s:%d:%d", f.File, f.Pos.Line, f.Pos.Col)
	}
	who := fmt.Sprintf("block (%d,%d,%d), warp %d", f.Block[0], f.Block[1], f.Block[2], f.Warp)
	if f.Lane >= 0 {
		who += fmt.Sprintf(", lane %d", f.Lane)
	}
	s := fmt.Sprintf("%s: %s: %s in %s, %s", at, f.Inst, f.Msg, f.Kernel, who)
	if f.Source != "" {
		s += " (" + f.Source + ")"
	}
	return s
}

// Deadlock is a launch whose threads all wait. It is ErrDeadlock.
type Deadlock struct {
	Kernel  string
	Waiters []Waiter
}

// Waiter is threads of a warp that wait.
type Waiter struct {
	Pos    ptx.Pos
	Source string // "file.cu:12:3", from .loc
	// Callers are the source lines of the calls that led there, the innermost first.
	Callers []string
	Inst    string
	Block   [3]int
	Warp    int
	Lanes   uint32
	Why     string // what for, or ""
}

// Is makes a Deadlock an ErrDeadlock.
func (d *Deadlock) Is(err error) bool { return err == ErrDeadlock }

func (d *Deadlock) Error() string {
	const most = 32
	var s strings.Builder
	fmt.Fprintf(&s, "%v in %s: no thread can go on", ErrDeadlock, d.Kernel)
	for i, w := range d.Waiters {
		if i == most {
			fmt.Fprintf(&s, "\n  and %d more", len(d.Waiters)-most)
			break
		}
		fmt.Fprintf(&s, "\n  block %v warp %d lanes %08x at line %d: %s", w.Block, w.Warp, w.Lanes, w.Pos.Line, w.Inst)
		if w.Why != "" {
			s.WriteString(": " + w.Why)
		}
	}
	return s.String()
}
