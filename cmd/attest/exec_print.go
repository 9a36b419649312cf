package main

import (
	"fmt"
	"strings"

	"attest/internal/diag"
	"attest/internal/term"
)

// print writes the report for people: defects on the stream of errors, what was
// compared on that of results.
func (x *executor) print(r *execReport) {
	s := x.env.OutStyle()
	var compared, mismatches int64
	defects := 0
	for i, l := range r.Launches {
		defects += len(l.Defects)
		for _, d := range l.Defects {
			x.printDefect(&d, l.Entry)
		}
		compared += l.Compared
		mismatches += l.Mismatches
		for _, c := range l.result.Comparisons {
			if c.Mismatches == 0 {
				continue
			}
			fmt.Fprintf(x.env, "launch %d, %s: %s\n", i, l.Entry, c)
			t := term.Table{Indent: "  ", Right: "rrr", Style: s}
			t.Head("element", "got", "want")
			for _, m := range c.First {
				t.Row(m.Index, m.Got, m.Want)
			}
			t.WriteTo(x.env)
		}
	}
	if x.stats {
		r.printStats(x)
	}
	verdict := s.Green("ok")
	if !r.ok() {
		verdict = s.Red("bad")
	}
	what := "nothing compared"
	if compared > 0 {
		what = count(int(compared), "value") + " compared, " + countOf(mismatches, "mismatch", "mismatches")
	}
	if r.Schedules > 1 {
		what += fmt.Sprintf(", %d schedules", r.Schedules)
	}
	if defects > 0 {
		what += ", " + count(defects, "defect")
	}
	if r.skipped > 0 {
		what += ", " + countOf(int64(r.skipped), "launch", "launches") + " not run"
	}
	fmt.Fprintf(x.env, "%s: %s on %s: %s\n", verdict, countOf(int64(len(r.Launches)), "launch", "launches"), r.Device, what)
}

func countOf(n int64, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// printDefect shows a defect with its line of PTX. What follows the first line of
// its message, such as who waits in a deadlock, comes below.
func (x *executor) printDefect(d *execDefect, entry string) {
	f := d.diagnostic(entry)
	head, more, _ := strings.Cut(f.Message, "\n")
	f.Message = head
	diag.Print(x.env.Err, x.env.ErrStyle(), &diag.Report{File: x.file.File, Diagnostics: []diag.Diagnostic{f}}, x.file.Text)
	for line := range strings.Lines(more) {
		fmt.Fprintln(x.env.Err, term.Clean(strings.TrimSuffix(line, "\n")))
	}
}

// diagnostic is a defect as a finding in the PTX.
func (d *execDefect) diagnostic(entry string) diag.Diagnostic {
	msg := d.Message
	if d.Instruction != "" {
		msg = d.Instruction + ": " + msg
	}
	if d.Warp >= 0 {
		msg += fmt.Sprintf("; block (%d,%d,%d), warp %d", d.Block[0], d.Block[1], d.Block[2], d.Warp)
	}
	if d.Lane >= 0 {
		msg += fmt.Sprintf(", lane %d", d.Lane)
	}
	return diag.Diagnostic{
		Line: d.Line, Column: d.Column, Severity: d.Severity, Kind: d.Kind, Message: msg, Function: entry, Source: d.Source,
	}
}

func (r *execReport) printStats(x *executor) {
	t := term.Table{Right: "rlrrrr", Style: x.env.OutStyle()}
	t.Head("launch", "kernel", "thread instructions", "warp instructions", "seconds", "million a second")
	for i, l := range r.Launches {
		rate := float64(l.Stats.ThreadInstructions) / 1e6 / max(l.Stats.Seconds, 1e-9)
		t.Row(i, l.Entry, l.Stats.ThreadInstructions, l.Stats.WarpInstructions, fmt.Sprintf("%.3f", l.Stats.Seconds), fmt.Sprintf("%.1f", rate))
	}
	t.WriteTo(x.env)
}
