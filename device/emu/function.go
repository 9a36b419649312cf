package emu

import (
	"math"

	"github.com/GOATnote-Inc/attest/ptx"
)

// newRegs reserves n consecutive registers for values of a type.
func (fn *function) newRegs(t ptx.Type, n int) slot {
	var count *int
	switch widthOf(t) {
	case wPred:
		count = &fn.nPred
	case w32:
		count = &fn.n32
	case w64:
		count = &fn.n64
	case w128:
		count, n = &fn.n64, 2*n
	}
	s := slot(*count)
	*count += n
	return s
}

// reg returns the slot of a register operand.
func (fn *function) reg(o *ptx.Operand) slot {
	s := fn.regs[o.Sym.ID]
	if o.Comp != 0 {
		step := slot(1)
		if widthOf(o.Sym.Type) == w128 {
			step = 2
		}
		s += step * slot(componentOf(o.Comp))
	}
	return s
}

func componentOf(c byte) int {
	switch c {
	case 'y', 'g':
		return 1
	case 'z', 'b':
		return 2
	case 'w', 'a':
		return 3
	}
	return 0
}

// variable returns the address of a variable in its own state space. ok is false if the
// variable has no storage in the function.
func (fn *function) variable(s *ptx.Symbol) (addr uint64, ok bool) {
	switch s.Var.Space {
	case ptx.Global, ptx.Const:
		if a := fn.prog.globals[s]; a != nil {
			return a.addr, true
		}
	case ptx.Shared:
		if isDynamic(s.Var) && fn.f.Entry {
			return uint64(fn.statics), true
		} else if isDynamic(s.Var) {
			return 0, true // relative to the base that the caller adds
		}
		if off, ok := fn.offsets[s]; ok {
			return uint64(off), true
		}
		if off, ok := fn.prog.shared[s]; ok {
			return uint64(off), true
		}
	case ptx.Local, ptx.Param:
		if off, ok := fn.offsets[s]; ok {
			return uint64(off), true
		}
	}
	return 0, false
}

func isDynamic(v *ptx.Var) bool { return v.Space == ptx.Shared && v.Linkage == ptx.Extern }

// constant is a literal's bits as a value of type t.
func constant(o *ptx.Operand, t ptx.Type) uint64 {
	v := uint64(o.Val)
	switch {
	case o.Kind == ptx.F64Operand && t == ptx.F32:
		return uint64(math.Float32bits(float32(math.Float64frombits(v))))
	case o.Kind == ptx.F32Operand && t == ptx.F64:
		return math.Float64bits(float64(math.Float32frombits(uint32(v))))
	case o.Kind == ptx.ImmOperand && t == ptx.F32:
		return uint64(math.Float32bits(float32(o.Val)))
	case o.Kind == ptx.ImmOperand && t == ptx.F64:
		return math.Float64bits(float64(o.Val))
	}
	if n := t.Bits(); n > 0 && n < 64 {
		v &= 1<<n - 1
	}
	return v
}

// vector lists the elements of a vector operand; a vector register has its
// components.
func vector(o *ptx.Operand) []*ptx.Operand {
	if o.Kind == ptx.RegOperand && o.Sym.Vec > 0 && o.Comp == 0 {
		es := make([]*ptx.Operand, o.Sym.Vec)
		for i := range es {
			c := *o
			c.Comp = "xyzw"[i]
			es[i] = &c
		}
		return es
	}
	return elems(o)
}

// elems are the operands of a vector, or the one operand.
func elems(o *ptx.Operand) []*ptx.Operand {
	if o.Kind != ptx.VecOperand {
		return []*ptx.Operand{o}
	}
	es := make([]*ptx.Operand, len(o.Elems))
	for i := range o.Elems {
		es[i] = &o.Elems[i]
	}
	return es
}
