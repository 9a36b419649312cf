package machine

import (
	"math"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Signature assigns places to the registers, parameters and results of the function.
func (fn *Function) Signature() {
	fn.frames = new(frameList)
	fn.Regs = make([]Slot, len(fn.Decl.Regs))
	for i, r := range fn.Decl.Regs {
		fn.Regs[i] = fn.NewRegs(r.Type, max(int(r.Vec), 1))
	}
	if fn.Decl.Entry {
		return
	}
	formal := func(v *ptx.Var) ArgPlace {
		if v.Space == ptx.Reg {
			return RegisterPlace(fn.Regs[v.Sym.ID], v.Type, v.Vec)
		}
		return ArgPlace{Off: fn.Offsets[v.Sym], Size: v.Size()}
	}
	for _, v := range fn.Decl.Params {
		fn.params = append(fn.params, formal(v))
	}
	for _, v := range fn.Decl.Returns {
		fn.returns = append(fn.returns, formal(v))
	}
}

// NewRegs reserves n consecutive registers for values of a type.
func (fn *Function) NewRegs(t ptx.Type, n int) Slot {
	var count *int
	switch WidthOf(t) {
	case wPred:
		count = &fn.nPred
	case W32:
		count = &fn.N32
	case W64:
		count = &fn.N64
	case W128:
		count, n = &fn.N64, 2*n
	}
	s := Slot(*count)
	*count += n
	return s
}

// Reg returns the slot of a register operand.
func (fn *Function) Reg(o *ptx.Operand) Slot {
	s := fn.Regs[o.Sym.ID]
	if o.Comp != 0 {
		step := Slot(1)
		if WidthOf(o.Sym.Type) == W128 {
			step = 2
		}
		s += step * Slot(componentOf(o.Comp))
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

// Variable returns the address of a variable in its own state space. ok is false if the
// variable has no storage in the function.
func (fn *Function) Variable(s *ptx.Symbol) (addr uint64, ok bool) {
	switch s.Var.Space {
	case ptx.Global, ptx.Const:
		if a := fn.Prog.Globals[s]; a != nil {
			return a.Addr, true
		}
	case ptx.Shared:
		if IsDynamic(s.Var) && fn.Decl.Entry {
			return uint64(fn.Statics), true
		} else if IsDynamic(s.Var) {
			return 0, true // relative to the start of dynamic shared memory, which the caller adds
		}
		if off, ok := fn.Offsets[s]; ok {
			return uint64(off), true
		}
		if off, ok := fn.Prog.Shared[s]; ok {
			return uint64(off), true
		}
	case ptx.Local, ptx.Param:
		if off, ok := fn.Offsets[s]; ok {
			return uint64(off), true
		}
	}
	return 0, false
}

// IsDynamic reports whether a variable is dynamic shared memory.
func IsDynamic(v *ptx.Var) bool { return v.Space == ptx.Shared && v.Linkage == ptx.Extern }

// Constant returns the bits of a literal as a value of type t.
func Constant(o *ptx.Operand, t ptx.Type) uint64 {
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

// Elements returns the elements of a vector operand. The elements of a vector register are
// its components.
func Elements(o *ptx.Operand) []*ptx.Operand {
	if o.Kind == ptx.RegOperand && o.Sym.Vec > 0 && o.Comp == 0 {
		es := make([]*ptx.Operand, o.Sym.Vec)
		for i := range es {
			c := *o
			c.Comp = "xyzw"[i]
			es[i] = &c
		}
		return es
	}
	if o.Kind != ptx.VecOperand {
		return []*ptx.Operand{o}
	}
	es := make([]*ptx.Operand, len(o.Elems))
	for i := range o.Elems {
		es[i] = &o.Elems[i]
	}
	return es
}
