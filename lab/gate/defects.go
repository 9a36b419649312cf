package gate

import (
	"fmt"
	"slices"

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
	if d.Depends {
		red = append(red, "the output depends on the order in which warps run, or on the SM, the clock or the number of the launch")
	}
	if len(red) > 0 {
		return gateOf(record.Red, red, "")
	}
	clean := fmt.Sprintf("nothing found on %s in %s", sizes(d.Shapes), english.Count(len(d.Schedules), "schedule"))
	if d.Warnings > 0 {
		clean += ", " + english.Count(d.Warnings, "warning")
	}
	return gateOf(record.Void, thinDefects(d), clean)
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
	return why
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
