package difffuzz

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// registerForms are the forms that compute registers from registers.
var registerForms = func() (list []*isa.Form) {
	for _, f := range isa.Families {
		switch f.Name {
		case "integer", "logic", "compare", "float", "half", "approx", "convert":
			for _, form := range f.Forms {
				if !carries(form) {
					list = append(list, form)
				}
			}
		}
	}
	return list
}()

// denseForms returns the forms of an opcode without sparse products, which the emulator does not
// execute.
func denseForms(op string) (list []*isa.Form) {
	for _, f := range isa.Forms(op) {
		if !f.Family.ReadOnly {
			list = append(list, f)
		}
	}
	return list
}

// carries reports whether a form reads or writes the carry flag.
func carries(f *isa.Form) bool {
	return f.Op == "addc" || f.Op == "subc" || f.Op == "madc" || hasSlot(f, "cc")
}

func hasSlot(f *isa.Form, name string) bool {
	for i := range f.Slots {
		if f.Slots[i].Name == name {
			return true
		}
	}
	return false
}

// variant fills the slots of a form at random. must returns the modifiers that a slot may
// have ("" stands for no modifier), or nil for all. ok is false if the result is not legal
// in the module.
func (g *gen) variant(f *isa.Form, must func(*isa.Slot) []string) (isa.Match, bool) {
	for range 8 {
		op := f.Op
		for i := range f.Slots {
			if mod := g.modifier(&f.Slots[i], must); mod != "" {
				op += "." + mod
			}
		}
		for _, m := range isa.Lookup(ptx.NewOpcode(op)) {
			if m.Form == f && m.RunsOn(g.Version, g.Target) {
				return m, true
			}
		}
	}
	return isa.Match{}, false
}

// modifier returns a random modifier for a slot, or "".
func (g *gen) modifier(s *isa.Slot, must func(*isa.Slot) []string) string {
	if must != nil {
		if only := must(s); only != nil {
			return g.pick(only...)
		}
	}
	if s.Opt && g.oneIn(2) {
		return ""
	}
	return g.pick(s.Alts...)
}

// registerInst makes an instruction of registerForms, sometimes with a guard.
func (g *gen) registerInst(scope) *Node {
	f := registerForms[g.IntN(len(registerForms))]
	if f.Op == "cvt" && g.oneIn(2) { // cvt has few forms but the most variants
		cvts := isa.Forms("cvt")
		f = cvts[g.IntN(len(cvts))]
	}
	m, ok := g.variant(f, g.roundingSlots(f))
	if !ok || excludedBy(m) != "" {
		return nil
	}
	n := &Node{}
	in := Inst{Op: m.Opcode().Text, Out: 1}
	imm := g.oneIn(4)
	for i := range f.Params {
		p := &f.Params[i]
		must, may := m.Takes(p)
		if !may || !must && g.oneIn(2) {
			continue
		}
		arg := g.operand(m, p, &imm)
		if p.Pair != nil && (!p.PairOpt || g.oneIn(2)) {
			arg += "|" + g.operand(m, p.Pair, &imm)
		}
		in.Args = append(in.Args, g.inRange(n, f, i, m.Type(p), arg))
	}
	if minMaxOfItself(m, in.Args) {
		return nil
	}
	if g.oneIn(5) && f.Op != "set" && f.Op != "testp" { // D21, D22
		in.Guard = "@" + g.pred()
	}
	n.Insts = append(n.Insts, in)
	if nanUnspecified(m) {
		n.canonicalNaN(m.Type(&f.Params[0]), in.Args[0])
	}
	return n
}

// roundingSlots prevents ptxas from fusing products and sums: in a kernel, either products
// or sums may lack a rounding modifier, but not both.
func (g *gen) roundingSlots(f *isa.Form) func(*isa.Slot) []string {
	free := true
	switch f.Op {
	case "mul":
		free = g.plainMul
	case "add", "sub":
		free = g.plainAdd
	}
	return func(s *isa.Slot) []string {
		if !free && s.Opt && (s.Name == "rnd" || s.Name == "rn") {
			return s.Alts
		}
		return nil
	}
}

// operand returns a register or constant for a parameter. At most one operand of an
// instruction is a constant: imm says whether a constant is still allowed.
func (g *gen) operand(m isa.Match, p *isa.Param, imm *bool) string {
	t := m.Type(p)
	if p.Kind == isa.Imm {
		return fmt.Sprint(p.Values[g.IntN(len(p.Values))])
	}
	letter := class(t)
	if t.Bits() == 8 && g.oneIn(2) {
		letter = 'h'
	}
	if letter == 'p' {
		if p.Access != isa.Read {
			return g.out('p')
		}
		if p.Not {
			return g.pred()
		}
		return g.reg('p')
	}
	if m.Form.Wider && !m.Has("pack") && (t.Integer() || t.Class() == ptx.ClassBits) && g.oneIn(8) {
		letter = map[byte]byte{'h': 'r', 'r': 'd', 'd': 'd', 'q': 'q'}[letter]
	}
	if n := m.Count(p); n > 0 {
		return g.vector(letter, n, p.Access != isa.Read)
	}
	if p.Access != isa.Read {
		return g.out(letter)
	}
	if *imm && !registersOnly(m) && g.oneIn(2) {
		if c := constant(g.Rand, t); c != "" {
			*imm = false
			return c
		}
	}
	return g.reg(letter)
}

// constant returns a constant of the type, or "" if PTX has none. It never returns ±0 or
// ±1 as a float: ptxas may then remove the whole instruction, and with it the effect on
// NaNs and subnormals.
func constant(r *rand.Rand, t ptx.Type) string {
	switch t {
	case ptx.F32:
		for {
			v := formats[1].edgeValue(r)
			if v&0x7fffffff != 0 && v&0x7fffffff != 0x3f800000 {
				return fmt.Sprintf("0f%08X", v)
			}
		}
	case ptx.F64:
		for {
			v := formats[0].edgeValue(r)
			if v<<1 != 0 && v<<1 != 0x3ff<<53 {
				return fmt.Sprintf("0d%016X", v)
			}
		}
	}
	if t.Bits() < 16 || t.Bits() > 64 || t.Class() == ptx.ClassFloat || t.Class() == ptx.ClassPacked {
		return ""
	}
	v := edgeInt(r)
	unused := 64 - t.Bits()
	if t.Class() == ptx.ClassSigned {
		return fmt.Sprint(int64(v) << unused >> unused)
	}
	return fmt.Sprint(v << unused >> unused)
}

// inRange returns an operand that is in the range for which PTX defines the result. If
// necessary it adds instructions that compute the operand: divisors are not 0, positions
// and lengths of bit fields are below 256, and fns starts at a bit of the word.
func (g *gen) inRange(n *Node, f *isa.Form, param int, t ptx.Type, arg string) string {
	name := f.Params[param].Name
	reg := strings.HasPrefix(arg, "%")
	switch {
	case (f.Op == "div" || f.Op == "rem") && name == "b" && t.Integer():
		if !reg {
			return fmt.Sprint(3 + g.IntN(1000))
		}
		return g.nonzero(n, t, arg)
	case (f.Op == "bfe" || f.Op == "bfi") && t == ptx.U32 && f.Params[param].Access == isa.Read && name != "a":
		return g.masked(n, reg, arg, 255)
	case f.Op == "fns" && name == "base":
		return g.masked(n, reg, arg, 31)
	case (f.Op == "shl" || f.Op == "shr") && name == "b" && !reg:
		return fmt.Sprint(g.IntN(70)) // D23
	case f.Op == "slct" && name == "c" && t == ptx.S32 && !reg:
		return fmt.Sprint(g.IntN(2000) - 1000) // D40
	}
	return arg
}

// nonzero adds instructions that replace a zero divisor with another number.
func (g *gen) nonzero(n *Node, t ptx.Type, arg string) string {
	size := fmt.Sprint(t.Bits())
	n.with(".reg .pred %zero;", ".reg .b"+size+" %by;")
	n.Insts = append(n.Insts, inst("setp.eq.b"+size, "%zero", arg, "0"), inst("selp.b"+size, "%by", "5", arg, "%zero"))
	return "%by"
}

// masked returns an operand that holds the low bits of arg.
func (g *gen) masked(n *Node, reg bool, arg string, mask int) string {
	if !reg {
		return fmt.Sprint(g.IntN(min(mask, 70) + 1))
	}
	low := fmt.Sprintf("%%low%d", len(n.Regs))
	n.with(".reg .b32 " + low + ";")
	n.Insts = append(n.Insts, inst("and.b32", low, arg, itoa(mask)))
	return low
}

// carry makes a chain of additions or subtractions with the carry flag.
func (g *gen) carry(scope) *Node {
	size, letter := g.pick("32", "64"), byte('r')
	if size == "64" {
		letter = 'd'
	}
	n := &Node{}
	step := func(op string) {
		typ := "." + g.pick("u", "s") + size
		in := inst(op+typ, g.out(letter), g.reg(letter), g.reg(letter))
		if strings.HasPrefix(op, "mad") {
			in.Args = append(in.Args, g.reg(letter))
		}
		n.Insts = append(n.Insts, in)
	}
	step(g.pick("add.cc", "sub.cc", "mad.lo.cc", "mad.hi.cc"))
	for g.oneIn(3) {
		step(g.pick("addc.cc", "subc.cc", "madc.lo.cc", "madc.hi.cc"))
	}
	step(g.pick("addc", "subc", "madc.lo", "madc.hi"))
	return n
}
