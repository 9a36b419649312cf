package isa

import "github.com/GOATnote-Inc/attest/ptx"

// Bound is an instruction with its form and the assignment of its operands to the
// parameters of the form.
type Bound struct {
	*ptx.Inst
	Match Match
	at    []int // for each parameter of the form: the index of its operand, or -1
}

// BindInst resolves an instruction and binds its operands. The error says which part of
// the instruction is not in the table.
func BindInst(in *ptx.Inst) (Bound, error) {
	m, err := Resolve(in)
	if err != nil {
		return Bound{}, err
	}
	at, err := m.Bind(in.Args)
	if err != nil {
		return Bound{}, err
	}
	return Bound{in, m, at}, nil
}

// Arg returns the operand of that name, or nil if the operand is optional and left
// out. Both halves of a pair (p|q) have names.
func (b *Bound) Arg(name string) *ptx.Operand {
	for i := range b.Match.Form.Params {
		p := &b.Match.Form.Params[i]
		if b.at[i] < 0 {
			continue
		}
		o := &b.Args[b.at[i]]
		if o.Kind == ptx.PairOperand {
			if p.Name == name {
				return &o.Elems[0]
			}
			if p.Pair.Name == name {
				return &o.Elems[1]
			}
			continue
		}
		if p.Name == name {
			return o
		}
	}
	return nil
}

// Operand returns the operand of parameter i of the form, or nil if it is left out.
func (b *Bound) Operand(i int) *ptx.Operand {
	if b.at[i] < 0 {
		return nil
	}
	return &b.Args[b.at[i]]
}

// Type returns the type that the operand of that name has in this variant, or NoType.
func (b *Bound) Type(name string) ptx.Type {
	if p := b.param(name); p != nil {
		return b.Match.Type(p)
	}
	return ptx.NoType
}

// SpaceName returns the modifier that names the state space of an address operand. It
// is "" for a generic address.
func (b *Bound) SpaceName(name string) string {
	if p := b.param(name); p != nil {
		return b.Match.Space(p)
	}
	return ""
}

// Space returns the state space that the instruction names for an address operand.
func (b *Bound) Space(name string) ptx.Space { return ptx.ParseSpace(b.SpaceName(name)) }

// Has reports whether the opcode carries the modifier.
func (b *Bound) Has(mod string) bool { return b.Match.Has(mod) }

// Mod returns the modifier in the slot of that name, or "" if it is left out.
func (b *Bound) Mod(slot string) string { return b.Match.Mod(slot) }

func (b *Bound) param(name string) *Param {
	for i := range b.Match.Form.Params {
		if p := &b.Match.Form.Params[i]; p.Name == name {
			return p
		}
	}
	return nil
}
