package defects

import (
	"fmt"
	"io"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/internal/diag"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Printer writes findings for people.
type Printer struct {
	out   io.Writer
	style term.Style
	width int // of the terminal, or term.Unlimited
	file  string
	lines []string
	from  sources
}

// NewPrinter writes to out, a terminal or not, about a PTX file and its text.
func NewPrinter(out io.Writer, style term.Style, file, text string) *Printer {
	return &Printer{
		out: out, style: style, width: term.Width(out), file: file,
		lines: diag.Lines(text), from: sources{beside: file},
	}
}

const (
	note   = "note"
	gutter = 5
)

// Print writes a finding:
//
//	k.ptx:12:2: error: write to s+0x4 races with a read of warp 0 [shared-race]
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
//	      = fix: bar.sync between them
//	      = seen 32 times
func (p *Printer) Print(f *Finding) { p.print(f, nil) }

// PrintAll writes the findings of a launch. Of a race that was also seen with its
// accesses the other way round, the second has a line in the report of the first.
func (p *Printer) PrintAll(all []*Finding) {
	turned := map[*Finding]*Finding{}
	folded := map[*Finding]bool{}
	for i, f := range all {
		for _, g := range all[:i] {
			if !folded[g] && turned[g] == nil && f.turns(g) {
				turned[g], folded[f] = f, true
				break
			}
		}
	}
	for _, f := range all {
		if !folded[f] {
			p.print(f, turned[f])
		}
	}
}

// turns reports whether two findings have the same accesses in different order.
func (f *Finding) turns(g *Finding) bool {
	return f.Other != nil && g.Other != nil && f.Kind == g.Kind && f.Kernel == g.Kernel &&
		f.Access.Pos == g.Other.Pos && f.Other.Pos == g.Access.Pos && f.Access.Pos != f.Other.Pos
}

func (p *Printer) print(f, turned *Finding) {
	severity := string(f.Severity)
	head, more, _ := strings.Cut(f.Message, "\n")
	p.head(&f.Access, severity, term.Clean(head)+" "+p.style.Dim("["+string(f.Kind)+"]"))
	p.excerpt(&f.Access, severity)
	if f.Access.Action != "" || f.Access.Size > 0 || f.Access.Warp >= 0 && len(f.Waiters) == 0 {
		p.note("", describe(&f.Access))
	}
	p.source(&f.Access, severity)
	for line := range strings.Lines(more) {
		fmt.Fprintf(p.out, "%*s %s\n", gutter, "", term.Clean(strings.TrimSuffix(line, "\n")))
	}
	p.waiters(f.Waiters)
	if f.Other != nil {
		p.other(f)
	}
	p.note("why: ", f.Why)
	p.note("fix: ", f.Fix)
	if f.Count > 1 {
		p.note("", fmt.Sprintf("seen %d times", f.Count))
	}
	if turned != nil {
		p.note("", fmt.Sprintf("%s: also the other way round: %s; seen %s", turned.Severity, turned.Message, times(turned.Count)))
	}
}

// other writes the access that a defect refers to.
func (p *Printer) other(f *Finding) {
	text := "see also " + f.Other.Inst + " " + describe(f.Other)
	switch {
	case f.Other.Note != "":
		text = f.Other.Note + ": " + describe(f.Other)
	case f.Other.Action != "":
		text = "the other access: " + describe(f.Other)
	}
	p.head(f.Other, note, term.Clean(text))
	p.excerpt(f.Other, note)
	p.source(f.Other, note)
}

// head is the line that says where and what. Editors jump to it.
func (p *Printer) head(a *check.Access, severity, text string) {
	at := p.file
	if a.Pos.IsValid() {
		at = fmt.Sprintf("%s:%d:%d", p.file, a.Pos.Line, a.Pos.Col)
	}
	colour := p.style.Dim
	switch severity {
	case string(check.Error):
		colour = p.style.Red
	case string(check.Warning):
		colour = p.style.Yellow
	}
	fmt.Fprintf(p.out, "%s %s %s\n", p.style.Bold(term.Clean(at)+":"), colour(severity+":"), text)
}

// excerpt is the line of PTX, with the caret under the opcode and not its guard.
func (p *Printer) excerpt(a *check.Access, severity string) {
	n, column := int(a.Pos.Line), int(a.Pos.Col)
	if n < 1 || n > len(p.lines) {
		return
	}
	if text := p.lines[n-1]; column > 0 && column <= len(text) && text[column-1] == '@' && a.Inst != "" {
		column += max(strings.Index(text[column-1:], a.Inst), 0)
	}
	p.line(p.lines[n-1], n, column, severity)
}

func (p *Printer) line(text string, line, column int, severity string) {
	e := diag.Excerpt{Text: text, Line: line, Column: column, Severity: severity, Gutter: gutter, Width: p.width}
	e.Write(p.out, p.style)
}

// source says what the PTX was made from, with the line where it can be read.
func (p *Printer) source(a *check.Access, severity string) {
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

// caller says where the function that a line is in was called.
func (p *Printer) caller(at string) {
	p.note("", "called at "+at)
	if o, ok := parseOrigin(at); ok {
		if text, ok := p.from.line(o); ok {
			p.line(text, o.line, o.column, note)
		}
	}
}

// proseWidth is where prose is wrapped when no terminal says.
const proseWidth = 100

// note writes prose below an excerpt, wrapped, or nothing when there is none.
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

// describe says who did what to which bytes: "write of 4 bytes at tile+0x40
// (shared) by block (0,0,0), warp 2, lanes 0-3".
func describe(a *check.Access) string {
	var parts []string
	if a.Action != "" {
		parts = append(parts, a.Action)
	}
	if a.Size > 0 {
		parts = append(parts, fmt.Sprintf("of %s", plural(a.Size, "byte")))
	}
	if at := a.Where(); at != "" {
		parts = append(parts, "at "+at)
	}
	if a.Space != ptx.Generic {
		parts = append(parts, "("+a.Space.String()+")")
	}
	if a.Warp >= 0 {
		parts = append(parts, "by "+a.Who())
	}
	return strings.Join(parts, " ")
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
