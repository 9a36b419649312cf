package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/GOATnote-Inc/attest/internal/term"
)

// HostVariable is the environment variable that holds the name of the host in a job of
// attest --on.
const HostVariable = "ATTEST_REMOTE_HOST"

// Env holds the streams that a command reads and writes, and the flags that all commands
// have.
type Env struct {
	Args     []string // the command line without the program
	In       io.Reader
	Out, Err io.Writer
	JSON     bool // results are JSON, one object per line
	Color    term.When
	Progress bool // show progress on Err even if it is no terminal

	outErr error // the first failed write to Out
}

// OutStyle returns how text on Out is coloured.
func (e *Env) OutStyle() term.Style { return term.Style{On: e.Color.Colour(e.Out)} }

// ErrStyle returns how text on Err is coloured.
func (e *Env) ErrStyle() term.Style { return term.Style{On: e.Color.Colour(e.Err)} }

// Write writes to Out. It remembers the first failure, which Finish reports, so that callers
// need not check every line.
func (e *Env) Write(b []byte) (int, error) {
	n, err := e.Out.Write(b)
	if err != nil && e.outErr == nil {
		e.outErr = fmt.Errorf("writing the output: %w", err)
	}
	return n, err
}

// Encode writes a value as one line of JSON.
func (e *Env) Encode(v any) {
	enc := json.NewEncoder(e)
	enc.SetEscapeHTML(false) // PTX is full of < and >
	if err := enc.Encode(v); err != nil && e.outErr == nil {
		e.outErr = fmt.Errorf("writing the output: %w", err)
	}
}

// Finish returns the error that a command ends with: err, or the first failed write.
func (e *Env) Finish(err error) error {
	if err == nil {
		return e.outErr
	}
	return err
}

// StartProgress shows the progress of a command on Err. The caller calls Stop.
func (e *Env) StartProgress() *term.Progress {
	if e.Progress {
		return term.StartLines(e.Err)
	}
	return term.StartProgress(e.Err)
}
