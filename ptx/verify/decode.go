package verify

import (
	"slices"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// code is a function whose instructions are looked up in the table, once for all analyses.
type code struct {
	fn  *ptx.Func
	cfg *CFG
	at  []decoded // by statement; zero where the statement is not an instruction
	// Statement i reads the registers uses[useOf[i]:useOf[i+1]] and writes the registers
	// defs[defOf[i]:defOf[i+1]], by register number.
	uses, defs   []int32
	useOf, defOf []int32
	consts       constants
}

// decoded is an instruction with its form in the table.
type decoded struct {
	in    *ptx.Inst
	match isa.Match // Form is nil when the table has none
	bind  []int     // operand of each parameter, or -1
}

func (c *code) reads(stmt int) []int32  { return c.uses[c.useOf[stmt]:c.useOf[stmt+1]] }
func (c *code) writes(stmt int) []int32 { return c.defs[c.defOf[stmt]:c.defOf[stmt+1]] }

// kills reports whether the statement replaces the whole value of a register that it
// writes: it has no guard, and it does not write one component of a vector.
func (c *code) kills(stmt int, reg int32) bool {
	return c.at[stmt].in.Guard.Sym == nil && c.fn.Regs[reg].Vec == 0
}

// decoder looks instructions up in the table. It looks each spelling up once.
type decoder struct {
	forms    map[*ptx.Opcode][]isa.Match
	problems []problem // scratch
	// newer is set for modules of a version that may have instructions that the table does not have.
	newer bool
}

func newDecoder() *decoder { return &decoder{forms: map[*ptx.Opcode][]isa.Match{}} }

// decode looks up the instructions of a function. It calls report, unless it is nil, for
// instructions that are not in the table and for operands that do not fit.
func (d *decoder) decode(f *ptx.Func, g *CFG, report func(stmt int, p problem)) *code {
	n := len(f.Body)
	c := &code{fn: f, cfg: g, at: make([]decoded, n), useOf: make([]int32, n+1), defOf: make([]int32, n+1)}
	for i, s := range f.Body {
		if in, ok := s.(*ptx.Inst); ok {
			ps := d.resolve(in, &c.at[i])
			if report != nil {
				for _, p := range ps {
					report(i, p)
				}
			}
			c.effects(&c.at[i])
		}
		c.useOf[i+1], c.defOf[i+1] = int32(len(c.uses)), int32(len(c.defs))
	}
	c.consts = c.findConstants()
	c.dropReplaced()
	return c
}

// dropReplaced removes accumulators from what a wgmma reads if its scale-d is the constant
// 0: it then replaces them instead of adding to them.
func (c *code) dropReplaced() {
	kept := c.uses[:0]
	for i := range c.at {
		start := c.useOf[i]
		c.useOf[i] = int32(len(kept))
		for _, r := range c.uses[start:c.useOf[i+1]] {
			if !c.replaces(i) || !slices.Contains(c.writes(i), r) {
				kept = append(kept, r)
			}
		}
	}
	c.useOf[len(c.at)] = int32(len(kept))
	c.uses = kept
}

// replaces reports whether the statement is a wgmma that does not add to its accumulators.
func (c *code) replaces(stmt int) bool {
	d := &c.at[stmt]
	if d.match.Form == nil || d.in.Op.Name != "wgmma" || !d.in.Op.Has("mma_async") {
		return false
	}
	for i, p := range d.match.Form.Params {
		if p.Name == "scaleD" && d.bind[i] >= 0 {
			v, known := c.consts.of(&d.in.Args[d.bind[i]])
			return known && v == 0
		}
	}
	return false
}

// resolve picks the form whose operands fit. Forms may differ only in the types of their
// operands, so it picks the first form without a problem. If all forms have problems, it
// returns the problems of the first.
func (d *decoder) resolve(in *ptx.Inst, out *decoded) []problem {
	out.in = in
	ms, ok := d.forms[in.Op]
	if !ok {
		ms = isa.Lookup(in.Op)
		d.forms[in.Op] = ms
	}
	var first []problem
	for _, m := range ms {
		bind, err := m.Bind(in.Args)
		if err != nil {
			continue
		}
		d.problems = d.problems[:0]
		d.operands(in, m, bind)
		if !serious(d.problems) {
			out.match, out.bind = m, bind
			return d.problems
		}
		if out.match.Form == nil {
			out.match, out.bind = m, bind
			first = append(first, d.problems...)
		}
	}
	if out.match.Form != nil {
		return first
	}
	return d.unresolved(in, len(ms) > 0)
}

// unresolved says why the table has no form for the instruction.
func (d *decoder) unresolved(in *ptx.Inst, opcodeKnown bool) []problem {
	if d.newer && !opcodeKnown {
		return []problem{{finding.Warning, "unchecked-instruction", in.Pos, in.Op.Text + " is not in the table of instructions, which has PTX up to " + isa.Newest.String() + ": nothing about it is checked"}}
	}
	kind := "unknown-instruction"
	if opcodeKnown {
		kind = "bad-operand"
	}
	if _, err := isa.Resolve(in); err != nil {
		return []problem{{finding.Error, kind, in.Pos, err.Error()}}
	}
	return nil
}

func serious(ps []problem) bool {
	for i := range ps {
		if ps[i].severity == finding.Error {
			return true
		}
	}
	return false
}

// effects appends the registers that the instruction reads and writes.
func (c *code) effects(d *decoded) {
	in := d.in
	if g := in.Guard.Sym; g != nil && g.Kind == ptx.RegSymbol {
		c.uses = append(c.uses, c.number(g))
	}
	if d.match.Form == nil {
		c.guess(in)
		return
	}
	for i, a := range d.bind {
		if a >= 0 {
			p := &d.match.Form.Params[i]
			c.operand(&in.Args[a], p.Access)
		}
	}
}

// guess is for instructions without a form in the table. It assumes that the instruction
// writes the first operand, unless it is an address, and reads the others.
func (c *code) guess(in *ptx.Inst) {
	for i := range in.Args {
		access := isa.Read
		if i == 0 {
			access = isa.Write
		}
		c.operand(&in.Args[i], access)
	}
}

func (c *code) operand(o *ptx.Operand, access isa.Access) {
	switch o.Kind {
	case ptx.RegOperand:
		if o.Sym.Kind != ptx.RegSymbol {
			return
		}
		r := c.number(o.Sym)
		if access != isa.Write {
			c.uses = append(c.uses, r)
		}
		if access != isa.Read {
			c.defs = append(c.defs, r)
		}
	case ptx.AddrOperand: // the parts of an address are only read
		if o.Sym != nil && o.Sym.Kind == ptx.RegSymbol {
			c.uses = append(c.uses, c.number(o.Sym))
		}
		for i := range o.Elems {
			c.operand(&o.Elems[i], isa.Read)
		}
	case ptx.VecOperand, ptx.ListOperand, ptx.PairOperand:
		for i := range o.Elems {
			c.operand(&o.Elems[i], access)
		}
	}
}

// number returns the register's index in Func.Regs. The code that makes a function must
// keep the two consistent.
func (c *code) number(s *ptx.Symbol) int32 {
	if regs := c.fn.Regs; s.ID < 0 || int(s.ID) >= len(regs) || regs[s.ID] != s {
		panic("verify: register " + s.Name + " is not at its place in Regs of " + c.fn.Sym.Name)
	}
	return s.ID
}
