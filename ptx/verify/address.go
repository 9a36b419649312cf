package verify

import (
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// address checks an operand in brackets.
func (d *decoder) address(in *ptx.Inst, m isa.Match, p *isa.Param, o *ptx.Operand) {
	space := ptx.ParseSpace(m.Space(p))
	switch {
	case o.Sym == nil:
		if p.Kind == isa.Addr && space != ptx.Local {
			d.errorf(in, o, "bad-operand", "%s is a constant address, which only .local memory has", o)
		}
	case o.Sym.Kind == ptx.RegSymbol:
		d.addressRegister(in, o)
	case o.Sym.Kind == ptx.VarSymbol:
		d.addressVariable(in, o, p, space)
	case o.Sym.Kind != ptx.UndefinedSymbol:
		d.errorf(in, o, "bad-operand", "%s is a %s, not an address", o.Sym.Name, o.Sym.Kind)
	}
	if n := m.Coords(p); p.Kind == isa.TensorMap && n > 0 {
		d.coordinates(in, o, n)
	}
}

func (d *decoder) addressRegister(in *ptx.Inst, o *ptx.Operand) {
	t := o.Sym.Type
	switch {
	case !addressable(t) || o.Sym.Vec > 0 && o.Comp == 0:
		d.errorf(in, o, "type-mismatch", "address %s is .%s; use an integer or bits register", o.Sym.Name, t)
	case t.Bits() < 32:
		d.warnf(in, o, "narrow-address", "address %s has only %d bits", o.Sym.Name, t.Bits())
	}
}

// addressVariable compares the state space of a variable with the state space of the
// access. An access without a space reaches all of them except parameters.
func (d *decoder) addressVariable(in *ptx.Inst, o *ptx.Operand, p *isa.Param, space ptx.Space) {
	v := o.Sym.Var
	if v == nil || p.Kind == isa.TensorMap || space == v.Space {
		return
	}
	if space == ptx.Generic && v.Space != ptx.Param {
		return
	}
	d.errorf(in, o, "space-mismatch", "%s is in .%s memory; the access is to .%s", o.Sym.Name, v.Space, space)
}

// coordinates checks the coordinates of a tensor: a vector in braces, or a whole vector register.
func (d *decoder) coordinates(in *ptx.Inst, o *ptx.Operand, n int) {
	got := 0
	if len(o.Elems) > 0 {
		switch c := &o.Elems[0]; {
		case c.Kind == ptx.VecOperand:
			got = len(c.Elems)
		case c.Kind == ptx.RegOperand && c.Comp == 0:
			got = int(c.Sym.Vec)
		}
	}
	switch {
	case got == 0:
		d.errorf(in, o, "bad-operand", "%s gives no coordinates; write [tensorMap, {c0, …}]", o)
	case got != n:
		d.errorf(in, o, "bad-operand", "%s has %s; a tensor of %s takes %d", o, english.Count(got, "coordinate"), english.Count(n, "dimension"), n)
	}
}
