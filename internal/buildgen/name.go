package main

import (
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// detail is how much of its opcode a name spells out.
type detail struct{ spaces, types bool }

// name gives each constructor the shortest unambiguous name: it leaves out words that the
// types or the operands say anyway, as long as no other constructor has the same name.
func (p *plan) name() {
	groups := map[string][]*constructor{}
	for _, c := range p.cs {
		key := goType(c.recv) + "." + c.words(detail{})
		groups[key] = append(groups[key], c)
	}
	for _, g := range groups {
		best, fewest := detail{}, len(g)+1
		for _, d := range []detail{{}, {spaces: true}, {types: true}, {true, true}} {
			if n := clashes(g, d); n < fewest {
				best, fewest = d, n
			}
		}
		for _, c := range g {
			c.name = c.words(best) + c.suffix
		}
	}
	p.tellApart()
}

// clashes counts the names that another constructor of the group already has.
func clashes(g []*constructor, d detail) (n int) {
	seen := map[string]bool{}
	for _, c := range g {
		w := c.words(d) + c.suffix
		if seen[w] {
			n++
		}
		seen[w] = true
	}
	return n
}

// tellApart appends an operand to a name that is already taken: the operand in which the
// two forms differ, as in cp.async that may ignore its source.
func (p *plan) tellApart() {
	first := map[string]*constructor{}
	for _, c := range p.cs {
		key := goType(c.recv) + "." + c.name
		other, taken := first[key]
		if !taken {
			first[key] = c
			continue
		}
		c.name += camel(upperFirst(differing(c.form, other.form)))
		first[goType(c.recv)+"."+c.name] = c
	}
}

// differing is the name of the first operand of f that g does not have.
func differing(f, g *isa.Form) string {
	for i := range f.Params {
		if i >= len(g.Params) || f.Params[i].Name != g.Params[i].Name {
			return f.Params[i].Name
		}
	}
	return ""
}

// words is the constructor's name from its opcode.
func (c *constructor) words(d detail) string {
	f := c.form
	var b strings.Builder
	b.WriteString(camel(f.Op))
	for i, s := range f.Slots {
		if s.Name == "bool" && c.isArg(i) {
			b.WriteString("Bool") // tells SetpBool, which combines two conditions, from Setp
			continue
		}
		if mod := c.match.At(i); mod != "" && !c.decided(i) && !c.silent(i, d) {
			b.WriteString(camel(mod))
		}
	}
	return b.String()
}

// silent reports whether the name leaves out the modifier of the slot, because it is never
// a choice (.sync.aligned) or because types and operands show it.
func (c *constructor) silent(slot int, d detail) bool {
	f := c.form
	mod := c.match.At(slot)
	switch {
	case mod == "aligned" || mod == "mbarrier::complete_tx::bytes":
		return true
	case mod == "sync":
		return slot+1 < len(f.Slots) && f.Slots[slot+1].Fixed() && f.Slots[slot+1].Name == "aligned"
	case ptx.ParseType(mod) != ptx.NoType:
		return !d.types && c.typeShows(slot)
	case ptx.ParseSpace(mod) != ptx.Generic && f.Slots[slot].Fixed():
		return !d.spaces && hasAddress(f)
	}
	return false
}

// typeShows reports whether the caller sees a type of the opcode: it is the type of the
// receiver, or the only type of an instruction of the kernel.
func (c *constructor) typeShows(slot int) bool {
	f := c.form
	mod := c.match.At(slot)
	if c.recv == ptx.NoType {
		return f.Slots[slot].Fixed() && c.typeWords() == 1
	}
	q := source1(c.match)
	if d := q.Deps().Type; d >= 0 {
		return d == slot
	}
	// A fixed type: the last modifier that spells it is the operand's.
	for i := len(f.Slots) - 1; i >= 0; i-- {
		if c.match.At(i) == c.match.Type(q).String() {
			return i == slot
		}
	}
	return f.Slots[slot].Fixed() && ptx.ParseType(mod).Class() == ptx.ClassPred
}

// typeWords is the number of types in the opcode.
func (c *constructor) typeWords() (n int) {
	for i := range c.form.Slots {
		if ptx.ParseType(c.match.At(i)) != ptx.NoType {
			n++
		}
	}
	return n
}

func hasAddress(f *isa.Form) bool {
	for i := range f.Params {
		if f.Params[i].Kind == isa.Addr {
			return true
		}
	}
	return false
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
