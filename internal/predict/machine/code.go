package machine

import (
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// Op is an operation that a warp issues for an instruction.
type Op struct {
	ID     int32 // the ID of the instruction
	cost   cost
	reads  []int32 // registers
	writes []int32
	// operands are the registers that arithmetic reads, by the place of the operand; -1 is a
	// constant or a value that all lanes share.
	operands []int32
	groups   int // for productWait, copyWait and bulkWait: how many groups may be unfinished
	line     int32
	flops    float64 // for a product: the operations per warp, multiplications and additions; those of 16-bit factors count once
	fromA    bool    // for a wgmma: whether the first factor comes from shared memory
	fp8      bool
	n        int // for a wgmma: its N
	// joined is the number of loads of neighbouring words that the operation stands for, 0 is one. A
	// load of n words per lane takes at least n wavefronts, and its lanes are n words apart, so that it
	// has as many as a load of one word has with conflicts.
	joined int
	// param is the offset of the parameter that a load reads, or -1.
	param int
	// tensorMap is the register with the address of the tensor map of a copy, or -1.
	tensorMap int32
}

// free reports whether the operation takes no issue slot.
func (o *Op) free() bool { return o.cost.slots == 0 }

// code is a program that is ready to be replayed.
type code struct {
	rates  *rates
	target ptx.Target
	edit   *Edit
	ops    []Op      // by instruction ID
	block  []int32   // by instruction ID: its basic block
	blocks [][]int32 // by basic block: the IDs in the order in which they issue
	regs   int       // registers of all functions
	lines  int32     // lines of 8 instructions that the machine code has
}

// unitFunc is one function while it is lowered.
type unitFunc struct {
	c     *code
	f     *ptx.Func
	g     *verify.CFG
	base  int // the number of its first register
	insts [][]int32
	// defs and uses are the number of instructions that write and read each register.
	defs, uses []int32
	defBlock   []int32 // by register: the block of its last definition
	uniform    *verify.Uniform
}

// lower turns the program of a launch into operations for a chip.
func lower(program []observe.Inst, r *rates, target ptx.Target, e *Edit) *code {
	c := &code{rates: r, target: target, edit: e, ops: make([]Op, len(program)), block: make([]int32, len(program))}
	ids := map[*ptx.Inst]int32{}
	var funcs []*ptx.Func
	for i := range program {
		in := &program[i]
		ids[in.Inst] = int32(i)
		if in.Func != nil && !slices.Contains(funcs, in.Func) {
			funcs = append(funcs, in.Func)
		}
	}
	for _, f := range funcs {
		c.function(f, program, ids)
	}
	return c
}

func (c *code) function(f *ptx.Func, program []observe.Inst, ids map[*ptx.Inst]int32) {
	u := &unitFunc{c: c, f: f, g: verify.NewCFG(f), base: c.regs}
	u.uniform = verify.Uniformity(f, u.g)
	c.regs += len(f.Regs)
	u.defs, u.uses = make([]int32, len(f.Regs)), make([]int32, len(f.Regs))
	u.defBlock = make([]int32, len(f.Regs))
	u.insts = make([][]int32, len(u.g.Blocks))
	var products []int32 // registers that wgmma writes
	for b := range u.g.Blocks {
		for _, s := range f.Body[u.g.Blocks[b].Start:u.g.Blocks[b].End] {
			in, ok := s.(*ptx.Inst)
			if !ok {
				continue
			}
			id, ok := ids[in]
			if !ok {
				continue
			}
			u.insts[b] = append(u.insts[b], id)
			c.ops[id] = u.op(&program[id], b)
			if c.ops[id].cost.kind == startsProduct {
				products = append(products, c.ops[id].writes...)
			}
		}
	}
	slices.Sort(products)
	products = slices.Compact(products)
	first := int32(len(c.blocks))
	for b := range u.insts {
		for _, id := range u.insts[b] {
			c.block[id] = first + int32(b)
			if c.ops[id].cost.kind == productWait {
				c.ops[id].writes = products
			}
		}
	}
	u.simplify(program)
	for b := range u.insts {
		order := schedule(c, u.insts[b])
		c.blocks = append(c.blocks, order)
		c.place(order)
	}
}

// place gives the operations of a block their lines in the instruction cache.
func (c *code) place(ids []int32) {
	slots := 0
	for _, id := range ids {
		c.ops[id].line = c.lines + int32(slots/8)
		slots += c.ops[id].cost.slots
	}
	c.lines += int32((slots + 7) / 8)
}

// op returns the operation of an instruction before simplification.
func (u *unitFunc) op(in *observe.Inst, block int) Op {
	o := Op{ID: int32(in.ID), cost: costOf(in, u.c.rates, u.c.target), tensorMap: -1, param: u.paramOffset(in)}
	if g := in.Guard.Sym; g != nil && g.Kind == ptx.RegSymbol {
		o.reads = append(o.reads, u.reg(g))
	}
	for i := range in.Match.Form.Params {
		if arg := in.Operand(i); arg != nil {
			u.operand(&o, arg, in.Match.Form.Params[i].Access)
		}
	}
	if in.Guard.Sym != nil { // lanes whose guard fails keep the old value
		o.reads = append(o.reads, o.writes...)
	}
	slices.Sort(o.reads)
	o.reads = slices.Compact(o.reads)
	for _, r := range o.reads {
		u.uses[r-int32(u.base)]++
	}
	for _, r := range o.writes {
		u.defs[r-int32(u.base)]++
		u.defBlock[r-int32(u.base)] = int32(block)
	}
	switch o.cost.kind {
	case productWait, copyWait, bulkWait:
		if n := len(in.Args); n > 0 && in.Args[n-1].Kind == ptx.ImmOperand {
			o.groups = int(in.Args[n-1].Val)
		}
	case startsProduct:
		m, n, k := shapeOf(in.Op)
		o.flops, o.n = 2*float64(m*n*k)/4, n
		o.fp8 = bitsOf(in.Op) == 8
		o.flops *= bitsOf(in.Op) / 16 // in units of the rate of 16-bit factors
		o.fromA = in.Arg("aDesc") != nil
	}
	if o.cost.kind == bulk && in.Op.Has("tensor") {
		for i := range in.Args {
			if a := &in.Args[i]; a.Kind == ptx.AddrOperand && len(a.Elems) > 0 && a.Sym != nil {
				o.tensorMap = a.Sym.ID
			}
		}
	}
	if o.cost.unit == Tensor {
		m, n, k := shapeOf(in.Op)
		o.flops = 2 * float64(m*n*k) * bitsOf(in.Op) / 16
	}
	u.c.edit.apply(&o, u.c.rates)
	u.operands(&o, in)
	return o
}

// paramOffset returns the offset of the parameter that an instruction of an entry loads, or -1.
// Parameters start behind what the driver puts into the constant bank.
func (u *unitFunc) paramOffset(in *observe.Inst) int {
	if in.Op.Name != "ld" || !in.Op.Has("param") || len(in.Args) < 2 || in.Args[1].Sym == nil {
		return -1
	}
	offset := 0
	for _, p := range u.f.Params {
		align := max(p.Alignment(), 1)
		offset = (offset + align - 1) / align * align
		if p.Sym == in.Args[1].Sym {
			return offset + int(in.Args[1].Val)
		}
		offset += int(p.Size())
	}
	return -1
}

// operands notes which registers the ports of the register file deliver for arithmetic.
func (u *unitFunc) operands(o *Op, in *observe.Inst) {
	switch o.cost.unit {
	case Float, IMad, Half, Double, ALU, Pack:
	default:
		return
	}
	for i := range in.Match.Form.Params {
		a := in.Operand(i)
		if a == nil || in.Match.Form.Params[i].Access == isa.Write {
			continue
		}
		r := int32(-1)
		if a.Kind == ptx.RegOperand && a.Sym.Kind == ptx.RegSymbol && u.uniform.Reg(a.Sym) != verify.Invariant && a.Sym.Type != ptx.Pred {
			r = u.reg(a.Sym)
		}
		o.operands = append(o.operands, r)
	}
}

func (u *unitFunc) reg(s *ptx.Symbol) int32 { return int32(u.base) + s.ID }

func (u *unitFunc) operand(o *Op, a *ptx.Operand, access isa.Access) {
	switch a.Kind {
	case ptx.RegOperand:
		if a.Sym.Kind != ptx.RegSymbol {
			return
		}
		if access != isa.Write {
			o.reads = append(o.reads, u.reg(a.Sym))
		}
		if access != isa.Read {
			o.writes = append(o.writes, u.reg(a.Sym))
		}
	case ptx.AddrOperand:
		if a.Sym != nil && a.Sym.Kind == ptx.RegSymbol {
			o.reads = append(o.reads, u.reg(a.Sym))
		}
		for i := range a.Elems {
			u.operand(o, &a.Elems[i], isa.Read)
		}
	case ptx.VecOperand, ptx.ListOperand, ptx.PairOperand:
		for i := range a.Elems {
			u.operand(o, &a.Elems[i], access)
		}
	}
}
