package parse

import (
	"strconv"

	"github.com/GOATnote-Inc/attest/ptx"
)

// maxScopes limits braces inside braces. Closing a scope passes its undeclared names to the
// scope around it, so without a limit the time could grow with the square of the text.
const maxScopes = 100

// scopes is the state of name resolution inside a function. Depth 1 holds the
// parameters and the body.
type scopes struct {
	depth  int
	levels []level // by depth
	regs   []*ptx.Symbol
	// merged maps the symbol of an undeclared name to the symbol that was declared later.
	// Operands are corrected when the function ends.
	merged map[*ptx.Symbol]*ptx.Symbol
}

// level holds the declarations of one open scope, in order.
type level struct {
	bound  []*binding
	ranges []*regRange
}

// openScope enters a pair of braces.
func (p *parser) openScope() {
	s := &p.scope
	s.depth++
	for len(s.levels) <= s.depth {
		s.levels = append(s.levels, level{})
	}
}

// closeScope removes the declarations of the scope. Names that are still pending become
// pending in the scope around it.
func (p *parser) closeScope() {
	s := &p.scope
	l := &s.levels[s.depth]
	s.depth--
	for _, r := range l.ranges {
		r.prefix.set = r.outer
	}
	l.ranges = l.ranges[:0]
	keep := len(l.bound)
	for i := len(l.bound) - 1; i >= 0; i-- {
		if b := l.bound[i]; s.keeps(b) {
			b.depth = s.depth
			keep--
			l.bound[keep] = b
		} else {
			b.name.local = b.outer
			p.spare = append(p.spare, b)
		}
	}
	s.hand(l, l.bound[keep:])
}

// keeps reports whether a binding of the scope that closes stays, as a pending binding of
// the scope around it. If that scope has the name as well, the two become one symbol.
func (s *scopes) keeps(b *binding) bool {
	if !b.pending || s.depth == 0 {
		return false
	}
	o := b.outer
	if o == nil || o.depth < s.depth {
		return true
	}
	if o.pending || forward(o.sym.Kind) {
		if s.merged == nil {
			s.merged = map[*ptx.Symbol]*ptx.Symbol{}
		}
		s.merged[b.sym] = o.sym
	}
	return false
}

// hand passes the closed scope's pending bindings to the scope around it. It does not copy
// them if that scope has none.
func (s *scopes) hand(l *level, pending []*binding) {
	outer := &s.levels[s.depth]
	if len(outer.bound) == 0 && len(pending) > 0 {
		outer.bound, l.bound = pending, outer.bound
		return
	}
	outer.bound = append(outer.bound, pending...)
	l.bound = l.bound[:0]
}

// forward reports whether names of that kind may be used before they are
// defined.
func forward(k ptx.SymbolKind) bool {
	return k == ptx.LabelSymbol || k == ptx.TargetsSymbol || k == ptx.ProtoSymbol
}

// add makes b the meaning of its name in the scope at b.depth. Declarations of the scopes
// inside that scope still come first.
func (s *scopes) add(b *binding) {
	at := &b.name.local
	for *at != nil && (*at).depth > b.depth {
		at = &(*at).outer
	}
	b.outer, *at = *at, b
	l := &s.levels[b.depth]
	l.bound = append(l.bound, b)
}

// bind declares the name in the scope at a depth.
func (p *parser) bind(n *name, sym *ptx.Symbol, depth int, pending bool) {
	var b *binding
	if k := len(p.spare) - 1; k >= 0 {
		b, p.spare = p.spare[k], p.spare[:k]
	} else {
		b = p.bindSlab.one()
	}
	*b = binding{name: n, sym: sym, depth: depth, pending: pending}
	p.scope.add(b)
}

// use returns the symbol of the name in an operand.
func (p *parser) use(n *name, pos ptx.Pos) *ptx.Symbol {
	b := n.local
	if r := n.member(); r != nil && (b == nil || b.depth < r.depth || b.pending) {
		return p.materialise(n, r)
	}
	switch {
	case b != nil && (b.depth == p.scope.depth || !b.pending && !forward(b.sym.Kind)):
		return b.sym
	case b != nil: // the inner scope may still define a label of that name
	case n.global != nil:
		return n.global
	case n.special != nil:
		return n.special
	}
	sym := p.symSlab.one()
	*sym = ptx.Symbol{Name: n.text, Pos: pos}
	if p.scope.depth > 0 {
		p.bind(n, sym, p.scope.depth, true)
	}
	return sym
}

// materialise makes the symbol for one register of a range.
func (p *parser) materialise(n *name, r *regRange) *ptx.Symbol {
	if digits := n.text[len(r.prefix.text):]; digits[0] == '0' && len(digits) > 1 {
		n = p.intern(r.prefix.text + strconv.FormatUint(uint64(n.num), 10))
		if b := n.local; b != nil && b.depth >= r.depth && !b.pending {
			return b.sym
		}
	}
	sym := p.newReg(n.text, r.typ, r.vec, r.pos)
	p.bind(n, sym, r.depth, false)
	return sym
}

func (p *parser) newReg(text string, t ptx.Type, vec uint8, pos ptx.Pos) *ptx.Symbol {
	sym := p.symSlab.one()
	*sym = ptx.Symbol{Name: text, Kind: ptx.RegSymbol, Type: t, Vec: vec, ID: int32(len(p.scope.regs)), Pos: pos}
	p.scope.regs = append(p.scope.regs, sym)
	return sym
}

// declareRange declares prefix0 to prefix(count-1). It makes no symbols.
func (p *parser) declareRange(n *name, count uint32, d *ptx.RegDecl, pos ptx.Pos) {
	s := &p.scope
	if o := n.set; o != nil && o.depth == s.depth {
		p.fail(pos, "registers %s are declared twice in this scope, first at line %d", quoted(n.text+"<…>"), o.pos.Line)
		return
	}
	r := &regRange{prefix: n, count: count, typ: d.Type, vec: uint8(d.Vec), pos: pos, depth: s.depth, outer: n.set}
	n.set = r
	s.levels[s.depth].ranges = append(s.levels[s.depth].ranges, r)
}

// declare binds the name in the innermost scope and reports a second
// declaration there.
func (p *parser) declare(n *name, sym *ptx.Symbol) {
	if p.declaredHere(n, sym) {
		return
	}
	p.bind(n, sym, p.scope.depth, false)
}

// declaredHere fails when the innermost scope has declared the name before.
func (p *parser) declaredHere(n *name, sym *ptx.Symbol) bool {
	if b := n.local; b != nil && b.depth == p.scope.depth && !b.pending {
		p.fail(sym.Pos, "%s is declared twice in this scope, first at line %d", quoted(n.text), b.sym.Pos.Line)
		return true
	}
	if r := n.member(); r != nil && r.depth == p.scope.depth {
		p.fail(sym.Pos, "%s is declared twice in this scope, first by %s at line %d",
			quoted(n.text), quoted(r.prefix.text+"<"+strconv.FormatUint(uint64(r.count), 10)+">"), r.pos.Line)
		return true
	}
	return false
}

// define gives the name a label, target list or prototype. These may be used
// before they are defined, so a pending symbol becomes the defined one.
func (p *parser) define(n *name, kind ptx.SymbolKind, pos ptx.Pos) *ptx.Symbol {
	if b := n.local; b != nil && b.depth == p.scope.depth && b.pending {
		b.sym.Kind, b.sym.Pos, b.pending = kind, pos, false
		return b.sym
	}
	sym := p.symSlab.one()
	*sym = ptx.Symbol{Name: n.text, Kind: kind, Pos: pos}
	p.declare(n, sym)
	return sym
}

// settle replaces symbols of undeclared names in the body by those that were declared later.
func (p *parser) settle(body []ptx.Stmt) {
	merged := p.scope.merged
	if len(merged) == 0 {
		return
	}
	p.scope.merged = nil
	find := func(s *ptx.Symbol) *ptx.Symbol {
		for merged[s] != nil {
			s = merged[s]
		}
		return s
	}
	for _, st := range body {
		switch st := st.(type) {
		case *ptx.Inst:
			st.Guard.Sym = find(st.Guard.Sym)
			settleOperands(st.Args, find)
		case *ptx.Targets:
			settleOperands(st.List, find)
		}
	}
}

func settleOperands(ops []ptx.Operand, find func(*ptx.Symbol) *ptx.Symbol) {
	for i := range ops {
		ops[i].Sym = find(ops[i].Sym)
		settleOperands(ops[i].Elems, find)
	}
}
