package layouts

import (
	"fmt"
	"strings"
)

// view is the part of a matrix that is drawn: elements that share a register are one box,
// and a pattern that repeats is drawn once.
type view struct {
	m              *Matrix
	rows, cols     int // drawn
	perRow, perCol int // elements of a box, down and across
	note           string
}

// most is the number of boxes, down or across, above which a repeated pattern is drawn once.
const most = 16

func viewOf(m *Matrix) view {
	v := view{m: m, rows: m.Rows, cols: m.Cols, perRow: 1, perCol: 1}
	for v.perCol*2 <= m.Cols && m.sameBox(v.perRow, v.perCol*2) {
		v.perCol *= 2
	}
	for v.perCol == 1 && v.perRow*2 <= m.Rows && m.sameBox(v.perRow*2, v.perCol) {
		v.perRow *= 2
	}
	var notes []string
	if v.cols/v.perCol > most {
		if n, add, ok := m.period(false); ok {
			v.cols = n
			notes = append(notes, fmt.Sprintf("column c is column c-%d with %s", n, add))
		}
	}
	if v.rows/v.perRow > most {
		if n, add, ok := m.period(true); ok {
			v.rows = n
			notes = append(notes, fmt.Sprintf("row r is row r-%d with %s", n, add))
		}
	}
	if notes != nil {
		v.note = fmt.Sprintf("Rows 0 to %d and columns 0 to %d of %d×%d; %s.", v.rows-1, v.cols-1, m.Rows, m.Cols, strings.Join(notes, ", "))
	}
	return v
}

// sameBox reports whether boxes of rows×cols elements each lie in one register of a lane.
func (m *Matrix) sameBox(rows, cols int) bool {
	if m.at == nil || m.Rows%rows != 0 || m.Cols%cols != 0 {
		return false
	}
	for r := range m.Rows {
		for c := range m.Cols {
			x, y := m.Held[r][c], m.Held[r/rows*rows][c/cols*cols]
			for i := range x {
				if x[i].Lane != y[i].Lane || x[i].Register != y[i].Register {
					return false
				}
			}
		}
	}
	return true
}

// period is the smallest number of rows or columns after which the pattern repeats with a
// constant added to the lane and to the register.
func (m *Matrix) period(down bool) (n int, add string, ok bool) {
	total := m.Cols
	if down {
		total = m.Rows
	}
	for n = 8; n < total; n *= 2 {
		if lane, reg, ok := m.repeats(n, down); ok {
			var parts []string
			if lane > 0 {
				parts = append(parts, fmt.Sprintf("%d added to the lane", lane))
			}
			if reg > 0 {
				parts = append(parts, fmt.Sprintf("%d added to the register", reg))
			}
			return n, strings.Join(parts, " and "), true
		}
	}
	return 0, "", false
}

// repeats reports whether the element n rows or columns further on is always in the same
// part, with the same number added to its lane and to its register.
func (m *Matrix) repeats(n int, down bool) (lane, reg int, ok bool) {
	dr, dc := 0, n
	if down {
		dr, dc = n, 0
	}
	lane, reg = -1, -1
	for r := 0; r+dr < m.Rows; r++ {
		for c := 0; c+dc < m.Cols; c++ {
			for i, x := range m.Held[r][c] {
				y := m.Held[r+dr][c+dc][i]
				if lane < 0 {
					lane, reg = y.Lane-x.Lane, y.Register-x.Register
				}
				if y.Part != x.Part || y.Lane-x.Lane != lane || y.Register-x.Register != reg || lane < 0 || reg < 0 {
					return 0, 0, false
				}
			}
		}
	}
	return lane, reg, true
}

// label says who holds the box that starts at row r, column c: "T5 a1".
func (v view) label(r, c int) string {
	held := v.m.Held[r][c]
	if v.m.at == nil {
		return fmt.Sprint(held[0].Register)
	}
	var regs []string
	for _, h := range held {
		regs = append(regs, fmt.Sprintf("%s%d", v.register(), h.Register))
	}
	return fmt.Sprintf("T%d %s", held[0].Lane, strings.Join(regs, "="))
}

// register is the letter of the matrix's registers.
func (v view) register() string {
	if strings.HasPrefix(v.m.Name, "m") {
		return "r"
	}
	return v.m.Name
}

// span is the rows or columns of a box: "0" or "0-3".
func span(at, n int) string {
	if n == 1 {
		return fmt.Sprint(at)
	}
	return fmt.Sprintf("%d-%d", at, at+n-1)
}
