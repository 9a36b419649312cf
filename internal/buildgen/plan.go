package main

import (
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// byHand are the instructions whose methods are written by hand in package build, because
// addresses are generic types and control flow is structured.
var byHand = []string{"ld", "ldu", "st", "atom", "red", "mov", "bra", "brx", "call", "ret", "mapa"}

// shaped reports whether package build writes the form by hand.
func shaped(f *isa.Form) bool {
	async := slices.ContainsFunc(f.Slots, func(s isa.Slot) bool { return s.Name == "async" })
	return slices.Contains(byHand, f.Op) && !async
}

// superseded reports whether the form exists only for old targets: the exchanges between
// lanes from before sm_70, without .sync.
func superseded(f *isa.Form) bool {
	sync := slices.ContainsFunc(f.Slots, func(s isa.Slot) bool { return s.Name == "sync" })
	return (f.Op == "shfl" || f.Op == "vote") && !sync
}

// isProduct reports whether the form multiplies matrices, or moves the fragments of
// wmma. These have one method per mnemonic, with shape, layouts and types as arguments:
// products.go writes them.
func isProduct(f *isa.Form) bool {
	async := slices.ContainsFunc(f.Slots, func(s isa.Slot) bool { return s.Name == "mma_async" })
	return f.Op == "mma" || f.Op == "wmma" || async
}

// plan is every constructor to be written.
type plan struct {
	cs   []*constructor
	mods map[string]*isa.Param // optional modifiers and the operand each brings, or nil
}

// constructor is one Go method.
type constructor struct {
	name   string
	recv   ptx.Type // NoType: the kernel
	form   *isa.Form
	match  isa.Match
	opt    bool // takes the optional operands too
	pair   bool // returns both halves of an optional pair
	suffix string
	exact  bool // recv is the instruction's own type, not just one of its size
}

func planTable(families []*isa.Family) *plan {
	p := &plan{mods: map[string]*isa.Param{}}
	for _, fam := range families {
		for _, f := range fam.Forms {
			f.Family = fam
			p.addForm(f)
		}
	}
	p.dropInexact()
	p.name()
	return p
}

func (p *plan) addForm(f *isa.Form) {
	if f.Family.ReadOnly {
		return
	}
	p.addMods(f)
	if shaped(f) || superseded(f) || isProduct(f) {
		return
	}
	for _, q := range f.Params {
		if q.Kind == isa.Label || q.Kind == isa.Name || q.Kind == isa.Args {
			return
		}
	}
	for m := range bases(f) {
		for _, recv := range receivers(m) {
			p.addVariants(constructor{form: f, match: m, recv: recv.typ, exact: recv.exact})
		}
	}
}

// addVariants adds the constructor, and further ones that take its optional operands or
// return both halves of an optional pair.
func (p *plan) addVariants(c constructor) {
	add := func(c constructor) { p.cs = append(p.cs, &c) }
	add(c)
	hasPair := false
	var opts []string
	for i := range c.form.Params {
		q := &c.form.Params[i]
		hasPair = hasPair || q.PairOpt
		if must, may := c.match.Takes(q); may && !must {
			opts = append(opts, camel(upperFirst(q.Name)))
		}
	}
	if paired := c; hasPair {
		paired.pair, paired.suffix = true, "Pair"
		if !paired.repeats() {
			add(paired)
		}
	}
	if len(opts) > 0 {
		full := c
		full.opt, full.suffix = true, strings.Join(opts, "")
		add(full)
	}
}

// addMods collects the optional modifiers of the form, which become options.
func (p *plan) addMods(f *isa.Form) {
	for i, s := range f.Slots {
		if !isOption(f, i) && !isArg(f, i) {
			continue
		}
		for _, a := range s.Alts {
			if _, ok := p.mods[a]; !ok {
				p.mods[a] = nil
			}
			for j := range f.Params {
				if f.Params[j].If == a {
					p.mods[a] = &f.Params[j]
				}
			}
		}
	}
}

// isOption reports whether the caller gives the modifier of the slot as an option. In forms
// that are written by hand this includes mandatory modifiers that select the form:
// volatile, relaxed with its scope, nc.
func isOption(f *isa.Form, slot int) bool {
	s := f.Slots[slot]
	if decided(f, slot) || isFreeSpace(f, slot) || ptx.ParseType(s.Alts[0]) != ptx.NoType {
		return false
	}
	if shaped(f) {
		return s.Opt && s.Name != "vec" || slices.Contains(formChoices, s.Name)
	}
	return s.Opt
}

// formChoices are the mandatory modifiers that choose among the forms of a load,
// store or atomic.
var formChoices = []string{"volatile", "nc", "sem", "scope", "mmio", "relaxed", "sys", "noftz", "level::eviction_priority"}

// isFreeSpace reports whether an optional slot names a state space that no
// operand gives: it becomes part of the name.
func isFreeSpace(f *isa.Form, slot int) bool {
	return f.Slots[slot].Opt && ptx.ParseSpace(f.Slots[slot].Alts[0]) != ptx.Generic && !isSpace(f, slot)
}

// bases yields the variants of the form without optional modifiers, one for each choice
// that the name or the types of a constructor must make. Slots that the operands decide
// (lengths, spaces) have their first alternative.
func bases(f *isa.Form) func(yield func(isa.Match) bool) {
	return func(yield func(isa.Match) bool) {
		seen := map[string]bool{}
		for m := range f.Variants() {
			key := ""
			skip := false
			for i, s := range f.Slots {
				mod := m.At(i)
				switch {
				case decided(f, i):
				case s.Opt && !isFreeSpace(f, i):
					skip = skip || mod != ""
				default:
					key += "." + mod
				}
			}
			if skip || seen[key] {
				continue
			}
			seen[key] = true
			if !yield(m) {
				return
			}
		}
	}
}

// derived reports whether the length of an operand decides the slot.
func derived(f *isa.Form, slot int) bool {
	for i := range f.Params {
		d := f.Params[i].Deps()
		if (d.Count == slot || d.Coords == slot) && f.Params[i].Access != isa.Write && !f.Slots[slot].Fixed() {
			return true
		}
	}
	return false
}

// isArg reports whether the modifier is an argument of the constructor instead of a part of
// its name. Comparisons with further choices would otherwise make thousands of names.
func isArg(f *isa.Form, slot int) bool {
	switch f.Slots[slot].Name {
	case "bool":
		return f.Op == "set" || f.Op == "setp"
	case "cmp":
		return f.Op == "set" || slices.ContainsFunc(f.Slots, func(s isa.Slot) bool { return s.Name == "bool" })
	}
	return false
}

// isArg is isArg of the form, and also the comparison where the method returns both halves
// of a pair: those methods are rare, so one per type is enough.
func (c *constructor) isArg(slot int) bool {
	return isArg(c.form, slot) || c.pair && c.form.Slots[slot].Name == "cmp"
}

// repeats reports whether the constructor differs from an earlier one only in a modifier
// that is an argument.
func (c *constructor) repeats() bool {
	for i, s := range c.form.Slots {
		if c.isArg(i) && !isArg(c.form, i) && c.match.At(i) != s.Alts[0] {
			return true
		}
	}
	return false
}

// decided reports whether operands or arguments decide the slot.
func (c *constructor) decided(slot int) bool { return decided(c.form, slot) || c.isArg(slot) }

// decided reports whether operands decide the slot, or arguments in all methods of the form.
func decided(f *isa.Form, slot int) bool {
	return derived(f, slot) || isSpace(f, slot) || isArg(f, slot)
}

// isSpace reports whether the address given decides the slot.
func isSpace(f *isa.Form, slot int) bool {
	if f.Slots[slot].Fixed() {
		return false
	}
	return slices.ContainsFunc(f.Params, func(p isa.Param) bool {
		return p.Kind == isa.Addr && p.Deps().Space == slot
	})
}

type receiver struct {
	typ   ptx.Type
	exact bool
}

// receivers are the types that have the constructor as a method: those of the first source
// if PTX calls it a, otherwise the kernel.
func receivers(m isa.Match) []receiver {
	q := source1(m)
	if q == nil {
		return []receiver{{ptx.NoType, true}}
	}
	t := m.Type(q)
	if t.Class() != ptx.ClassBits || t == ptx.B1 {
		return []receiver{{t, true}}
	}
	var rs []receiver
	for _, s := range sameBits(t) {
		if !movesBits(m.Form) && !isInteger(s) {
			continue // bit twiddling of floats and packed values: cast first
		}
		rs = append(rs, receiver{s, s == t})
	}
	return rs
}

// movesBits reports whether the form only moves or selects bits, so that it makes sense
// for a value of any type.
func movesBits(f *isa.Form) bool {
	return f.Op == "shfl" || f.Op == "match" || f.Op == "selp"
}

func isInteger(t ptx.Type) bool {
	c := t.Class()
	return c == ptx.ClassBits || c == ptx.ClassUnsigned || c == ptx.ClassSigned
}

// source1 is the operand that is the receiver of the method, or nil.
func source1(m isa.Match) *isa.Param {
	if len(m.Form.Params) == 0 || m.Form.Params[0].Access != isa.Write {
		return nil
	}
	for i := range m.Form.Params {
		q := &m.Form.Params[i]
		if q.Access != isa.Read {
			continue
		}
		named := q.Name == "a" || q.Name == "src"
		if named && q.Kind == isa.Value && m.Count(q) == 0 && slices.Contains(valueTypes, m.Type(q)) {
			return q
		}
		return nil
	}
	return nil
}

// dropInexact removes the methods that a type has only for its bits, if the same opcode
// exists for the type itself: U32 has shr.u32 and needs no shr.b32.
func (p *plan) dropInexact() {
	exact := map[string]bool{}
	key := func(c *constructor) string {
		return goType(c.recv) + " " + c.words(detail{}) + " " + c.suffix
	}
	for _, c := range p.cs {
		if c.exact {
			exact[key(c)] = true
		}
	}
	taken := map[string]bool{}
	p.cs = slices.DeleteFunc(p.cs, func(c *constructor) bool {
		if c.exact || c.recv == ptx.NoType {
			return false
		}
		k := key(c)
		drop := exact[k] || taken[k]
		taken[k] = true
		return drop
	})
}
