package verify

import (
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// value returns the variance of the registers that a statement writes.
func (s *spread) value(stmt int) Variance {
	in := s.c.at[stmt].in
	src := s.sources(stmt)
	switch in.Op.Name {
	case "ld", "ldu":
		return max(src, s.loaded(in))
	case "atom", "elect", "ldmatrix", "movmatrix", "mma", "wmma", "wgmma":
		return Varies
	case "match":
		if in.Op.Has("any") {
			return Varies
		}
		return Invariant
	case "vote", "redux", "activemask", "bar", "barrier":
		return Invariant // one result for the warp or the block
	case "mbarrier", "call", "alloca", "stacksave":
		return max(src, MayVary)
	case "shfl":
		if s.broadcasts(in) {
			return Invariant
		}
		return src
	}
	if src != Invariant && s.c.dropsLane(in) {
		switch s.c.operandShape(in, 1, s.shapes) {
		case linear:
			return s.guard(in)
		case shifted:
			return max(MayVary, s.guard(in))
		}
	}
	return src
}

// elected reports whether the register receives the number of the lane that
// elect.sync chose. All lanes receive the same number; only the predicate differs.
func (s *spread) elected(stmt int, r int32) bool {
	return s.c.at[stmt].in.Op.Name == "elect" && s.c.fn.Regs[r].Type != ptx.Pred
}

func (s *spread) guard(in *ptx.Inst) Variance {
	if g := in.Guard.Sym; g != nil && g.Kind == ptx.RegSymbol {
		return s.u.regs[g.ID]
	}
	return Invariant
}

// sources returns the highest variance among the operands that a statement reads.
func (s *spread) sources(stmt int) Variance {
	v := Invariant
	for _, r := range s.c.reads(stmt) {
		v = max(v, s.u.regs[r])
	}
	for i := range s.c.at[stmt].in.Args {
		v = max(v, nameVariance(&s.c.at[stmt].in.Args[i]))
	}
	return v
}

// nameVariance returns the variance of a special register or of an address.
func nameVariance(o *ptx.Operand) Variance {
	switch o.Kind {
	case ptx.SpecialOperand:
		return specialVariance(o.Sym.Name)
	case ptx.SymOperand:
		if o.Sym.Var != nil && o.Sym.Var.Space == ptx.Local {
			return MayVary // one address, but each lane has its own memory there
		}
	}
	return Invariant
}

func specialVariance(name string) Variance {
	switch {
	case strings.HasPrefix(name, "%tid."), name == "%laneid", strings.HasPrefix(name, "%lanemask_"):
		return Varies
	case strings.HasPrefix(name, "%clock"), strings.HasPrefix(name, "%globaltimer"), strings.HasPrefix(name, "%pm"):
		return MayVary
	}
	return Invariant
}

// loaded returns the variance that the memory adds to a load. Parameters of a kernel are the
// same for all lanes. Parameters of a function, and the stack, are different for each lane.
func (s *spread) loaded(in *ptx.Inst) Variance {
	for _, mod := range in.Op.Mods {
		switch ptx.ParseSpace(mod) {
		case ptx.Local:
			return MayVary
		case ptx.Param:
			if s.c.fn.Entry && s.kernelParam(in) {
				return Invariant
			}
			return MayVary
		}
	}
	return Invariant
}

// kernelParam reports whether the load reads a parameter of the entry, and not a parameter
// of a call, which is declared in the body.
func (s *spread) kernelParam(in *ptx.Inst) bool {
	if len(in.Args) < 2 || in.Args[1].Kind != ptx.AddrOperand {
		return false
	}
	return slices.ContainsFunc(s.c.fn.Params, func(p *ptx.Var) bool { return p.Sym == in.Args[1].Sym })
}

// broadcasts reports whether a shuffle gives all lanes the value of one lane: its mode is
// idx, the lane does not vary, and the warp is not divided into segments.
func (s *spread) broadcasts(in *ptx.Inst) bool {
	if !in.Op.Has("idx") || len(in.Args) < 4 {
		return false
	}
	if clamp, ok := s.c.consts.of(&in.Args[3]); !ok || clamp != 31 {
		return false
	}
	lane := &in.Args[2]
	return lane.IsConst() || lane.Kind == ptx.RegOperand && lane.Sym.Kind == ptx.RegSymbol && s.u.regs[lane.Sym.ID] == Invariant
}
