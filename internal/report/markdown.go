package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/atomicfile"
)

// Compare returns COMPARE.md: the verdicts, and the times of each shape.
func (v *View) Compare() string {
	var b strings.Builder
	b.WriteString("# The kernels\n\n")
	if len(v.Items) == 0 {
		b.WriteString(capital(Nothing) + ".\n")
		return b.String()
	}
	b.WriteString(v.Overview().Markdown())
	fmt.Fprintf(&b, "\n%s. %s.\n", capital(v.GatesKey()), v.ErrorsKey())
	if list := v.Elsewhere(); len(list) > 0 {
		fmt.Fprintf(&b, "\n%s:\n\n", elsewhereTitle)
		for _, e := range list {
			fmt.Fprintf(&b, "- %s, %s: %s.\n", escape(e.Kernel), e.Outcome, escape(e.Text))
		}
	}
	for _, s := range v.Shapes {
		fmt.Fprintf(&b, "\n## %s on %s\n\n%s", escape(s.Title()), escape(s.Device), s.Table().Markdown())
	}
	if len(v.Shapes) == 0 {
		fmt.Fprintf(&b, "\n## Times\n\nNothing was timed: %s.\n", escape(orElse(strings.Join(v.Skipped(), "; "), "no record has times")))
	} else {
		b.WriteString("\nA time is that of one launch. *graph*: many launches in a replayed graph, divided by their number. *event*: one launch between two events. " +
			"*warm* uses the same buffers again, *cold* uses others. *Of floor* is relative to the least time that bytes, operations and a launch take on this device. " +
			"Speedups are ratios of medians with 95 % intervals, from runs in which both kernels took turns.\n")
	}
	b.WriteString(v.targetsMarkdown())
	if len(v.Scores) > 0 {
		fmt.Fprintf(&b, "\n## Mutation scores\n\n%s", v.ScoreTable().Markdown())
	}
	fmt.Fprintf(&b, "\n%s.\n", capital(chainLine(v.Check)))
	return b.String()
}

// History returns HISTORY.md: every time that was taken.
func (v *View) History() string {
	t := v.HistoryTable()
	if len(t.Rows) == 0 {
		return "# Performance history\n\nNothing was timed yet.\n"
	}
	return "# Performance history\n\n" + t.Markdown()
}

// Validation returns the page of one kernel.
func (v *View) Validation(k *Kernel) string {
	var b strings.Builder
	r := k.Now.Record
	fmt.Fprintf(&b, "# %s\n\n", escape(k.Label))
	if j := k.Now.Verdict(); j != nil {
		fmt.Fprintf(&b, "**%s**: %s\n\n", j.Outcome, escape(j.Why))
		if text := v.elsewhere(k.Now); text != "" {
			fmt.Fprintf(&b, "%s.\n\n", escape(capital(text)))
		}
		b.WriteString(verdictTable(j).Markdown())
	} else {
		b.WriteString("Not judged yet.\n")
	}
	for _, n := range k.Now.Notes {
		fmt.Fprintf(&b, "\n## Note of %s\n\n", day(n.Time))
		for _, p := range n.Parts() {
			fmt.Fprintf(&b, "- **%s**: %s\n", capital(p[0]), escape(p[1]))
		}
	}
	b.WriteString("\n## Provenance\n\n")
	table := &Table{Head: []string{"", ""}}
	table.Rows = append(table.Rows, []Cell{text("record"), {Text: k.Now.Hash, Class: "hash"}})
	for _, f := range facts(r) {
		table.Rows = append(table.Rows, []Cell{text(f[0]), text(f[1])})
	}
	b.WriteString(table.Markdown())
	if r.Resources != nil {
		b.WriteString("\n## Resources\n\n" + Budget(r.Resources).Markdown())
		for _, note := range r.Resources.Notes {
			fmt.Fprintf(&b, "\n%s\n", escape(note))
		}
	}
	if r.Defects != nil {
		b.WriteString("\n## Defects\n\n")
		for _, line := range defects(r) {
			fmt.Fprintf(&b, "- %s\n", escape(line.Text))
			if line.Why != "" {
				fmt.Fprintf(&b, "  Why: %s. Fix: %s.\n", escape(line.Why), escape(line.Fix))
			}
		}
	}
	if r.Correctness != nil {
		b.WriteString("\n## Correctness\n\n" + v.correctness(k))
	}
	b.WriteString("\n## Performance\n\n" + v.performance(k))
	if r.Counters != nil {
		b.WriteString("\n## Counters\n\n" + Counters(r.Counters).Markdown())
	}
	if len(k.Items) > 1 {
		b.WriteString("\n## Verdicts so far\n\n" + trailTable(k.Items).Markdown())
	}
	return b.String()
}

func verdictTable(j *evidence.Judgement) *Table {
	t := &Table{Head: []string{"gate", "", "", "reasons"}}
	for _, g := range j.Gates {
		t.Rows = append(t.Rows, []Cell{text(string(g.Name)), text(string(g.Status)), text(g.Summary), text(strings.Join(g.Reasons, "; "))})
	}
	return t
}

func (v *View) correctness(k *Kernel) string {
	c := k.Now.Correctness
	t := c.Tolerance
	var b strings.Builder
	fmt.Fprintf(&b, "Errors against float64. Tolerance: max %s, mean %s, at most %s %% above %s, %s times the error of a plain computation in the same precision.\n\n",
		limit(t.Max), limit(t.Mean), limit(100*t.BadShare), limit(t.BadAbove), limit(t.Relative))
	b.WriteString(Cases(c).Markdown())
	for i := range c.Cases {
		var m strings.Builder
		if writeMap(&m, &c.Cases[i], t); m.Len() > 0 {
			fmt.Fprintf(&b, "\n```text\n%s```\n", strings.TrimLeft(m.String(), "\n"))
		}
	}
	for _, refused := range c.Refused {
		fmt.Fprintf(&b, "\nNot supported: %v: %s\n", refused.Shape, escape(refused.Why))
	}
	return b.String()
}

func (v *View) performance(k *Kernel) string {
	if k.Timed == nil {
		why := "not measured"
		if p := k.Now.Performance; p != nil && p.Skipped != "" {
			why = p.Skipped
		}
		return "Skipped: " + escape(why) + ".\n"
	}
	var b strings.Builder
	if k.Outdated() {
		fmt.Fprintf(&b, "These times are of older PTX, `%s`.\n\n", short(k.Timed.Kernel.SHA256))
	}
	one := New(&evidence.Contents{Items: []*evidence.Item{k.Timed}, Check: v.Check})
	for i, s := range one.Shapes {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "### %s on %s\n\n%s\n%s", escape(s.Title()), escape(s.Device), s.Table().Markdown(), s.Methods().Markdown())
		if t := s.Rivals(); len(t.Rows) > 0 {
			fmt.Fprintf(&b, "\n%s", t.Markdown())
		}
	}
	return b.String()
}

// WriteMarkdown writes COMPARE.md, HISTORY.md, STATUS.md and one page per kernel into a folder, and
// returns their names.
func (v *View) WriteMarkdown(dir string) (names []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	write := func(name, content string) {
		if err == nil {
			err = atomicfile.Write(filepath.Join(dir, name), []byte(content))
			names = append(names, name)
		}
	}
	write("COMPARE.md", v.Compare())
	write("HISTORY.md", v.History())
	write("STATUS.md", v.StatusPage())
	for _, k := range v.Kernels {
		write("VALIDATION-"+anchor(k.Label)+".md", v.Validation(k))
	}
	return names, err
}

// capital returns a text with a capital first letter.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
