package parse

import (
	"github.com/GOATnote-Inc/attest/ptx"
)

// directiveStatement reads a statement that starts with a dot.
func (p *parser) directiveStatement() bool {
	pos := p.here()
	switch w := p.peekWord(); w {
	case ".loc":
		p.pos += len(w)
		return p.loc(pos)
	case ".reg":
		p.pos += len(w)
		return p.regDecl(pos)
	case ".branchtargets", ".calltargets", ".callprototype":
		return p.failHere("%s needs a label in front of it", w)
	case "":
		return p.unexpected("a directive")
	default:
		if startsVar(w) {
			vs, ok := p.varDecl(ptx.Internal)
			if !ok || !p.expect(';', "after the declaration") {
				return false
			}
			n := len(p.comments)
			for _, v := range vs {
				p.emit(v, n)
				n = 0
			}
			return true
		}
		d, end, ok := p.directive(true)
		return ok && p.emit(d, end)
	}
}

// startsVar reports whether a variable's declaration can start with the word.
func startsVar(w string) bool {
	return linkage(w) != ptx.Internal || w == ".align" || ptx.ParseSpace(w[1:]) != ptx.Generic
}

func linkage(w string) ptx.Linkage {
	for l := ptx.Extern; l <= ptx.Hidden; l++ {
		if l.String() == w {
			return l
		}
	}
	return ptx.Internal
}

// directive reads a directive that has no rule of its own: a name and arguments with commas
// between them. The first argument is on the line of the name. A semicolon may follow. It
// returns how many comments were found before the end.
func (p *parser) directive(statement bool) (*ptx.Directive, int, bool) {
	d := &ptx.Directive{Pos: p.here()}
	d.Name = p.word()
	if d.Name == "" {
		return nil, 0, p.unexpected("a directive")
	}
	end := len(p.comments)
	base := len(p.ops)
	p.ended()
	if c := p.skip(); p.line == d.Pos.Line && p.startsArgument(c) {
		for {
			if !p.argument() {
				return nil, 0, false
			}
			end = len(p.comments)
			p.ended()
			if !p.accept(',') {
				break
			}
		}
	}
	d.Args = p.pop(base)
	if p.peek() == ';' && (statement || d.Name == ".pragma") {
		p.pos++
		d.Semi = true
		end = len(p.comments)
		p.ended()
	} else if d.Name == ".pragma" {
		return nil, 0, p.unexpected("`;` after .pragma")
	}
	return d, end, true
}

func (p *parser) startsArgument(c byte) bool {
	return c == '"' || c == '(' || c == '-' || isDigit(c) || isIdentStart(c)
}

// argument reads an argument of a directive: a word or a number, but no expression. So the
// parser need not look beyond its end, where the next statement may start.
func (p *parser) argument() bool {
	c := p.skip()
	pos := p.here()
	switch {
	case c == '"':
		s, ok := p.str()
		return ok && p.push(ptx.Operand{Kind: ptx.StringOperand, Pos: pos, Sym: &ptx.Symbol{Name: s}})
	case c == '(':
		return p.attributes()
	case isIdentStart(c):
		return p.push(p.wordOperand(p.ident(), pos))
	case isDigit(c):
		v, ok := p.number()
		return ok && p.push(v.operand(pos))
	case c == '-' && isDigit(p.peekAt(1)):
		p.pos++
		v, ok := p.number()
		if ok {
			v, ok = p.negate('-', v, pos)
		}
		return ok && p.push(v.operand(pos))
	}
	return p.unexpected("an argument of the directive")
}

// attributes reads "(.managed, .unified(1, 2))" as a list of words.
func (p *parser) attributes() bool {
	if !p.nest() {
		return false
	}
	defer p.unnest()
	o := ptx.Operand{Kind: ptx.ListOperand, Pos: p.here()}
	if !p.expect('(', "before the attributes") {
		return false
	}
	base := len(p.ops)
	for {
		c, pos := p.skip(), p.here()
		if c != '.' {
			return p.unexpected("an attribute such as `.managed`")
		}
		text := p.word()
		if text == "" {
			return p.unexpected("an attribute such as `.managed`")
		}
		if p.skip() == '(' {
			p.inCall = true
			if !p.group(ptx.ListOperand, ')') {
				return false
			}
			text += p.ops[len(p.ops)-1].String()
			p.ops = p.ops[:len(p.ops)-1]
		}
		p.push(p.wordOperand(text, pos))
		if !p.accept(',') {
			break
		}
	}
	if !p.expect(')', "after the attributes") {
		return false
	}
	o.Elems = p.pop(base)
	return p.push(o)
}

// loc reads a .loc directive, which has no semicolon.
func (p *parser) loc(pos ptx.Pos) bool {
	l := p.locSlab.one()
	l.Pos = pos
	if !p.ints(&l.File, &l.Line, &l.Col) {
		return false
	}
	end := len(p.comments)
	p.ended()
	for p.skip() == ',' {
		p.pos++
		if !p.locClause(l) {
			return false
		}
		end = len(p.comments)
		p.ended()
	}
	return p.emit(l, end)
}

func (p *parser) locClause(l *ptx.Loc) bool {
	if !isIdentStart(p.skip()) {
		return p.unexpected("`function_name` or `inlined_at`")
	}
	switch word := p.ident(); word {
	case "function_name":
		if !isIdentStart(p.skip()) {
			return p.unexpected("a label of .debug_str after `function_name`")
		}
		at := p.here()
		l.Func = p.sectionLabel(p.ident(), at)
		if p.skip() != '+' {
			return true
		}
		var o ptx.Operand
		ok := p.offset(&o)
		l.FuncOff = o.Val
		return ok
	case "inlined_at":
		l.At = new(ptx.SrcPos)
		return p.ints(&l.At.File, &l.At.Line, &l.At.Col)
	default:
		return p.failHere("expected `function_name` or `inlined_at`, found %s", quoted(word))
	}
}

// sectionLabel returns the symbol of a label in a DWARF section, which usually
// comes at the end of the text.
func (p *parser) sectionLabel(text string, pos ptx.Pos) *ptx.Symbol {
	n := p.intern(text)
	if n.label == nil {
		n.label = &ptx.Symbol{Name: text, Pos: pos}
	}
	return n.label
}

// ints reads plain numbers.
func (p *parser) ints(dst ...*int) bool {
	for _, d := range dst {
		if !isDigit(p.skip()) {
			return p.unexpected("a number")
		}
		pos := p.here()
		v, ok := p.number()
		if !ok {
			return false
		}
		if v.kind != intValue || v.i < 0 || v.i > 1<<31-1 {
			return p.fail(pos, "expected an integer of at most 31 bits")
		}
		*d = int(v.i)
	}
	return true
}
