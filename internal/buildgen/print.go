package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// heading says what the file of the constructor holds.
func (c *constructor) heading() string {
	if c.recv != ptx.NoType {
		return "Instructions on values of type " + goType(c.recv) + "."
	}
	return "Instructions of the kernel: " + c.form.Family.Doc + "."
}

// byFile sorts the constructors into files: one per receiver, and one per family for
// those of the kernel.
func (p *plan) byFile() map[string][]*constructor {
	m := map[string][]*constructor{}
	for _, c := range p.cs {
		file := "z" + c.recv.String() + ".go"
		if c.recv == ptx.NoType {
			file = "zkernel_" + c.form.Family.Name + ".go"
		}
		m[file] = append(m[file], c)
	}
	return m
}

// write writes the method.
func (c *constructor) write(w *bytes.Buffer) {
	recv, self := "k *Kernel", "k"
	if c.recv != ptx.NoType {
		recv, self = "a "+goType(c.recv), "kernelOf(a)"
	}
	var params, args []string
	var mods = "nil"
	if c.hasOptions() {
		mods = "mods"
	}
	for i, s := range c.form.Slots {
		if c.isArg(i) {
			name := s.Name
			if name == "bool" {
				name = "op" // bool is a type of Go
			}
			params = append(params, name+" Mod")
			mods = fmt.Sprintf("withMod(%s, %s)", mods, name)
		}
	}
	for i := range c.form.Params {
		q := &c.form.Params[i]
		if !c.takes(q) || q.Access == isa.Write {
			continue
		}
		if c.recv != ptx.NoType && q == source1(c.match) {
			args = append(args, "a")
			continue
		}
		params = append(params, c.params(q)...)
		if q.Kind != isa.Sink {
			args = append(args, c.arg(q))
		}
		mods = c.modsFor(mods, q)
	}
	if c.hasOptions() {
		params = append(params, "mods ...Mod")
	}
	c.comment(w)
	emit, result := c.emit()
	if call := c.shortCall(mods); call != "" {
		fmt.Fprintf(w, "func (%s) %s(%s) %s {\n\treturn %s\n}\n\n", recv, c.name, strings.Join(params, ", "), result, call)
		return
	}
	fmt.Fprintf(w, "func (%s) %s(%s) %s {\n\t", recv, c.name, strings.Join(params, ", "), result)
	call := fmt.Sprintf("%s(%s)", emit, strings.Join(append([]string{self, quoted(c.opText()), mods}, args...), ", "))
	switch {
	case strings.HasPrefix(result, "["):
		call = fmt.Sprintf("%s(%s)", result, c.vecCall(self, mods, args))
		fmt.Fprintf(w, "return %s\n}\n\n", call)
	case result == "":
		fmt.Fprintf(w, "%s\n}\n\n", call)
	default:
		fmt.Fprintf(w, "return %s\n}\n\n", call)
	}
}

// shortCall returns the call of a helper for instructions of one, two or three scalar sources
// and one result, or "" for other instructions. Most methods are of this kind, and the helper
// does what would otherwise be compiled again for each of them.
func (c *constructor) shortCall(mods string) string {
	emit, _ := c.emit()
	kind, one := strings.CutPrefix(emit, "emit1")
	if c.recv == ptx.NoType || !one {
		return ""
	}
	args := []string{"a", quoted(c.opText()), mods}
	n := 0
	for i := range c.form.Params {
		q := &c.form.Params[i]
		if !c.takes(q) || q.Access == isa.Write {
			continue
		}
		if n++; q == source1(c.match) {
			if n > 1 {
				return ""
			}
			continue
		}
		if q.Kind != isa.Value || q.Access != isa.Read || c.match.Count(q) > 0 || derivedCount(c.form, q) {
			return ""
		}
		args = append(args, "ptx."+c.elem(q), goName(q.Name))
	}
	if n > 3 {
		return ""
	}
	helper := []string{1: "unary", 2: "binary", 3: "ternary"}[n]
	return fmt.Sprintf("%s%s(%s)", helper, kind, strings.Join(args, ", "))
}

func (c *constructor) vecCall(self, mods string, args []string) string {
	q := &c.form.Params[0]
	all := append([]string{self, quoted(c.opText()), fmt.Sprint(c.match.Count(q)), mods}, args...)
	return fmt.Sprintf("emitVec[%s](%s)", c.elem(q), strings.Join(all, ", "))
}

// emit is the helper that emits the instruction, and the method's result.
func (c *constructor) emit() (fn, result string) {
	if len(c.form.Params) == 0 {
		return "emit0", ""
	}
	q := &c.form.Params[0]
	switch {
	case q.Kind == isa.Sink:
		return "emitSink", ""
	case q.Access != isa.Write:
		return "emit0", ""
	case c.match.Count(q) > 0:
		return "emitVec", fmt.Sprintf("[%d]%s", c.match.Count(q), c.elem(q))
	case q.Pair != nil && (!q.PairOpt || c.pair):
		return fmt.Sprintf("emitPair[%s, %s]", c.elem(q), c.elem(q.Pair)), fmt.Sprintf("(%s, %s)", c.elem(q), c.elem(q.Pair))
	}
	return fmt.Sprintf("emit1[%s]", c.elem(q)), c.elem(q)
}

// takes reports whether this constructor passes the operand.
func (c *constructor) takes(q *isa.Param) bool {
	must, may := c.match.Takes(q)
	return must || may && c.opt
}

// hasOptions reports whether the form has modifiers left to choose.
func (c *constructor) hasOptions() bool {
	for i := range c.form.Slots {
		if isOption(c.form, i) {
			return true
		}
	}
	return false
}

// opText is the opcode as far as the name decides it.
func (c *constructor) opText() string {
	s := c.form.Op
	for i := range c.form.Slots {
		if mod := c.match.At(i); mod != "" && !c.decided(i) {
			s += "." + mod
		}
	}
	return s
}

// elem is the Go type of an operand or of its elements.
func (c *constructor) elem(q *isa.Param) string {
	t := c.match.Type(q)
	if c.tied(q) {
		return goType(c.recv)
	}
	if t.Class() == ptx.ClassBits && c.match.Count(q) == 0 && !derivedCount(c.form, q) && t.Bits() >= 16 && t.Bits() <= 64 {
		return fmt.Sprintf("U%d", t.Bits())
	}
	return goType(t)
}

// tied reports whether an operand shares the receiver's type: the receiver is
// used for its bits, and so is this.
func (c *constructor) tied(q *isa.Param) bool {
	if c.recv == ptx.NoType || q.Name == "membermask" {
		return false
	}
	r := source1(c.match)
	return q.Deps().Type == r.Deps().Type && c.match.Type(q) == c.match.Type(r)
}

func derivedCount(f *isa.Form, q *isa.Param) bool {
	d := q.Deps()
	return d.Count >= 0 && derived(f, d.Count)
}

// params are the Go parameters that an operand takes.
func (c *constructor) params(q *isa.Param) []string {
	name := goName(q.Name)
	switch q.Kind {
	case isa.Sink:
		return nil
	case isa.Imm:
		return []string{name + " int"}
	case isa.TensorMap:
		return []string{name + " TensorMap", "coords Coords"}
	case isa.Addr:
		return []string{name + " " + c.addressType(q)}
	}
	typ := c.elem(q)
	if t := c.immediate(q); t != "" {
		typ = t
	}
	if q.Access == isa.ReadWrite {
		typ = "*Var[" + typ + "]"
	}
	switch n := c.match.Count(q); {
	case derivedCount(c.form, q):
		typ = "[]" + typ
	case n > 0:
		typ = fmt.Sprintf("[%d]%s", n, typ)
	}
	return []string{name + " " + typ}
}

// registersOnly are the scalar operands that no constant makes sense for: matrix
// descriptors, cache policies, and the state that an mbarrier returned.
var registersOnly = []string{"aDesc", "bDesc", "state", "cachePolicy", "accessProperty"}

// immediate is the Go type of an operand that may be a Go number: Int or Float, or ""
// when it must be a register.
func (c *constructor) immediate(q *isa.Param) string {
	scalar := q.Kind == isa.Value && q.Access == isa.Read && c.match.Count(q) == 0 && !derivedCount(c.form, q)
	if !scalar || slices.Contains(registersOnly, q.Name) {
		return ""
	}
	switch typ := c.elem(q); {
	case typ == "F32" || typ == "F64":
		return "Float"
	case slices.Contains([]string{"U8", "S8", "B8", "U16", "S16", "B16", "U32", "S32", "B32", "U64", "S64", "B64"}, typ):
		return "Int"
	}
	return ""
}

// spaces are the state spaces an address operand may have.
func (c *constructor) spaces(q *isa.Param) []string {
	if i := q.Deps().Space; i >= 0 {
		return c.form.Slots[i].Alts
	}
	return []string{q.Space}
}

func (c *constructor) addressType(q *isa.Param) string {
	kinds := map[ptx.Space]bool{}
	for _, s := range c.spaces(q) {
		kinds[ptx.ParseSpace(s)] = true
	}
	switch {
	case len(kinds) == 1 && kinds[ptx.Shared]:
		return "SharedAddr"
	case len(kinds) == 1 && kinds[ptx.Global]:
		return "GlobalAddr"
	}
	return "Address"
}

// arg is how an operand is handed on.
func (c *constructor) arg(q *isa.Param) string {
	name := goName(q.Name)
	switch q.Kind {
	case isa.Imm:
		return "imm(" + name + ")"
	case isa.TensorMap:
		return name + ".at(coords)"
	}
	switch {
	case c.immediate(q) != "":
		return fmt.Sprintf("in(ptx.%s, %s)", c.elem(q), name)
	case derivedCount(c.form, q) && c.form.Slots[q.Deps().Count].Opt:
		return "vecOrOne(" + name + ")"
	case derivedCount(c.form, q):
		return "vecOf(" + name + ")"
	case c.match.Count(q) > 0:
		return "vecOf(" + name + "[:])"
	}
	return name
}

// modsFor adds the modifiers that an operand decides.
func (c *constructor) modsFor(mods string, q *isa.Param) string {
	d := q.Deps()
	name := goName(q.Name)
	if q.Kind == isa.Addr && d.Space >= 0 && isSpace(c.form, d.Space) && c.firstIn(q) {
		mods = fmt.Sprintf("withSpace(%s, %s, %s)", mods, name, quoted(strings.Join(c.spaces(q), " ")))
	}
	if d.Coords >= 0 && derived(c.form, d.Coords) {
		mods = fmt.Sprintf(`withCount(%s, "", dims(coords), "d")`, mods)
	}
	if derivedCount(c.form, q) {
		alt := c.form.Slots[d.Count].Alts[0]
		n := fmt.Sprintf("len(%s)", name)
		if div := q.CountDiv(); div > 0 {
			head, tail, _ := strings.Cut(alt, "n")
			_, tail, _ = strings.Cut(tail, "k")
			mods = fmt.Sprintf("withCount(%s, %s, %d*%s, %s)", mods, quoted(head+"n"), div, n, quoted("k"+tail))
		} else {
			mods = fmt.Sprintf(`withCount(%s, %s, %s, "")`, mods, quoted(strings.TrimRight(alt, "0123456789")), n)
		}
	}
	return mods
}

// firstIn reports whether q is the first of the operands whose space its slot names.
func (c *constructor) firstIn(q *isa.Param) bool {
	for i := range c.form.Params {
		if p := &c.form.Params[i]; p.Kind == isa.Addr && p.Deps().Space == q.Deps().Space {
			return p == q
		}
	}
	return true
}

// comment writes the method's documentation.
func (c *constructor) comment(w *bytes.Buffer) {
	fmt.Fprintf(w, "// %s is %s:\n// %s.\n", c.name, c.syntax(), c.form.Doc)
	n := c.match.Needs()
	var needs []string
	if n.Target.SM > 0 {
		needs = append(needs, n.Target.String())
	}
	if n.Version.Major > 0 {
		needs = append(needs, "PTX "+n.Version.String())
	}
	if len(needs) > 0 {
		fmt.Fprintf(w, "// Needs %s.\n", strings.Join(needs, " and "))
	}
}

// syntax spells the instruction as PTX's manual would.
func (c *constructor) syntax() string {
	var b strings.Builder
	b.WriteString(c.form.Op)
	for i, s := range c.form.Slots {
		switch {
		case isFreeSpace(c.form, i):
			if mod := c.match.At(i); mod != "" {
				b.WriteString("." + mod)
			}
		case s.Opt && len(s.Alts) == 1:
			fmt.Fprintf(&b, "{.%s}", s.Alts[0])
		case s.Opt:
			fmt.Fprintf(&b, "{.%s}", strings.Join(s.Alts, "|."))
		case c.decided(i):
			fmt.Fprintf(&b, ".%s", s.Name)
		default:
			b.WriteString("." + c.match.At(i))
		}
	}
	var ops []string
	for i := range c.form.Params {
		q := &c.form.Params[i]
		s := q.Name
		switch {
		case q.Kind == isa.Addr:
			s = "[" + s + "]"
		case q.Kind == isa.TensorMap:
			s = "[" + s + ", {coords}]"
		case q.Kind == isa.Sink:
			s = "_"
		case q.Pair != nil && (!q.PairOpt || c.pair):
			s += "|" + q.Pair.Name
		}
		if c.takes(q) {
			ops = append(ops, s)
		}
	}
	return strings.TrimSpace(b.String() + " " + strings.Join(ops, ", "))
}

// writeMods writes the options: a value for each modifier, a function for those
// that bring an operand.
func (p *plan) writeMods(w *bytes.Buffer) {
	for _, m := range slices.Sorted(maps.Keys(p.mods)) {
		name := modName(m)
		if q := p.mods[m]; q != nil {
			fmt.Fprintf(w, "// %s is the modifier .%s with its operand.\nfunc %s(%s %s) Mod { return Mod{%q, %s} }\n\n",
				name, m, name, q.Name, modArg(q), m, q.Name)
			continue
		}
		fmt.Fprintf(w, "// %s is the modifier .%s.\nvar %s = Mod{name: %q}\n\n", name, m, name, m)
	}
}

// modName is a modifier's Go name. Two numbers in a row are kept apart: L2_128B.
func modName(m string) string {
	return strings.NewReplacer("L264", "L2_64", "L2128", "L2_128", "L2256", "L2_256").Replace(camel(m))
}

func modArg(q *isa.Param) string {
	var m isa.Match
	t := m.Type(q)
	return fmt.Sprintf("U%d", t.Bits())
}

// goName turns an operand's name into a Go one.
func goName(s string) string {
	if s == "N" {
		return "n"
	}
	return s
}

func quoted(s string) string { return `"` + s + `"` }
