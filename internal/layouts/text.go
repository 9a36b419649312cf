package layouts

import (
	"fmt"
	"io"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// WriteText writes the picture as tables. In each cell T5 a1 means register 1 of operand a
// in lane 5.
func (p *Picture) WriteText(w io.Writer, s term.Style) {
	for i := range p.Matrices {
		m := &p.Matrices[i]
		if i > 0 {
			fmt.Fprintln(w)
		}
		v := viewOf(m)
		fmt.Fprintf(w, "%s\n%s\n", s.Bold(p.Name+": "+m.What), m.summary())
		v.write(w)
		if v.note != "" {
			fmt.Fprintln(w, v.note)
		}
	}
	for _, n := range p.Notes {
		fmt.Fprintf(w, "\n%s\n", n)
	}
}

// summary says how many registers a lane has and how elements are packed into them.
func (m *Matrix) summary() string {
	if m.at == nil {
		return "Eight rows; the pattern repeats below them."
	}
	per := max(32/m.bits, 1)
	text := fmt.Sprintf("Each of %d lanes holds %s in %s", m.Lanes, english.Count(m.each, "element"), english.Count(m.Registers, "register"))
	switch {
	case m.bits > 32:
		text += fmt.Sprintf(" of %d bits.", m.bits)
	case per == 1:
		text += "."
	default:
		text += fmt.Sprintf(", %d per register, the first in the lowest bits.", per)
	}
	if c := len(m.Held[0][0]); c > 1 {
		text += fmt.Sprintf(" Every element is held %d times.", c)
	}
	return text
}

// write writes the boxes as a table with row and column numbers.
func (v view) write(w io.Writer) {
	var rows [][]string
	head := []string{""}
	for c := 0; c < v.cols; c += v.perCol {
		head = append(head, span(c, v.perCol))
	}
	rows = append(rows, head)
	for r := 0; r < v.rows; r += v.perRow {
		row := []string{span(r, v.perRow)}
		for c := 0; c < v.cols; c += v.perCol {
			row = append(row, v.label(r, c))
		}
		rows = append(rows, row)
	}
	width := make([]int, len(head))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			fmt.Fprintf(&b, "%*s  ", width[i], cell)
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// WriteLane writes what one lane holds, one line per element.
func (p *Picture) WriteLane(w io.Writer, lane int) error {
	for i := range p.Matrices {
		m := &p.Matrices[i]
		if m.at == nil {
			return fmt.Errorf("%s has no lanes", p.Name)
		}
		if lane < 0 || lane >= m.Lanes {
			return fmt.Errorf("%s has no lane %d: its lanes are 0 to %d", p.Name, lane, m.Lanes-1)
		}
	}
	for i := range p.Matrices {
		m := &p.Matrices[i]
		v := viewOf(m)
		per := max(32/m.bits, 1)
		fmt.Fprintf(w, "%s, lane %d\n", m.What, lane)
		for e := range m.each {
			at := m.at(lane, e)
			place := fmt.Sprintf("%s%d", v.register(), m.Held[at.Row][at.Col][0].Register)
			if len(m.Held[at.Row][at.Col]) > 1 {
				place = fmt.Sprintf("%s%d", v.register(), e/per)
			}
			if per > 1 {
				place += fmt.Sprintf(", bits %d to %d", e%per*m.bits, e%per*m.bits+m.bits-1)
			}
			fmt.Fprintf(w, "  row %3d  column %3d  in %s\n", at.Row, at.Col, place)
		}
	}
	return nil
}
