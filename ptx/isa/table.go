package isa

import (
	"fmt"
	"sync"

	"attest/ptx"
)

// Families is the table, in the order a reader meets it.
var Families = []*Family{
	integer,
}

// byOp indexes the table by opcode name.
var byOp = sync.OnceValue(func() map[string][]*Form {
	m := map[string][]*Form{}
	for _, fam := range Families {
		for _, f := range fam.Forms {
			f.Family = fam
			m[f.Op] = append(m[f.Op], f)
		}
	}
	return m
})

// Forms returns the forms of an opcode name such as "mbarrier", in table order.
func Forms(name string) []*Form { return byOp()[name] }

// Lookup returns the forms whose modifiers the opcode's fit. Several do when
// forms differ in their operands alone.
func Lookup(op *ptx.Opcode) []Match {
	var ms []Match
	for _, f := range byOp()[op.Name] {
		if m, ok := f.match(op.Mods); ok {
			ms = append(ms, m)
		}
	}
	return ms
}

// match fills the form's slots with the modifiers: in the table's order if they
// are in it, else in any order, as assemblers allow.
func (f *Form) match(mods []string) (Match, bool) {
	if len(mods) > len(f.Slots) {
		return Match{}, false
	}
	m := Match{f, make([]int8, len(f.Slots))}
	if f.inOrder(m.bind, 0, mods) && f.allows(m) {
		return m, true
	}
	return m, f.anyOrder(m.bind, mods) && f.allows(m)
}

func (f *Form) inOrder(bind []int8, slot int, mods []string) bool {
	if slot == len(f.Slots) {
		return len(mods) == 0
	}
	s := &f.Slots[slot]
	if len(mods) > 0 {
		if i := index(s.Alts, mods[0]); i >= 0 {
			bind[slot] = int8(i)
			if f.inOrder(bind, slot+1, mods[1:]) {
				return true
			}
		}
	}
	bind[slot] = -1
	return s.Opt && f.inOrder(bind, slot+1, mods)
}

// anyOrder gives each modifier the first free slot it fits.
func (f *Form) anyOrder(bind []int8, mods []string) bool {
	for i := range bind {
		bind[i] = -1
	}
next:
	for _, mod := range mods {
		for s := range f.Slots {
			if i := index(f.Slots[s].Alts, mod); i >= 0 && bind[s] < 0 {
				bind[s] = int8(i)
				continue next
			}
		}
		return false
	}
	for s := range f.Slots {
		if bind[s] < 0 && !f.Slots[s].Opt {
			return false
		}
	}
	return true
}

func index(alts []string, mod string) int {
	for i, a := range alts {
		if a == mod {
			return i
		}
	}
	return -1
}

// Resolve finds the form of an instruction by its modifiers and operands. The
// error says what about it is not in the table.
func Resolve(in *ptx.Inst) (Match, error) {
	forms := Forms(in.Op.Name)
	if len(forms) == 0 {
		return Match{}, fmt.Errorf("unknown instruction %s", in.Op.Name)
	}
	ms := Lookup(in.Op)
	if len(ms) == 0 {
		return Match{}, badModifiers(in.Op, forms)
	}
	var err error
	for _, m := range ms {
		e := m.fits(in.Args)
		if e == nil {
			return m, nil
		}
		if err == nil {
			err = e
		}
	}
	return Match{}, err
}

// badModifiers names the modifier no form has, or else shows the forms.
func badModifiers(op *ptx.Opcode, forms []*Form) error {
	for _, mod := range op.Mods {
		known := false
		for _, f := range forms {
			for i := range f.Slots {
				known = known || index(f.Slots[i].Alts, mod) >= 0
			}
		}
		if !known {
			return fmt.Errorf("%s has no modifier .%s", op.Name, mod)
		}
	}
	return fmt.Errorf("%s is not a form of %s; the nearest is %q", op.Text, op.Name, nearest(op, forms).Syntax)
}

// nearest is the form that leaves the fewest modifiers over.
func nearest(op *ptx.Opcode, forms []*Form) *Form {
	best, bestMiss := forms[0], len(op.Mods)+100
	for _, f := range forms {
		miss := 0
		for _, mod := range op.Mods {
			found := false
			for i := range f.Slots {
				found = found || index(f.Slots[i].Alts, mod) >= 0
			}
			if !found {
				miss += 2
			}
		}
		for i := range f.Slots {
			if f.Slots[i].Fixed() && !op.Has(f.Slots[i].Alts[0]) {
				miss++
			}
		}
		if miss < bestMiss {
			best, bestMiss = f, miss
		}
	}
	return best
}

// fits checks the number and the shapes of the operands.
func (m Match) fits(args []ptx.Operand) error {
	_, err := m.Bind(args)
	return err
}

// Bind pairs the operands with the form's parameters: the result has for each
// parameter the index of its operand, or -1 where an optional one is left out.
func (m Match) Bind(args []ptx.Operand) ([]int, error) {
	ps := m.Form.Params
	at := make([]int, len(ps))
	n := 0
	for i := range ps {
		at[i] = -1
		must, may := m.Takes(&ps[i])
		if n < len(args) && may && (must || m.room(i, len(args)-n)) && shapeFits(&ps[i], &args[n], m) {
			at[i] = n
			n++
		} else if must {
			if n == len(args) {
				return nil, fmt.Errorf("%s: operand %s is missing (%s)", m.Opcode().Text, ps[i].Name, m.Form.Syntax)
			}
			return nil, fmt.Errorf("%s: operand %d, %s, does not fit %s (%s)", m.Opcode().Text, n+1, args[n], ps[i].Name, m.Form.Syntax)
		}
	}
	if n < len(args) {
		return nil, fmt.Errorf("%s: operand %d, %s, is one too many (%s)", m.Opcode().Text, n+1, args[n], m.Form.Syntax)
	}
	return at, nil
}

// room reports whether left operands suffice for parameter i and the required
// ones after it.
func (m Match) room(i, left int) bool {
	for j := i + 1; j < len(m.Form.Params); j++ {
		if must, _ := m.Takes(&m.Form.Params[j]); must {
			left--
		}
	}
	return left > 0
}

// shapeFits checks the outer shape of an operand against its parameter.
func shapeFits(p *Param, o *ptx.Operand, m Match) bool {
	switch p.Kind {
	case Imm:
		return o.Kind == ptx.ImmOperand
	case Addr, TensorMap:
		return o.Kind == ptx.AddrOperand
	case Label, Name:
		return o.Kind == ptx.SymOperand || o.Kind == ptx.RegOperand
	case Args:
		return o.Kind == ptx.ListOperand
	}
	switch o.Kind {
	case ptx.PairOperand:
		return p.Pair != nil
	case ptx.VecOperand:
		return m.vectorFits(p, len(o.Elems))
	case ptx.AddrOperand, ptx.ListOperand, ptx.StringOperand, ptx.NoOperand:
		return false
	case ptx.SinkOperand:
		return p.Access != Read
	}
	return (p.Pair == nil || p.PairOpt) && m.Count(p) == 0 && (p.Access == Read || o.Kind == ptx.RegOperand)
}

// vectorFits compares the length of a vector operand; mov packs and unpacks any.
func (m Match) vectorFits(p *Param, n int) bool {
	if m.Form.Op == "mov" {
		return n == 2 || n == 4
	}
	return m.Count(p) == n
}
