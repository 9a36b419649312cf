package isa

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// The table is written in the notation of the PTX manual, with additions for what the manual
// says in prose:
//
//	fma.rnd{.ftz}{.sat}.f32  =d, a, b, c
//
// The opcode comes first. A modifier that is the name of a set is a slot for any member of the
// set; sets.go has the common sets, and set() defines one for a form. {…} marks an optional
// modifier. Every other word stands for itself.
//
// The operands follow. =d is written, +d is read and written, and other operands are read. An
// operand has the type in the slot called "type", or else the type of the last modifier that is
// a type. A colon introduces something else:
//
//	a:u32        has the type u32
//	a:atype      has the type in slot atype
//	d:wide       has twice the size
//	a:f32[4]     is a vector of four elements
//	d:type[vec]  is a vector with the length in slot vec
//	d:f32[N/2]   is a vector with half of N of the slot "shape"
//	c:pred!      is a predicate that may have "!" in front
//	a:u32~part   may select a part, as in %r1.b0; select.go lists the kinds of parts
//	d:u32~part!  must select a part
//	a:u32~part-  may have "-" in front, and so may a:u32~-
//	x:imm        is a constant
//	x:imm(4 8)   is one of these constants
//	x:imm(0..7)  is a constant in this range
//	t:label      is a branch target
//	t:name       is a function, a list of targets or a prototype
//	t:args       is a list of arguments or results
//	[a]          is an address in the space of slot "ss", or else of a modifier
//	[a:shared]   is an address in shared memory
//	[a:generic]  is a generic address
//	[t:tensor]   is [tensor map, {coordinates}]; slot "dim" gives the number of coordinates
//	[t:rows]     is a tensor map with the column and the numbers of four rows
//	[t:tmem]     is an address in tensor memory
//	[t:texture]  is [texture, {coordinates}], or with a sampler in between; slot "geom" gives the number
//	[t:surface]  is [surface, {coordinates}]
//	[t:opaque]   is a texture, a sampler or a surface
//
// =d|p is a pair, and =d{|p} is a pair whose second half may be left out. {, x} is an operand
// that may be left out, and {, x @mod} is an operand that is present exactly if the opcode has
// the modifier mod.

// inst sets the documentation of the forms of one instruction.
func inst(doc string, forms ...*Form) []*Form {
	for _, f := range forms {
		f.Doc = doc
	}
	return forms
}

// form parses one line of the table. It panics on a mistake, because the table is part of the
// program.
func form(syntax string, opts ...option) *Form {
	f := &Form{Syntax: strings.Join(strings.Fields(syntax), " ")}
	l := &line{form: f, sets: map[string][]string{}}
	for _, o := range opts {
		o(l)
	}
	opcode, operands, _ := strings.Cut(f.Syntax, " ")
	l.opcode(opcode)
	for _, r := range l.rules {
		f.rules = append(f.rules, rule{f.conditions(r[0]), f.slotAlts(r[1])})
	}
	for _, c := range l.combos {
		f.comboNeeds = append(f.comboNeeds, comboNeeds{f.conditions(c.cond), c.needs})
	}
	f.Params = l.operands(operands)
	return f
}

func (f *Form) fail(format string, args ...any) {
	panic("isa: " + f.Syntax + ": " + fmt.Sprintf(format, args...))
}

func (f *Form) slot(name string) int {
	return slices.IndexFunc(f.Slots, func(s Slot) bool { return s.Name == name })
}

// conditions parses conditions such as "sat=sat, atype=u8".
func (f *Form) conditions(s string) (cs []slotAlts) {
	for c := range strings.SplitSeq(s, ",") {
		cs = append(cs, f.slotAlts(c))
	}
	return cs
}

func (f *Form) slotAlts(s string) slotAlts {
	name, alts, ok := strings.Cut(strings.TrimSpace(s), "=")
	i := f.slot(name)
	if !ok || i < 0 {
		f.fail("no slot for rule %q", s)
	}
	for a := range strings.FieldsSeq(alts) {
		if a != "-" && !slices.Contains(f.Slots[i].Alts, a) {
			f.fail("rule %q: slot %s has no .%s", s, name, a)
		}
	}
	return slotAlts{i, strings.Fields(alts)}
}

// opcode parses an opcode such as "fma.rnd{.ftz}.f32" into the name and the slots of the form.
func (l *line) opcode(s string) {
	f := l.form
	end := strings.IndexAny(s, ".{")
	if end < 0 {
		end = len(s)
	}
	f.Op, s = s[:end], s[end:]
	f.Slots = make([]Slot, 0, strings.Count(s, "."))
	for s != "" {
		opt := s[0] == '{'
		if opt {
			s = s[1:]
		}
		s = strings.TrimPrefix(s, ".")
		if end = strings.IndexAny(s, ".{}"); end < 0 {
			end = len(s)
		}
		word := s[:end]
		s = s[end:]
		if opt {
			if !strings.HasPrefix(s, "}") {
				f.fail("unclosed { before %q", s)
			}
			s = s[1:]
		}
		f.Slots = append(f.Slots, Slot{Name: word, Alts: l.alts(word), Opt: opt})
	}
}

// alts returns the members of the set of that name, or the word itself if there is no such set.
func (l *line) alts(word string) []string {
	if a, ok := l.sets[word]; ok {
		return a
	}
	if a, ok := sets[word]; ok {
		return a
	}
	return []string{word}
}

// operands parses the list of operands.
func (l *line) operands(s string) []Param {
	if s == "" {
		return nil
	}
	ps := make([]Param, 0, 1+strings.Count(s, ","))
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		opt := strings.HasPrefix(s, "{,") || strings.HasPrefix(s, "{ ,") || len(ps) == 0 && s[0] == '{'
		var item string
		if opt {
			item, s = cutItem(s[1:], '}')
			item = strings.TrimPrefix(strings.TrimSpace(item), ",")
		} else {
			item, s = cutItem(strings.TrimPrefix(s, ","), ',')
		}
		p := l.param(strings.TrimSpace(item))
		p.Opt = opt
		ps = append(ps, p)
	}
	return ps
}

// cutItem cuts s at the end of its first operand: before the next "," or "{," that is outside
// brackets, or after the closing brace.
func cutItem(s string, end byte) (item, rest string) {
	depth := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '}' && end == '}' && depth == 0:
			return s[:i], s[i+1:]
		case depth == 0 && end == ',' && (c == ',' || c == '{' && strings.HasPrefix(s[i:], "{,")):
			return s[:i], s[i:]
		case c == '[' || c == '(' || c == '{':
			depth++
		case c == ']' || c == ')' || c == '}':
			depth--
		}
	}
	return s, ""
}

func (l *line) param(s string) Param {
	s, mod, _ := strings.Cut(s, " @")
	if body, ok := strings.CutPrefix(s, "["); ok {
		p := l.address(strings.TrimSuffix(body, "]"))
		p.If = mod
		return p
	}
	first, second, paired := strings.Cut(strings.Replace(strings.TrimSuffix(s, "}"), "{|", "|", 1), "|")
	p := l.value(first)
	p.If = mod
	if paired {
		q := l.value(second)
		q.Access = p.Access
		p.Pair, p.PairOpt = &q, strings.Contains(s, "{|")
	}
	return p
}

// value parses a value operand such as "=d:f32[4]".
func (l *line) value(s string) Param {
	p := Param{spaceSlot: -1, coords: -1, typ: typeRef{slot: -1}, count: countRef{slot: -1}}
	switch s[0] {
	case '_':
		p.Name, p.Kind, p.Access = s, Sink, Write
		return p
	case '=':
		p.Access, s = Write, s[1:]
	case '+':
		p.Access, s = ReadWrite, s[1:]
	}
	var spec string
	p.Name, spec, _ = strings.Cut(s, ":")
	if before, sel, ok := strings.Cut(spec, "~"); ok {
		spec = before
		sel, p.SelectMust = strings.CutSuffix(sel, "!")
		p.Select, p.Minus = strings.CutSuffix(sel, "-")
		if selectors[p.Select].parts == 0 && sel != "-" {
			l.form.fail("%q is not a kind of selector", p.Select)
		}
	}
	spec, p.Not = strings.CutSuffix(spec, "!")
	typ, count, isVec := strings.Cut(strings.TrimSuffix(spec, "]"), "[")
	if isVec {
		p.count = l.count(count)
	}
	switch {
	case strings.HasPrefix(typ, "imm"):
		p.Kind = Imm
		p.Values = l.values(typ)
	case typ == "label":
		p.Kind = Label
	case typ == "name":
		p.Kind = Name
	case typ == "args":
		p.Kind = Args
	default:
		p.typ = l.typeRef(typ)
	}
	return p
}

func (l *line) values(s string) (vs []int64) {
	list := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(s, "imm"), "("), ")")
	for w := range strings.FieldsSeq(list) {
		first, last, ranged := strings.Cut(w, "..")
		if !ranged {
			last = first
		}
		for v := l.integer(first); v <= l.integer(last); v++ {
			vs = append(vs, v)
		}
	}
	return vs
}

func (l *line) integer(s string) int64 {
	v, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		l.form.fail("%v", err)
	}
	return v
}

func (l *line) typeRef(s string) typeRef {
	f := l.form
	r := typeRef{slot: -1}
	if s == "wide" {
		r.wide, s = true, ""
	}
	if s == "" {
		if i := f.slot("type"); i >= 0 {
			r.slot = i
			return r
		}
		for _, slot := range slices.Backward(f.Slots) {
			if t := ptx.ParseType(slot.Alts[0]); slot.Fixed() && t != ptx.NoType {
				r.fixed = t
				return r
			}
		}
		f.fail("nothing gives its operands a type")
	}
	if r.fixed = ptx.ParseType(s); r.fixed != ptx.NoType {
		return r
	}
	if r.slot = f.slot(s); r.slot < 0 {
		f.fail("%q is neither a type nor a slot", s)
	}
	return r
}

func (l *line) count(s string) countRef {
	if n, err := strconv.Atoi(s); err == nil {
		return countRef{fixed: n, slot: -1}
	}
	c := countRef{}
	if div, ok := strings.CutPrefix(s, "N/"); ok {
		c.div, _ = strconv.Atoi(div)
		s = "shape"
	}
	if c.slot = l.form.slot(s); c.slot < 0 {
		l.form.fail("no slot gives the count %q", s)
	}
	return c
}

// address parses the text between brackets: "a", "a:shared" or "t:tensor".
func (l *line) address(s string) Param {
	f := l.form
	p := Param{Kind: Addr, spaceSlot: -1, coords: -1, typ: typeRef{slot: -1}, count: countRef{slot: -1}}
	name, space, given := strings.Cut(s, ":")
	p.Name = name
	switch {
	case space == "tensor":
		p.Kind, p.coords = TensorMap, f.slot("dim")
	case space == "rows":
		p.Kind, p.rows = TensorMap, 5
	case space == "tmem":
		p.Kind = TensorMemory
	case space == "texture":
		p.Kind, p.coords = Texture, f.slot("geom")
	case space == "surface":
		p.Kind, p.coords = Surface, f.slot("geom")
	case space == "opaque":
		p.Kind = Opaque
	case space == "generic":
	case given:
		if i := f.slot(space); i >= 0 {
			p.spaceSlot = i
		} else if p.Space = space; ptx.ParseSpace(space) == ptx.Generic {
			f.fail("%q is not a state space", space)
		}
	default:
		p.spaceSlot = slices.IndexFunc(f.Slots, func(s Slot) bool {
			return s.Name == "ss" || s.Fixed() && ptx.ParseSpace(s.Alts[0]) != ptx.Generic
		})
	}
	return p
}
