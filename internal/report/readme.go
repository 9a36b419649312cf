package report

import (
	"fmt"
	"slices"
	"strings"
)

// The lines around the results in a README.
const (
	resultsBegin = "<!-- results: written by attest report --readme, from evidence -->"
	resultsEnd   = "<!-- end of results -->"
)

// NoResults is what stands in a README before anything was timed.
const NoResults = "No measurements yet."

// Results is the table for a README: the fastest kernel of each shape and device that
// was not rejected, and what it beats or does not.
func (v *View) Results() string {
	t := &Table{
		Head:  []string{"shape", "kernel", "graph, warm µs", "graph, cold µs", "event, warm µs", "TFLOP/s", "max error", "against the fastest rival", "record"},
		Right: "llrrrrrll",
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
			text(s.Title()), text(best.Label), text(best.by("graph, warm")), text(best.by("graph, cold")), text(best.by("event, warm")), text(figures(m.TFLOPs)),
			text(maxError(best.Item.Record, s.Shape)), text(m.againstRival()), source(best.Item),
		})
	}
	if len(t.Rows) == 0 {
		return NoResults + "\n"
	}
	return fmt.Sprintf("The fastest kernel of each shape on %s, median of one launch, rivals in the same run; `attest evidence show RECORD` has every sample.\n\n%s",
		escape(strings.Join(devices, " and ")), t.Markdown())
}

// by is the median by a method.
func (r *Row) by(method string) string {
	for i := range r.Marks {
		if how(r.Marks[i].Method) == method {
			return figures(r.Marks[i].Summary.P50)
		}
	}
	return none
}

// ReplaceResults puts results into a README, between the lines that mark them.
func ReplaceResults(readme, results string) (string, error) {
	before, rest, ok := strings.Cut(readme, resultsBegin+"\n")
	_, after, closed := strings.Cut(rest, resultsEnd)
	if !ok || !closed {
		return "", fmt.Errorf("there is no place for the results: put the lines\n%s\n%s\nwhere they are to stand", resultsBegin, resultsEnd)
	}
	return before + resultsBegin + "\n" + results + resultsEnd + after, nil
}
