package parse

import (
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// item reads one item of the module.
func (p *parser) item(c byte) bool {
	if c != '.' {
		if c == '}' {
			p.pos++
			return p.fail(p.posAt(p.pos-1), "`}` closes nothing")
		}
		return p.unexpected("a directive such as `.entry` or `.global`")
	}
	pos := p.here()
	switch w := p.peekWord(); w {
	case ".file":
		p.pos += len(w)
		return p.file(pos)
	case ".section":
		p.pos += len(w)
		return p.section(pos)
	case ".alias":
		p.pos += len(w)
		return p.alias(pos)
	case ".version", ".target", ".address_size":
		return p.failHere("%s belongs to the start of the text", w)
	case ".reg":
		return p.failHere("registers are declared inside a function")
	case "":
		return p.unexpected("a directive")
	case ".entry", ".func":
		return p.function(ptx.Internal, pos)
	default:
		if startsVar(w) {
			return p.linked(pos)
		}
		d, end, ok := p.directive(true)
		return ok && p.add(d, end)
	}
}

// linked reads a function or variables that may have a linking directive.
func (p *parser) linked(pos ptx.Pos) bool {
	w := p.peekWord()
	l := linkage(w)
	if l != ptx.Internal {
		p.pos += len(w)
		if p.skip() != '.' {
			return p.unexpected("a declaration after " + w)
		}
		if next := p.peekWord(); next == ".entry" || next == ".func" {
			return p.function(l, pos)
		}
	}
	vs, ok := p.varDecl(l)
	if !ok || !p.expect(';', "after the declaration") {
		return false
	}
	n := len(p.comments)
	for _, v := range vs {
		p.add(v, n)
		n = 0
	}
	return true
}

func (p *parser) file(pos ptx.Pos) bool {
	f := &ptx.File{Pos: pos}
	if !p.ints(&f.Index) {
		return false
	}
	var ok bool
	if f.Name, ok = p.str(); !ok {
		return false
	}
	end := len(p.comments)
	p.ended()
	if p.accept(',') {
		f.HasTime = true
		if !p.uint64(&f.Time) || !p.expect(',', "between the time and the size of a file") || !p.uint64(&f.Size) {
			return false
		}
		end = len(p.comments)
	}
	return p.add(f, end)
}

func (p *parser) uint64(dst *uint64) bool {
	if !isDigit(p.skip()) {
		return p.unexpected("a number")
	}
	pos := p.here()
	v, ok := p.number()
	if ok && v.kind != intValue {
		return p.fail(pos, "expected an integer")
	}
	*dst = uint64(v.i)
	return ok
}

// section keeps the text of a DWARF section. Only its labels are parsed, because .loc
// refers to them.
func (p *parser) section(pos ptx.Pos) bool {
	s := &ptx.Section{Pos: pos}
	p.skip()
	at := p.pos
	for c := p.peek(); isIdentPart(c) || c == '.'; c = p.peek() {
		p.pos++
	}
	if s.Name = p.src[at:p.pos]; s.Name == "" {
		return p.unexpected("the name of the section")
	}
	if !p.expect('{', "after the name of the section") {
		return false
	}
	before := len(p.comments)
	start := p.pos
	for c := p.skip(); c != '}'; c = p.skip() {
		if c == 0 {
			return p.fail(pos, "section is never closed: expected `}`")
		}
		if isIdentStart(c) {
			at, text := p.here(), p.ident()
			if p.peek() == ':' {
				sym := p.sectionLabel(text, at)
				sym.Kind, sym.Pos = ptx.LabelSymbol, at
			}
			continue
		}
		p.pos++
	}
	p.comments = p.comments[:before] // they are part of the lines
	s.Lines = lines(p.src[start:p.pos])
	p.pos++
	return p.add(s, before)
}

// lines splits a text into lines. It removes space at the ends of lines, and empty lines
// at the start and the end.
func lines(text string) []string {
	out := make([]string, 0, strings.Count(text, "\n")+1)
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.TrimRight(l, " \t\r\f\v")
		if l != "" || len(out) > 0 {
			out = append(out, l)
		}
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func (p *parser) alias(pos ptx.Pos) bool {
	a := &ptx.Alias{Pos: pos}
	if !p.globalName(&a.Name) || !p.expect(',', "between the names of .alias") ||
		!p.globalName(&a.Target) || !p.expect(';', "after .alias") {
		return false
	}
	return p.add(a, len(p.comments))
}

func (p *parser) globalName(dst **ptx.Symbol) bool {
	if !isIdentStart(p.skip()) {
		return p.unexpected("the name of a function")
	}
	pos := p.here()
	*dst = p.use(p.intern(p.ident()), pos)
	return true
}
