package diag

import (
	"errors"

	"github.com/GOATnote-Inc/attest/ptx/parse"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// Diagnostic is one finding. Its JSON form is part of the command line's
// contract: every field is always there.
type Diagnostic struct {
	Line     int    `json:"line"`     // from 1; 0 when the finding is about the whole file
	Column   int    `json:"column"`   // in bytes, from 1
	Severity string `json:"severity"` // "error" or "warning"
	Kind     string `json:"kind"`     // short and stable: "syntax", "type-mismatch"
	Message  string `json:"message"`
	Function string `json:"function"` // the PTX function it is in, or ""
	Source   string `json:"source"`   // the line the PTX was made from, "saxpy.go:19:1", or ""
}

// The severities.
const (
	Error   = "error"
	Warning = "warning"
)

// Report is the findings of one file.
type Report struct {
	File        string       `json:"file"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Count is the number of errors and of warnings.
func (r *Report) Count() (errs, warnings int) {
	for i := range r.Diagnostics {
		if r.Diagnostics[i].Severity == Error {
			errs++
		} else {
			warnings++
		}
	}
	return errs, warnings
}

// Fail adds an error about the whole file.
func (r *Report) Fail(kind string, err error) {
	r.Diagnostics = append(r.Diagnostics, Diagnostic{Severity: Error, Kind: kind, Message: err.Error()})
}

// Syntax adds what the parser found.
func (r *Report) Syntax(err error) {
	var list parse.Errors
	if !errors.As(err, &list) {
		r.Fail("syntax", err)
		return
	}
	for _, e := range list {
		r.Diagnostics = append(r.Diagnostics, Diagnostic{
			Line: int(e.Pos.Line), Column: int(e.Pos.Col), Severity: Error, Kind: "syntax", Message: e.Msg,
		})
	}
}

// Verified adds what ptx/verify found.
func (r *Report) Verified(list []verify.Diag) {
	for _, d := range list {
		r.Diagnostics = append(r.Diagnostics, Diagnostic{
			Line: int(d.Pos.Line), Column: int(d.Pos.Col), Severity: d.Severity.String(),
			Kind: d.Kind, Message: d.Msg, Function: d.Func, Source: d.Source,
		})
	}
}
