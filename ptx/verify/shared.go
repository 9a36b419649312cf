package verify

import "github.com/GOATnote-Inc/attest/ptx"

// SharedStatic returns the bytes of static shared memory that a launch of the entry needs.
// It counts the module's shared variables that the entry or a function it calls uses, and
// all shared variables that are declared in their bodies, in the order of the text.
// Variables whose size the launch gives (.extern .shared) come after them. They count only
// with the padding for their alignment. [SharedDynamic] finds them.
func SharedStatic(m *ptx.Module, f *ptx.Func) int64 {
	used, bodies := sharedUse(f)
	var end int64
	place := func(v *ptx.Var) {
		if v.Space == ptx.Shared && v.Linkage != ptx.Extern {
			end = align(end, int64(v.Alignment())) + v.Size()
		}
	}
	var dynamic int64 = 1
	for _, v := range m.Vars() {
		if used[v.Sym] {
			place(v)
		}
		if v.Space == ptx.Shared && v.Linkage == ptx.Extern {
			dynamic = max(dynamic, int64(v.Alignment()))
		}
	}
	for _, g := range bodies {
		for _, s := range g.Body {
			if v, ok := s.(*ptx.Var); ok {
				place(v)
			}
		}
	}
	return align(end, dynamic)
}

func align(n, to int64) int64 { return (n + to - 1) / to * to }

// SharedDynamic returns the .extern .shared variables that the entry or a function it calls
// uses. A launch must give their size.
func SharedDynamic(m *ptx.Module, f *ptx.Func) []*ptx.Var {
	used, _ := sharedUse(f)
	var vs []*ptx.Var
	for _, v := range m.Vars() {
		if v.Space == ptx.Shared && v.Linkage == ptx.Extern && used[v.Sym] {
			vs = append(vs, v)
		}
	}
	return vs
}

// sharedUse returns the variables that a function or one it calls uses, and the bodies of
// these functions. An address of a function counts as a call.
func sharedUse(f *ptx.Func) (map[*ptx.Symbol]bool, []*ptx.Func) {
	used := map[*ptx.Symbol]bool{}
	bodies := []*ptx.Func{f}
	seen := map[*ptx.Func]bool{f: true}
	var visit func(o *ptx.Operand)
	visit = func(o *ptx.Operand) {
		if s := o.Sym; s != nil {
			switch {
			case s.Kind == ptx.VarSymbol:
				used[s] = true
			case s.Kind == ptx.FuncSymbol && s.Func != nil && s.Func.HasBody && !seen[s.Func]:
				seen[s.Func] = true
				bodies = append(bodies, s.Func)
			}
		}
		for i := range o.Elems {
			visit(&o.Elems[i])
		}
	}
	for n := 0; n < len(bodies); n++ {
		for _, s := range bodies[n].Body {
			switch s := s.(type) {
			case *ptx.Inst:
				for i := range s.Args {
					visit(&s.Args[i])
				}
			case *ptx.Targets:
				for i := range s.List {
					visit(&s.List[i])
				}
			}
		}
	}
	return used, bodies
}
