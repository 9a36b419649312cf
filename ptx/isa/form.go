package isa

import (
	"iter"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Family is a group of related instructions. Each file of the table holds one family.
type Family struct {
	Name  string
	Doc   string
	Forms []*Form
	// ReadOnly says that package build has no constructors for the family: it is there for PTX
	// from elsewhere.
	ReadOnly bool
}

// Form is one line of the table: an opcode, its modifiers in their order, and its operands.
type Form struct {
	Op     string // "fma"
	Doc    string // what it computes, in a few words
	Syntax string // as the PTX manual would write it
	Family *Family
	Slots  []Slot
	Params []Param
	Needs  Needs
	// orNeeds lists alternatives to Needs, such as an older version that supports the form
	// only on newer architectures.
	orNeeds []Needs
	// altNeeds maps a modifier to what it needs in this form in addition to Needs.
	altNeeds   map[string]Needs
	comboNeeds []comboNeeds
	rules      []rule
	// Wider says that registers may be wider than the instruction's type, as in loads,
	// stores and conversions.
	Wider bool
}

// Slot is one place in the list of modifiers.
type Slot struct {
	Name string   // such as "rnd"; the name of a single modifier is the modifier itself
	Alts []string // the modifiers that fit the slot
	Opt  bool     // the slot may be empty
}

// Fixed reports whether the slot always holds the same modifier.
func (s *Slot) Fixed() bool { return !s.Opt && len(s.Alts) == 1 }

// Access is what an instruction does with an operand.
type Access uint8

// The accesses.
const (
	Read Access = iota
	Write
	ReadWrite
)

// ParamKind is the syntactic kind of an operand.
type ParamKind uint8

// The kinds.
const (
	Value        ParamKind = iota // register, constant or special register
	Imm                           // integer constant
	Addr                          // [address]
	TensorMap                     // [tensor map, {coordinates}]
	TensorMemory                  // [address in tensor memory], of 32 bits
	Texture                       // [texture, {coordinates}] or [texture, sampler, {coordinates}]
	Surface                       // [surface, {coordinates}]
	Opaque                        // [texture, sampler or surface]
	Label                         // branch target
	Name                          // function, target list or prototype
	Args                          // the (list) of arguments or results of a call
	Sink                          // the symbol _, where PTX allows no other operand
)

// Bracketed reports whether operands of the kind are written in brackets.
func (k ParamKind) Bracketed() bool { return k >= Addr && k <= Opaque }

// Param is one operand of a form.
type Param struct {
	Name   string
	Kind   ParamKind
	Access Access
	// Opt says that the operand may be left out. If If is also set, the operand is present
	// exactly when the opcode has that modifier.
	Opt bool
	If  string
	// Not allows "!" in front of a predicate.
	Not bool
	// Select names the kind of selector that may follow the register, as in %r1.b0, or is "". With
	// SelectMust there must be a selector. Minus allows "-" in front of the register.
	Select     string
	SelectMust bool
	Minus      bool
	// Pair is the operand after "|". With PairOpt it may be left out.
	Pair    *Param
	PairOpt bool
	// Values lists the constants that an Imm may be. An empty list allows every constant.
	Values []int64
	// Space is the state space of an address: a modifier such as "shared", or "" if
	// spaceSlot decides.
	Space string

	typ       typeRef
	count     countRef
	spaceSlot int // the slot that names the space, or -1
	coords    int // the slot that gives the number of coordinates, or -1
	rows      int // for a tensor map: the coordinates of a copy of single rows, or 0
}

// typeRef is a fixed type, or the type that a slot's modifier names.
type typeRef struct {
	fixed ptx.Type
	slot  int // -1 when fixed
	wide  bool
}

// countRef is the length of a vector operand: a fixed length, or the number in a slot's
// modifier.
type countRef struct {
	fixed int
	slot  int // -1 when fixed
	div   int // if not 0, the slot is a shape mMnNkK and the length is N/div
}

// rule restricts one slot if other slots have certain modifiers.
type rule struct {
	ifs  []slotAlts // the rule applies if all of these hold
	then slotAlts
}

// slotAlts is a subset of the modifiers of a slot; "-" stands for an empty slot.
type slotAlts struct {
	slot int
	alts []string
}

// Match is a form with a choice of modifier for each slot.
type Match struct {
	Form *Form
	bind []int8 // for each slot: the index of the modifier, or -1 if the slot is empty
}

// Mod returns the modifier in the slot of that name, or "" if the slot is empty.
func (m Match) Mod(slot string) string {
	for i := range m.Form.Slots {
		if m.Form.Slots[i].Name == slot {
			return m.At(i)
		}
	}
	return ""
}

// Has reports whether the opcode carries the modifier.
func (m Match) Has(mod string) bool {
	for i := range m.bind {
		if m.At(i) == mod {
			return true
		}
	}
	return false
}

// At returns the modifier in a slot, or "" if the slot is empty.
func (m Match) At(slot int) string {
	if b := m.bind[slot]; b >= 0 {
		return m.Form.Slots[slot].Alts[b]
	}
	return ""
}

// Opcode returns the opcode of the match, with its modifiers in the order of the table.
func (m Match) Opcode() *ptx.Opcode {
	var b strings.Builder
	b.WriteString(m.Form.Op)
	for i := range m.bind {
		if s := m.At(i); s != "" {
			b.WriteString(".")
			b.WriteString(s)
		}
	}
	return ptx.NewOpcode(b.String())
}

// Type returns the type of the operand. For a vector it is the type of an element.
func (m Match) Type(p *Param) ptx.Type {
	t := p.typ.fixed
	if p.typ.slot >= 0 {
		t = ptx.ParseType(m.At(p.typ.slot))
	}
	if p.typ.wide {
		t = widened[t]
	}
	return t
}

var widened = map[ptx.Type]ptx.Type{
	ptx.U16: ptx.U32, ptx.U32: ptx.U64, ptx.S16: ptx.S32, ptx.S32: ptx.S64,
}

// Count returns the number of elements of a vector operand, or 0 for a scalar.
func (m Match) Count(p *Param) int {
	if p.count.slot < 0 {
		return p.count.fixed
	}
	mod := m.At(p.count.slot)
	if p.count.div > 0 {
		return shapeN(mod) / p.count.div
	}
	return number(mod)
}

// Coords returns the number of coordinates of a tensor, a texture or a surface.
func (m Match) Coords(p *Param) int {
	switch {
	case p.coords < 0:
		return p.rows
	case p.Kind == TensorMap:
		return number(m.At(p.coords))
	}
	return coordsOf(m.At(p.coords))
}

// Space returns the state space of an address operand with its sub-qualifier, such as
// "shared::cluster", or "" for generic addressing.
func (m Match) Space(p *Param) string {
	if p.spaceSlot >= 0 {
		return m.At(p.spaceSlot)
	}
	return p.Space
}

// Takes reports whether the operand must be present (yes) and whether it may be present
// (maybe).
func (m Match) Takes(p *Param) (yes, maybe bool) {
	switch {
	case !p.Opt:
		return true, true
	case p.If != "":
		has := m.Has(p.If)
		return has, has
	}
	return false, true
}

// number returns the number in a modifier such as "v4", "x2" or "3d".
func number(mod string) int {
	n := 0
	for _, c := range mod {
		if c >= '0' && c <= '9' {
			n = n*10 + int(c-'0')
		}
	}
	return n
}

// shapeN returns N of a shape such as "m64n128k16".
func shapeN(shape string) int {
	_, rest, _ := strings.Cut(shape, "n")
	n, _, _ := strings.Cut(rest, "k")
	return number(n)
}

// Variants yields every way to fill the form's slots.
func (f *Form) Variants() iter.Seq[Match] {
	return func(yield func(Match) bool) {
		bind := make([]int8, len(f.Slots))
		f.fill(0, bind, yield)
	}
}

func (f *Form) fill(slot int, bind []int8, yield func(Match) bool) bool {
	if slot == len(f.Slots) {
		m := Match{f, bind}
		if !f.allows(m) {
			return true
		}
		return yield(Match{f, slices.Clone(bind)})
	}
	s := &f.Slots[slot]
	first := 0
	if s.Opt {
		first = -1
	}
	for i := first; i < len(s.Alts); i++ {
		bind[slot] = int8(i)
		if !f.fill(slot+1, bind, yield) {
			return false
		}
	}
	return true
}

func (f *Form) allows(m Match) bool {
	for i := range f.rules {
		if r := &f.rules[i]; m.holds(r.ifs) && !m.has(r.then) {
			return false
		}
	}
	return true
}

func (m Match) holds(conditions []slotAlts) bool {
	for _, c := range conditions {
		if !m.has(c) {
			return false
		}
	}
	return true
}

func (m Match) has(s slotAlts) bool {
	mod := m.At(s.slot)
	if mod == "" {
		mod = "-"
	}
	return slices.Contains(s.alts, mod)
}
