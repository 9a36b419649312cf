package verify

import "github.com/GOATnote-Inc/attest/ptx"

// constants are the registers that always hold the same number, because one mov of a
// constant writes them and nothing else does. Compilers pass masks and lanes to inline
// assembly this way.
type constants struct {
	known []bool
	value []int64
}

func (c *code) findConstants() constants {
	regs := len(c.fn.Regs)
	k := constants{make([]bool, regs), make([]int64, regs)}
	writes := make([]int32, regs)
	for _, r := range c.defs {
		writes[r]++
	}
	for i := range c.at {
		in := c.at[i].in
		if in == nil || in.Op.Name != "mov" || in.Guard.Sym != nil || len(in.Args) != 2 || in.Args[1].Kind != ptx.ImmOperand {
			continue
		}
		if ws := c.writes(i); len(ws) == 1 && writes[ws[0]] == 1 {
			k.known[ws[0]], k.value[ws[0]] = true, in.Args[1].Val
		}
	}
	return k
}

// of returns the number that an operand stands for, and whether it is known.
func (k constants) of(o *ptx.Operand) (int64, bool) {
	switch o.Kind {
	case ptx.ImmOperand:
		return o.Val, true
	case ptx.RegOperand:
		if o.Sym.Kind == ptx.RegSymbol && k.known[o.Sym.ID] {
			return k.value[o.Sym.ID], true
		}
	}
	return 0, false
}
