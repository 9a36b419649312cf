package verify

import (
	"github.com/GOATnote-Inc/attest/ptx"
)

// SharedStatic returns the bytes of static shared memory that a launch of the entry needs.
// It counts the module's shared variables that the entry or a function it calls uses, and
// all shared variables that are declared in their bodies, in the order of the text.
// Variables whose size the launch gives (.extern .shared) come after them. They count only
// with the padding for their alignment. [SharedDynamic] finds them.
func SharedStatic(m *ptx.Module, f *ptx.Func) int64 { return NewSharedUse(m).Static(f) }

// SharedUse is how the functions of a module use shared memory. Kernels share functions, so each
// function is read once.
type SharedUse struct {
	vars    []*ptx.Var // the module's shared variables
	dynamic int64      // the alignment of the variables whose size the launch gives
	most    int64      // no entry needs more
	funcs   map[*ptx.Func]*sharedFunc
	visit   int // the number of the last visit of all functions that one reaches
}

// sharedFunc is what one function names.
type sharedFunc struct {
	used  map[*ptx.Symbol]bool // shared variables of the module
	calls []*ptx.Func          // also functions whose address it takes
	next  []*sharedFunc        // the functions of calls, once they were read
	own   []*ptx.Var           // shared variables of the body
	visit int                  // the last visit of SharedUse that came here
}

// NewSharedUse returns how the functions of a module use shared memory.
func NewSharedUse(m *ptx.Module) *SharedUse {
	u := &SharedUse{dynamic: 1, funcs: map[*ptx.Func]*sharedFunc{}}
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

// Static is [SharedStatic].
func (u *SharedUse) Static(f *ptx.Func) (end int64) {
	place := func(v *ptx.Var) {
		if v.Linkage != ptx.Extern {
			end = align(end, int64(v.Alignment())) + v.Size()
		}
	}
	bodies := u.reachable(f)
	used := usedBy(bodies)
	for _, v := range u.vars {
		if used[v.Sym] {
			place(v)
		}
	}
	for _, g := range bodies {
		for _, v := range g.own {
			place(v)
		}
	}
	return align(end, u.dynamic)
}

// usedBy returns the shared variables of the module that functions name.
func usedBy(bodies []*sharedFunc) map[*ptx.Symbol]bool {
	all := map[*ptx.Symbol]bool{}
	for _, g := range bodies {
		for s := range g.used {
			all[s] = true
		}
	}
	return all
}

// reachable returns what a function and the functions that it calls name. An address of a
// function counts as a call.
func (u *SharedUse) reachable(f *ptx.Func) []*sharedFunc {
	if u.most == u.dynamic {
		return nil // the module has no shared variables
	}
	u.visit++
	first := u.of(f)
	first.visit = u.visit
	bodies := []*sharedFunc{first}
	for i := 0; i < len(bodies); i++ {
		g := bodies[i]
		for len(g.next) < len(g.calls) {
			g.next = append(g.next, u.of(g.calls[len(g.next)]))
		}
		for _, c := range g.next {
			if c.visit != u.visit {
				c.visit = u.visit
				bodies = append(bodies, c)
			}
		}
	}
	return bodies
}

// of returns what one function names.
func (u *SharedUse) of(f *ptx.Func) *sharedFunc {
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
			case s.Kind == ptx.VarSymbol && (s.Var == nil || s.Var.Space == ptx.Shared):
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
		k.shared = NewSharedUse(k.m)
	}
	if k.shared.most <= maxStaticShared {
		return 0
	}
	return k.shared.Static(f)
}

func align(n, to int64) int64 { return (n + to - 1) / to * to }

// SharedDynamic returns the .extern .shared variables that the entry or a function it calls
// uses. A launch must give their size.
func SharedDynamic(m *ptx.Module, f *ptx.Func) []*ptx.Var { return NewSharedUse(m).Dynamic(f) }

// Dynamic is [SharedDynamic].
func (u *SharedUse) Dynamic(f *ptx.Func) (vs []*ptx.Var) {
	used := usedBy(u.reachable(f))
	for _, v := range u.vars {
		if v.Linkage == ptx.Extern && used[v.Sym] {
			vs = append(vs, v)
		}
	}
	return vs
}
