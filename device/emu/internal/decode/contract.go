package decode

import (
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// PTX lets an assembler fuse a mul and an add or sub without a rounding modifier into an fma, which
// rounds once. contractions follows a rule that is assumed of ptxas, not measured:
//
//   - both instructions have the same float type, the same .ftz and no rounding modifier, the mul
//     has no .sat, and neither has a guard;
//   - both are in the same basic block, and the add or sub is the only use of the product;
//   - of two products, the first operand is fused.
//
// TestCardContraction measures the rule on a GPU. DEVIATIONS.md, D3, has the state.

// contraction is an add or sub that becomes an fma.
type contraction struct {
	mul *ptx.Inst
	// first says that the product is the first operand of the add or sub.
	first bool
	// save says that a factor is written between the two instructions, so that the mul must save
	// its factors.
	save bool
}

// contractions returns the instructions of a function that become an fma.
func contractions(g *verify.CFG) map[*ptx.Inst]contraction {
	if !hasProduct(g.Func) {
		return nil
	}
	p := &products{exposed: map[*ptx.Symbol]bool{}, found: map[*ptx.Inst]contraction{}, waiting: map[*ptx.Symbol][]*ptx.Inst{}}
	for _, v := range g.Func.Returns {
		p.exposed[v.Sym] = true // the caller reads it
	}
	for i := range g.Blocks[:g.Exit()] {
		p.block(g.Func.Body[g.Blocks[i].Start:g.Blocks[i].End])
	}
	for r, sums := range p.waiting {
		for _, in := range sums {
			if p.exposed[r] && p.found[in].mul != nil && p.found[in].mul.Args[0].Sym == r {
				delete(p.found, in)
			}
		}
	}
	return p.found
}

// Contracts reports whether the two ways of executing mul and add may differ for a module.
func Contracts(m *ptx.Module) bool {
	for _, f := range m.Funcs() {
		if hasProduct(f) && len(contractions(verify.NewCFG(f))) > 0 {
			return true
		}
	}
	return false
}

// hasProduct reports whether a function has a mul that may be fused.
func hasProduct(f *ptx.Func) bool {
	for _, s := range f.Body {
		if in, ok := s.(*ptx.Inst); ok && in.Op.Name == "mul" && floatType(in.Op) != ptx.NoType {
			return true
		}
	}
	return false
}

// floatType returns the type of an opcode that may take part in a contraction, or NoType.
func floatType(op *ptx.Opcode) ptx.Type {
	for _, m := range op.Mods[:max(0, len(op.Mods)-1)] {
		if m != "ftz" && m != "sat" {
			return ptx.NoType
		}
	}
	if len(op.Mods) == 0 {
		return ptx.NoType
	}
	switch t := ptx.ParseType(op.Mods[len(op.Mods)-1]); t {
	case ptx.F32, ptx.F64, ptx.F16, ptx.F16x2, ptx.BF16, ptx.BF16x2:
		return t
	}
	return ptx.NoType
}

// products finds contractions, block by block.
type products struct {
	defs map[*ptx.Symbol]*definition // the last definition of each register in the present block
	at   int                         // the number of the present instruction in its block
	// exposed holds the registers that some block reads before it writes them. Other registers do
	// not carry values from block to block.
	exposed map[*ptx.Symbol]bool
	found   map[*ptx.Inst]contraction
	// waiting holds, for the registers with products that live at the end of a block, the
	// contractions that are wrong if another block reads the register.
	waiting map[*ptx.Symbol][]*ptx.Inst
}

// definition is a write of a register.
type definition struct {
	in   *ptx.Inst // nil if it cannot be fused
	at   int
	uses int
	sum  *ptx.Inst // the add or sub that uses it first
}

func (p *products) block(body []ptx.Stmt) {
	p.defs, p.at = map[*ptx.Symbol]*definition{}, 0
	for _, s := range body {
		if in, ok := s.(*ptx.Inst); ok {
			p.at++
			p.inst(in)
		}
	}
	for r, d := range p.defs {
		p.close(d)
		if d.sum != nil {
			p.waiting[r] = append(p.waiting[r], d.sum)
		}
	}
}

// inst adds the uses and definitions of an instruction.
func (p *products) inst(in *ptx.Inst) {
	reads, writes := accesses(in)
	if in.Guard.Sym != nil {
		reads = append(reads, in.Guard.Sym)
		reads = append(reads, writes...) // the old value may survive
	}
	for _, r := range reads {
		if d := p.defs[r]; d != nil {
			d.uses++
		} else {
			p.exposed[r] = true
		}
	}
	p.sum(in)
	for _, r := range writes {
		if d := p.defs[r]; d != nil {
			p.close(d)
		}
		d := &definition{at: p.at}
		if in.Op.Name == "mul" && in.Guard.Sym == nil && floatType(in.Op) != ptx.NoType && !in.Op.Has("sat") && scalarRegister(&in.Args[0]) {
			d.in = in
		}
		p.defs[r] = d
	}
}

// sum notes a contraction of an add or sub, if an operand is a product. close removes it again if
// the product has other uses.
func (p *products) sum(in *ptx.Inst) {
	t := floatType(in.Op)
	if in.Op.Name != "add" && in.Op.Name != "sub" || t == ptx.NoType || in.Guard.Sym != nil || len(in.Args) != 3 {
		return
	}
	for i := 2; i >= 1; i-- { // the first operand is the last to be tried, and wins
		o := &in.Args[i]
		if !scalarRegister(o) {
			continue
		}
		d := p.defs[o.Sym]
		if d == nil || d.in == nil || d.uses != 1 || floatType(d.in.Op) != t || d.in.Op.Has("ftz") != in.Op.Has("ftz") {
			continue
		}
		if old := p.found[in].mul; old != nil {
			p.defs[old.Args[0].Sym].sum = nil
		}
		d.sum = in
		p.found[in] = contraction{mul: d.in, first: i == 1, save: p.rewritten(d)}
	}
}

// rewritten reports whether a factor of a product was written after the product.
func (p *products) rewritten(d *definition) bool {
	for i := range d.in.Args[1:] {
		if f := &d.in.Args[i+1]; f.Sym != nil && p.defs[f.Sym] != nil && p.defs[f.Sym].at > d.at || f.Sym == d.in.Args[0].Sym {
			return true
		}
	}
	return false
}

// close ends a definition. A product with several uses is not fused.
func (p *products) close(d *definition) {
	if d.sum != nil && d.uses != 1 {
		delete(p.found, d.sum)
		d.sum = nil
	}
}

// scalarRegister reports whether an operand is a whole register that is not a vector.
func scalarRegister(o *ptx.Operand) bool {
	return o.Kind == ptx.RegOperand && o.Sym.Kind == ptx.RegSymbol && o.Sym.Vec == 0 && o.Val == 0
}

// accesses returns the registers that an instruction reads and writes.
func accesses(in *ptx.Inst) (reads, writes []*ptx.Symbol) {
	x, err := isa.BindInst(in)
	if err != nil { // not in the table: every register may be read and written
		eachRegister(in.Args, func(r *ptx.Symbol) { reads, writes = append(reads, r), append(writes, r) })
		return reads, writes
	}
	for i := range x.Match.Form.Params {
		p := &x.Match.Form.Params[i]
		o := x.Operand(i)
		if o == nil {
			continue
		}
		eachRegister([]ptx.Operand{*o}, func(r *ptx.Symbol) {
			address := p.Kind == isa.Addr || p.Kind == isa.TensorMap
			if address || p.Access != isa.Write {
				reads = append(reads, r)
			}
			if !address && p.Access != isa.Read {
				writes = append(writes, r)
				if r.Vec > 0 {
					reads = append(reads, r) // other components keep their values
				}
			}
		})
	}
	return reads, writes
}

// fused returns the opcode of the fma that replaces an add or sub.
func fused(op *ptx.Opcode) *ptx.Opcode {
	return ptx.NewOpcode("fma.rn." + strings.Join(op.Mods, "."))
}
