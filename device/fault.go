package device

import (
	"errors"
	"fmt"

	"attest/ptx"
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
	Inst   string
	Kernel string
	Block  [3]int
	Warp   int
	Lane   int // -1 when it is not one lane's doing
	Msg    string
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
