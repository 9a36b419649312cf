package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// The exit codes.
const (
	OK          = 0
	Red         = 1   // a file has errors, or a result is wrong
	Misuse      = 2   // the command line is wrong, or a file cannot be read
	Internal    = 3   // attest itself failed
	Interrupted = 130 // Ctrl-C, as shells report it
)

// exit is an error whose reasons the command has printed already.
type exit struct{ code int }

func (e *exit) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// Exit returns an error that asks for an exit code, or nil for OK.
func Exit(code int) error {
	if code == OK {
		return nil
	}
	return &exit{code}
}

// Code returns the exit code that an error asks for. It prints the error to w unless Exit
// made it.
func Code(err error, w io.Writer) int {
	var e *exit
	switch {
	case err == nil:
		return OK
	case errors.As(err, &e):
		return e.code
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(w, "attest: interrupted")
		return Interrupted
	}
	fmt.Fprintf(w, "attest: %s\n", term.CleanLines(err.Error()))
	if bug := (*device.Bug)(nil); errors.As(err, &bug) {
		return Internal
	}
	return Misuse
}
