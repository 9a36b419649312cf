package check

import (
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// undefPlan is the result of the static analysis for an instruction that undefined values can
// reach.
type undefPlan struct {
	fn    *undefFunc
	rule  func(x *undefStep)
	guard int        // the register of the guard, or -1
	src   []undefArg // values that it reads, in the order of the form
	dst   []undefArg // registers that it writes
	addr  []undefArg // registers in addresses
	// always is set if undefined values can come from elsewhere than src, so that the rule runs
	// each time.
	always  bool
	whole   bool // shfl: the rule need not run if the whole warp takes part
	crosses bool // lanes exchange values
	halves  bool // it computes on the two halves of a word separately
	stores  bool // it writes to memory what it reads

	at     *ptx.Operand // ld, st: the address
	space  ptx.Space    // ld, st: the space of the address
	size   int          // ld, st: bytes of an element
	signed bool         // ld: the value is sign-extended
	copies bool         // ld: one of several that may copy a structure with padding
}

// undefArg is a register that an instruction reads or writes, or another operand.
type undefArg struct {
	o     *ptx.Operand
	param string // its name in the form
	id    int32  // the number of the register, or -1
	comp  int    // the component of a vector
	reg   int    // its index in the frame, or -1 if it is always defined
	width int    // the number of bits that the instruction uses
}

// undefInst is an instruction whose operands are sorted by use.
type undefInst struct {
	in             *observe.Inst
	src, dst, addr []undefArg
	guard          int32 // the register of the guard, or -1
	copies         bool  // ld: it may be one of several that copy a structure
}

// newUndefInst sorts the operands of an instruction. carry is the register number that stands for
// the carry flag.
func newUndefInst(in *observe.Inst, carry int32) *undefInst {
	u := &undefInst{in: in, guard: -1}
	if g := in.Guard.Sym; g != nil {
		u.guard = g.ID
	}
	at, err := in.Match.Bind(in.Args)
	if err != nil {
		return u
	}
	for i, k := range at {
		if k >= 0 {
			u.operand(&in.Match.Form.Params[i], &in.Args[k])
		}
	}
	flag := undefArg{param: "CC.CF", id: carry, width: 1}
	switch in.Op.Name {
	case "addc", "subc", "madc":
		u.src = append(u.src, flag)
	}
	if in.Op.Has("cc") {
		u.dst = append(u.dst, flag)
	}
	return u
}

func (u *undefInst) operand(p *isa.Param, o *ptx.Operand) {
	switch {
	case o.Kind == ptx.PairOperand:
		u.operand(p, &o.Elems[0])
		u.operand(p.Pair, &o.Elems[1])
	case p.Kind.Bracketed():
		u.address(o)
	case p.Kind == isa.Args && p.Access == isa.Read:
		// see registers_params.go
	case p.Kind == isa.Value || p.Kind == isa.Args || p.Kind == isa.Name:
		for _, a := range undefArgs(o) {
			a.param = p.Name
			a.width = u.width(p, &a, o)
			if p.Access != isa.Write {
				u.src = append(u.src, a)
			}
			if p.Access != isa.Read {
				u.dst = append(u.dst, a)
			}
		}
	}
}

// width returns the number of bits of an operand that the instruction uses.
func (u *undefInst) width(p *isa.Param, a *undefArg, whole *ptx.Operand) int {
	t := u.in.Match.Type(p)
	pieces := 0
	if u.in.Match.Count(p) == 0 && u.in.Op.Name == "mov" {
		pieces = vectorLen(whole)
	}
	switch {
	case p.Kind != isa.Value:
		return 64
	case pieces > 0:
		return t.Bits() / pieces
	case t == ptx.NoType && a.id >= 0:
		return a.o.Sym.Type.Bits()
	}
	return t.Bits()
}

// vectorLen returns the number of elements of a vector or of a whole vector register, or 0.
func vectorLen(o *ptx.Operand) int {
	switch {
	case o.Kind == ptx.VecOperand:
		return len(o.Elems)
	case o.Kind == ptx.RegOperand && o.Comp == 0:
		return int(o.Sym.Vec)
	}
	return 0
}

// undefArgs returns the registers and other values that an operand consists of.
func undefArgs(o *ptx.Operand) []undefArg {
	switch {
	case o.Kind == ptx.VecOperand || o.Kind == ptx.ListOperand:
		var all []undefArg
		for i := range o.Elems {
			all = append(all, undefArgs(&o.Elems[i])...)
		}
		return all
	case o.Kind != ptx.RegOperand || o.Sym.Kind != ptx.RegSymbol:
		return []undefArg{{o: o, id: -1}}
	case o.Sym.Vec > 0 && o.Comp == 0:
		all := make([]undefArg, o.Sym.Vec)
		for i := range all {
			c := *o
			c.Comp = "xyzw"[i]
			all[i] = undefArg{o: &c, id: o.Sym.ID, comp: i}
		}
		return all
	}
	a := undefArg{o: o, id: o.Sym.ID}
	for i := range 4 {
		if o.Comp == "xyzw"[i] {
			a.comp = i
		}
	}
	return []undefArg{a}
}

func (u *undefInst) address(o *ptx.Operand) {
	if o.Sym != nil && o.Sym.Kind == ptx.RegSymbol {
		u.addr = append(u.addr, undefArg{o: o, id: o.Sym.ID, width: 64})
	}
	for i := range o.Elems {
		for _, a := range undefArgs(&o.Elems[i]) {
			if a.id >= 0 {
				a.width = 64
				u.addr = append(u.addr, a)
			}
		}
	}
}

// defines reports whether the results are always defined, because they come from memory or from
// another function.
func (u *undefInst) defines() bool {
	role := u.in.Match.Class().Role
	return role == isa.RoleLoad || role == isa.RoleAtomic || u.in.Op.Name == "call"
}

// mayBeLocal reports whether the instruction is a load or store that may access local memory.
func (u *undefInst) mayBeLocal() bool {
	role := u.in.Match.Class().Role
	if role != isa.RoleLoad && role != isa.RoleStore || u.in.Arg("a") == nil {
		return false
	}
	s := u.in.Space("a")
	if s == ptx.Generic {
		if o := u.in.Arg("a"); o.Sym != nil && o.Sym.Kind == ptx.VarSymbol {
			s = o.Sym.Var.Space
		}
	}
	return s == ptx.Local || s == ptx.Generic
}

// plan makes the plan of an instruction. It returns nil if no undefined value can reach it.
func (f *undefFunc) plan(u *undefInst, local bool) *undefPlan {
	p := &undefPlan{fn: f, guard: -1}
	touched := false
	place := func(as []undefArg) []undefArg {
		for i := range as {
			as[i].reg = f.slot(as[i].id, as[i].comp)
			touched = touched || as[i].reg >= 0
		}
		return as
	}
	if u.guard >= 0 {
		p.guard = f.slot(u.guard, 0)
		touched = p.guard >= 0
	}
	p.src, p.dst = place(u.src), place(u.dst)
	for _, a := range place(u.addr) {
		if a.reg >= 0 {
			p.addr = append(p.addr, a)
		}
	}
	memory := local && u.mayBeLocal()
	if !touched && !memory {
		return nil
	}
	p.choose(u, memory)
	return p
}

// choose chooses the rule of the instruction.
func (p *undefPlan) choose(u *undefInst, memory bool) {
	in := u.in
	switch name := in.Op.Name; {
	case isCallParam(in) && name == "ld":
		p.element(u, "d")
		p.rule, p.always = (*undefStep).loadParam, true
	case isCallParam(in):
		p.element(u, "b")
		p.rule, p.always = (*undefStep).storeParam, true
	case name == "ld" || name == "ldu":
		p.rule = (*undefStep).define
		if memory {
			p.element(u, "d")
			p.copies = u.copies
			p.rule, p.always = (*undefStep).load, true
		}
	case name == "st" && !in.Op.Has("async"):
		p.element(u, "b")
		p.rule, p.always = (*undefStep).store, memory
	case u.defines() && name != "atom" && name != "call":
		p.rule = (*undefStep).define
	case name == "atom" || name == "call" || len(p.dst) == 0:
		k := in.Match.Class()
		p.stores = k.Unit == isa.UnitLoadStore && k.Writes != 0
		p.rule = (*undefStep).uses
	case undefExchanges[name] != nil:
		p.whole, p.crosses = name == "shfl", name != "mov"
		p.rule, p.always = undefExchanges[name], p.whole
	default:
		p.halves = u.halves()
		p.rule = lanewise(ruleOf(in))
	}
}

// defined reports whether the rule need not run although always is set: in a shuffle of the whole
// warp all source lanes take part.
func (p *undefPlan) defined(s *observe.Step) bool { return p.whole && s.Mask == 1<<32-1 }

// element sets the address and the type of the elements of a load or store.
func (p *undefPlan) element(u *undefInst, name string) {
	in := u.in
	p.at, p.space = in.Arg("a"), in.Space("a")
	for i := range in.Match.Form.Params {
		if q := &in.Match.Form.Params[i]; q.Name == name {
			t := in.Match.Type(q)
			p.size, p.signed = t.Bytes(), t.Class() == ptx.ClassSigned
		}
	}
	if p.space == ptx.Generic && p.at.Sym != nil && p.at.Sym.Kind == ptx.VarSymbol {
		p.space = p.at.Sym.Var.Space
	}
	if name == "b" { // a cache policy is not stored
		for i := range p.src {
			if p.src[i].param != name {
				p.src = p.src[:i]
				break
			}
		}
	}
}

// halves reports whether all operands of an instruction are pairs of 16-bit values.
func (u *undefInst) halves() bool {
	ps := u.in.Match.Form.Params
	for i := range ps {
		if ps[i].Kind != isa.Value {
			return false
		}
		switch u.in.Match.Type(&ps[i]) {
		case ptx.F16x2, ptx.BF16x2, ptx.U16x2, ptx.S16x2:
		default:
			return false
		}
	}
	return len(ps) > 0
}
