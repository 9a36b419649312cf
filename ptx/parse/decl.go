package parse

import (
	"strconv"

	"github.com/GOATnote-Inc/attest/ptx"
)

// specifiers reads linkage, space, alignment and type, in any order.
func (p *parser) specifiers() (ptx.Var, bool) {
	var v ptx.Var
	for p.skip() == '.' {
		pos := p.here()
		w := p.word()
		if w == "" {
			return v, p.unexpected("a type or state space")
		}
		if !p.specifier(&v, w, pos) {
			return v, false
		}
	}
	return v, true
}

func (p *parser) specifier(v *ptx.Var, w string, pos ptx.Pos) bool {
	switch w {
	case ".align":
		if v.Ptr != nil {
			return p.align(&v.Ptr.Align)
		}
		return p.align(&v.Align)
	case ".v2", ".v4", ".v8":
		v.Vec = int(w[2] - '0')
		return true
	case ".ptr":
		v.Ptr = new(ptx.PtrInfo)
		return true
	case ".attribute":
		return p.varAttributes(v)
	}
	if l := linkage(w); l != ptx.Internal {
		v.Linkage = l
		return true
	}
	if t := ptx.ParseType(w[1:]); t != ptx.NoType {
		v.Type = t
		return true
	}
	s := ptx.ParseSpace(w[1:])
	switch {
	case s == ptx.Generic:
		return p.fail(pos, "%s is no type or state space PTX knows", quoted(w))
	case v.Ptr != nil:
		v.Ptr.Space = s
	default:
		v.Space = s
	}
	return true
}

func (p *parser) align(dst *int) bool {
	pos := p.here()
	if !p.ints(dst) {
		return false
	}
	if n := *dst; n <= 0 || n&(n-1) != 0 {
		return p.fail(pos, "alignment %d is not a power of two", n)
	}
	return true
}

func (p *parser) varAttributes(v *ptx.Var) bool {
	base := len(p.ops)
	if !p.attributes() {
		return false
	}
	for _, a := range p.pop(base)[0].Elems {
		v.Attributes = append(v.Attributes, a.Sym.Name)
	}
	return true
}

// varDecl reads the declaration of one or more variables, without its semicolon.
func (p *parser) varDecl(l ptx.Linkage) ([]*ptx.Var, bool) {
	spec, ok := p.specifiers()
	if !ok {
		return nil, false
	}
	if spec.Type == ptx.NoType {
		return nil, p.unexpected("a type such as `.b32` before the name")
	}
	if l != ptx.Internal {
		spec.Linkage = l
	}
	if spec.Space == ptx.Generic || spec.Space == ptx.Reg {
		return nil, p.failHere("declaration needs a state space such as `.global`")
	}
	var vs []*ptx.Var
	for {
		v, count, ok := p.declarator(spec)
		if !ok {
			return nil, false
		}
		if vs, ok = p.declareVars(vs, v, count); !ok {
			return nil, false
		}
		if !p.accept(',') {
			return vs, true
		}
	}
}

// maxExpanded is how many variables the text may declare with names such as a<100>. They
// are made one by one; registers are not.
const maxExpanded = 1 << 16

// declareVars adds the variable, or all variables of its parameterised name.
func (p *parser) declareVars(vs []*ptx.Var, v *ptx.Var, count int64) ([]*ptx.Var, bool) {
	if count < 0 {
		p.declareVar(v)
		return append(vs, v), true
	}
	if p.expanded += count; p.expanded > maxExpanded {
		return nil, p.fail(v.Pos, "more than %d variables with parameterised names", maxExpanded)
	}
	for i := range count {
		one := *v
		one.Sym = &ptx.Symbol{Name: v.Sym.Name + strconv.FormatInt(i, 10), Pos: v.Pos}
		p.declareVar(&one)
		vs = append(vs, &one)
	}
	return vs, true
}

// declarator reads a name with its dimensions and initialiser. The count is the number of
// variables of a parameterised name, or -1.
func (p *parser) declarator(spec ptx.Var) (*ptx.Var, int64, bool) {
	if !isIdentStart(p.skip()) {
		return nil, 0, p.unexpected("a name")
	}
	v := new(ptx.Var)
	*v = spec
	v.Pos = p.here()
	v.Sym = &ptx.Symbol{Name: p.ident(), Pos: v.Pos}
	count := int64(-1)
	if p.accept('<') {
		n, ok := p.count()
		if !ok {
			return nil, 0, false
		}
		count = int64(n)
	}
	for p.accept('[') {
		if !p.dimension(v) {
			return nil, 0, false
		}
	}
	if p.accept('=') {
		base := len(p.ops)
		if !p.initialiser() {
			return nil, 0, false
		}
		v.Init = &p.pop(base)[0]
	}
	return v, count, true
}

// count reads "100>" of a parameterised name.
func (p *parser) count() (uint32, bool) {
	if !isDigit(p.skip()) {
		return 0, p.unexpected("the number of registers after `<`")
	}
	pos := p.here()
	v, ok := p.number()
	if !ok {
		return 0, false
	}
	if v.kind != intValue || uint64(v.i) > 1<<32-1 {
		return 0, p.fail(pos, "expected an integer of at most 32 bits")
	}
	return uint32(v.i), p.expect('>', "after the number of registers")
}

func (p *parser) dimension(v *ptx.Var) bool {
	if p.accept(']') {
		v.Dims = append(v.Dims, ptx.Unsized)
		return true
	}
	pos := p.here()
	d, ok := p.expr()
	if !ok {
		return false
	}
	if d = d.plain(); d.kind != intValue || d.i < 0 {
		return p.fail(pos, "an array's length must be an integer of zero or more")
	}
	v.Dims = append(v.Dims, d.i)
	return p.expect(']', "after the array's length")
}

// describe fills in the variable's symbol.
func describe(v *ptx.Var) {
	s := v.Sym
	s.Kind, s.Type, s.Vec, s.Var = ptx.VarSymbol, v.Type, uint8(v.Vec), v
	if v.Space == ptx.Reg {
		s.Kind = ptx.RegSymbol
	}
}

// declareVar enters the variable into the function's or the module's scope.
func (p *parser) declareVar(v *ptx.Var) {
	describe(v)
	sym := v.Sym
	if sym.Name == "_" {
		return
	}
	n := p.intern(sym.Name)
	if p.scope.depth > 0 {
		if v.Space == ptx.Reg {
			sym.ID = int32(len(p.scope.regs))
			p.scope.regs = append(p.scope.regs, sym)
		}
		p.declare(n, sym)
		return
	}
	if g := n.global; g != nil {
		if g.Kind != ptx.VarSymbol || g.Var.Linkage != ptx.Extern && v.Linkage != ptx.Extern {
			p.fail(v.Pos, "%s is declared twice, first at line %d", quoted(sym.Name), g.Pos.Line)
			return
		}
		// A declaration and its definition are one symbol.
		v.Sym = g
		if v.Linkage != ptx.Extern {
			*g = *sym
		}
		return
	}
	n.global = sym
}

// regDecl reads the rest of a declaration after ".reg".
func (p *parser) regDecl(pos ptx.Pos) bool {
	spec, ok := p.specifiers()
	if !ok {
		return false
	}
	if spec.Type == ptx.NoType {
		return p.unexpected("a register type such as `.b32`")
	}
	d := &ptx.RegDecl{Pos: pos, Type: spec.Type, Vec: spec.Vec}
	for {
		if !p.regName(d) {
			return false
		}
		if !p.accept(',') {
			break
		}
	}
	if !p.expect(';', "or `,` after the register") {
		return false
	}
	return len(d.Names) == 0 || p.emit(d, len(p.comments))
}

func (p *parser) regName(d *ptx.RegDecl) bool {
	if !isIdentStart(p.skip()) {
		return p.unexpected("a register's name")
	}
	pos := p.here()
	n := p.intern(p.ident())
	if p.accept('<') {
		count, ok := p.count()
		if !ok {
			return false
		}
		if count > 0 { // a range of 0 registers is legal
			p.declareRange(n, count, d, pos)
			d.Names = append(d.Names, ptx.RegName{Prefix: n.text, Count: int(count)})
		}
		return true
	}
	sym := p.symSlab.one()
	*sym = ptx.Symbol{Name: n.text, Pos: pos}
	if !p.declaredHere(n, sym) {
		p.bind(n, p.newReg(n.text, d.Type, uint8(d.Vec), pos), p.scope.depth, false)
	}
	d.Names = append(d.Names, ptx.RegName{Prefix: n.text})
	return true
}
