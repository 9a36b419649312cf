package listing

import (
	"fmt"
	"io"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/internal/defects"
	"github.com/GOATnote-Inc/attest/internal/diag"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
)

// row is the counters of a line of PTX, of all launches.
type row struct {
	executions, active uint64
	shared             count.SharedUse
	global             count.GlobalUse
	there              bool // it has an instruction of a function that ran
}

// Write writes PTX with counters in front of each line: how often warps executed
// it, the share of their lanes that were there, conflicts of shared-memory banks a
// request, sectors of global memory a request. Defects stand below their lines.
func Write(w io.Writer, s term.Style, m *ptx.Module, text string, launches []*count.Counts, found []*defects.Finding) {
	rows := collect(m, launches)
	notes := annotate(found)
	lines := diag.Lines(strings.TrimSuffix(text, "\n"))
	digits := max(len(fmt.Sprint(len(lines))), 4)
	fmt.Fprintln(w, s.Dim(fmt.Sprintf("%11s %6s %9s %7s %*s", "executions", "lanes", "conflicts", "sectors", digits, "line")))
	for i, line := range lines {
		cells := rows[i+1].cells()
		fmt.Fprintf(w, "%s%s%s\n", cells, s.Dim(fmt.Sprintf(" %*d |", digits, i+1)), strings.TrimRight(" "+show(line), " "))
		for _, n := range notes[i+1] {
			n.write(w, s, line, len([]rune(cells))+digits+1)
		}
	}
}

// collect sums the counters of the launches by line.
func collect(m *ptx.Module, launches []*count.Counts) map[int]*row {
	rows := map[int]*row{}
	at := func(line int) *row {
		if rows[line] == nil {
			rows[line] = &row{}
		}
		return rows[line]
	}
	ran := map[string]bool{}
	for _, c := range launches {
		seen := map[int]uint64{}
		for i := range c.Lines {
			l := &c.Lines[i]
			ran[l.Function] = true
			r := at(l.Line)
			// Two instructions on one line are executed as often as the more frequent one.
			if l.Executions > seen[l.Line] {
				r.executions += l.Executions - seen[l.Line]
				seen[l.Line] = l.Executions
				r.active += l.Active
			}
			r.shared.Requests += l.Shared.Requests
			r.shared.Conflicts += l.Shared.Conflicts
			r.global.Requests += l.Global.Requests
			r.global.Sectors += l.Global.Sectors
		}
	}
	for _, f := range m.Funcs() {
		for _, st := range f.Body {
			if in, ok := st.(*ptx.Inst); ok && ran[f.Sym.Name] {
				at(int(in.Pos.Line)).there = true
			}
		}
	}
	return rows
}

// cells are the counters as text of one width.
func (r *row) cells() string {
	var executions, lanes, conflicts, sectors string
	if r != nil && r.there {
		executions = group(r.executions)
	}
	if r != nil && r.executions > 0 {
		lanes = fmt.Sprintf("%.0f %%", min(100, 100*float64(r.active)/float64(32*r.executions)))
		if n := r.shared.Requests; n > 0 {
			conflicts = fmt.Sprintf("%.1f", float64(r.shared.Conflicts)/float64(n))
		}
		if r.global.Requests > 0 {
			sectors = perRequest(&r.global)
		}
	}
	return fmt.Sprintf("%11s %6s %9s %7s", executions, lanes, conflicts, sectors)
}

// remark is a defect at a line.
type remark struct {
	severity, text string
	column         int
}

// annotate puts the findings to their lines, and to those of the other access.
func annotate(found []*defects.Finding) map[int][]remark {
	notes := map[int][]remark{}
	for _, f := range found {
		at := int(f.Access.Pos.Line)
		head, _, _ := strings.Cut(f.Message, "\n")
		notes[at] = append(notes[at], remark{string(f.Severity), fmt.Sprintf("%s [%s]", head, f.Kind), int(f.Access.Pos.Col)})
		if o := f.Other; o != nil && o.Pos.IsValid() && o.Pos != f.Access.Pos {
			notes[int(o.Pos.Line)] = append(notes[int(o.Pos.Line)], remark{"note", fmt.Sprintf("see line %d [%s]", at, f.Kind), int(o.Pos.Col)})
		}
	}
	return notes
}

// write writes the remark below its line, which starts after margin columns.
func (n *remark) write(w io.Writer, s term.Style, line string, margin int) {
	indent := len([]rune(show(line[:min(max(n.column-1, 0), len(line))])))
	colour := s.Bold
	switch n.severity {
	case string(check.Error):
		colour = s.Red
	case string(check.Warning):
		colour = s.Yellow
	}
	fmt.Fprintf(w, "%*s%s %s%s %s\n", margin, "", s.Dim(" |"), strings.Repeat(" ", indent), colour("^ "+n.severity+":"), term.Clean(n.text))
}

func show(s string) string {
	return strings.ReplaceAll(term.Clean(strings.TrimRight(s, "\r")), "\t", "    ")
}
