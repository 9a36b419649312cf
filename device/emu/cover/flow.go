package cover

import (
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// A call fixes some arguments of a kernel: a flag for a mask, a head dimension. Code behind
// comparisons of these arguments cannot run, whatever the shape. This file finds such code, so
// that it does not count as missed.

// flow is where an instruction leads.
type flow struct {
	target   int // the instruction that a bra jumps to, or -1
	decides  int // the comparison that alone defines its guard from arguments and constants, or -1
	last     bool
	anywhere bool // a jump whose target is not known
}

// connect fills in the flow of the instructions of a function. at numbers its instructions.
func connect(points []point, f *ptx.Func, at map[*ptx.Inst]int, program []observe.Inst) {
	labels := map[*ptx.Symbol]int{}
	var open []*ptx.Symbol // labels before the next instruction
	for _, stmt := range f.Body {
		switch s := stmt.(type) {
		case *ptx.Label:
			open = append(open, s.Sym)
		case *ptx.Inst:
			id, ok := at[s]
			if !ok {
				continue
			}
			for _, l := range open {
				labels[l] = id
			}
			open = nil
		}
	}
	decides := deciders(f, at, program)
	last := -1
	for _, stmt := range f.Body {
		in, ok := stmt.(*ptx.Inst)
		if !ok {
			continue
		}
		id, ok := at[in]
		if !ok {
			continue
		}
		last = id
		w := &points[id].flow
		w.target, w.decides = -1, -1
		switch in.Op.Name {
		case "bra":
			if t, ok := labels[in.Args[0].Sym]; ok {
				w.target = t
			} else {
				w.last = in.Guard.Sym == nil // a jump to the end of the function
			}
			if by, ok := decides[in.Guard.Sym]; ok {
				w.decides = by
			}
		case "brx":
			w.anywhere = true
		case "ret", "exit", "trap":
			w.last = in.Guard.Sym == nil
		}
	}
	if last >= 0 {
		points[last].flow.last = true
	}
}

// deciders returns the predicates of a function that one comparison of arguments and constants
// defines, with the number of that comparison.
func deciders(f *ptx.Func, at map[*ptx.Inst]int, program []observe.Inst) map[*ptx.Symbol]int {
	fixed := fixedRegisters(f)
	by := map[*ptx.Symbol]int{}
	defined := map[*ptx.Symbol]int{}
	for _, stmt := range f.Body {
		in, ok := stmt.(*ptx.Inst)
		if !ok {
			continue
		}
		for _, d := range results(in) {
			defined[d]++
		}
		if in.Op.Name == "setp" && in.Guard.Sym == nil && len(in.Args) == 3 && in.Args[0].Kind == ptx.RegOperand {
			if id, ok := at[in]; ok && isFixed(&in.Args[1], fixed) && isFixed(&in.Args[2], fixed) {
				by[in.Args[0].Sym] = id
			}
		}
	}
	for sym := range by {
		if defined[sym] != 1 {
			delete(by, sym)
		}
	}
	return by
}

// fixedRegisters returns the registers of a function whose values depend on arguments and
// constants only, or on the size of the launch: not on memory, nor on the thread.
func fixedRegisters(f *ptx.Func) map[*ptx.Symbol]bool {
	varies := map[*ptx.Symbol]bool{}
	for again := true; again; {
		again = false
		for _, stmt := range f.Body {
			in, ok := stmt.(*ptx.Inst)
			if !ok || !variesIn(in, varies) {
				continue
			}
			for _, d := range results(in) {
				again = again || !varies[d]
				varies[d] = true
			}
		}
	}
	fixed := map[*ptx.Symbol]bool{}
	for _, r := range f.Regs {
		fixed[r] = !varies[r]
	}
	return fixed
}

// variesIn reports whether the results of an instruction depend on more than arguments and
// constants.
func variesIn(in *ptx.Inst, varies map[*ptx.Symbol]bool) bool {
	switch in.Op.Name {
	case "add", "sub", "mul", "mad", "div", "rem", "min", "max", "and", "or", "xor", "not", "neg", "abs",
		"shl", "shr", "shf", "mov", "cvt", "setp", "selp", "set", "bfe", "bfi", "lop3", "prmt", "clz", "popc":
	case "ld":
		return !slices.Contains(in.Op.Mods, "param")
	default:
		return true
	}
	if in.Guard.Sym != nil {
		return true
	}
	for i := range in.Args[min(1, len(in.Args)):] {
		o := &in.Args[1+i]
		switch {
		case o.Kind == ptx.SpecialOperand && !strings.HasPrefix(o.Sym.Name, "%nctaid") && !strings.HasPrefix(o.Sym.Name, "%ntid"):
			return true
		case o.Kind == ptx.RegOperand && varies[o.Sym], o.Kind == ptx.VecOperand:
			return true
		}
	}
	return false
}

// isFixed reports whether an operand is a constant or a fixed register.
func isFixed(o *ptx.Operand, fixed map[*ptx.Symbol]bool) bool {
	return o.Kind == ptx.ImmOperand || o.Kind == ptx.RegOperand && fixed[o.Sym]
}

// results returns the registers that an instruction may write: all that its first operand names.
func results(in *ptx.Inst) (list []*ptx.Symbol) {
	if len(in.Args) == 0 || in.Op.Name == "st" || in.Op.Name == "bra" {
		return nil
	}
	var visit func(o *ptx.Operand)
	visit = func(o *ptx.Operand) {
		if o.Kind == ptx.RegOperand {
			list = append(list, o.Sym)
		}
		for i := range o.Elems {
			visit(&o.Elems[i])
		}
	}
	visit(&in.Args[0])
	return list
}

// possible returns the instructions that a shape could make run, given that comparisons of fixed
// arguments keep the outcome that they have had.
func (c *Cover) possible() []bool {
	able := make([]bool, len(c.points))
	var list []int
	visit := func(id int) {
		if id >= 0 && id < len(able) && !able[id] {
			able[id] = true
			list = append(list, id)
		}
	}
	for id := range c.points {
		if p := &c.points[id]; p.counts && (p.first || c.points[p.start].flow.anywhere) {
			visit(id)
		}
	}
	for len(list) > 0 {
		id := list[len(list)-1]
		list = list[:len(list)-1]
		w, seen := &c.points[id].flow, c.seen[id].Load()
		settled := w.decides >= 0 && c.settled(w.decides)
		if w.target >= 0 && !(settled && seen&held == 0) {
			visit(w.target)
		}
		falls := !w.last && (w.target < 0 || c.points[id].conditional)
		if falls && !(settled && seen&failed == 0) {
			visit(id + 1)
		}
	}
	return able
}

// settled reports whether a comparison can have one outcome only: it always had the same operands
// in launches of at least four sizes, or it is excluded.
func (c *Cover) settled(id int) bool {
	const sizes = 4
	seen := c.seen[id].Load()
	return c.open(id) && (seen&excluded != 0 || len(c.calls) >= sizes && seen&varied == 0)
}
