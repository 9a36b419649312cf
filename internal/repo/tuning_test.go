package repo

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/timing"
)

// tuning is the document that compares the times with those of the rivals.
const tuning = "docs/TUNING.md"

// TestTuningTables checks that the tables of rivals, and of their errors, show the evidence.
func TestTuningTables(t *testing.T) {
	s, err := evidence.Open(filepath.Join(root(t), "evidence"))
	if err != nil {
		t.Fatal(err)
	}
	view := report.New(s.Load())
	text := readFile(t, tuning)
	for _, cache := range []timing.Cache{timing.Warm, timing.Cold} {
		text = replaced(t, text, fmt.Sprintf("rivals, graph, %s", cache), "rivals", rivals(view, cache))
	}
	accuracy := view.Accuracy.Markdown()
	if view.Accuracy.Empty() {
		accuracy = "No record compares the errors on a GPU yet.\n"
	}
	text = replaced(t, text, "accuracy", "accuracy", accuracy)
	if *update {
		writeFile(t, tuning, text)
	}
}

// replaced returns the document with new content between the marks for what the evidence shows. Without -update, content
// that differs fails the test.
func replaced(t *testing.T, text, what, name, want string) string {
	t.Helper()
	begin, end := fmt.Sprintf("<!-- %s: written by go test ./internal/repo -update, from evidence -->\n", what), fmt.Sprintf("<!-- end of %s -->", name)
	before, rest, ok := strings.Cut(text, begin)
	was, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for %s: add the lines\n%s%s", tuning, what, begin, end)
	}
	if was != want && !*update {
		t.Errorf("%s: the part %q does not show the evidence: run go test ./internal/repo -run Tuning -update", tuning, what)
	}
	return before + begin + want + end + after
}

// rivals returns a Markdown table with the fastest kernel of each shape and its rivals. All
// times are by graph replay.
func rivals(v *report.View, cache timing.Cache) string {
	var names []string
	var out strings.Builder
	for _, s := range v.Shapes {
		if best := s.Shown(); best == nil || mark(best, cache) == nil {
			continue
		}
		for _, r := range s.Rows {
			if r.Kernel == nil && mark(r, cache) != nil && isRival(s, r.Label, cache) && !slices.Contains(names, r.Label) {
				names = append(names, r.Label)
			}
		}
	}
	slices.Sort(names)
	fmt.Fprintf(&out, "| shape | attest | %s | speedup |\n|---|---:|%s---|\n", strings.Join(names, " | "), strings.Repeat("---:|", len(names)))
	for _, s := range v.Shapes {
		best := s.Shown()
		if best == nil || mark(best, cache) == nil {
			continue
		}
		m := mark(best, cache)
		if len(m.Times.Rivals) == 0 {
			continue
		}
		cells := []string{s.Title(), timeOf(m)}
		if best.Older() {
			cells[1] += ", older PTX"
		}
		for _, name := range names {
			cell := "–"
			if i := slices.IndexFunc(s.Rows, func(r *report.Row) bool { return r.Label == name }); i >= 0 && mark(s.Rows[i], cache) != nil {
				cell = timeOf(mark(s.Rows[i], cache))
			}
			cells = append(cells, cell)
		}
		cells = append(cells, m.AgainstRival())
		fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | "))
	}
	return out.String()
}

// isRival reports whether a label names a rival of a kernel of the shape. A label can also
// name a baseline.
func isRival(s *report.Shape, label string, cache timing.Cache) bool {
	for _, r := range s.Rows {
		if m := mark(r, cache); m != nil {
			for i := range m.Times.Rivals {
				if m.Times.Rivals[i].Name == label {
					return true
				}
			}
		}
	}
	return false
}

// mark returns a row's times by graph replay, or nil if there are none.
func mark(r *report.Row, cache timing.Cache) *report.Mark {
	for i := range r.Marks {
		if m := &r.Marks[i]; m.Times.Method.Mode == timing.Graph && m.Times.Method.Cache == cache {
			return m
		}
	}
	return nil
}

// timeOf returns the median in µs. If the launch takes at least 100 µs, the rate in TFLOP/s
// follows in brackets.
func timeOf(m *report.Mark) string {
	us := m.Summary.P50
	switch {
	case us >= 100:
		return fmt.Sprintf("%.0f (%.0f)", us, m.TFLOPs)
	case us >= 10:
		return fmt.Sprintf("%.1f", us)
	}
	return fmt.Sprintf("%.2f", us)
}
