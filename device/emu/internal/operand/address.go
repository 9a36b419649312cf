package operand

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Addr decodes an address operand in the state space that a modifier names. "" means the
// generic address space.
func (d *Decoder) Addr(o *ptx.Operand, space string) *machine.Address {
	a := &machine.Address{Space: ptx.ParseSpace(space), Own: space == "shared" || space == "shared::cta", Base: -1, Off: uint64(o.Val)}
	s := o.Sym
	switch {
	case s == nil:
	case s.Kind == ptx.RegSymbol:
		a.Base, a.Wide = d.Func.Regs[s.ID], machine.WidthOf(s.Type) != machine.W32
	case s.Kind == ptx.VarSymbol:
		a.Off += d.Variable(s)
		if d.callerRelative(s) {
			a.Base, a.Wide = d.basedAddress(s, 0, true), true
		}
		if a.Space == ptx.Generic {
			a.Off += memory.GenericBase(s.Var.Space)
		}
	default:
		d.Fail("operand %s is not an address", o)
	}
	a.Entry = a.Space == ptx.Param && d.Func.Decl.Entry && (a.Base >= 0 || d.isKernelParam(s))
	return a
}

func (d *Decoder) isKernelParam(s *ptx.Symbol) bool {
	for _, p := range d.Func.Decl.Params {
		if p.Sym == s {
			return true
		}
	}
	return false
}
