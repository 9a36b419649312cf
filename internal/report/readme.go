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

// fewestProcesses is the least number of processes of a time that is published in a README. The same
// text differs by up to 4 % between processes, so an interval of fewer says little.
const fewestProcesses = 5

// published reports whether the row was timed in enough processes for a README.
func (r *Row) published() bool { return len(r.Main().Times.Runs) >= fewestProcesses }

// Results returns the table for a README: for each shape and device the fastest kernel that
// was not rejected and was timed in five processes, beside the fastest rival of the same run. Where
// the kernel has changed since and was not timed again in as many processes, it says so.
func (v *View) Results() string {
	t := &Table{
		Head:  []string{"shape", "kernel", "µs", "TFLOP/s", "max error", "speedup over the fastest rival", "processes", "record"},
		Right: "llrrrlrl",
	}
	var devices []string
	left := 0
	for _, s := range v.Shapes {
		best := s.fastest((*Row).published)
		if best == nil {
			if s.Best() != nil {
				left++
			}
			continue
		}
		if !slices.Contains(devices, s.Device) {
			devices = append(devices, s.Device)
		}
		m := best.Main()
		t.Rows = append(t.Rows, []Cell{
			text(s.Title()), text(best.title()), text(best.by("graph, warm")), text(figures(m.TFLOPs)),
			text(maxError(best.Item.Record, s.Shape)), text(m.AgainstRival()), text(strconv.Itoa(len(m.Times.Runs))), source(best.Item),
		})
	}
	omitted := ""
	if left > 0 {
		omitted = fmt.Sprintf(" `attest report --evidence evidence` also shows %s with times of fewer than %d processes.", english.Count(left, "shape"), fewestProcesses)
	}
	if len(t.Rows) == 0 {
		return NoResults + omitted + "\n"
	}
	return fmt.Sprintf("The fastest kernel for each shape on %s: the median time of one launch in a replayed graph with a warm cache, with the rivals in the same run. The interval in brackets is over processes; if it contains 1, the result is a tie. `attest evidence show RECORD --evidence evidence --json` prints every sample.%s\n\n%s",
		escape(english.List(devices)), omitted, t.Markdown())
}

// title returns the label, and whether the times are of an earlier kernel of that name.
func (r *Row) title() string {
	if r.Older() {
		return r.Label + " (older PTX)"
	}
	return r.Label
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
