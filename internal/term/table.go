package term

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is rows of cells whose columns line up.
type Table struct {
	// Indent is in front of every row.
	Indent string
	// Right has an 'r' for each column whose cells stand at its right edge, as
	// numbers do, and any other letter for those at the left: "lrr".
	Right string
	Style Style
	head  []string
	rows  [][]string
}

// Head sets the row of column names.
func (t *Table) Head(cells ...string) { t.head = cells }

// Row adds a row. Cells are written as fmt.Sprint does.
func (t *Table) Row(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = fmt.Sprint(c)
	}
	t.rows = append(t.rows, row)
}

// WriteTo writes the table. Nothing is written after the last cell of a row.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	widths := t.widths()
	var b strings.Builder
	if t.head != nil {
		b.WriteString(t.Indent + t.Style.Dim(t.line(t.head, widths)) + "\n")
	}
	for _, row := range t.rows {
		b.WriteString(t.Indent + t.line(row, widths) + "\n")
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
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
