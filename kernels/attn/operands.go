package attn

import (
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
)

// Operands returns the memory of an attention problem: q, k and v, their scales qs, ks and vs
// if the problem has scales, its sinks, o, and lse if the problem asks for the log-sum-exp.
func Operands(p problem.Attention) []kernel.Operand {
	p = p.Filled()
	list := []kernel.Operand{
		{Name: "q", Type: string(p.Format), Role: kernel.Input, Dims: dims(p, "H", "Sq")},
		{Name: "k", Type: string(p.Format), Role: kernel.Input, Dims: dims(p, "Hkv", "Skv")},
		{Name: "v", Type: string(p.Format), Role: kernel.Input, Dims: dims(p, "Hkv", "Skv")},
	}
	scales := map[problem.Scaling][3]string{problem.PerHead: {"H", "Hkv", "Hkv"}, problem.PerTensor: {"1", "1", "1"}}
	if n, ok := scales[p.Scaling]; ok {
		for i, name := range []string{"qs", "ks", "vs"} {
			list = append(list, kernel.Operand{Name: name, Type: "f32", Role: kernel.Input, Dims: Exprs(n[i])})
		}
	}
	if p.Sinks {
		list = append(list, kernel.Operand{Name: "sinks", Type: "f32", Role: kernel.Input, Dims: Exprs("H")})
	}
	list = append(list, kernel.Operand{Name: "o", Type: string(p.Output), Role: kernel.Output, Dims: dims(p, "H", "Sq")})
	if p.LSE {
		list = append(list, kernel.Operand{Name: "lse", Type: "f32", Role: kernel.Output, Dims: Exprs("B", "H", "Sq")})
	}
	return list
}

// dims returns the extents of a tensor in the problem's layout.
func dims(p problem.Attention, heads, rows string) []expr.Expr {
	if p.Layout == problem.BSHD {
		return Exprs("B", rows, heads, "D")
	}
	return Exprs("B", heads, rows, "D")
}

// Exprs parses expressions that the program itself wrote: a mistake in one is a panic.
func Exprs(texts ...string) (list []expr.Expr) {
	for _, t := range texts {
		list = append(list, expr.Must(t))
	}
	return list
}
