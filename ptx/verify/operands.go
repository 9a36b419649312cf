package verify

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// problem is a mistake in one instruction.
type problem struct {
	severity finding.Severity
	kind     string
	pos      ptx.Pos
	msg      string
}

func (d *decoder) errorf(in *ptx.Inst, o *ptx.Operand, kind, format string, args ...any) {
	d.add(finding.Error, in, o, kind, format, args...)
}

func (d *decoder) warnf(in *ptx.Inst, o *ptx.Operand, kind, format string, args ...any) {
	d.add(finding.Warning, in, o, kind, format, args...)
}

func (d *decoder) add(s finding.Severity, in *ptx.Inst, o *ptx.Operand, kind, format string, args ...any) {
	pos := o.Pos
	if !pos.IsValid() {
		pos = in.Pos
	}
	d.problems = append(d.problems, problem{s, kind, pos, in.Op.Text + ": " + fmt.Sprintf(format, args...)})
}

// operands checks the guard and the operands against the form.
func (d *decoder) operands(in *ptx.Inst, m isa.Match, bind []int) {
	if g := in.Guard.Sym; g != nil && g.Kind != ptx.UndefinedSymbol {
		switch {
		case g.Kind != ptx.RegSymbol:
			d.errorf(in, &ptx.Operand{Pos: in.Pos}, "type-mismatch", "guard %s is not a register; a guard is a .pred register", g.Name)
		case g.Type != ptx.Pred:
			d.errorf(in, &ptx.Operand{Pos: in.Pos}, "type-mismatch", "guard %s is .%s; a guard is a .pred register", g.Name, g.Type)
		}
	}
	for i, a := range bind {
		if a >= 0 {
			d.param(in, m, &m.Form.Params[i], &in.Args[a])
		}
	}
}

func (d *decoder) param(in *ptx.Inst, m isa.Match, p *isa.Param, o *ptx.Operand) {
	switch p.Kind {
	case isa.Value:
		d.value(in, m, p, o)
	case isa.Addr, isa.TensorMap:
		d.address(in, m, p, o)
	case isa.TensorMemory:
		d.tensorMemory(in, o)
	case isa.Texture, isa.Surface, isa.Opaque:
		d.opaque(in, m, p, o)
	}
}

// value checks a register, constant, name, vector or pair.
func (d *decoder) value(in *ptx.Inst, m isa.Match, p *isa.Param, o *ptx.Operand) {
	switch o.Kind {
	case ptx.PairOperand:
		d.value(in, m, p, &o.Elems[0])
		d.value(in, m, p.Pair, &o.Elems[1])
	case ptx.VecOperand:
		d.vector(in, m, p, o)
	default:
		if o.Kind == ptx.RegOperand && o.Sym.Vec > 0 && o.Comp == 0 {
			d.vectorRegister(in, m, p, o)
			return
		}
		d.scalar(in, o, m.Type(p), m.Form.Wider)
	}
}

// vectorRegister checks a register that is declared .v2 or .v4 and named without a
// component: it stands for the vector of its components.
func (d *decoder) vectorRegister(in *ptx.Inst, m isa.Match, p *isa.Param, o *ptx.Operand) {
	s, t := o.Sym, m.Type(p)
	switch n := int(s.Vec); {
	case m.Count(p) == n:
	case m.Form.Op == "mov" && t.Class() == ptx.ClassBits && bitsOf(t.Bits()/n) != ptx.NoType: // packed
		t = bitsOf(t.Bits() / n)
	default:
		d.errorf(in, o, "type-mismatch", "%s is a vector of %d; name a component such as %s.x", s.Name, n, s.Name)
		return
	}
	if !agrees(s.Type, t, m.Form.Wider) {
		d.errorf(in, o, "type-mismatch", "%s is a vector of .%s; the operand is of .%s", s.Name, s.Type, t)
	}
}

func (d *decoder) vector(in *ptx.Inst, m isa.Match, p *isa.Param, o *ptx.Operand) {
	t := m.Type(p)
	packs := m.Form.Op == "mov" && m.Count(p) == 0
	if packs { // the elements of {…} in a mov are parts of one register
		if t = bitsOf(t.Bits() / len(o.Elems)); t == ptx.NoType {
			d.errorf(in, o, "bad-operand", "%s does not divide into %d parts", o, len(o.Elems))
			return
		}
	}
	for i := range o.Elems {
		d.scalar(in, &o.Elems[i], t, m.Form.Wider)
	}
	if packs || m.Form.Wider {
		d.mixture(in, o)
	}
}

// mixture checks that the types of the registers of a vector go together.
func (d *decoder) mixture(in *ptx.Inst, o *ptx.Operand) {
	var first *ptx.Operand
	for i := range o.Elems {
		e := &o.Elems[i]
		switch {
		case e.Kind != ptx.RegOperand || e.Sym.Kind != ptx.RegSymbol:
		case first == nil:
			first = e
		case !vectorMixes(first.Sym.Type, e.Sym.Type):
			d.errorf(in, e, "type-mismatch", "%s is .%s and %s is .%s; the registers of a vector must be alike", first, first.Sym.Type, e, e.Sym.Type)
			return
		}
	}
}

func bitsOf(n int) ptx.Type {
	switch n {
	case 8:
		return ptx.B8
	case 16:
		return ptx.B16
	case 32:
		return ptx.B32
	case 64:
		return ptx.B64
	}
	return ptx.NoType
}

func (d *decoder) scalar(in *ptx.Inst, o *ptx.Operand, t ptx.Type, wider bool) {
	switch o.Kind {
	case ptx.RegOperand:
		d.register(in, o, t, wider)
	case ptx.SpecialOperand:
		d.special(in, o, t)
	case ptx.ImmOperand, ptx.F32Operand, ptx.F64Operand:
		d.constant(in, o, t)
	case ptx.SymOperand:
		d.name(in, o, t)
	case ptx.SinkOperand:
	default:
		d.errorf(in, o, "bad-operand", "%s is not allowed here", o)
	}
}

func (d *decoder) register(in *ptx.Inst, o *ptx.Operand, t ptx.Type, wider bool) {
	s := o.Sym
	if s.Kind != ptx.RegSymbol {
		return // reported as undefined
	}
	if s.Vec > 0 && o.Comp == 0 {
		d.errorf(in, o, "type-mismatch", "%s is a vector inside a vector; name a component such as %s.x", s.Name, s.Name)
		return
	}
	if o.Neg && s.Type != ptx.Pred {
		d.errorf(in, o, "bad-operand", "! before %s, which is .%s: only a predicate can be negated", s.Name, s.Type)
		return
	}
	if !agrees(s.Type, t, wider) {
		d.errorf(in, o, "type-mismatch", "%s is .%s; the operand is .%s", s.Name, s.Type, t)
	}
}

// special checks a predefined register. Only mov and conversions between integers can read
// one. WARP_SZ is a constant, although it is spelt like a register.
func (d *decoder) special(in *ptx.Inst, o *ptx.Operand, t ptx.Type) {
	s := o.Sym
	if s.Name == "WARP_SZ" {
		if !constantFits(ptx.ImmOperand, t) {
			d.errorf(in, o, "type-mismatch", "WARP_SZ is an integer; the operand is .%s", t)
		}
		return
	}
	if in.Op.Name != "mov" && in.Op.Name != "cvt" {
		d.errorf(in, o, "bad-operand", "%s can only be read by mov; move it into a register first", s.Name)
		return
	}
	// Old code reads %tid.x as 16 bits, and %gridid, which grew twice, as 16 or 32 bits.
	narrow := t.Bits() == 16 && s.Type.Bits() == 32 || s.Name == "%gridid" && (t.Bits() == 16 || t.Bits() == 32)
	if t != s.Type && !(agrees(s.Type, t, false) || narrow && t.Class() != ptx.ClassFloat) {
		d.errorf(in, o, "type-mismatch", "%s is .%s; the operand is .%s", s.Name, s.Type, t)
	}
}

func (d *decoder) constant(in *ptx.Inst, o *ptx.Operand, t ptx.Type) {
	if !constantFits(o.Kind, t) {
		d.errorf(in, o, "type-mismatch", "constant %s does not fit .%s; %s", o, t, constantHint(t))
		return
	}
	if o.Kind == ptx.ImmOperand && !inRange(o, t) {
		d.warnf(in, o, "constant-range", "constant %s is truncated to the %d bits of .%s", o, t.Bits(), t)
	}
}

func constantHint(t ptx.Type) string {
	switch {
	case t == ptx.F32 || t == ptx.F64:
		return "write a float as 0f3F800000 or 0d3FF0000000000000"
	case t == ptx.B128 || t.Class() == ptx.ClassFloat || t.Class() == ptx.ClassPacked:
		return "the type has no constants, move the bits into a register first"
	case t.Class() == ptx.ClassBits:
		return "bits take an integer, or a float of their size"
	}
	return "write an integer"
}

// name checks a variable or function used as a value: its address.
func (d *decoder) name(in *ptx.Inst, o *ptx.Operand, t ptx.Type) {
	if o.Sym.Kind == ptx.UndefinedSymbol {
		return // reported as undefined
	}
	takes := in.Op.Name == "mov" || in.Op.Name == "cvta" && !in.Op.Has("to") || in.Op.Name == "isspacep" ||
		in.Op.Name == "mapa" && in.Op.Has("shared::cluster")
	switch {
	case !takes:
		d.errorf(in, o, "bad-operand", "%s is a %s; move its address into a register first", o.Sym.Name, o.Sym.Kind)
	case o.Sym.Kind != ptx.VarSymbol && o.Sym.Kind != ptx.FuncSymbol:
		d.errorf(in, o, "bad-operand", "%s is a %s, which has no address", o.Sym.Name, o.Sym.Kind)
	case t.Class() == ptx.ClassFloat || t.Bits() < 32 || t.Bits() > 64:
		d.errorf(in, o, "type-mismatch", "the address of %s does not fit .%s", o.Sym.Name, t)
	}
}
