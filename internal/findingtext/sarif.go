package findingtext

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/GOATnote-Inc/attest/finding"
)

// Log is what a run found in one PTX file, to be written as SARIF 2.1.0, the format in which editors
// and CI services read the results of analyses.
type Log struct {
	Version  string // the version of attest
	File     string // the PTX file
	Text     string
	ExitCode int
	Rules    []finding.Rule // the rules of every kind of finding
	Findings []finding.Finding

	lines []string
	from  sources
}

const (
	sarifVersion = "2.1.0"
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

// The parts of SARIF that are used, with the names of its specification.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		ColumnKind  string            `json:"columnKind"`
		Invocations []sarifInvocation `json:"invocations"`
		Artifacts   []sarifArtifact   `json:"artifacts"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID     string    `json:"id"`
		Name   string    `json:"name"`
		Short  sarifText `json:"shortDescription"`
		Full   sarifText `json:"fullDescription"`
		Help   sarifText `json:"help"`
		Config struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful bool `json:"executionSuccessful"`
		ExitCode   int  `json:"exitCode"`
	}
	sarifArtifact struct {
		Location sarifArtifactLocation `json:"location"`
	}
	sarifArtifactLocation struct {
		URI string `json:"uri"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		Count        int               `json:"occurrenceCount"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   Record            `json:"properties"`
	}
	sarifLocation struct {
		ID       int            `json:"id,omitempty"`
		Message  *sarifText     `json:"message,omitempty"`
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifactLocation `json:"artifactLocation"`
		Region   *sarifRegion          `json:"region,omitempty"`
	}
	sarifRegion struct {
		Line    int        `json:"startLine"`
		Column  int        `json:"startColumn,omitempty"`
		Snippet *sarifText `json:"snippet,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
)

// SARIF returns logs as the content of a file: one run of SARIF for each PTX file.
func SARIF(logs ...*Log) ([]byte, error) {
	all := sarifLog{Schema: sarifSchema, Version: sarifVersion}
	for _, l := range logs {
		run, err := l.run()
		if err != nil {
			return nil, err
		}
		all.Runs = append(all.Runs, run)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(all)
	return []byte(b.String()), err
}

func (l *Log) run() (sarifRun, error) {
	l.lines, l.from = Lines(l.Text), sources{beside: l.File}
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "attest", Version: l.Version}},
		ColumnKind:  "unicodeCodePoints",
		Invocations: []sarifInvocation{{Successful: true, ExitCode: l.ExitCode}},
		Artifacts:   []sarifArtifact{{sarifArtifactLocation{fileURI(l.File)}}},
		Results:     []sarifResult{},
	}
	for i := range l.Rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, newSarifRule(&l.Rules[i]))
	}
	for i := range l.Findings {
		r, err := l.result(&l.Findings[i])
		if err != nil {
			return run, err
		}
		run.Results = append(run.Results, r)
	}
	return run, nil
}

func newSarifRule(r *finding.Rule) sarifRule {
	s := sarifRule{ID: string(r.Kind), Name: string(r.Kind), Short: sarifText{r.Short}, Full: sarifText{r.Full}, Help: sarifText{r.Help}}
	s.Config.Level = string(finding.Error)
	return s
}

func (l *Log) result(f *finding.Finding) (sarifResult, error) {
	index := slices.IndexFunc(l.Rules, func(r finding.Rule) bool { return r.Kind == f.Kind })
	if index < 0 {
		return sarifResult{}, fmt.Errorf("no rule explains findings of kind %q", f.Kind)
	}
	r := sarifResult{
		RuleID: string(f.Kind), RuleIndex: index, Level: string(f.Severity),
		Message: sarifText{l.message(f)}, Locations: []sarifLocation{l.location(&f.Place)},
		Count: f.Count, Properties: RecordOf(f),
		Fingerprints: map[string]string{"attest/v1": f.Fingerprint()},
	}
	add := func(loc sarifLocation, text string) {
		loc.ID, loc.Message = len(r.Related)+1, &sarifText{text}
		r.Related = append(r.Related, loc)
	}
	source := func(a *finding.Place, text string) {
		if loc, ok := l.source(a.Source); ok {
			add(loc, text)
		}
		for _, c := range a.Callers {
			if loc, ok := l.source(c); ok {
				add(loc, "which is called here")
			}
		}
	}
	source(&f.Place, "the source")
	if f.Other != nil {
		what := "the other access: "
		if f.Other.Action == "" {
			what = f.Other.Inst + " "
		}
		add(l.location(f.Other), what+describe(f.Other))
		source(f.Other, "the source of that")
	}
	if f.Wait != nil {
		add(l.location(f.Wait), f.Wait.Note)
		source(f.Wait, "the source of that")
	}
	for i := range f.Waiters {
		w := &f.Waiters[i]
		add(l.location(&w.Place), w.Who()+" waits for "+w.For)
	}
	return r, nil
}

// message returns the text that an editor shows: what happened, which threads did it, why it is
// wrong and what to do.
func (l *Log) message(f *finding.Finding) string {
	text := f.Message
	for _, s := range []struct{ label, text string }{
		{"", describe(&f.Place)}, {"", f.Elements()}, {"why: ", f.Why}, {"fix: ", f.Fix},
	} {
		if s.text != "" {
			text += "\n" + s.label + s.text
		}
	}
	return text
}

// location returns the location of a place in the PTX.
func (l *Log) location(a *finding.Place) sarifLocation {
	loc := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifactLocation{fileURI(l.File)}}}
	if a.Pos.IsValid() {
		loc.Physical.Region = region(l.lines, int(a.Pos.Line), int(a.Pos.Col))
	}
	if a.Func != "" {
		loc.Logical = []sarifLogical{{a.Func, "function"}}
	}
	return loc
}

// source returns the location of a source line.
func (l *Log) source(line string) (sarifLocation, bool) {
	o, ok := parseOrigin(line)
	if !ok {
		return sarifLocation{}, false
	}
	path, lines := o.name, []string(nil)
	if f := l.from.find(o.name); f != nil {
		path, lines = f.path, f.lines
	}
	return sarifLocation{Physical: sarifPhysical{
		Artifact: sarifArtifactLocation{fileURI(path)}, Region: region(lines, o.line, o.column),
	}}, true
}

// region returns a position in a text. attest counts columns in bytes, SARIF in characters.
func region(lines []string, line, column int) *sarifRegion {
	r := &sarifRegion{Line: line, Column: column}
	if line > len(lines) {
		return r
	}
	text := strings.TrimRight(lines[line-1], "\r")
	if column > 0 {
		r.Column = utf8.RuneCountInString(text[:min(column-1, len(text))]) + 1
	}
	r.Snippet = &sarifText{strings.ToValidUTF8(text, "\ufffd")}
	return r
}

// fileURI returns a path as a URI reference. Relative paths stay relative, so that a
// log is useful on another machine.
func fileURI(path string) string {
	slashed := filepath.ToSlash(path)
	if !filepath.IsAbs(path) {
		return (&url.URL{Path: slashed}).String()
	}
	if !strings.HasPrefix(slashed, "/") { // C:/kernels
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}
