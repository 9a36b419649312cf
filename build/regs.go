package build

import (
	"slices"
	"strconv"

	"github.com/GOATnote-Inc/attest/ptx"
)

// regClass is a kind of virtual register. Integers of all kinds use registers of bits,
// which PTX accepts for every type of the same size.
type regClass struct {
	typ    ptx.Type
	prefix string
}

var regClasses = []regClass{
	{ptx.Pred, "%p"}, {ptx.B16, "%rs"}, {ptx.B32, "%r"}, {ptx.F32, "%f"},
	{ptx.B64, "%rd"}, {ptx.F64, "%fd"}, {ptx.B128, "%rq"},
}

// regType is the type of the register that holds a value of type t.
func regType(t ptx.Type) ptx.Type {
	switch {
	case t == ptx.Pred || t == ptx.F32 || t == ptx.F64:
		return t
	case t.Bits() <= 16:
		return ptx.B16
	case t.Bits() <= 32:
		return ptx.B32
	case t.Bits() <= 64:
		return ptx.B64
	}
	return ptx.B128
}

// newReg makes a register. It gets its name when the kernel is assembled.
func newReg(t ptx.Type) *ptx.Symbol {
	return &ptx.Symbol{Kind: ptx.RegSymbol, Type: regType(t), ID: -1}
}

// numberRegs names the registers in the order in which they appear, and returns their
// declarations.
func numberRegs(f *ptx.Func, code []ptx.Stmt) (decls []ptx.Stmt) {
	count := map[ptx.Type]int{}
	seen := map[*ptx.Symbol]bool{}
	prefix := map[ptx.Type]string{}
	for _, c := range regClasses {
		prefix[c.typ] = c.prefix
	}
	visit := func(s *ptx.Symbol) {
		if s == nil || s.Kind != ptx.RegSymbol || seen[s] {
			return
		}
		seen[s] = true
		s.Name = prefix[s.Type] + strconv.Itoa(count[s.Type])
		s.ID = int32(len(f.Regs))
		f.Regs = append(f.Regs, s)
		count[s.Type]++
	}
	eachSym(code, visit)
	for _, c := range regClasses {
		if n := count[c.typ]; n > 0 {
			decls = append(decls, &ptx.RegDecl{Type: c.typ, Names: []ptx.RegName{{Prefix: c.prefix, Count: n}}})
		}
	}
	return decls
}

// numberLabels merges labels at the same place, drops those without a branch, and names
// the others in order.
func numberLabels(code []ptx.Stmt) []ptx.Stmt {
	mergeLabels(code)
	used := map[*ptx.Symbol]bool{}
	eachSym(code, func(s *ptx.Symbol) { used[s] = true })
	n := 0
	return slices.DeleteFunc(code, func(s ptx.Stmt) bool {
		l, ok := s.(*ptx.Label)
		if !ok {
			return false
		}
		if used[l.Sym] {
			n++
			l.Sym.Name = "$L" + strconv.Itoa(n)
		}
		return !used[l.Sym]
	})
}

// mergeLabels turns branches to a label that directly follows another into
// branches to that other.
func mergeLabels(code []ptx.Stmt) {
	same := map[*ptx.Symbol]*ptx.Symbol{}
	var first *ptx.Symbol
	for _, s := range code {
		l, ok := s.(*ptx.Label)
		switch {
		case !ok:
			first = nil
		case first == nil:
			first = l.Sym
		default:
			same[l.Sym] = first
		}
	}
	for _, s := range code {
		if in, ok := s.(*ptx.Inst); ok && in.Op.Name == "bra" {
			if f := same[in.Args[0].Sym]; f != nil {
				in.Args[0].Sym = f
			}
		}
	}
}

// eachSym visits the symbols of all operands and guards in order.
func eachSym(code []ptx.Stmt, visit func(*ptx.Symbol)) {
	var operands func([]ptx.Operand)
	operands = func(ops []ptx.Operand) {
		for i := range ops {
			visit(ops[i].Sym)
			operands(ops[i].Elems)
		}
	}
	for _, s := range code {
		if in, ok := s.(*ptx.Inst); ok {
			visit(in.Guard.Sym)
			operands(in.Args)
		}
	}
}
