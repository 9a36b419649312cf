package listing

import (
	"fmt"
	"io"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/findingtext"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
)

// row is the counters of one line of PTX, summed over all launches.
type row struct {
	executions, active uint64
	shared             count.SharedUse
	global             count.GlobalUse
	there              bool // the line has an instruction of a function that ran
}

// Write writes PTX with counters in front of each line: how often warps executed it,
// the share of lanes that were active, shared-memory bank conflicts per request, and
// sectors of global memory per request. Findings are below their lines.
func Write(w io.Writer, s term.Style, m *ptx.Module, text string, launches []*count.Counts, found []finding.Finding) {
	rows := collect(m, launches)
	notes := annotate(found)
	lines := findingtext.Lines(strings.TrimSuffix(text, "\n"))
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

// cells returns the counters as text of a fixed width.
func (r *row) cells() string {
	var executions, lanes, conflicts, sectors string
	if r != nil && r.there {
		executions = term.Group(r.executions)
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

// remark is a finding at a line.
type remark struct {
	severity finding.Severity
	text     string
	column   int
}

// annotate returns the remarks of each line: the findings, and references to them at
// the lines of the other accesses.
func annotate(found []finding.Finding) map[int][]remark {
	notes := map[int][]remark{}
	for _, f := range found {
		at := int(f.Line)
		head, _, _ := strings.Cut(f.Message, "\n")
		notes[at] = append(notes[at], remark{f.Severity, fmt.Sprintf("%s [%s]", head, f.Kind), int(f.Col)})
		if o := f.Other; o != nil && o.IsValid() && o.Pos != f.Pos {
			notes[int(o.Line)] = append(notes[int(o.Line)], remark{"note", fmt.Sprintf("see line %d [%s]", at, f.Kind), int(o.Col)})
		}
	}
	return notes
}

// write writes the remark below its line, whose text starts after margin columns.
func (n *remark) write(w io.Writer, s term.Style, line string, margin int) {
	indent := len([]rune(show(line[:min(max(n.column-1, 0), len(line))])))
	colour := s.Bold
	switch n.severity {
	case finding.Error:
		colour = s.Red
	case finding.Warning:
		colour = s.Yellow
	}
	fmt.Fprintf(w, "%*s%s %s%s %s\n", margin, "", s.Dim(" |"), strings.Repeat(" ", indent), colour("^ "+string(n.severity)+":"), term.Clean(n.text))
}

func show(s string) string {
	return strings.ReplaceAll(term.Clean(strings.TrimRight(s, "\r")), "\t", "    ")
}
