package decode

import (
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// PTX lets an assembler fuse a mul and an add or sub without a rounding modifier into an fma, which
// rounds once. contractions follows the rule of ptxas, which TestCardContraction has measured:
//
//   - both instructions have the same float type, the same .ftz and no rounding modifier; the mul
//     has no .sat and no guard;
//   - both are in the same basic block. Labels that nothing else jumps to do not end a block;
//   - every use of the product is such an add or sub. Moves, and negations other than of bf16x2,
//     stand for the product itself, and instructions whose results nobody uses do not count;
//   - of two products in one sum, the one with a single use is fused, or the first operand if both
//     or neither have a single use. The other product is then an addend, which is a use of another
//     kind.
//
// DEVIATIONS.md, D3, has the hit rate.

// contraction is an add or sub that becomes an fma.
type contraction struct {
	mul *ptx.Inst
	// first says that the product is the first operand of the add or sub.
	first bool
	// negated says that the operand is the negative product.
	negated bool
	// save says that a factor is written between the two instructions, so that the mul must save
	// its factors.
	save bool
}

// contractions returns the instructions of a function that become an fma.
func contractions(g *verify.CFG) map[*ptx.Inst]contraction {
	if !hasProduct(g.Func) {
		return nil
	}
	p := &products{dead: deadCode(g.Func), exposed: map[*ptx.Symbol]bool{}, last: map[*ptx.Symbol][]*product{}}
	for _, v := range g.Func.Returns {
		p.exposed[v.Sym] = true // the caller reads it
	}
	for b := range g.Blocks[:g.Exit()] {
		if follows(g, b) < 0 {
			p.chain(g, b)
		}
	}
	for r, list := range p.last {
		if p.exposed[r] {
			for _, v := range list {
				v.others++
			}
		}
	}
	return decide(p.found)
}

// follows returns the block that a block continues, or -1. Only an earlier block of the text counts:
// a product saves its factors, and must be decoded before its sums.
func follows(g *verify.CFG, b int) int {
	if preds := g.Blocks[b].Preds; b > 0 && len(preds) == 1 && preds[0] < b && len(g.Blocks[preds[0]].Succs) == 1 {
		return preds[0]
	}
	return -1
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

// product is a mul that may be fused.
type product struct {
	mul    *ptx.Inst
	at     int   // the number of the mul in its block
	sums   []use // the uses that may be fused
	others int   // the number of other uses
}

// use is an operand of an add or sub.
type use struct {
	sum *ptx.Inst
	at  int // uses are numbered in the order of the text, the first operand of a sum first
	contraction
}

// operandOf is what is known of the value of a register.
type operandOf struct {
	*product
	negated bool
}

// products finds the products of a function and their uses, block by block.
type products struct {
	dead    map[*ptx.Inst]bool
	values  map[*ptx.Symbol]operandOf // what registers hold in the present block
	written map[*ptx.Symbol]int       // the number of the instruction of the block that wrote a register last
	at      int                       // the number of the present instruction in its block
	// exposed holds the registers that some block reads before it writes them. Other registers do
	// not carry values from block to block. last holds the products in registers at the end of a
	// block.
	exposed map[*ptx.Symbol]bool
	last    map[*ptx.Symbol][]*product
	found   []*product
	uses    int // the number of uses so far
}

// chain walks a block and those that continue it.
func (p *products) chain(g *verify.CFG, b int) {
	p.values, p.written, p.at = map[*ptx.Symbol]operandOf{}, map[*ptx.Symbol]int{}, 0
	for {
		for _, s := range g.Func.Body[g.Blocks[b].Start:g.Blocks[b].End] {
			if in, ok := s.(*ptx.Inst); ok && !p.dead[in] {
				p.at++
				p.inst(in)
			}
		}
		succs := g.Blocks[b].Succs
		if len(succs) != 1 || succs[0] == g.Exit() || follows(g, succs[0]) != b {
			break
		}
		b = succs[0]
	}
	for r, v := range p.values {
		p.last[r] = append(p.last[r], v.product)
	}
}

// inst adds the uses and definitions of an instruction.
func (p *products) inst(in *ptx.Inst) {
	reads, writes := accesses(in)
	if in.Guard.Sym != nil {
		reads = append(reads, in.Guard.Sym)
		reads = append(reads, writes...) // the old value may survive
	}
	result := p.result(in)
	for _, r := range reads {
		v, ok := p.values[r]
		switch {
		case !ok && p.written[r] == 0:
			p.exposed[r] = true
		case ok && result.product != v.product && !p.sum(in, r, v):
			v.others++
		}
	}
	for _, r := range writes {
		delete(p.values, r)
		p.written[r] = p.at
		if result.product != nil {
			p.values[r] = result
		}
	}
}

// result returns the product that an instruction computes, moves or negates.
func (p *products) result(in *ptx.Inst) operandOf {
	if in.Guard.Sym != nil || len(in.Args) == 0 || !scalarRegister(&in.Args[0]) {
		return operandOf{}
	}
	switch t := floatType(in.Op); in.Op.Name {
	case "mul":
		if t == ptx.NoType || in.Op.Has("sat") {
			break
		}
		v := &product{mul: in, at: p.at}
		p.found = append(p.found, v)
		return operandOf{v, false}
	case "mov":
		if o := &in.Args[1]; scalarRegister(o) {
			return p.values[o.Sym]
		}
	case "neg":
		if o := &in.Args[1]; scalarRegister(o) && t != ptx.BF16x2 {
			if v := p.values[o.Sym]; v.product != nil && v.matches(in) {
				return operandOf{v.product, !v.negated}
			}
		}
	}
	return operandOf{}
}

// matches reports whether an instruction has the type and the .ftz of a product.
func (v *product) matches(in *ptx.Inst) bool {
	return floatType(in.Op) == floatType(v.mul.Op) && in.Op.Has("ftz") == v.mul.Op.Has("ftz")
}

// sum notes that an add or sub reads a product, and returns false for other instructions.
func (p *products) sum(in *ptx.Inst, r *ptx.Symbol, v operandOf) bool {
	if in.Op.Name != "add" && in.Op.Name != "sub" || len(in.Args) != 3 || !v.matches(in) {
		return false
	}
	for i := 1; i <= 2; i++ {
		o := &in.Args[i]
		if !scalarRegister(o) || o.Sym != r || p.values[in.Args[3-i].Sym].product == v.product || in.Args[0].Sym == r && in.Guard.Sym != nil {
			continue
		}
		p.uses++
		v.sums = append(v.sums, use{in, p.uses, contraction{mul: v.mul, first: i == 1, negated: v.negated, save: p.rewritten(v.product)}})
		return true
	}
	return false
}

// rewritten reports whether the product or a later instruction has written a factor.
func (p *products) rewritten(v *product) bool {
	for i := range v.mul.Args[1:] {
		if f := v.mul.Args[i+1].Sym; f != nil && p.written[f] >= v.at {
			return true
		}
	}
	return false
}

// decide says which products are fused: first those with one use, then those with several.
func decide(found []*product) map[*ptx.Inst]contraction {
	fused := map[*ptx.Inst]contraction{}
	for _, v := range found {
		if v.others > 0 || len(v.sums) != 1 {
			continue
		}
		u := v.sums[0]
		if old, ok := fused[u.sum]; !ok || !old.first {
			fused[u.sum] = u.contraction
		}
	}
	found = slices.DeleteFunc(found, func(v *product) bool { return v.others > 0 || len(v.sums) < 2 })
	sorted.By(found, func(a, b *product) int { return a.sums[0].at - b.sums[0].at })
	for _, v := range found {
		taken := func(u use) bool { _, ok := fused[u.sum]; return ok }
		if slices.ContainsFunc(v.sums, taken) {
			continue
		}
		for _, u := range v.sums {
			fused[u.sum] = u.contraction
		}
	}
	return fused
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
			address := p.Kind.Bracketed()
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
