package findingtext

import (
	"fmt"
	"io"
	"strings"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// Printer writes findings about a PTX text for people.
type Printer struct {
	out   io.Writer
	style term.Style
	width int // the width of the terminal, or term.Unlimited
	file  string
	lines []string
	from  sources
}

// NewPrinter returns a printer that writes to out, a terminal or not, about a PTX file
// and its text.
func NewPrinter(out io.Writer, style term.Style, file, text string) *Printer {
	return &Printer{
		out: out, style: style, width: term.Width(out), file: file,
		lines: Lines(text), from: sources{beside: file},
	}
}

// gutter is the number of columns for line numbers. Longer numbers get more.
const gutter = 5

// Print writes the findings of a text or of a launch:
//
//	k.ptx:12:2: error: write of s+0x4 is not ordered after the read at line 14 [shared-race]
//	   12 |     st.shared.u32 [%r2], %r1;
//	      |     ^~~~~~~~~~~~~
//	      = write of 4 bytes at s+0x4 (shared) by block (0,0,0), warp 1, lane 0
//	      = in k, from k.cu:7:5
//	    7 |     s[i] = x;
//	      |     ^
//	k.ptx:14:2: note: the other access: read of 4 bytes …
//	   14 |     ld.shared.u32 %r3, [%r4];
//	      |     ^~~~~~~~~~~~~
//	      = why: nothing orders the two
//	      = fix: put bar.sync between them
//	      = seen 32 times
//
// A race that was also seen with its accesses exchanged is one report: its last line
// tells of the second finding.
func (p *Printer) Print(found []finding.Finding) {
	turned := make([]*finding.Finding, len(found))
	folded := make([]bool, len(found))
	alone := map[finding.Key][]int{} // races that were not seen exchanged so far, by key
	for i := range found {
		k := found[i].Key()
		t, ok := k.Turned()
		if !ok {
			continue
		}
		if js := alone[t]; len(js) > 0 {
			turned[js[0]], folded[i] = &found[i], true
			alone[t] = js[1:]
		} else {
			alone[k] = append(alone[k], i)
		}
	}
	for i := range found {
		if !folded[i] {
			p.print(&found[i], turned[i])
		}
	}
}

func (p *Printer) print(f, turned *finding.Finding) {
	head, more, _ := strings.Cut(f.Message, "\n")
	p.head(&f.Place, f.Severity, term.Clean(head)+" "+p.style.Dim("["+string(f.Kind)+"]"))
	p.excerpt(&f.Place, f.Severity)
	if f.Action != "" || f.Size > 0 || f.Warp != finding.NoWarp && len(f.Waiters) == 0 {
		p.note("", describe(&f.Place))
		p.note("", f.Elements())
	}
	p.source(&f.Place, f.Severity)
	for line := range strings.Lines(more) {
		fmt.Fprintf(p.out, "%*s %s\n", gutter, "", term.Clean(strings.TrimSuffix(line, "\n")))
	}
	p.waiters(f.Waiters)
	if f.Other != nil {
		p.other(f)
	}
	if f.Wait != nil {
		p.place(f.Wait, f.Wait.Note)
	}
	p.note("why: ", f.Why)
	p.note("fix: ", f.Fix)
	if f.Count > 1 {
		p.note("", "seen "+times(f.Count))
	}
	for _, pair := range f.Pairs {
		text := fmt.Sprintf("also by warps %d and %d", pair.Warp, pair.Other)
		if which := f.ElementsOf(pair); which != "" {
			text += ": " + which
		}
		p.note("", text)
	}
	if turned != nil {
		p.note("", fmt.Sprintf("%s: also with the accesses exchanged: %s; seen %s", turned.Severity, turned.Message, times(turned.Count)))
	}
}

// other writes the access that a finding refers to.
func (p *Printer) other(f *finding.Finding) {
	text := "see also " + f.Other.Inst + " " + describe(f.Other)
	switch {
	case f.Other.Note != "":
		text = f.Other.Note + ": " + describe(f.Other)
	case f.Other.Action != "":
		text = "the other access: " + describe(f.Other)
	}
	p.place(f.Other, text)
}

// place writes a place that a finding refers to.
func (p *Printer) place(a *finding.Place, text string) {
	p.head(a, finding.Note, term.Clean(text))
	p.excerpt(a, finding.Note)
	p.source(a, finding.Note)
}

// head writes the line that says where and what. Editors jump to it.
func (p *Printer) head(a *finding.Place, severity finding.Severity, text string) {
	paint := colour(p.style, severity, p.style.Dim)
	fmt.Fprintf(p.out, "%s %s %s\n", p.style.Bold(term.Clean(a.In(p.file))+":"), paint(string(severity)+":"), text)
}

// excerpt writes the line of PTX, with the caret under the opcode and not under its
// guard.
func (p *Printer) excerpt(a *finding.Place, severity finding.Severity) {
	n, column := int(a.Pos.Line), int(a.Pos.Col)
	if n < 1 || n > len(p.lines) {
		return
	}
	if text := p.lines[n-1]; column > 0 && column <= len(text) && text[column-1] == '@' && a.Inst != "" {
		column += max(strings.Index(text[column-1:], a.Inst), 0)
	}
	p.line(p.lines[n-1], n, column, severity)
}

func (p *Printer) line(text string, line, column int, severity finding.Severity) {
	e := Excerpt{Text: text, Line: line, Column: column, Severity: severity, Gutter: max(gutter, len(fmt.Sprint(line))), Width: p.width}
	e.Write(p.out, p.style)
}

// source writes what the PTX was made from, with the text of the line where the file
// can be read.
func (p *Printer) source(a *finding.Place, severity finding.Severity) {
	switch {
	case a.Func != "" && a.Source != "":
		p.note("", "in "+a.Func+", from "+a.Source)
	case a.Func != "":
		p.note("", "in "+a.Func)
	case a.Source != "":
		p.note("", "from "+a.Source)
	}
	if o, ok := parseOrigin(a.Source); ok {
		if text, ok := p.from.line(o); ok {
			p.line(text, o.line, o.column, severity)
		}
	}
	for _, c := range a.Callers {
		p.caller(c)
	}
}

// caller writes where the function that a line is in was called.
func (p *Printer) caller(at string) {
	if at == "" { // PTX without .loc
		return
	}
	p.note("", "called at "+at)
	if o, ok := parseOrigin(at); ok {
		if text, ok := p.from.line(o); ok {
			p.line(text, o.line, o.column, finding.Note)
		}
	}
}

// proseWidth is the column at which prose is wrapped, except on narrow terminals.
const proseWidth = 100

// note writes prose below an excerpt, wrapped. It writes nothing for an empty text.
func (p *Printer) note(label, text string) {
	if text == "" {
		return
	}
	width := proseWidth
	if p.width > 0 {
		width = min(p.width, proseWidth)
	}
	lead := p.style.Dim("= " + label)
	for i, line := range term.Wrap(term.Clean(text), width-gutter-len(" = ")-len(label)) {
		if i > 0 {
			lead = strings.Repeat(" ", len("= ")+len(label))
		}
		fmt.Fprintf(p.out, "%*s %s%s\n", gutter, "", lead, line)
	}
}

// describe says which threads did what to which bytes: "write of 4 bytes at tile+0x40
// (shared) by block (0,0,0), warp 2, lanes 0-3".
func describe(a *finding.Place) string {
	var parts []string
	if a.Action != "" {
		parts = append(parts, a.Action)
	}
	if a.Size > 0 {
		parts = append(parts, fmt.Sprintf("of %s", english.Count(a.Size, "byte")))
	}
	if a.Address != "" {
		parts = append(parts, "at "+a.Address)
	}
	if a.Space != "" {
		parts = append(parts, "("+a.Space+")")
	}
	if who := a.Who(); who != "" {
		parts = append(parts, "by "+who)
	}
	return strings.Join(parts, " ")
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
