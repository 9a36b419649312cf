package parse

import (
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// body reads the statements of a function up to its closing brace.
func (p *parser) body() {
	depth := p.scope.depth
	for {
		c := p.skip()
		p.flushBody(len(p.comments))
		p.fresh = false
		start := p.pos
		switch {
		case c == 0:
			p.failHere("function is never closed: expected `}`")
			for p.scope.depth > depth {
				p.closeScope()
			}
			return
		case c == '}' && p.scope.depth == depth:
			p.pos++
			return
		case !p.statement(c):
			p.ops = p.ops[:0]
			p.depth = 0
			p.resyncStatement(start)
			if p.pos == start {
				p.pos++ // resyncStatement stopped at text that is not a statement
			}
		}
		p.ended()
	}
}

// ended marks the end of a statement. A comment in the rest of the line belongs to it.
func (p *parser) ended() { p.fresh, p.endLine = true, p.line }

// emit appends a statement after the first n comments that were found inside it.
func (p *parser) emit(s ptx.Stmt, n int) bool {
	if n > 0 {
		p.inside(n)
		p.flushBody(n)
	}
	p.stmts = append(p.stmts, s)
	return true
}

// inside gives the first n comments a line of their own: they move in front of the
// statement that they interrupt.
func (p *parser) inside(n int) {
	for _, c := range p.comments[:n] {
		c.Trailing = false
	}
}

// flushBody makes the first n comments statements.
func (p *parser) flushBody(n int) {
	if n == 0 {
		return
	}
	for _, c := range p.comments[:n] {
		p.stmts = append(p.stmts, c)
	}
	p.comments = append(p.comments[:0], p.comments[n:]...)
}

func (p *parser) statement(c byte) bool {
	switch {
	case isIdentStart(c):
		return p.instOrLabel()
	case c == '.':
		return p.directiveStatement()
	case c == '@':
		return p.guarded()
	case c == '{':
		if p.scope.depth >= maxScopes {
			return p.failHere("braces nested more than %d deep", maxScopes)
		}
		s := &ptx.ScopeOpen{Pos: p.here()}
		p.pos++
		p.openScope()
		return p.emit(s, 0)
	case c == '}':
		s := &ptx.ScopeClose{Pos: p.here()}
		p.pos++
		p.closeScope()
		return p.emit(s, 0)
	}
	return p.unexpected("a statement")
}

func (p *parser) instOrLabel() bool {
	pos, start := p.here(), p.pos
	text := p.ident()
	if p.atColon() {
		return p.label(text, pos)
	}
	return p.inst(start, pos, ptx.Guard{})
}

// atColon reports whether a label's colon is next, and moves to it. Otherwise it does not
// move, because space after an opcode without modifiers ("bra L") ends the opcode.
func (p *parser) atColon() bool {
	switch c := p.peek(); {
	case c == '.':
		return false
	case c != ':' && classes[c]&classSpace == 0 && c != '/':
		return false
	}
	at, line, lineStart, comments := p.pos, p.line, p.lineStart, len(p.comments)
	if p.skip() == ':' && p.peekAt(1) != ':' {
		return true
	}
	p.pos, p.line, p.lineStart, p.comments = at, line, lineStart, p.comments[:comments]
	return false
}

// label reads the rest of a statement after a name and a colon: a label, a target list or a
// prototype.
func (p *parser) label(text string, pos ptx.Pos) bool {
	p.pos++
	inside := len(p.comments)
	p.ended()
	if p.skip() == '.' {
		switch w := p.peekWord(); w {
		case ".branchtargets", ".calltargets":
			p.fresh = false
			p.pos += len(w)
			return p.targets(w, text, pos)
		case ".callprototype":
			p.fresh = false
			p.pos += len(w)
			return p.prototype(text, pos)
		}
	}
	sym := p.define(p.intern(text), ptx.LabelSymbol, pos)
	return p.emit(&ptx.Label{Pos: pos, Sym: sym}, inside)
}

func (p *parser) targets(kind, text string, pos ptx.Pos) bool {
	t := &ptx.Targets{Pos: pos, Kind: kind}
	base := len(p.ops)
	for {
		if !isIdentStart(p.skip()) {
			return p.unexpected("a name in the list of " + kind)
		}
		if !p.nameOperand(0, false) {
			return false
		}
		if !p.accept(',') {
			break
		}
	}
	if !p.expect(';', "or `,` after a target") {
		return false
	}
	t.List = p.pop(base)
	t.Sym = p.define(p.intern(text), ptx.TargetsSymbol, pos)
	return p.emit(t, len(p.comments))
}

func (p *parser) guarded() bool {
	pos := p.here()
	p.pos++
	g := ptx.Guard{Neg: p.accept('!')}
	if !isIdentStart(p.skip()) {
		return p.unexpected("a predicate after `@`")
	}
	at := p.here()
	g.Sym = p.use(p.intern(p.ident()), at)
	if !isIdentStart(p.skip()) {
		return p.unexpected("an instruction after the predicate")
	}
	start := p.pos
	p.ident()
	return p.inst(start, pos, g)
}

// inst reads an instruction after the first word of its opcode, which begins at
// start.
func (p *parser) inst(start int, pos ptx.Pos, g ptx.Guard) bool {
	op, ok := p.opcode(start)
	if !ok {
		return false
	}
	p.inCall = op.Name == "call"
	if c := p.skip(); c != ';' {
		for {
			if !p.operand() {
				return false
			}
			if c = p.skip(); c != ',' {
				break
			}
			p.pos++
		}
		if c != ';' {
			return p.unexpected("`,` or `;` after operand")
		}
	}
	p.pos++
	in := p.instSlab.one()
	*in = ptx.Inst{Pos: pos, Guard: g, Op: op, Args: p.pop(0)}
	return p.emit(in, len(p.comments))
}

// opcode reads the modifiers after the first word.
func (p *parser) opcode(start int) (*ptx.Opcode, bool) {
	pos := p.posAt(start)
	text := p.src[start:p.modifiers()]
	if c := p.peek(); classes[c]&classSpace != 0 || c == '/' {
		if p.skip() == '.' {
			return p.spacedOpcode(text, pos)
		}
	}
	return p.op(text, pos)
}

// modifiers moves past modifiers without a space between them, and returns where they end.
func (p *parser) modifiers() int {
	i := p.pos
	for i < len(p.src) {
		c := p.src[i]
		if classes[c]&classIdentPart == 0 && c != '.' {
			if c != ':' || i+1 >= len(p.src) || p.src[i+1] != ':' {
				break
			}
			i++
		}
		i++
	}
	p.pos = i
	return i
}

// spacedOpcode puts together an opcode with space inside: "add .s32".
func (p *parser) spacedOpcode(first string, pos ptx.Pos) (*ptx.Opcode, bool) {
	parts := []string{first}
	for p.skip() == '.' {
		start := p.pos
		parts = append(parts, p.src[start:p.modifiers()])
	}
	return p.op(strings.Join(parts, ""), pos)
}

// op returns the one Opcode of that text.
func (p *parser) op(text string, pos ptx.Pos) (*ptx.Opcode, bool) {
	n := p.intern(text)
	if n.op == nil {
		if strings.Contains(text, "..") || text[len(text)-1] == '.' || text[len(text)-1] == ':' {
			return nil, p.fail(pos, "opcode %s has an empty modifier", quoted(text))
		}
		n.op = ptx.NewOpcode(text)
	}
	return n.op, true
}
