package ptxstat

import (
	"fmt"
	"io"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// WriteText writes the numbers for people: the module, a table of its functions
// when it has several, and each function with its most frequent opcodes, top of
// them.
func (m *Module) WriteText(w io.Writer, s term.Style, file string, top int) {
	fmt.Fprintf(w, "%s: PTX %s for %s\n", s.Bold(term.Clean(file)), m.Version, m.Target)
	t := term.Table{Indent: "  "}
	t.Row("needs at least", fmt.Sprintf("%s and PTX %s", m.Needs.Target, m.Needs.Version))
	if m.Needs.Instruction != "" {
		t.Row("because of", fmt.Sprintf("%s (%s, line %d)", shorten(m.Needs.Instruction), m.Needs.Function, m.Needs.Line))
	}
	if m.GlobalBytes > 0 {
		t.Row("global variables", bytes(m.GlobalBytes))
	}
	if m.ConstBytes > 0 {
		t.Row("constant memory", bytes(m.ConstBytes))
	}
	t.WriteTo(w)
	if len(m.Functions) > 1 {
		fmt.Fprintln(w)
		m.overview(w, s)
	}
	for i := range m.Functions {
		fmt.Fprintln(w)
		m.Functions[i].writeText(w, s, top)
	}
}

// overview is one row a function.
func (m *Module) overview(w io.Writer, s term.Style) {
	t := term.Table{Indent: "  ", Right: "llrrrrrr", Style: s}
	t.Head("function", "kind", "insts", "regs (estimate)", "shared", "params", "loops", "barriers")
	for i := range m.Functions {
		f := &m.Functions[i]
		shared := fmt.Sprint(f.SharedStatic)
		if f.SharedDynamic {
			shared += "+dyn"
		}
		t.Row(shortName(f.Name), f.Kind, f.Instructions, f.Estimate.Registers, shared, f.ParamBytes, f.Loops, sum(f.Barriers))
	}
	t.WriteTo(w)
}

func (f *Function) writeText(w io.Writer, s term.Style, top int) {
	fmt.Fprintf(w, "%s %s\n", f.Kind, s.Bold(f.Name))
	t := term.Table{Indent: "  "}
	t.Row("parameters", fmt.Sprintf("%d, %s", f.Params, bytes(f.ParamBytes)))
	t.Row("registers declared", list(f.Declared, "."))
	t.Row("register pressure", f.Estimate.text())
	t.Row("shared memory", f.sharedText())
	if f.LocalBytes > 0 {
		t.Row("local memory", bytes(f.LocalBytes))
	}
	t.Row("loops", f.loopText())
	t.Row("barriers", list(f.Barriers, ""))
	t.Row("instructions", f.Instructions)
	t.WriteTo(w)
	if f.Instructions > 0 {
		fmt.Fprintln(w)
		f.mix(w, s, top)
	}
}

func (e *Estimate) text() string {
	text := fmt.Sprintf("%d of 32 bits and %s at once (estimate)", e.Registers, english.Count(e.Predicates, "predicate"))
	if e.Partial {
		text += ", at least"
	}
	if e.Line > 0 {
		text += fmt.Sprintf(", at line %d", e.Line)
	}
	if e.Live > e.Limit {
		text += fmt.Sprintf("; %d are live, but the launch bounds allow %d", e.Live, e.Limit)
	}
	return text
}

func (f *Function) sharedText() string {
	text := bytes(f.SharedStatic) + " static"
	if f.SharedDynamic {
		return text + ", and dynamic: the launch gives its size"
	}
	return text + ", none dynamic"
}

func (f *Function) loopText() string {
	if f.Loops == 0 {
		return "none"
	}
	return fmt.Sprintf("%d, nested up to %d deep", f.Loops, f.LoopDepth)
}

// mix sets families and opcodes side by side.
func (f *Function) mix(w io.Writer, s term.Style, top int) {
	t := term.Table{Indent: "  ", Right: "lrr lrr", Style: s}
	t.Head("family", "count", "share", " ", "opcode", "count", "share")
	opcodes := f.Opcodes[:min(max(top, 0), len(f.Opcodes))]
	rest := len(f.Opcodes) - len(opcodes)
	for i := range max(len(f.Families), len(opcodes)+min(rest, 1)) {
		row := []any{"", "", "", ""}
		if i < len(f.Families) {
			row = []any{f.Families[i].Name, f.Families[i].Count, f.share(f.Families[i].Count), ""}
		}
		switch {
		case i < len(opcodes):
			row = append(row, opcodes[i].Name, opcodes[i].Count, f.share(opcodes[i].Count))
		case i == len(opcodes) && rest > 0:
			row = append(row, fmt.Sprintf("and %d more", rest))
		}
		t.Row(row...)
	}
	t.WriteTo(w)
}

func (f *Function) share(n int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(f.Instructions))
}

func sum(cs []Count) (n int) {
	for _, c := range cs {
		n += c.Count
	}
	return n
}

// list is "5 .b32, 1 .pred", or "none".
func list(cs []Count, prefix string) string {
	if len(cs) == 0 {
		return "none"
	}
	parts := make([]string, len(cs))
	for i, c := range cs {
		parts[i] = fmt.Sprintf("%d %s%s", c.Count, prefix, c.Name)
	}
	return strings.Join(parts, ", ")
}

func bytes(n int64) string { return english.Count(n, "byte") }

// shortName keeps the table narrow: mangled C++ names have no upper limit, and
// both their ends tell them apart.
func shortName(s string) string {
	const most = 32
	if r := []rune(s); len(r) > most {
		return string(r[:most/2]) + "…" + string(r[len(r)-most/2+1:])
	}
	return s
}

// shorten keeps an instruction with a long vector on one line.
func shorten(s string) string {
	const most = 60
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
