package emu

import (
	"math/bits"

	"attest/ptx"
	"attest/ptx/isa"
)

// Observer is told what launches do. The emulator knows nothing of what observers
// make of it, and a launch without one runs code that has never heard of them.
type Observer interface {
	// Block is called when a block starts. The calls on what it returns, and on
	// those of the other blocks of its cluster, come one after the other; different
	// clusters may run at the same time.
	Block(b BlockInfo) BlockObserver
}

// BlockInfo is a block that starts.
type BlockInfo struct {
	Kernel  string
	Module  *ptx.Module
	Index   int // in the grid, x first
	Ctaid   [3]int
	Rank    int // in its cluster
	Threads int
	Shared  []byte // its shared memory, to look at
	Static  int    // how much of that is declared in the module
}

// BlockObserver is told what one block does.
type BlockObserver interface {
	// Step: lanes of a warp execute an instruction, which has not taken effect. An
	// instruction that waits (bar.sync) is announced when lanes reach it.
	Step(s *Step)
	// Pass: lanes are through with an instruction that may wait.
	Pass(s *Step)
	// Complete: asynchronous work has taken effect: a copy, a wgmma.
	Complete(c *Completion)
	// End: all threads of the block have ended, or its launch was stopped.
	End()
}

// Step is an instruction as lanes of a warp execute it. It is valid during the call.
type Step struct {
	Warp  int
	Mask  uint32 // the lanes whose guard holds
	Inst  *ptx.Inst
	Match isa.Match // its form

	f *frame
}

// Completion is asynchronous work that has taken effect.
type Completion struct {
	Warp, Lane int       // who started it; lane -1 stands for the whole warp
	Inst       *ptx.Inst // with what
	Read       bool      // only its source has been read: cp.async.bulk.wait_group.read
}

// Arg is the operand of that name in the form, or nil where it is left out.
func (s *Step) Arg(name string) *ptx.Operand {
	at, err := s.Match.Bind(s.Inst.Args)
	if err != nil {
		return nil
	}
	return (&inst{s.Inst, s.Match, at}).arg(name)
}

// Value is a scalar operand in a lane: a register, a constant, a predicate as 0 or
// 1, or the address of a variable in its own space.
func (s *Step) Value(o *ptx.Operand, lane int) uint64 {
	switch o.Kind {
	case ptx.RegOperand:
		return s.register(o, lane)
	case ptx.SpecialOperand:
		return s.f.w.specialValue(o.Sym.Name, lane)
	case ptx.SymOperand, ptx.AddrOperand:
		return s.base(o, lane) + uint64(o.Val)
	}
	return uint64(o.Val)
}

// Address is the state space and the address of an address operand in a lane. A
// generic address is given as one of the space that it falls into; the shared
// memory of another block of the cluster has its rank plus one from bit 24 on.
func (s *Step) Address(o *ptx.Operand, space string, lane int) (ptx.Space, uint64) {
	addr, in := s.Value(o, lane), ptx.ParseSpace(space)
	if in != ptx.Generic {
		return in, addr
	}
	if o.Sym != nil && o.Sym.Kind == ptx.VarSymbol {
		return o.Sym.Var.Space, addr
	}
	for _, w := range []ptx.Space{ptx.Shared, ptx.Local, ptx.Param} {
		if addr>>windowBits == genericBase(w)>>windowBits {
			return w, addr & (1<<windowBits - 1)
		}
	}
	return ptx.Global, addr
}

func (s *Step) register(o *ptx.Operand, lane int) uint64 {
	d := &decoder{fn: s.f.fn, regs: s.f.fn.slots}
	r := d.reg(o)
	var v uint64
	switch widthOf(o.Sym.Type) {
	case wPred:
		v = uint64(s.f.p[r] >> lane & 1)
		if o.Neg {
			v ^= 1
		}
	case w32:
		v = uint64(s.f.r32[r][lane])
	default:
		v = s.f.r64[r][lane]
	}
	return v + uint64(o.Val)
}

// base is the address of a variable or function, or what a base register holds.
func (s *Step) base(o *ptx.Operand, lane int) uint64 {
	switch {
	case o.Sym == nil:
		return 0
	case o.Sym.Kind == ptx.RegSymbol:
		r := *o
		r.Kind, r.Val = ptx.RegOperand, 0
		return s.register(&r, lane)
	case o.Sym.Kind == ptx.FuncSymbol:
		return s.f.fn.prog.funcAddr(o.Sym)
	}
	d := &decoder{p: s.f.fn.prog, fn: s.f.fn}
	return d.variable(o.Sym)
}

// Lanes calls do for each lane of the step, in order.
func (s *Step) Lanes(do func(lane int)) {
	for m := s.Mask; m != 0; m &= m - 1 {
		do(bits.TrailingZeros32(m))
	}
}
