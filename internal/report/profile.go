package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/record"
)

// Metrics returns the table of the metrics that a profiler measured.
func Metrics(p *record.Profile) *Table {
	t := &Table{Head: []string{"metric", "value", "unit"}, Right: "lrl"}
	for _, name := range sorted.Keys(p.Metrics) {
		t.Rows = append(t.Rows, []Cell{text(name), text(strconv.FormatFloat(p.Metrics[name], 'g', 6, 64)), mute(p.Units[name])})
	}
	return t
}

// writeRaw writes the output of a tool, indented.
func writeRaw(w io.Writer, output string) {
	for line := range strings.Lines(output) {
		fmt.Fprintf(w, "  %s\n", term.Clean(strings.TrimRight(line, "\r\n")))
	}
}

// campaigns returns the records of campaigns. The records of profiles and of comparisons of errors are not among
// them: they judge and time nothing, so they must not take the place of a kernel's newest campaign.
func campaigns(items []*evidence.Item) []*evidence.Item {
	return slices.DeleteFunc(slices.Clone(items), func(i *evidence.Item) bool { return i.Profile != nil || i.Accuracy != nil })
}
