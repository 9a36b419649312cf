package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// The exit codes.
const (
	OK          = 0
	Red         = 1   // a file has errors, or a check failed
	Misuse      = 2   // the command cannot do what it was asked
	Interrupted = 130 // as a shell reports a command ended by Ctrl-C
)

// exit is an error whose reasons were shown already.
type exit struct{ code int }

func (e *exit) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// Exit is the error for a code: nil for OK.
func Exit(code int) error {
	if code == OK {
		return nil
	}
	return &exit{code}
}

// Code is the exit code an error asks for. An error that Exit did not make is
// told on w first: it is the command line's own, a misuse.
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
	fmt.Fprintf(w, "attest: %v\n", err)
	return Misuse
}
