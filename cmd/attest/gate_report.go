package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/errmap"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/record"
)

// show writes a result; another one stands before it.
func (r *gateResult) show(env *cli.Env, another bool) {
	if env.JSON {
		env.Encode(r)
		return
	}
	if another {
		fmt.Fprintln(env)
	}
	r.print(env)
}

func (r *gateResult) print(env *cli.Env) {
	s := env.OutStyle()
	k := &r.Kernel
	title := []string{k.Format}
	if d := k.Config["head_dim"]; d != "" {
		title = append(title, "D "+d)
	}
	if k.Config["causal"] == "true" {
		title = append(title, "causal")
	}
	title = append(title, k.Target+configured(*k))
	if r.Baseline != "" {
		title = append(title, "against "+r.Baseline)
	}
	fmt.Fprintf(env, "%s  %s\n", s.Bold(term.Clean(k.Name)), s.Dim(term.Clean(strings.Join(title, ", "))))
	for i := range r.Verdict.Gates {
		r.printGate(env, s, &r.Verdict.Gates[i])
	}
	r.printMap(env, s)
	why := r.Verdict.Why
	for _, g := range r.Verdict.Gates {
		why = strings.TrimSuffix(why, ": "+g.Summary) // it stands above
	}
	line(env, outcome(s, r.Verdict.Outcome), len(r.Verdict.Outcome), why)
	if r.Record != "" {
		line(env, s.Dim("evidence"), len("evidence"), "record "+r.Record[:12])
	}
}

// Columns of a verdict: the name of a gate, its status, the rest.
const (
	nameColumn   = 13
	statusColumn = 9
)

// line writes text that begins in the third column, wrapped to the terminal.
func line(env *cli.Env, name string, width int, text string) {
	pad := max(nameColumn+statusColumn-width, 1)
	hang := strings.Repeat(" ", 2+nameColumn+statusColumn)
	fmt.Fprintf(env, "  %s%s%s\n", name, strings.Repeat(" ", pad), wrapped(env, text, hang))
}

// wrapped is text for the space to the right of an indent.
func wrapped(env *cli.Env, text, hang string) string {
	text = term.Clean(text)
	columns := term.Width(env.Out)
	if columns == term.Unlimited {
		return text
	}
	return strings.Join(term.Wrap(text, columns-len(hang)), "\n"+hang)
}

func (r *gateResult) printGate(env *cli.Env, s term.Style, g *record.Gate) {
	name := fmt.Sprintf("%-*s%s", nameColumn, g.Name, status(s, g.Status))
	line(env, name, nameColumn+len(g.Status), g.Summary)
	if g.Status != record.Red && g.Status != record.Void {
		return
	}
	const most = 4
	hang := strings.Repeat(" ", 2+nameColumn+statusColumn)
	for i, why := range g.Reasons {
		if i == 0 {
			continue // it is the summary
		}
		if i == most {
			fmt.Fprintf(env, "%sand %d more\n", hang, len(g.Reasons)-most)
			break
		}
		fmt.Fprintf(env, "%s%s\n", hang, wrapped(env, why, hang))
	}
}

// printMap shows where the errors are, of the wrong case that has the most to show.
func (r *gateResult) printMap(env *cli.Env, s term.Style) {
	c := r.record.Correctness
	if c == nil || r.Verdict.OK() {
		return
	}
	var most *record.Case
	for i := range c.Cases {
		if one := &c.Cases[i]; len(one.Map) > 0 && (most == nil || len(one.Map) > len(most.Map)) {
			most = one
		}
	}
	if most == nil {
		return
	}
	fmt.Fprintf(env, "\n  %s, %s, seed %d\n", most.Shape, most.Distribution, most.Seed)
	errmap.Write(env, s, most, gate.Tolerance.Max)
	fmt.Fprintln(env)
}

func status(s term.Style, st record.Status) string {
	switch st {
	case record.Green:
		return s.Green(string(st))
	case record.Skipped:
		return s.Yellow(string(st))
	}
	return s.Red(string(st))
}

func outcome(s term.Style, o record.Outcome) string {
	switch o {
	case record.Merge:
		return s.Green(string(o))
	case record.Reject:
		return s.Red(string(o))
	}
	return s.Yellow(string(o))
}

// told says what an interrupted campaign leaves.
func (x *gater) told(results []*gateResult, of int) {
	if x.store == nil {
		return
	}
	fmt.Fprintf(x.env.Err, "%d of %s judged; what was found is kept in %s\n", len(results), term.Count(of, "kernel"), x.evidence)
}

// finish says what became of all, and where the evidence and the report are.
func (x *gater) finish(results []*gateResult) error {
	page, err := x.report()
	if err != nil || x.env.JSON {
		return err
	}
	n := map[record.Outcome]int{}
	for _, r := range results {
		n[r.Verdict.Outcome]++
	}
	var parts []string
	for _, o := range []record.Outcome{record.Merge, record.Reject, record.Defer, record.ValidNegative, record.NoChange} {
		if n[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[o], outcome(x.env.OutStyle(), o)))
		}
	}
	fmt.Fprintf(x.env, "\n%s on %s: %s\n", term.Count(len(results), "kernel"), x.where(), strings.Join(parts, ", "))
	if x.store != nil {
		fmt.Fprintf(x.env, "evidence  %s\nreport    %s\n", x.evidence, filepath.ToSlash(page))
	}
	return nil
}

// report writes the page of all evidence beside it, and is its path.
func (x *gater) report() (string, error) {
	if x.store == nil {
		return "", nil
	}
	var page bytes.Buffer
	if err := report.New(x.store.Load()).WriteHTML(&page); err != nil {
		return "", fmt.Errorf("the report: %w", err)
	}
	path := filepath.Join(x.evidence, "report.html")
	return path, atomicfile.Write(path, page.Bytes())
}
