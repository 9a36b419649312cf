package report

import (
	"io"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/record"
)

// Table is a table for the terminal, Markdown and the page.
type Table struct {
	Head  []string
	Right string // as in term.Table: an 'r' for columns of numbers
	Rows  [][]Cell
}

// Cell is one cell of a table.
type Cell struct {
	Text  string
	Below string        // a second line in small letters, on the page
	Class string        // the CSS class on the page: "badge merge", "mute"
	Link  string        // an anchor on the page
	Gates []record.Gate // of a cell of class "gates"
}

func text(s string) Cell { return Cell{Text: s} }

func mute(s string) Cell { return Cell{Text: s, Class: "mute"} }

// source returns the cell for the record of a row.
func source(item *evidence.Item) Cell {
	return Cell{Text: short(item.Hash), Class: "hash", Link: "r-" + short(item.Hash)}
}

// outcome returns the cell for a verdict.
func outcome(o record.Outcome) Cell {
	if o == "" {
		return mute("not judged")
	}
	return Cell{Text: string(o), Class: "badge " + strings.ToLower(string(o))}
}

// WriteText writes the table for a terminal.
func (t *Table) WriteText(w io.Writer, indent string, style term.Style) {
	out := term.Table{Indent: indent, Right: t.Right, Style: style}
	out.Head(t.Head...)
	for _, row := range t.Rows {
		cells := make([]any, len(row))
		for i, c := range row {
			cells[i] = term.Clean(c.Text)
		}
		out.Row(cells...)
	}
	out.WriteTo(w)
}

// Markdown returns the table in Markdown.
func (t *Table) Markdown() string {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(t.Head)
	b.WriteString("|")
	for i := range t.Head {
		if t.right(i) {
			b.WriteString("---:|")
		} else {
			b.WriteString("---|")
		}
	}
	b.WriteString("\n")
	for _, row := range t.Rows {
		var cells []string
		for _, c := range row {
			cells = append(cells, c.markdown())
		}
		line(cells)
	}
	return b.String()
}

func (t *Table) right(column int) bool { return column < len(t.Right) && t.Right[column] == 'r' }

func (c Cell) markdown() string {
	s := escape(c.Text)
	switch {
	case s == "":
		return " "
	case c.Class == "hash":
		return "`" + s + "`"
	case strings.HasPrefix(c.Class, "badge"):
		return "**" + s + "**"
	}
	return s
}

// escape escapes text from a record for Markdown.
func escape(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "*", `\*`, "`", "'", "[", `\[`, "]", `\]`).Replace(term.Clean(s))
}
