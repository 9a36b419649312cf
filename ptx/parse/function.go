package parse

import (
	"slices"

	"github.com/GOATnote-Inc/attest/ptx"
)

// function reads an .entry or .func after its linking directive.
func (p *parser) function(l ptx.Linkage, pos ptx.Pos) bool {
	f := &ptx.Func{Pos: pos, Linkage: l}
	f.Entry = p.word() == ".entry"
	p.openScope()
	p.scope.regs = p.scope.regs[:0]
	if !p.signature(f) {
		// The error is recorded. The body is read for more errors.
		p.ops, p.depth = p.ops[:0], 0
		if f.HasBody = p.resyncHead(); f.HasBody {
			p.pos++
		}
	}
	if f.HasBody {
		p.body()
		p.settle(p.stmts)
		f.Body = slices.Clone(p.stmts)
		clear(p.stmts)
		p.stmts = p.stmts[:0]
		f.Regs = slices.Clone(p.scope.regs)
	}
	p.scope.merged = nil
	p.closeScope()
	return true
}

// signature reads up to the opening brace or the semicolon, and adds the function
// to the module.
func (p *parser) signature(f *ptx.Func) bool {
	if !f.Entry {
		for p.skip() == '.' {
			if !p.funcDirective(f) {
				return false
			}
		}
		if p.skip() == '(' && !p.params(&f.Returns) {
			return false
		}
	}
	if !isIdentStart(p.skip()) {
		return p.unexpected("the name of the function")
	}
	at := p.here()
	n := p.intern(p.ident())
	if p.skip() == '(' && !p.params(&f.Params) {
		return false
	}
	for p.skip() == '.' {
		if !p.funcDirective(f) {
			return false
		}
	}
	for _, v := range f.Returns {
		p.declareVar(v)
	}
	for _, v := range f.Params {
		p.declareVar(v)
	}
	switch p.peek() {
	case '{':
		f.HasBody = true
	case ';':
	default:
		return p.unexpected("`{` or `;` after the head of the function")
	}
	p.pos++
	p.declareFunc(f, n, at)
	p.ended()
	return p.add(f, len(p.comments))
}

func (p *parser) funcDirective(f *ptx.Func) bool {
	if w := p.peekWord(); w != "" && (startsVar(w) || p.startsItem() || ptx.ParseType(w[1:]) != ptx.NoType) {
		return p.unexpected("`{` or `;` after the head of the function")
	}
	d, _, ok := p.directive(false)
	f.Directives = append(f.Directives, d)
	return ok
}

// params reads a list of parameters.
func (p *parser) params(dst *[]*ptx.Var) bool {
	p.pos++
	if p.accept(')') {
		return true
	}
	for {
		v, ok := p.param()
		if !ok {
			return false
		}
		*dst = append(*dst, v)
		if p.accept(')') {
			return true
		}
		if !p.accept(',') {
			return p.unexpected("`,` or `)` after a parameter")
		}
	}
}

func (p *parser) param() (*ptx.Var, bool) {
	if p.skip() != '.' {
		return nil, p.unexpected("a parameter such as `.param .b32 x`")
	}
	spec, ok := p.specifiers()
	if !ok {
		return nil, false
	}
	if spec.Type == ptx.NoType {
		return nil, p.unexpected("a type such as `.b32` before the name")
	}
	if spec.Space != ptx.Param && spec.Space != ptx.Reg {
		return nil, p.failHere("a parameter needs the state space `.param` or `.reg`")
	}
	v, count, ok := p.declarator(spec)
	if !ok {
		return nil, false
	}
	if count >= 0 || v.Init != nil {
		return nil, p.fail(v.Pos, "a parameter has neither a count nor an initial value")
	}
	describe(v)
	return v, true
}

// declareFunc enters the function into the module. Its declarations and its
// definition share a symbol.
func (p *parser) declareFunc(f *ptx.Func, n *name, pos ptx.Pos) {
	g := n.global
	if g == nil {
		f.Sym = &ptx.Symbol{Name: n.text, Kind: ptx.FuncSymbol, Pos: pos, Func: f}
		n.global = f.Sym
		return
	}
	f.Sym = g
	switch {
	case g.Kind != ptx.FuncSymbol:
		p.fail(pos, "%s is declared twice, first as a %s at line %d", quoted(n.text), g.Kind, g.Pos.Line)
	case g.Func.HasBody && f.HasBody:
		p.fail(pos, "function %s has two bodies, the first at line %d", quoted(n.text), g.Func.Pos.Line)
	case !g.Func.HasBody:
		g.Func, g.Pos = f, pos
	}
}

// prototype reads the rest of a prototype after "name: .callprototype".
func (p *parser) prototype(text string, pos ptx.Pos) bool {
	t := &ptx.Proto{Pos: pos}
	if !p.prototypeParams(t) {
		return false
	}
	for p.skip() == '.' {
		d, _, ok := p.directive(false)
		if !ok {
			return false
		}
		t.Directives = append(t.Directives, d)
	}
	if !p.expect(';', "after the call prototype") {
		return false
	}
	t.Sym = p.define(p.intern(text), ptx.ProtoSymbol, pos)
	return p.emit(t, len(p.comments))
}

func (p *parser) prototypeParams(t *ptx.Proto) bool {
	if p.skip() == '(' && !p.params(&t.Returns) {
		return false
	}
	if !isIdentStart(p.skip()) {
		return p.unexpected("`_` in the call prototype")
	}
	p.ident()
	return p.skip() != '(' || p.params(&t.Params)
}
