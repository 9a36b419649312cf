package parse

import (
	"github.com/GOATnote-Inc/attest/ptx"
)

// Operands are collected on a stack, p.ops. A rule that succeeds pushes one operand. A list
// moves its elements from the stack into a slab and pushes itself.

func (p *parser) push(o ptx.Operand) bool {
	p.ops = append(p.ops, o)
	return true
}

// pop removes the operands above base from the stack and returns them.
func (p *parser) pop(base int) []ptx.Operand {
	list := p.opSlab.copyOf(p.ops[base:])
	p.ops = p.ops[:base]
	return list
}

// operand reads one operand of an instruction.
func (p *parser) operand() bool {
	c := p.skip()
	switch {
	case isIdentStart(c):
		return p.nameOperand(0, false)
	case c == '[':
		return p.address()
	case c == '{':
		return p.group(ptx.VecOperand, '}')
	case c == '(' && p.inCall:
		return p.group(ptx.ListOperand, ')')
	case c == '!' || c == '-':
		return p.signed(c)
	case isDigit(c) || c == '.' || c == '(' || c == '~' || c == '+':
		return p.constant()
	}
	return p.unexpected("an operand")
}

// constant reads a constant expression.
func (p *parser) constant() bool {
	pos := p.here()
	v, ok := p.expr()
	return ok && p.push(v.operand(pos))
}

// signed reads !p, -r or an expression with one of these in front.
func (p *parser) signed(c byte) bool {
	at, line, lineStart, comments := p.pos, p.line, p.lineStart, len(p.comments)
	p.pos++
	if next := p.skip(); isIdentStart(next) && !p.atWarpSz() {
		if c == '!' {
			return p.nameOperand(0, true)
		}
		return p.nameOperand(ptx.Minus, false)
	}
	p.pos, p.line, p.lineStart, p.comments = at, line, lineStart, p.comments[:comments]
	return p.constant()
}

// group reads operands between brackets of either kind.
func (p *parser) group(kind ptx.OperandKind, end byte) bool {
	if !p.nest() {
		return false
	}
	defer p.unnest()
	o := ptx.Operand{Kind: kind, Pos: p.here()}
	p.pos++
	base := len(p.ops)
	if kind == ptx.ListOperand && p.accept(end) {
		return p.push(o)
	}
	for {
		if !p.operand() {
			return false
		}
		c := p.skip()
		if c == end {
			break
		}
		if c != ',' {
			return p.unexpected("`,` or `" + string(rune(end)) + "` after an element")
		}
		p.pos++
	}
	p.pos++
	o.Elems = p.pop(base)
	if kind == ptx.VecOperand {
		return p.paired(o) // a read of a texture returns a vector and a predicate
	}
	return p.push(o)
}

// nameOperand reads an operand that starts with a name.
func (p *parser) nameOperand(flags ptx.OperandFlags, neg bool) bool {
	if p.atWarpSz() {
		return p.constant()
	}
	o := ptx.Operand{Kind: ptx.SymOperand, Flags: flags, Neg: neg, Pos: p.here()}
	return p.named(p.ident(), o)
}

// named reads the rest of an operand after its name.
func (p *parser) named(text string, o ptx.Operand) bool {
	switch {
	case p.peek() == '.':
		if !p.component(&o, text) {
			return false
		}
	case text == "_" && o.Flags == 0 && !o.Neg:
		o.Kind = ptx.SinkOperand
	case text == "generic" && p.skip() == '(':
		return p.generic(&o) && p.push(o)
	default:
		p.name(&o, text)
	}
	if classes[p.peek()]&classEnd != 0 {
		return p.push(o)
	}
	return p.pair(o)
}

// name resolves a plain name.
func (p *parser) name(o *ptx.Operand, text string) {
	o.Sym = p.use(p.intern(text), o.Pos)
	switch o.Sym.Kind {
	case ptx.RegSymbol:
		o.Kind = ptx.RegOperand
	case ptx.SpecialSymbol:
		o.Kind = ptx.SpecialOperand
	default:
		if o.Neg || o.Flags&ptx.Minus != 0 {
			o.Kind = ptx.RegOperand // only a register is possible here, declared or not
		}
	}
}

// component reads the part after a name and a dot: the rest of a special register
// (%tid.x), a component of a vector register (v.x) or a selector of the video
// instructions (%r1.b0, %r2.h10).
func (p *parser) component(o *ptx.Operand, text string) bool {
	start := p.pos - len(text)
	sel := p.word()
	if sel == "" {
		return p.failHere("expected a component such as `.x` after %s", quoted(text))
	}
	if n := p.intern(p.src[start:p.pos]); n.special != nil {
		o.Kind, o.Sym = ptx.SpecialOperand, n.special
		return true
	}
	p.name(o, text)
	o.Kind = ptx.RegOperand
	if len(sel) == 2 {
		switch sel[1] {
		case 'x', 'r':
			o.Comp = 'x'
		case 'y', 'g':
			o.Comp = 'y'
		case 'z', 'b':
			o.Comp = 'z'
		case 'w', 'a':
			o.Comp = 'w'
		}
	}
	if o.Comp == 0 {
		o.Flags |= ptx.Selector
		o.Elems = p.opSlab.copyOf([]ptx.Operand{p.wordOperand(sel[1:], o.Pos)})
	}
	return true
}

// wordOperand makes an operand of a bare word, which is not a declared name.
func (p *parser) wordOperand(text string, pos ptx.Pos) ptx.Operand {
	return ptx.Operand{Kind: ptx.StringOperand, Flags: ptx.Word, Pos: pos, Sym: &ptx.Symbol{Name: text}}
}

// pair reads what may follow a name: an offset, an index, or "|" and the second
// half of a pair.
func (p *parser) pair(o ptx.Operand) bool {
	c := p.skip()
	switch {
	case c == '+' && (o.Kind == ptx.SymOperand || o.Kind == ptx.RegOperand) && o.Comp == 0 && o.Flags&ptx.Selector == 0:
		if !p.offset(&o) {
			return false
		}
	case c == '+':
		return p.failHere("only a whole register, a variable or a function takes an offset")
	case c == '-' && (o.Kind == ptx.SymOperand || o.Kind == ptx.RegOperand):
		return p.failHere("PTX writes a negative offset with a plus: `%s+-8`", o.Sym.Name)
	case c == '[' && o.Kind == ptx.SymOperand:
		if !p.index(&o) {
			return false
		}
	}
	return p.paired(o)
}

// paired pushes an operand, or a pair if "|" and a second operand follow.
func (p *parser) paired(o ptx.Operand) bool {
	if p.skip() != '|' {
		return p.push(o)
	}
	p.pos++
	base := len(p.ops)
	p.push(o)
	c := p.skip()
	ok := false
	switch {
	case !p.nest():
		return false
	case isIdentStart(c):
		ok = p.nameOperand(0, false)
	case c == '!':
		ok = p.signed(c)
	default:
		ok = p.unexpected("a register or `_` after `|`")
	}
	p.unnest()
	return ok && p.push(ptx.Operand{Kind: ptx.PairOperand, Pos: o.Pos, Elems: p.pop(base)})
}

// offset reads "+ expression" into the operand.
func (p *parser) offset(o *ptx.Operand) bool {
	p.pos++
	pos := p.here()
	v, ok := p.expr()
	if !ok {
		return false
	}
	v = v.plain()
	if v.kind != intValue {
		return p.fail(pos, "an offset must be an integer")
	}
	o.Val = v.i
	if v.i == 0 {
		o.Flags |= ptx.PlusZero
	}
	return true
}

// index reads "[2]", "[%r1]" or "[%r1+2]" after the name of an array.
func (p *parser) index(o *ptx.Operand) bool {
	p.pos++
	o.Kind = ptx.IndexOperand
	if isIdentStart(p.skip()) && !p.atWarpSz() {
		at := ptx.Operand{Pos: p.here()}
		p.name(&at, p.ident())
		at.Kind = ptx.RegOperand
		o.Elems = p.opSlab.copyOf([]ptx.Operand{at})
		if p.skip() == '+' && !p.offset(o) {
			return false
		}
		return p.expect(']', "after the index")
	}
	pos := p.here()
	v, ok := p.expr()
	v = v.plain()
	if ok && v.kind != intValue {
		return p.fail(pos, "an index must be an integer")
	}
	o.Val = v.i
	return ok && p.expect(']', "after the index")
}

// generic reads "(variable)" and an offset after "generic".
func (p *parser) generic(o *ptx.Operand) bool {
	p.pos++
	if !isIdentStart(p.skip()) {
		return p.unexpected("a variable after `generic(`")
	}
	o.Flags |= ptx.GenericOf
	p.name(o, p.ident())
	o.Kind = ptx.SymOperand
	if !p.expect(')', "after the variable of `generic`") {
		return false
	}
	return p.skip() != '+' || p.offset(o)
}

// address reads [base+offset, more …].
func (p *parser) address() bool {
	if !p.nest() {
		return false
	}
	defer p.unnest()
	o := ptx.Operand{Kind: ptx.AddrOperand, Pos: p.here()}
	p.pos++
	if !p.addressBase(&o) {
		return false
	}
	base := len(p.ops)
	for p.skip() == ',' {
		p.pos++
		if !p.operand() {
			return false
		}
	}
	if !p.expect(']', "after the address") {
		return false
	}
	o.Elems = p.pop(base)
	if p.peek() == '.' {
		if w := p.word(); w != ".unified" {
			return p.failHere("expected `.unified` or nothing after `]`, found %s", quoted(w))
		}
		o.Flags |= ptx.Unified
	}
	return p.push(o)
}

func (p *parser) addressBase(o *ptx.Operand) bool {
	if c := p.skip(); isIdentStart(c) && !p.atWarpSz() {
		pos, text := p.here(), p.ident()
		if p.peek() == '.' {
			at := ptx.Operand{Pos: pos}
			if !p.component(&at, text) {
				return false
			}
			if at.Comp == 0 {
				return p.fail(pos, "%s cannot be the base of an address", quoted(text))
			}
			o.Sym, o.Comp = at.Sym, at.Comp
		} else {
			o.Sym = p.use(p.intern(text), pos)
		}
		switch p.skip() {
		case '+':
			return p.offset(o)
		case '-':
			return p.failHere("PTX writes a negative offset with a plus: `[%s+-8]`", text)
		}
		return true
	}
	pos := p.here()
	v, ok := p.expr()
	v = v.plain()
	if ok && v.kind != intValue {
		return p.fail(pos, "an address must be an integer")
	}
	c := v.operand(pos)
	o.Val, o.Flags = c.Val, c.Flags
	return ok
}
