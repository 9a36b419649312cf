package operand

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

// NewRegs reserves n consecutive registers for values of a type.
func (d *Decoder) NewRegs(t ptx.Type, n int) machine.Slot { return d.Func.NewRegs(t, n) }

// Reg returns the slot of a register operand.
func (d *Decoder) Reg(o *ptx.Operand) machine.Slot { return d.Func.Reg(o) }

// Src32 returns the slot of a source of up to 32 bits that is read as type t.
func (d *Decoder) Src32(o *ptx.Operand, t ptx.Type) machine.Slot {
	switch o.Kind {
	case ptx.RegOperand:
		if machine.WidthOf(o.Sym.Type) != machine.W32 {
			return d.narrow(o)
		}
		return d.plus32(o)
	case ptx.SpecialOperand:
		return d.specialSlot(o.Sym, false)
	case ptx.ImmOperand, ptx.F32Operand, ptx.F64Operand:
		return d.Const32(uint32(machine.Constant(o, t)))
	case ptx.SymOperand:
		if d.callerRelative(o.Sym) {
			return d.basedAddress(o.Sym, d.address(o), false)
		}
		return d.Const32(uint32(d.address(o)))
	}
	d.Fail("operand %s is not a 32-bit value", o)
	return 0
}

// Src64 returns the slot of a 64-bit source that is read as type t.
func (d *Decoder) Src64(o *ptx.Operand, t ptx.Type) machine.Slot {
	switch o.Kind {
	case ptx.RegOperand:
		if machine.WidthOf(o.Sym.Type) == machine.W32 {
			return d.widen(o)
		}
		return d.plus64(o)
	case ptx.SpecialOperand:
		return d.specialSlot(o.Sym, true)
	case ptx.ImmOperand, ptx.F32Operand, ptx.F64Operand:
		return d.Const64(machine.Constant(o, t))
	case ptx.SymOperand:
		if d.callerRelative(o.Sym) {
			return d.basedAddress(o.Sym, d.address(o), true)
		}
		return d.Const64(d.address(o))
	}
	d.Fail("operand %s is not a 64-bit value", o)
	return 0
}

// Src is Src32 or Src64, by the width of the type.
func (d *Decoder) Src(o *ptx.Operand, t ptx.Type) machine.Slot {
	if machine.WidthOf(t) == machine.W32 {
		return d.Src32(o, t)
	}
	return d.Src64(o, t)
}

// Pred returns the slot of a predicate source, and whether it is negated.
func (d *Decoder) Pred(o *ptx.Operand) (machine.Slot, bool) {
	switch o.Kind {
	case ptx.RegOperand:
		return d.Reg(o), o.Neg
	case ptx.ImmOperand:
		s := d.NewRegs(ptx.Pred, 1) // starts false in every frame
		return s, (o.Val != 0) != o.Neg
	case ptx.SpecialOperand:
		return d.specialPred(o.Sym), o.Neg
	}
	d.Fail("operand %s is not a predicate", o)
	return 0, false
}

// Dst returns the slot of a destination of the type. A result that is not used gets a
// register that nothing reads.
func (d *Decoder) Dst(o *ptx.Operand, t ptx.Type) machine.Slot {
	if o == nil || o.Kind == ptx.SinkOperand {
		return d.NewRegs(t, 1)
	}
	if o.Kind != ptx.RegOperand {
		d.Fail("operand %s is not a register", o)
		return 0
	}
	return d.Reg(o)
}

// plus32 returns a register that holds the sum of a register and the constant that may
// follow it, as in %r1+4.
func (d *Decoder) plus32(o *ptx.Operand) machine.Slot {
	r := d.Reg(o)
	if o.Val == 0 {
		return r
	}
	s, mask := d.NewRegs(ptx.B32, 1), uint32(1<<o.Sym.Type.Bits()-1)
	d.before(func(f *machine.Frame, m uint32) {
		for l := range f.R32[s] {
			f.R32[s][l] = (f.R32[r][l] + uint32(o.Val)) & mask
		}
	})
	return s
}

// plus64 is plus32 for a 64-bit register.
func (d *Decoder) plus64(o *ptx.Operand) machine.Slot {
	r := d.Reg(o)
	if o.Val == 0 {
		return r
	}
	s := d.NewRegs(ptx.B64, 1)
	d.before(func(f *machine.Frame, m uint32) {
		for l := range f.R64[s] {
			f.R64[s][l] = f.R64[r][l] + uint64(o.Val)
		}
	})
	return s
}

// narrow returns the low half of a 64-bit register.
func (d *Decoder) narrow(o *ptx.Operand) machine.Slot {
	s, r := d.NewRegs(ptx.B32, 1), d.Reg(o)
	d.before(func(f *machine.Frame, m uint32) {
		for l := range f.R32[s] {
			f.R32[s][l] = uint32(f.R64[r][l] + uint64(o.Val))
		}
	})
	return s
}

// widen returns a narrow register extended by zeros.
func (d *Decoder) widen(o *ptx.Operand) machine.Slot {
	s, r := d.NewRegs(ptx.B64, 1), d.Reg(o)
	d.before(func(f *machine.Frame, m uint32) {
		for l := range f.R64[s] {
			f.R64[s][l] = uint64(f.R32[r][l]) + uint64(o.Val)
		}
	})
	return s
}

// before adds an operation that runs before the present instruction, even in lanes whose
// guard fails.
func (d *Decoder) before(run machine.Exec) {
	d.Pre = append(d.Pre, machine.Op{Run: run, Guard: -1, Target: -1})
}

// Const32 returns the slot of a 32-bit constant.
func (d *Decoder) Const32(v uint32) machine.Slot {
	s, ok := d.Consts32[v]
	if !ok {
		s = d.NewRegs(ptx.B32, 1)
		d.Consts32[v] = s
	}
	return s
}

// Const64 returns the slot of a 64-bit constant.
func (d *Decoder) Const64(v uint64) machine.Slot {
	s, ok := d.Consts64[v]
	if !ok {
		s = d.NewRegs(ptx.B64, 1)
		d.Consts64[v] = s
	}
	return s
}

// address returns the address of a variable or function, in its own state space.
func (d *Decoder) address(o *ptx.Operand) uint64 {
	off := uint64(o.Val)
	switch o.Sym.Kind {
	case ptx.VarSymbol:
		return d.Variable(o.Sym) + off
	case ptx.FuncSymbol:
		return d.Prog.FuncAddr(o.Sym)
	}
	d.Fail("%s has no address", o.Sym.Name)
	return 0
}

// callerRelative reports whether the address of a variable depends on the caller of the
// function. This is true for .local variables, and for dynamic shared memory, which follows
// the static shared memory of the kernel.
func (d *Decoder) callerRelative(s *ptx.Symbol) bool {
	return s.Kind == ptx.VarSymbol && !d.Func.Decl.Entry && (s.Var.Space == ptx.Local || machine.IsDynamic(s.Var))
}

// basedAddress returns a register with the address of the caller-relative variable s plus
// off.
func (d *Decoder) basedAddress(s *ptx.Symbol, off uint64, wide bool) machine.Slot {
	key := machine.BasedReg{Off: off, Shared: machine.IsDynamic(s.Var), Wide: wide}
	for _, r := range d.Func.Based {
		if key.Slot = r.Slot; r == key {
			return r.Slot
		}
	}
	t := ptx.B32
	if wide {
		t = ptx.B64
	}
	key.Slot = d.NewRegs(t, 1)
	d.Func.Based = append(d.Func.Based, key)
	return key.Slot
}

// Variable returns the address of a variable in its own state space.
func (d *Decoder) Variable(s *ptx.Symbol) uint64 {
	addr, ok := d.Func.Variable(s)
	if !ok {
		d.Fail("variable %s has no storage here", s.Name)
	}
	return addr
}
