package decode

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

// callGraph holds which functions each function of a program calls. It is made once, so that a
// module with many kernels that call many functions loads in reasonable time.
type callGraph struct {
	functions []*machine.Function                       // the functions in the order of the text
	devices   []*machine.Function                       // those that are not kernels
	callees   map[*machine.Function][]*machine.Function // the functions that each function calls directly, each once
	indirect  map[*machine.Function]bool                // calls through a register, which can reach every device function
}

func newCallGraph(p *machine.Program) *callGraph {
	g := &callGraph{callees: map[*machine.Function][]*machine.Function{}, indirect: map[*machine.Function]bool{}}
	for _, f := range p.Module.Funcs() {
		fn := p.Funcs[f.Sym.Name]
		g.functions = append(g.functions, fn)
		if !f.Entry {
			g.devices = append(g.devices, fn)
		}
		seen := map[*machine.Function]bool{}
		for _, s := range f.Body {
			in, ok := s.(*ptx.Inst)
			if !ok || in.Op.Name != "call" {
				continue
			}
			switch callee := calleeOf(in); {
			case callee == nil:
			case callee.Kind != ptx.SymOperand:
				g.indirect[fn] = true
			default:
				if to := p.Function(callee.Sym); to != nil && !seen[to] {
					seen[to] = true
					g.callees[fn] = append(g.callees[fn], to)
				}
			}
		}
	}
	return g
}

// calleeOf returns the operand of a call that names the function, or nil.
func calleeOf(in *ptx.Inst) *ptx.Operand {
	for i := range in.Args {
		if in.Args[i].Kind != ptx.ListOperand {
			return &in.Args[i]
		}
	}
	return nil
}

// reachable returns a kernel and the functions that it can call, directly or through others.
func (g *callGraph) reachable(entry *machine.Function) []*machine.Function {
	seen := map[*machine.Function]bool{entry: true}
	list := []*machine.Function{entry}
	visit := func(fns []*machine.Function) {
		for _, fn := range fns {
			if !seen[fn] {
				seen[fn] = true
				list = append(list, fn)
			}
		}
	}
	all := false // whether all device functions are in the list
	for i := 0; i < len(list); i++ {
		visit(g.callees[list[i]])
		if g.indirect[list[i]] && !all {
			all = true
			visit(g.devices)
		}
	}
	return list
}

// spread gives the properties of functions to all functions that can call them. merge adds the
// properties of the second function to the first and reports whether they changed it. The
// properties must be able to change a few times only. The first function may be one that is not
// in the program: it stands for the callee of indirect calls.
func (g *callGraph) spread(merge func(to, from *machine.Function) bool) {
	callers := map[*machine.Function][]*machine.Function{}
	var indirect []*machine.Function
	for _, fn := range g.functions {
		for _, to := range g.callees[fn] {
			callers[to] = append(callers[to], fn)
		}
		if g.indirect[fn] {
			indirect = append(indirect, fn)
		}
	}
	pointer := &machine.Function{} // the callee of all indirect calls: every device function
	work := append([]*machine.Function{}, g.functions...)
	update := func(to, from *machine.Function) {
		if merge(to, from) {
			work = append(work, to)
		}
	}
	for len(work) > 0 {
		fn := work[len(work)-1]
		work = work[:len(work)-1]
		if fn == pointer {
			for _, c := range indirect {
				update(c, pointer)
			}
			continue
		}
		for _, c := range callers[fn] {
			update(c, fn)
		}
		if !fn.Decl.Entry {
			update(pointer, fn)
		}
	}
}
