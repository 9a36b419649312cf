package build

import (
	"slices"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// coalesce removes moves that are not needed. Var.Get and Var.Set each emit a mov, so that
// a value never changes after it was read. Within straight-line code many of these moves
// have no effect: l.Set(l.Get().Add(x)) becomes one add.
func coalesce(body []ptx.Stmt) []ptx.Stmt {
	c := coalescer{facts: map[*ptx.Symbol]*regFacts{}, cuts: map[int]bool{}}
	for _, s := range body {
		if in, ok := s.(*ptx.Inst); ok {
			c.insts = append(c.insts, copyInst(in))
			c.at = append(c.at, len(c.body))
			c.body = append(c.body, c.insts[len(c.insts)-1])
			continue
		}
		if _, ok := s.(*ptx.Label); ok {
			c.cuts[len(c.insts)] = true
		}
		c.body = append(c.body, s)
	}
	c.count()
	for i := range c.insts {
		c.forward(i)
	}
	for i := range c.insts {
		c.backward(i)
	}
	return c.rest()
}

// copyInst copies an instruction deeply enough for its operands to be renamed.
func copyInst(in *ptx.Inst) *ptx.Inst {
	cp := *in
	cp.Args = copyOperands(in.Args)
	return &cp
}

func copyOperands(ops []ptx.Operand) []ptx.Operand {
	ops = slices.Clone(ops)
	for i := range ops {
		if ops[i].Elems != nil {
			ops[i].Elems = copyOperands(ops[i].Elems)
		}
	}
	return ops
}

type coalescer struct {
	body  []ptx.Stmt
	insts []*ptx.Inst  // nil once taken out
	at    []int        // by instruction: its index in body
	cuts  map[int]bool // instructions that start a block because of a label
	facts map[*ptx.Symbol]*regFacts
	reads [][]*ptx.Symbol // by instruction
	write [][]*ptx.Symbol
}

type regFacts struct {
	defs, uses int
	pinned     bool // an instruction reads it that is still reading after it was issued
}

func (c *coalescer) fact(s *ptx.Symbol) *regFacts {
	f := c.facts[s]
	if f == nil {
		f = &regFacts{}
		c.facts[s] = f
	}
	return f
}

// count collects which instructions read and write each register.
func (c *coalescer) count() {
	c.reads = make([][]*ptx.Symbol, len(c.insts))
	c.write = make([][]*ptx.Symbol, len(c.insts))
	for i, in := range c.insts {
		c.reads[i], c.write[i] = accesses(in)
		for _, s := range c.reads[i] {
			c.fact(s).uses++
			c.fact(s).pinned = c.fact(s).pinned || in.Op.Name == "wgmma"
		}
		for _, s := range c.write[i] {
			c.fact(s).defs++
		}
	}
}

// accesses lists the registers an instruction reads and writes.
func accesses(in *ptx.Inst) (reads, writes []*ptx.Symbol) {
	if in.Guard.Sym != nil {
		reads = append(reads, in.Guard.Sym)
	}
	m, err := isa.Resolve(in)
	if err != nil { // not in the table: take every operand to be both
		for i := range in.Args {
			reads = appendRegs(reads, &in.Args[i])
		}
		return reads, reads
	}
	at, _ := m.Bind(in.Args)
	for p, a := range at {
		if a < 0 {
			continue
		}
		o := &in.Args[a]
		access := m.Form.Params[p].Access
		if access != isa.Write || o.Kind == ptx.AddrOperand {
			reads = appendRegs(reads, o)
		}
		if access != isa.Read {
			writes = appendRegs(writes, o)
		}
	}
	return reads, writes
}

func appendRegs(regs []*ptx.Symbol, o *ptx.Operand) []*ptx.Symbol {
	if o.Sym != nil && o.Sym.Kind == ptx.RegSymbol {
		regs = append(regs, o.Sym)
	}
	for i := range o.Elems {
		regs = appendRegs(regs, &o.Elems[i])
	}
	return regs
}

// move returns the two registers of an unguarded register-to-register mov.
func (c *coalescer) move(i int) (dst, src *ptx.Symbol) {
	in := c.insts[i]
	if in == nil || in.Op.Name != "mov" || in.Guard.Sym != nil || len(in.Args) != 2 {
		return nil, nil
	}
	d, s := &in.Args[0], &in.Args[1]
	if d.Kind != ptx.RegOperand || s.Kind != ptx.RegOperand || s.Neg || d.Sym.Type != s.Sym.Type {
		return nil, nil
	}
	return d.Sym, s.Sym
}

// forward removes "mov t, v" if v keeps its value until the last read of t, and that read
// is in the same block.
func (c *coalescer) forward(i int) {
	t, v := c.move(i)
	if t == nil || c.fact(t).defs != 1 || c.fact(t).pinned || t == v {
		return
	}
	left := c.fact(t).uses
	last := i
	for j := i + 1; left > 0; j++ {
		if j == len(c.insts) || c.cuts[j] {
			return
		}
		if c.insts[j] == nil {
			continue
		}
		n := countOf(c.reads[j], t)
		left -= n
		if n > 0 {
			last = j
		}
		if left > 0 && (slices.Contains(c.write[j], v) || leavesBlock(c.insts[j])) {
			return
		}
	}
	for j := i + 1; j <= last; j++ {
		c.rename(j, t, v)
	}
	c.fact(v).uses += c.fact(t).uses - 1
	c.remove(i)
}

// backward removes "mov v, t" if the instruction that computes t can write v instead: it is
// in the same block, only this mov reads t, and nothing touches v in between. backward
// does not look past a wgmma, because one in flight may still use v.
func (c *coalescer) backward(i int) {
	v, t := c.move(i)
	if t == nil || c.fact(t).defs != 1 || c.fact(t).uses != 1 || t == v {
		return
	}
	for j := i - 1; j >= 0; j-- {
		if c.cuts[j+1] {
			return
		}
		if c.insts[j] == nil {
			continue
		}
		if leavesBlock(c.insts[j]) || c.insts[j].Op.Name == "wgmma" {
			return
		}
		if slices.Contains(c.write[j], t) {
			if c.insts[j].Guard.Sym == nil && !slices.Contains(c.write[j], v) {
				c.rename(j, t, v)
				c.remove(i)
			}
			return
		}
		if slices.Contains(c.reads[j], v) || slices.Contains(c.write[j], v) {
			return
		}
	}
}

func leavesBlock(in *ptx.Inst) bool {
	switch in.Op.Name {
	case "bra", "brx", "ret", "exit":
		return true
	}
	return false
}

func countOf(list []*ptx.Symbol, s *ptx.Symbol) (n int) {
	for _, x := range list {
		if x == s {
			n++
		}
	}
	return n
}

// rename replaces register from by register to in instruction i.
func (c *coalescer) rename(i int, from, to *ptx.Symbol) {
	in := c.insts[i]
	if in == nil {
		return
	}
	if in.Guard.Sym == from {
		in.Guard.Sym = to
	}
	renameOperands(in.Args, from, to)
	for _, list := range [][]*ptx.Symbol{c.reads[i], c.write[i]} {
		for j := range list {
			if list[j] == from {
				list[j] = to
			}
		}
	}
}

func renameOperands(ops []ptx.Operand, from, to *ptx.Symbol) {
	for i := range ops {
		if ops[i].Sym == from {
			ops[i].Sym = to
		}
		renameOperands(ops[i].Elems, from, to)
	}
}

func (c *coalescer) remove(i int) {
	c.body[c.at[i]] = nil
	c.insts[i] = nil
}

// rest is the body without the removed instructions.
func (c *coalescer) rest() []ptx.Stmt {
	return slices.DeleteFunc(c.body, func(s ptx.Stmt) bool { return s == nil })
}
