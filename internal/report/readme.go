package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/english"
)

// The lines around the results in a README.
const (
	resultsBegin = "<!-- results: written by attest report --readme, from evidence -->"
	resultsEnd   = "<!-- end of results -->"
)

// NoResults is the text of a README before any kernel was timed.
const NoResults = "No measurements yet."

// Results returns the table for a README: for each shape and device the fastest kernel that
// was not rejected, beside the fastest rival of the same run.
func (v *View) Results() string {
	t := &Table{
		Head:  []string{"shape", "kernel", "µs", "TFLOP/s", "max error", "speedup over the fastest rival", "processes", "record"},
		Right: "llrrrlrl",
	}
	var devices []string
	for _, s := range v.Shapes {
		best := s.Best()
		if best == nil {
			continue
		}
		if !slices.Contains(devices, s.Device) {
			devices = append(devices, s.Device)
		}
		m := best.Main()
		t.Rows = append(t.Rows, []Cell{
			text(s.Title()), text(best.Label), text(best.by("graph, warm")), text(figures(m.TFLOPs)),
			text(maxError(best.Item.Record, s.Shape)), text(m.AgainstRival()), text(strconv.Itoa(len(m.Times.Runs))), source(best.Item),
		})
	}
	if len(t.Rows) == 0 {
		return NoResults + "\n"
	}
	return fmt.Sprintf("The fastest kernel for each shape on %s: the median time of one launch in a replayed graph with a warm cache, with the rivals in the same run. An interval is over processes; a tie is one that contains 1. `attest evidence show RECORD --evidence evidence --json` prints every sample.\n\n%s",
		escape(english.List(devices)), t.Markdown())
}

// by returns the median time by a method, in µs.
func (r *Row) by(method string) string {
	for i := range r.Marks {
		if how(r.Marks[i].Method) == method {
			return figures(r.Marks[i].Summary.P50)
		}
	}
	return none
}

// ReplaceResults returns a README with the results between the lines that mark their place.
func ReplaceResults(readme, results string) (string, error) {
	before, rest, ok := strings.Cut(readme, resultsBegin+"\n")
	_, after, closed := strings.Cut(rest, resultsEnd)
	if !ok || !closed {
		return "", fmt.Errorf("there is no place for the results: put the lines\n%s\n%s\nwhere the results belong", resultsBegin, resultsEnd)
	}
	return before + resultsBegin + "\n" + results + resultsEnd + after, nil
}
