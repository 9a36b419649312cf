package emu

import (
	"github.com/GOATnote-Inc/attest/ptx"
)

// newRegs makes n consecutive registers for values of a type.
func (d *decoder) newRegs(t ptx.Type, n int) slot { return d.fn.newRegs(t, n) }

// reg is the slot of a register operand.
func (d *decoder) reg(o *ptx.Operand) slot { return d.fn.reg(o) }

// src32 is the slot of a source of up to 32 bits that is read as type t.
func (d *decoder) src32(o *ptx.Operand, t ptx.Type) slot {
	switch o.Kind {
	case ptx.RegOperand:
		if widthOf(o.Sym.Type) != w32 {
			return d.narrow(o)
		}
		return d.plus32(o)
	case ptx.SpecialOperand:
		return d.specialSlot(o.Sym, false)
	case ptx.ImmOperand, ptx.F32Operand, ptx.F64Operand:
		return d.const32(uint32(constant(o, t)))
	case ptx.SymOperand:
		if d.moves(o.Sym) {
			return d.basedAddress(o.Sym, d.address(o), false)
		}
		return d.const32(uint32(d.address(o)))
	}
	d.fail("operand %s is not a 32-bit value", o)
	return 0
}

// src64 is the slot of a 64-bit source that is read as type t.
func (d *decoder) src64(o *ptx.Operand, t ptx.Type) slot {
	switch o.Kind {
	case ptx.RegOperand:
		if widthOf(o.Sym.Type) == w32 {
			return d.widen(o)
		}
		return d.plus64(o)
	case ptx.SpecialOperand:
		return d.specialSlot(o.Sym, true)
	case ptx.ImmOperand, ptx.F32Operand, ptx.F64Operand:
		return d.const64(constant(o, t))
	case ptx.SymOperand:
		if d.moves(o.Sym) {
			return d.basedAddress(o.Sym, d.address(o), true)
		}
		return d.const64(d.address(o))
	}
	d.fail("operand %s is not a 64-bit value", o)
	return 0
}

// src is the slot of a source by its type's width.
func (d *decoder) src(o *ptx.Operand, t ptx.Type) slot {
	if widthOf(t) == w32 {
		return d.src32(o, t)
	}
	return d.src64(o, t)
}

// pred is the slot of a predicate source, and whether it is negated.
func (d *decoder) pred(o *ptx.Operand) (slot, bool) {
	switch o.Kind {
	case ptx.RegOperand:
		return d.reg(o), o.Neg
	case ptx.ImmOperand:
		s := d.newRegs(ptx.Pred, 1) // starts false in every frame
		return s, (o.Val != 0) != o.Neg
	case ptx.SpecialOperand:
		return d.specialPred(o.Sym), o.Neg
	}
	d.fail("operand %s is not a predicate", o)
	return 0, false
}

// dst is the slot of a destination of the type; what is thrown away gets one that
// nobody reads.
func (d *decoder) dst(o *ptx.Operand, t ptx.Type) slot {
	if o == nil || o.Kind == ptx.SinkOperand {
		return d.newRegs(t, 1)
	}
	if o.Kind != ptx.RegOperand {
		d.fail("operand %s is not a register", o)
		return 0
	}
	return d.reg(o)
}

// plus32 is a register with the constant that may be written after it: %r1+4.
func (d *decoder) plus32(o *ptx.Operand) slot {
	r := d.reg(o)
	if o.Val == 0 {
		return r
	}
	s, mask := d.newRegs(ptx.B32, 1), uint32(1<<o.Sym.Type.Bits()-1)
	d.before(func(f *frame, m uint32) {
		for l := range f.r32[s] {
			f.r32[s][l] = (f.r32[r][l] + uint32(o.Val)) & mask
		}
	})
	return s
}

// plus64 is plus32 of a 64-bit register.
func (d *decoder) plus64(o *ptx.Operand) slot {
	r := d.reg(o)
	if o.Val == 0 {
		return r
	}
	s := d.newRegs(ptx.B64, 1)
	d.before(func(f *frame, m uint32) {
		for l := range f.r64[s] {
			f.r64[s][l] = f.r64[r][l] + uint64(o.Val)
		}
	})
	return s
}

// narrow is the low half of a 64-bit register.
func (d *decoder) narrow(o *ptx.Operand) slot {
	s, r := d.newRegs(ptx.B32, 1), d.reg(o)
	d.before(func(f *frame, m uint32) {
		for l := range f.r32[s] {
			f.r32[s][l] = uint32(f.r64[r][l] + uint64(o.Val))
		}
	})
	return s
}

// widen is a narrow register extended by zeros.
func (d *decoder) widen(o *ptx.Operand) slot {
	s, r := d.newRegs(ptx.B64, 1), d.reg(o)
	d.before(func(f *frame, m uint32) {
		for l := range f.r64[s] {
			f.r64[s][l] = uint64(f.r32[r][l]) + uint64(o.Val)
		}
	})
	return s
}

// before has something run before the instruction at hand, whatever its guard.
func (d *decoder) before(run exec) { d.pre = append(d.pre, op{run: run, guard: -1, target: -1}) }

func (d *decoder) const32(v uint32) slot {
	s, ok := d.c32[v]
	if !ok {
		s = d.newRegs(ptx.B32, 1)
		d.c32[v] = s
	}
	return s
}

func (d *decoder) const64(v uint64) slot {
	s, ok := d.c64[v]
	if !ok {
		s = d.newRegs(ptx.B64, 1)
		d.c64[v] = s
	}
	return s
}

// address is the address of a variable or function, in its own state space.
func (d *decoder) address(o *ptx.Operand) uint64 {
	off := uint64(o.Val)
	switch o.Sym.Kind {
	case ptx.VarSymbol:
		return d.variable(o.Sym) + off
	case ptx.FuncSymbol:
		return d.p.funcAddr(o.Sym)
	}
	d.fail("%s has no address", o.Sym.Name)
	return 0
}

// moves reports whether where a variable is depends on who called the function: a
// .local one, and dynamic shared memory, which follows the kernel's static one.
func (d *decoder) moves(s *ptx.Symbol) bool {
	return s.Kind == ptx.VarSymbol && !d.fn.f.Entry && (s.Var.Space == ptx.Local || isDynamic(s.Var))
}

// basedAddress is a register with the address of what lies at an offset from where
// variable s moves.
func (d *decoder) basedAddress(s *ptx.Symbol, off uint64, wide bool) slot {
	key := basedReg{off: off, shared: isDynamic(s.Var), wide: wide}
	for _, r := range d.fn.based {
		if key.slot = r.slot; r == key {
			return r.slot
		}
	}
	t := ptx.B32
	if wide {
		t = ptx.B64
	}
	key.slot = d.newRegs(t, 1)
	d.fn.based = append(d.fn.based, key)
	return key.slot
}

// variable is the address of a variable in its own state space.
func (d *decoder) variable(s *ptx.Symbol) uint64 {
	addr, ok := d.fn.variable(s)
	if !ok {
		d.fail("variable %s has no storage here", s.Name)
	}
	return addr
}
