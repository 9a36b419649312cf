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

func judgeDefects(d *record.Defects) record.Gate {
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
		red = append(red, "bits depend on the order in which warps run")
	}
	if len(red) > 0 {
		return verdictOf(record.Red, red, "")
	}
	return verdictOf(record.Void, thinDefects(d), fmt.Sprintf("nothing found on %s in %s", term.List(d.Shapes, " "), english.Count(len(d.Schedules), "schedule"))+warnings(d.Warnings))
}

func warnings(n int) string {
	if n == 0 {
		return ""
	}
	return ", " + english.Count(n, "warning")
}

// thinDefects says why a clean run proves little.
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

// partial reports whether some shape ends within a tile, whatever the tile is.
func partial(shapes []problem.Shape) bool {
	return slices.ContainsFunc(shapes, func(s problem.Shape) bool { return s.Sq%16 != 0 || s.Skv%16 != 0 })
}

// refusesPartial reports whether the kernel itself refuses shapes with partial tiles.
func refusesPartial(refused []record.Refusal) bool {
	return slices.ContainsFunc(refused, func(r record.Refusal) bool { return partial([]problem.Shape{r.Shape}) })
}
