package device

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/finding"
)

// CompileError is the error of loading PTX that the compiler of a device refuses.
type CompileError struct {
	File     string
	Findings []finding.Finding // findings of kind finding.Compile, parsed from the log
	Log      string            // the complete log of the compiler
	Err      error             // the error of the device
}

func (e *CompileError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v", e.File, e.Err)
	for _, f := range e.Findings {
		b.WriteString("\n" + f.Format(e.File))
	}
	if len(e.Findings) == 0 && e.Log != "" {
		b.WriteString("\n")
		b.WriteString(e.Log)
	}
	return b.String()
}

func (e *CompileError) Unwrap() error { return e.Err }

// LoggedModule is a Module of a device whose compiler writes a log even when it
// succeeds.
type LoggedModule interface {
	Module
	// Log returns the log of the compiler. It is empty if the device had the code in its
	// cache.
	Log() string
}
