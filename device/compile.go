package device

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// CompileError is PTX that a device's compiler refused.
type CompileError struct {
	File     string
	Findings []Finding // what the compiler said, where it could be read
	Log      string    // all that it said
	Err      error     // why, in the device's words
}

// Finding is one complaint of a compiler.
type Finding struct {
	Pos     ptx.Pos // in the PTX; a compiler that gives no column leaves it 0
	Source  string  // "file.cu:12:3", from .loc
	Kind    string  // "error", "warning", "info"
	Message string
}

func (e *CompileError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v", e.File, e.Err)
	for _, f := range e.Findings {
		b.WriteString("\n")
		b.WriteString(e.File)
		if f.Pos.Line > 0 {
			fmt.Fprintf(&b, ":%d", f.Pos.Line)
		}
		if f.Pos.Col > 0 {
			fmt.Fprintf(&b, ":%d", f.Pos.Col)
		}
		fmt.Fprintf(&b, ": %s: %s", f.Kind, f.Message)
		if f.Source != "" {
			fmt.Fprintf(&b, " (%s)", f.Source)
		}
	}
	if len(e.Findings) == 0 && e.Log != "" {
		b.WriteString("\n")
		b.WriteString(e.Log)
	}
	return b.String()
}

func (e *CompileError) Unwrap() error { return e.Err }

// LoggedModule is a Module of a device whose compiler says something even when it
// succeeds.
type LoggedModule interface {
	Module
	// Log is what it said; empty when the device had the code from before.
	Log() string
}
