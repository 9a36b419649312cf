package term

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Table prints rows of cells in columns.
type Table struct {
	// Indent is printed in front of every row.
	Indent string
	// Right has one letter per column: 'r' aligns the column to the right, for numbers,
	// and any other letter aligns it to the left. Columns beyond its end are aligned to
	// the left.
	Right string
	// Width is the number of columns of the terminal, or Unlimited. The last cell of a row
	// that is wider is wrapped below itself.
	Width int
	Style Style
	head  []string
	rows  [][]string
}

// Head sets the row of column names.
func (t *Table) Head(cells ...string) { t.head = cells }

// Row adds a row. Cells are formatted by fmt.Sprint.
func (t *Table) Row(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = fmt.Sprint(c)
	}
	t.rows = append(t.rows, row)
}

// WriteTo writes the table. Rows have no trailing spaces.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	widths := t.widths()
	var b strings.Builder
	if t.head != nil {
		b.WriteString(t.Indent + t.Style.Dim(t.line(t.head, widths)) + "\n")
	}
	for _, row := range t.rows {
		t.row(&b, row, widths)
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// row writes a row, and its last cell on several lines if it is too wide.
func (t *Table) row(b *strings.Builder, row []string, widths []int) {
	last := len(row) - 1
	left := len(t.Indent)
	for _, w := range widths[:max(last, 0)] {
		left += w + 2
	}
	if t.Width == Unlimited || last < 1 || left+utf8.RuneCountInString(row[last]) <= t.Width {
		b.WriteString(t.Indent + t.line(row, widths) + "\n")
		return
	}
	for i, part := range Wrap(row[last], t.Width-left) {
		if i == 0 {
			b.WriteString(t.Indent + t.line(append(slices.Clone(row[:last]), part), widths) + "\n")
		} else {
			b.WriteString(strings.Repeat(" ", left) + part + "\n")
		}
	}
}

func (t *Table) widths() []int {
	var ws []int
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			if i == len(ws) {
				ws = append(ws, 0)
			}
			ws[i] = max(ws[i], utf8.RuneCountInString(cell))
		}
	}
	return ws
}

func (t *Table) line(row []string, widths []int) string {
	var b strings.Builder
	for i, cell := range row {
		if i > 0 {
			b.WriteString("  ")
		}
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if i < len(t.Right) && t.Right[i] == 'r' {
			b.WriteString(pad + cell)
		} else {
			b.WriteString(cell + pad)
		}
	}
	return strings.TrimRight(b.String(), " ")
}
