package isa

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Resolve finds the form of an instruction by its modifiers and operands. The error says
// which part of the instruction is not in the table.
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

// badModifiers returns the error for modifiers that fit no form. It names the modifier that no
// form has, or the rule that forbids the combination, or else the nearest form.
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
	for _, f := range forms {
		m := Match{f, make([]int8, len(f.Slots))}
		if f.inOrder(m.bind, 0, op.Mods) {
			return m.brokenRule()
		}
	}
	return fmt.Errorf("%s is not a form of %s; the nearest is %q", op.Text, op.Name, nearest(op, forms).Syntax)
}

// brokenRule returns an error that names the rule that forbids the modifiers.
func (m Match) brokenRule() error {
	for _, r := range m.Form.rules {
		if !m.holds(r.ifs) || m.has(r.then) {
			continue
		}
		var with []string
		for _, c := range r.ifs {
			with = append(with, m.spell(c.slot))
		}
		var allowed []string
		for _, a := range r.then.alts {
			if a == "-" {
				allowed = append(allowed, "left out")
			} else {
				allowed = append(allowed, "."+a)
			}
		}
		return fmt.Errorf("%s: with %s the %s must be %s (%s)", m.Opcode().Text, strings.Join(with, " and "),
			m.Form.Slots[r.then.slot].Name, strings.Join(allowed, " or "), m.Form.Syntax)
	}
	return fmt.Errorf("%s is not a form of %s", m.Opcode().Text, m.Form.Op)
}

// spell returns the modifier in a slot as text for an error.
func (m Match) spell(slot int) string {
	if mod := m.At(slot); mod != "" {
		return "." + mod
	}
	return "no " + m.Form.Slots[slot].Name
}

// nearest returns the form that has the most of the opcode's modifiers.
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

// fits checks the number and the kinds of the operands.
func (m Match) fits(args []ptx.Operand) error {
	_, err := m.Bind(args)
	return err
}

// Bind assigns the operands to the parameters of the form. The result holds the index of the
// operand of each parameter, or -1 for an optional parameter that is left out.
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

// room reports whether left operands are enough for parameter i and the required parameters
// after it.
func (m Match) room(i, left int) bool {
	for j := i + 1; j < len(m.Form.Params); j++ {
		if must, _ := m.Takes(&m.Form.Params[j]); must {
			left--
		}
	}
	return left > 0
}

// shapeFits reports whether an operand has the kind that its parameter requires.
func shapeFits(p *Param, o *ptx.Operand, m Match) bool {
	switch p.Kind {
	case Imm:
		return o.Kind == ptx.ImmOperand && (len(p.Values) == 0 || slices.Contains(p.Values, o.Val))
	case Addr, TensorMap, TensorMemory, Texture, Surface, Opaque:
		return o.Kind == ptx.AddrOperand
	case Label, Name:
		return o.Kind == ptx.SymOperand || o.Kind == ptx.RegOperand
	case Args:
		return o.Kind == ptx.ListOperand
	case Sink:
		return o.Kind == ptx.SinkOperand
	}
	switch o.Kind {
	case ptx.RegOperand:
		if o.Neg && !p.Not || o.Sym.Kind == ptx.RegSymbol && (o.Sym.Type == ptx.Pred) != (m.Type(p) == ptx.Pred) {
			return false // some forms differ only in a predicate operand
		}
		if !p.selectFits(o) {
			return false
		}
		if o.Sym.Vec > 0 && o.Comp == 0 {
			return m.vectorFits(p, int(o.Sym.Vec))
		}
	case ptx.PairOperand:
		return p.Pair != nil
	case ptx.VecOperand:
		return m.vectorFits(p, len(o.Elems))
	case ptx.AddrOperand, ptx.ListOperand, ptx.StringOperand, ptx.NoOperand:
		return false
	case ptx.SinkOperand:
		return p.Access != Read
	}
	undeclared := o.Kind == ptx.SymOperand && o.Sym.Kind == ptx.UndefinedSymbol // reported as such
	return (p.Pair == nil || p.PairOpt) && m.Count(p) == 0 && (p.Access == Read || o.Kind == ptx.RegOperand || undeclared)
}

// vectorFits reports whether a vector operand has the right length. mov packs and unpacks
// vectors of any length. Loads and stores of one element may have it in braces, as in PTX from
// Triton and, for surfaces, from nvcc, and so may the scales of mma, as in PTX from CUTLASS.
func (m Match) vectorFits(p *Param, n int) bool {
	switch m.Form.Op {
	case "mov":
		return m.Count(p) == n || m.Count(p) == 0 && (n == 2 || n == 4)
	case "ld", "st", "mma", "suld", "sust":
		return m.Count(p) == n || m.Count(p) == 0 && n == 1
	}
	return m.Count(p) == n
}
