package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/GOATnote-Inc/attest/internal/term"
)

// Env is what a command reads from and writes to.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	JSON     bool // results as JSON, one object a line
	Color    term.When
	Progress bool // show progress on Err even if it is no terminal

	outErr error // the first failed write to Out
}

// OutStyle is how text on Out is coloured.
func (e *Env) OutStyle() term.Style { return term.Style{On: e.Color.Colour(e.Out)} }

// ErrStyle is OutStyle for the stream of errors.
func (e *Env) ErrStyle() term.Style { return term.Style{On: e.Color.Colour(e.Err)} }

// Write writes to Out and remembers a failure, so that a full disk is an error
// in the end and not at every line.
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

// Finish is the error a command ends with: err, or a failed write.
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
