package operand

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// LoadDst decodes the destination of a load of type t.
func (d *Decoder) LoadDst(o *ptx.Operand, t ptx.Type) machine.Cell {
	r := t
	if o.Kind == ptx.RegOperand {
		r = o.Sym.Type
	}
	c := machine.Cell{Slot: d.Dst(o, r), Width: machine.WidthOf(r)}
	if t.Class() == ptx.ClassSigned && r.Bits() > t.Bits() {
		c.Signed = t.Bits()
	}
	return c
}

// RegisterBits returns the width of a register operand in bits, or the width of t for other
// operands.
func RegisterBits(o *ptx.Operand, t ptx.Type) int {
	if o.Kind == ptx.RegOperand {
		return o.Sym.Type.Bits()
	}
	return t.Bits()
}

// StoreSrc decodes a source of a store of type t.
func (d *Decoder) StoreSrc(o *ptx.Operand, t ptx.Type) machine.Cell {
	w := machine.WidthOf(t)
	if o.Kind == ptx.RegOperand {
		w = machine.WidthOf(o.Sym.Type)
	}
	if w == machine.W32 {
		return machine.Cell{Slot: d.Src32(o, t), Width: machine.W32}
	}
	return machine.Cell{Slot: d.Src64(o, t), Width: w}
}

// Sources returns the slots of a vector of 32-bit sources.
func (d *Decoder) Sources(o *ptx.Operand) (s []machine.Slot) {
	for _, e := range machine.Elements(o) {
		s = append(s, d.Src32(e, ptx.B32))
	}
	return s
}

// Results returns the slots of a vector of results of a type.
func (d *Decoder) Results(o *ptx.Operand, t ptx.Type) (s []machine.Slot) {
	for _, e := range machine.Elements(o) {
		s = append(s, d.Dst(e, t))
	}
	return s
}

// CheckWidth fails unless a register is as wide as the type of the operand, or the
// instruction allows wider registers.
func (d *Decoder) CheckWidth(x *isa.Bound, name string) {
	o, t := x.Arg(name), x.Type(name)
	if o == nil || o.Kind != ptx.RegOperand || x.Match.Form.Wider {
		return
	}
	if r := o.Sym.Type; r.Bits() != t.Bits() {
		d.Fail("register %s has type .%s: the instruction needs a register of %d bits here", o.Sym.Name, r, t.Bits())
	}
}
