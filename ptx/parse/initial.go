package parse

import "github.com/GOATnote-Inc/attest/ptx"

// initialiser reads the value of a variable: a constant, an address, or braces
// around more of them.
func (p *parser) initialiser() bool {
	c := p.skip()
	switch {
	case c == '{':
		return p.initialisers()
	case isIdentStart(c) && !p.atWarpSz():
		return p.nameOperand(0, false)
	}
	pos := p.here()
	v, ok := p.expr()
	if !ok {
		return false
	}
	mask := v.operand(pos)
	if p.skip() != '(' {
		return p.push(mask)
	}
	return p.masked(mask)
}

func (p *parser) initialisers() bool {
	if !p.nest() {
		return false
	}
	defer p.unnest()
	o := ptx.Operand{Kind: ptx.VecOperand, Pos: p.here()}
	p.pos++
	base := len(p.ops)
	for {
		if !p.element() {
			return false
		}
		c := p.skip()
		if c == '}' {
			break
		}
		if c != ',' {
			return p.unexpected("`,` or `}` after an initial value")
		}
		p.pos++
	}
	p.pos++
	o.Elems = p.pop(base)
	return p.push(o)
}

// element reads an initial value, or "field = value" of a sampler or texture.
func (p *parser) element() bool {
	if !isIdentStart(p.skip()) || p.atWarpSz() {
		return p.initialiser()
	}
	pos, text := p.here(), p.ident()
	if p.skip() == '=' {
		p.pos++
		return p.field(text, pos)
	}
	return p.named(text, ptx.Operand{Kind: ptx.SymOperand, Pos: pos})
}

func (p *parser) field(field string, pos ptx.Pos) bool {
	base := len(p.ops)
	if isIdentStart(p.skip()) {
		at := p.here()
		p.push(p.wordOperand(p.ident(), at))
	} else if !p.constant() {
		return false
	}
	return p.push(ptx.Operand{Kind: ptx.FieldOperand, Pos: pos, Sym: &ptx.Symbol{Name: field}, Elems: p.pop(base)})
}

// masked reads "(address)" after a mask: 0xFF00(var+8) is one byte of an address.
func (p *parser) masked(mask ptx.Operand) bool {
	if mask.Kind != ptx.ImmOperand {
		return p.failHere("the mask in front of `(` must be an integer")
	}
	p.pos++
	if !isIdentStart(p.skip()) {
		return p.unexpected("a variable or function inside the mask's parentheses")
	}
	if !p.nameOperand(0, false) || !p.expect(')', "after the masked address") {
		return false
	}
	o := &p.ops[len(p.ops)-1]
	if o.Kind != ptx.SymOperand {
		return p.fail(o.Pos, "a mask takes the address of a variable or function")
	}
	o.Flags |= ptx.MaskOf
	o.Pos = mask.Pos
	o.Elems = p.opSlab.copyOf([]ptx.Operand{mask})
	return true
}
