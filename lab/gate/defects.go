package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// defectsGate judges what the emulator's checkers found.
var defectsGate = spec{record.DefectsGate, func(j *judgement) record.Gate {
	d := j.r.Defects
	if d == nil {
		return skip("the checkers did not run")
	}
	var red []string
	for _, f := range d.Found {
		if f.Severity == finding.Error {
			red = append(red, fmt.Sprintf("%s at line %d: %s", f.Kind, f.Line, f.Message))
		}
	}
	if d.Errors > 0 && len(red) == 0 {
		red = append(red, english.Count(d.Errors, "error"))
	}
	if d.Wrong != "" {
		red = append(red, "the output of a kernel that declares that its bits vary is wrong in some order of warps: "+d.Wrong)
	}
	if d.Depends && j.r.Kernel.Deterministic() {
		red = append(red, "the output depends on the order in which warps run, or on the SM, the clock or the number of the launch")
	}
	if len(red) > 0 {
		return gateOf(record.Red, red, "")
	}
	clean := fmt.Sprintf("nothing found on %s in %s", sizes(d.Shapes), english.Count(len(d.Schedules), "schedule"))
	if d.Warnings > 0 {
		clean += ", " + english.Count(d.Warnings, "warning")
	}
	if d.Coverage != nil {
		clean += "; " + d.Coverage.String() + " ran"
	}
	if missed := missedLines(d); missed != "" {
		clean += "; warning: " + missed
	}
	return gateOf(record.Void, append(thinDefects(d), beyond(j.r)...), clean)
}}

// sizes describes shapes in a few words: it lists up to two, and counts more than two.
func sizes(shapes []problem.Shape) string {
	if len(shapes) <= 2 {
		return term.List(shapes, " ")
	}
	heads, keys := 0, 0
	for _, s := range shapes {
		heads, keys = max(heads, s.B*s.Hq), max(keys, s.Skv)
	}
	return fmt.Sprintf("%d shapes of up to %d keys and %s", len(shapes), keys, english.Count(heads, "head"))
}

// thinDefects returns the reasons why a run without findings proves too little.
func thinDefects(d *record.Defects) (why []string) {
	if len(d.Schedules) < 2 {
		why = append(why, "one order of warps is not enough: run at least two schedules")
	}
	if len(d.Shapes) == 0 {
		why = append(why, "no shape was run")
	}
	if !partial(d.Shapes) && !refusesPartial(d.Refused) {
		why = append(why, "no shape has a partial tile")
	}
	return append(why, unwatched(d)...)
}

// beyond returns the conditions on sizes that no run of any gate has reached.
func beyond(r *record.Record) (why []string) {
	ran := func(s problem.Shape) bool {
		return r.Correctness != nil && slices.ContainsFunc(r.Correctness.Cases, func(c record.Case) bool { return c.Shape == s })
	}
	for _, b := range r.Defects.Beyond {
		if !ran(b.Shape) {
			why = append(why, fmt.Sprintf("line %d compares a size and changes its outcome at about %v, which the emulator cannot run: judge the kernel on a GPU", b.Line, b.Shape))
		}
	}
	return why
}

// The least shares of a kernel's lines and branch outcomes that must run under the checkers. They
// leave room for code that no valid problem reaches: loops that never run, traps, rare values.
const (
	leastLines    = 90 // percent
	leastOutcomes = 60 // percent
	// fewOutcomes is the number of outcomes below which their share says little: a kernel may
	// have one bounds check, which never fails.
	fewOutcomes = 10
)

// unwatched returns the reasons why too little of the kernel ran under the checkers. Records
// without coverage are older.
func unwatched(d *record.Defects) (why []string) {
	c := d.Coverage
	if c == nil {
		return nil
	}
	if 100*c.Ran < leastLines*c.Lines {
		why = append(why, fmt.Sprintf("only %s ran under the checkers, %d %% of the lines are needed: %s; give a shape that reaches them", c, leastLines, missedLines(d)))
	}
	if c.Outcomes >= fewOutcomes && 100*c.Seen < leastOutcomes*c.Outcomes {
		why = append(why, fmt.Sprintf("only %s ran under the checkers, %d %% of the outcomes are needed; give shapes that differ more", c, leastOutcomes))
	}
	return why
}

// missedLines names the lines that never ran, or returns "".
func missedLines(d *record.Defects) string {
	if d.Coverage == nil || len(d.Coverage.Missed) == 0 {
		return ""
	}
	const most = 6
	var ranges []string
	lines := d.Coverage.Missed
	for first := 0; first < len(lines); {
		last := first
		for last+1 < len(lines) && lines[last+1] <= lines[last]+3 { // a comment or .loc may be between
			last++
		}
		if len(ranges) == most {
			ranges = append(ranges, "…")
			break
		}
		if lines[first] == lines[last] {
			ranges = append(ranges, fmt.Sprint(lines[first]))
		} else {
			ranges = append(ranges, fmt.Sprintf("%d-%d", lines[first], lines[last]))
		}
		first = last + 1
	}
	return fmt.Sprintf("%s of the PTX never ran: %s", english.Count(len(lines), "line"), strings.Join(ranges, ", "))
}

// partial reports whether at least one shape ends within a tile. Tiles are multiples of 16
// rows or keys.
func partial(shapes []problem.Shape) bool {
	return slices.ContainsFunc(shapes, func(s problem.Shape) bool { return s.Sq%16 != 0 || s.Skv%16 != 0 })
}

// refusesPartial reports whether the kernel refused a shape with a partial tile.
func refusesPartial(refused []record.Refusal) bool {
	return slices.ContainsFunc(refused, func(r record.Refusal) bool { return partial([]problem.Shape{r.Shape}) })
}
