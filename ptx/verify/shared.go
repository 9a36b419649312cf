package verify

import (
	"slices"

	"github.com/GOATnote-Inc/attest/ptx"
)

// SharedStatic returns the bytes of static shared memory that a launch of the entry needs.
// It counts the module's shared variables that the entry or a function it calls uses, and
// all shared variables that are declared in their bodies, in the order of the text.
// Variables whose size the launch gives (.extern .shared) come after them. They count only
// with the padding for their alignment. [SharedDynamic] finds them.
func SharedStatic(m *ptx.Module, f *ptx.Func) int64 { return newSharedUse(m).static(f) }

// sharedUse is how the functions of a module use shared memory. Kernels share functions, so each
// function is read once.
type sharedUse struct {
	vars    []*ptx.Var // the module's shared variables
	dynamic int64      // the alignment of the variables whose size the launch gives
	most    int64      // no entry needs more
	funcs   map[*ptx.Func]*sharedFunc
}

// sharedFunc is what one function names.
type sharedFunc struct {
	used  map[*ptx.Symbol]bool // module variables
	calls []*ptx.Func          // also functions whose address it takes
	own   []*ptx.Var           // shared variables of the body
}

func newSharedUse(m *ptx.Module) *sharedUse {
	u := &sharedUse{dynamic: 1, funcs: map[*ptx.Func]*sharedFunc{}}
	for _, v := range m.Vars() {
		if v.Space != ptx.Shared {
			continue
		}
		u.vars = append(u.vars, v)
		if v.Linkage == ptx.Extern {
			u.dynamic = max(u.dynamic, int64(v.Alignment()))
		}
	}
	place := func(v *ptx.Var) { u.most += int64(v.Alignment()) + v.Size() }
	for _, v := range u.vars {
		place(v)
	}
	for _, f := range m.Funcs() {
		for _, s := range f.Body {
			if v, ok := s.(*ptx.Var); ok && v.Space == ptx.Shared {
				place(v)
			}
		}
	}
	u.most += u.dynamic
	return u
}

// static is SharedStatic.
func (u *sharedUse) static(f *ptx.Func) (end int64) {
	place := func(v *ptx.Var) {
		if v.Linkage != ptx.Extern {
			end = align(end, int64(v.Alignment())) + v.Size()
		}
	}
	bodies := u.reachable(f)
	for _, v := range u.vars {
		for _, g := range bodies {
			if g.used[v.Sym] {
				place(v)
				break
			}
		}
	}
	for _, g := range bodies {
		for _, v := range g.own {
			place(v)
		}
	}
	return align(end, u.dynamic)
}

// reachable returns what a function and the functions that it calls name. An address of a
// function counts as a call.
func (u *sharedUse) reachable(f *ptx.Func) []*sharedFunc {
	list := []*ptx.Func{f}
	seen := map[*ptx.Func]bool{f: true}
	var bodies []*sharedFunc
	for i := 0; i < len(list); i++ {
		g := u.of(list[i])
		bodies = append(bodies, g)
		for _, c := range g.calls {
			if !seen[c] {
				seen[c] = true
				list = append(list, c)
			}
		}
	}
	return bodies
}

// of returns what one function names.
func (u *sharedUse) of(f *ptx.Func) *sharedFunc {
	if g := u.funcs[f]; g != nil {
		return g
	}
	g := &sharedFunc{used: map[*ptx.Symbol]bool{}}
	u.funcs[f] = g
	called := map[*ptx.Func]bool{}
	var visit func(o *ptx.Operand)
	visit = func(o *ptx.Operand) {
		if s := o.Sym; s != nil {
			switch {
			case s.Kind == ptx.VarSymbol:
				g.used[s] = true
			case s.Kind == ptx.FuncSymbol && s.Func != nil && s.Func.HasBody && !called[s.Func]:
				called[s.Func] = true
				g.calls = append(g.calls, s.Func)
			}
		}
		for i := range o.Elems {
			visit(&o.Elems[i])
		}
	}
	for _, s := range f.Body {
		switch s := s.(type) {
		case *ptx.Inst:
			for i := range s.Args {
				visit(&s.Args[i])
			}
		case *ptx.Targets:
			for i := range s.List {
				visit(&s.List[i])
			}
		case *ptx.Var:
			if s.Space == ptx.Shared {
				g.own = append(g.own, s)
			}
		}
	}
	return g
}

// sharedStatic returns the static shared memory of an entry, or a smaller number where no entry
// of the module can exceed the limit.
func (k *checker) sharedStatic(f *ptx.Func) int64 {
	if k.shared == nil {
		k.shared = newSharedUse(k.m)
	}
	if k.shared.most <= maxStaticShared {
		return 0
	}
	return k.shared.static(f)
}

func align(n, to int64) int64 { return (n + to - 1) / to * to }

// SharedDynamic returns the .extern .shared variables that the entry or a function it calls
// uses. A launch must give their size.
func SharedDynamic(m *ptx.Module, f *ptx.Func) []*ptx.Var {
	u := newSharedUse(m)
	bodies := u.reachable(f)
	var vs []*ptx.Var
	for _, v := range u.vars {
		if v.Linkage == ptx.Extern && slices.ContainsFunc(bodies, func(g *sharedFunc) bool { return g.used[v.Sym] }) {
			vs = append(vs, v)
		}
	}
	return vs
}
