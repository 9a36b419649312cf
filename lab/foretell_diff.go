package lab

import (
	"strconv"

	"github.com/GOATnote-Inc/attest/ptx"
)

// constant returns the value of an operand that is a constant, the name of a special register or of
// a variable, and "" for a register.
func constant(o *ptx.Operand) string {
	switch o.Kind {
	case ptx.ImmOperand, ptx.F32Operand, ptx.F64Operand:
		return strconv.FormatInt(o.Val, 16)
	case ptx.SpecialOperand, ptx.SymOperand:
		return o.Sym.Name
	case ptx.AddrOperand:
		if o.Sym != nil && o.Sym.Kind != ptx.RegSymbol {
			return o.Sym.Name + "+" + strconv.FormatInt(o.Val, 16)
		}
		return "+" + strconv.FormatInt(o.Val, 16)
	}
	return ""
}

// common returns the longest common subsequence of two lists, as pairs of indices.
func common(x, y []string) (pairs [][2]int) {
	// length[i][j] belongs to x[i:] and y[j:].
	length := make([][]int32, len(x)+1)
	for i := range length {
		length[i] = make([]int32, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
