package findingtext

import (
	"encoding/json"
	"errors"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// Record is a finding in the JSON of attest exec: the fields of the finding, and the
// first of its lanes on its own. All fields are always present.
type Record struct {
	*finding.Finding
	Lane int `json:"lane"` // -1 for none
}

// RecordOf returns the record of a finding.
func RecordOf(f *finding.Finding) Record { return Record{f, f.Lanes.First()} }

// Report is what is wrong with the text of one PTX file.
type Report struct {
	File        string       `json:"file"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Diagnostic is a finding about a text that did not run. Its JSON has the fields that
// such a finding can have, under names that are part of the contract of the command
// line.
type Diagnostic finding.Finding

// MarshalJSON implements json.Marshaler. All fields are always present.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Line     int              `json:"line"`   // from 1; 0 when the finding is about the whole file
		Column   int              `json:"column"` // the column in bytes, from 1
		Severity finding.Severity `json:"severity"`
		Kind     finding.Kind     `json:"kind"`
		Message  string           `json:"message"`
		Function string           `json:"function"` // the PTX function, or ""
		Source   string           `json:"source"`   // what the PTX was made from, "saxpy.go:19:1", or ""
	}{int(d.Line), int(d.Col), d.Severity, d.Kind, d.Message, d.Func, d.Source})
}

// Add adds findings.
func (r *Report) Add(found ...finding.Finding) {
	for _, f := range found {
		r.Diagnostics = append(r.Diagnostics, Diagnostic(f))
	}
}

// Findings returns what was added.
func (r *Report) Findings() []finding.Finding {
	all := make([]finding.Finding, len(r.Diagnostics))
	for i, d := range r.Diagnostics {
		all[i] = finding.Finding(d)
	}
	return all
}

// Count returns the number of errors and the number of warnings.
func (r *Report) Count() (errs, warnings int) { return finding.Count(r.Findings()) }

// Fail adds an error about the whole file.
func (r *Report) Fail(kind finding.Kind, err error) { r.Add(failure(kind, ptx.Pos{}, err.Error())) }

// Syntax adds the errors of the parser.
func (r *Report) Syntax(err error) {
	const kind = "syntax"
	var list parse.Errors
	if !errors.As(err, &list) {
		r.Fail(kind, err)
		return
	}
	for _, e := range list {
		r.Add(failure(kind, e.Pos, e.Msg))
	}
}

func failure(kind finding.Kind, pos ptx.Pos, message string) finding.Finding {
	return finding.Finding{Kind: kind, Severity: finding.Error, Message: message, Place: finding.At(pos), Count: 1}
}
