package check

import (
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// undefFunc is a function with the registers that undefined values can reach.
type undefFunc struct {
	f     *ptx.Func
	regs  []undefSlot
	first []int32 // by register number: its index in regs, or -1; the carry flag comes last
}

// undefSlot is a register, or a component of a vector.
type undefSlot struct {
	sym   *ptx.Symbol
	fresh bool // some path reads it before it writes it
}

func (f *undefFunc) slot(id int32, comp int) int {
	if id < 0 || f.first[id] < 0 {
		return -1
	}
	return int(f.first[id]) + comp
}

// analyse makes the plans. It reports whether there are any.
func (p *undefPart) analyse(l *launch) (any bool) {
	funcs := reachable(l)
	for _, f := range funcs {
		p.local = p.local || usesLocal(f)
	}
	for _, v := range l.Module.Vars() {
		p.local = p.local || v.Space == ptx.Local
	}
	insts := map[*ptx.Func][]*undefInst{}
	for _, f := range funcs {
		insts[f] = nil
	}
	for id := range l.Program {
		in := &l.Program[id]
		if list, ok := insts[in.Func]; ok {
			insts[in.Func] = append(list, newUndefInst(in, int32(len(in.Func.Regs))))
		}
	}
	for {
		any = p.makePlans(l, funcs, insts)
		if p.params || !p.passes(l) {
			break
		}
		p.params = true // now the arguments of functions may be undefined too
	}
	return any
}

// makePlans makes the plans of all functions.
func (p *undefPart) makePlans(l *launch, funcs []*ptx.Func, insts map[*ptx.Func][]*undefInst) (any bool) {
	p.funcs, p.calls = map[*ptx.Func]*undefFunc{}, false
	for _, f := range funcs {
		a := &undefAnalysis{l: l, f: f, insts: insts[f], local: p.local, params: p.params}
		fn := a.run()
		p.funcs[f] = fn
		for _, u := range a.insts {
			plan := fn.plan(u, p.local)
			if plan != nil && l.follows[u.in.ID] {
				plan.rule, plan.always = followLoad(plan.rule), true
			}
			p.plans[u.in.ID] = plan
			any = any || plan != nil
		}
		for i := range fn.regs {
			p.calls = p.calls || fn.regs[i].fresh && !f.Entry
		}
	}
	return any
}

// passes reports whether an undefined value may be an argument or a result of a call.
func (p *undefPart) passes(l *launch) bool {
	for id, plan := range p.plans {
		if plan == nil || !isCallParam(&l.Program[id]) {
			continue
		}
		for i := range plan.src {
			if plan.src[i].reg >= 0 {
				return true
			}
		}
	}
	return false
}

// reachable returns the functions that the kernel may execute.
func reachable(l *launch) (list []*ptx.Func) {
	bodies := map[string]*ptx.Func{}
	for _, f := range l.Module.Funcs() {
		if f.HasBody {
			bodies[f.Sym.Name] = f
		}
	}
	seen := map[*ptx.Func]bool{}
	add := func(f *ptx.Func) {
		if f != nil && !seen[f] {
			seen[f] = true
			list = append(list, f)
		}
	}
	add(bodies[l.entry().Sym.Name])
	indirect := false
	for i := 0; i < len(list); i++ {
		for _, s := range list[i].Body {
			in, ok := s.(*ptx.Inst)
			if !ok || in.Op.Name != "call" {
				continue
			}
			if name := calledName(in); name != "" {
				add(bodies[name])
			} else if !indirect {
				indirect = true
				for _, g := range l.Module.Funcs() {
					if !g.Entry && g.HasBody {
						add(g)
					}
				}
			}
		}
	}
	return list
}

// calledName returns the name of the function that an instruction calls, or "" if a register holds its address.
func calledName(in *ptx.Inst) string {
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == ptx.SymOperand && o.Sym.Kind == ptx.FuncSymbol {
			return o.Sym.Name
		}
	}
	return ""
}

func usesLocal(f *ptx.Func) bool {
	for _, s := range f.Body {
		switch s := s.(type) {
		case *ptx.Var:
			if s.Space == ptx.Local {
				return true
			}
		case *ptx.Inst:
			if s.Op.Name == "alloca" {
				return true
			}
		}
	}
	return false
}

// undefAnalysis finds the registers of a function that undefined values can reach.
type undefAnalysis struct {
	l     *launch
	f     *ptx.Func
	insts []*undefInst
	cfg   *verify.CFG
	of    map[*ptx.Inst]*undefInst
	// local and params say that values from local memory and from calls may be undefined.
	local, params bool
}

func (a *undefAnalysis) run() *undefFunc {
	a.cfg = verify.NewCFG(a.f)
	a.of = map[*ptx.Inst]*undefInst{}
	for _, u := range a.insts {
		a.of[u.in.Inst] = u
	}
	n := len(a.f.Regs) + 1
	fresh := a.unwritten(n)
	reach := make([]bool, n)
	copy(reach, fresh)
	a.sources(reach)
	a.spread(reach)
	a.copies()
	fn := &undefFunc{f: a.f, first: make([]int32, n)}
	for id := range n {
		fn.first[id] = -1
		if !reach[id] {
			continue
		}
		sym := &ptx.Symbol{Name: "CC.CF", Type: ptx.Pred}
		if id < n-1 {
			sym = a.f.Regs[id]
		}
		fn.first[id] = int32(len(fn.regs))
		for range max(int(sym.Vec), 1) {
			fn.regs = append(fn.regs, undefSlot{sym, fresh[id]})
		}
	}
	return fn
}

// sources marks the registers that get undefined values from local memory, calls or shuffles.
func (a *undefAnalysis) sources(reach []bool) {
	safe := newSafeShuffles(a.l, a.f, a.cfg)
	for _, u := range a.insts {
		load := a.local && u.in.Op.Name != "st" && u.mayBeLocal()
		shuffle := u.in.Op.Name == "shfl" && !safe.is(u.in)
		param := a.params && u.in.Op.Name == "ld" && isCallParam(u.in)
		if !load && !shuffle && !param && !a.l.follows[u.in.ID] {
			continue
		}
		for _, d := range u.dst {
			if d.id >= 0 {
				reach[d.id] = true
			}
		}
	}
}

// copies marks loads whose values are stored unchanged, if a basic block has several of one
// source line: they may copy a structure with its padding.
func (a *undefAnalysis) copies() {
	for b := range a.cfg.Blocks {
		blk := &a.cfg.Blocks[b]
		type load struct {
			*undefInst
			line ptx.SrcPos
		}
		loaded, pairs := map[int32]load{}, map[ptx.SrcPos][]*undefInst{}
		var line ptx.SrcPos
		for _, s := range a.f.Body[blk.Start:blk.End] {
			if at, ok := s.(*ptx.Loc); ok {
				line = ptx.SrcPos{File: at.File, Line: at.Line}
			}
			in, ok := s.(*ptx.Inst)
			if !ok || a.of[in] == nil {
				continue
			}
			u := a.of[in]
			if in.Op.Name == "st" {
				for _, v := range u.src {
					if l, ok := loaded[v.id]; ok {
						pairs[l.line] = append(pairs[l.line], l.undefInst)
					}
				}
			}
			for _, d := range u.dst {
				delete(loaded, d.id)
				if in.Op.Name == "ld" && d.id >= 0 {
					loaded[d.id] = load{u, line}
				}
			}
		}
		for _, of := range pairs {
			for _, u := range of {
				u.copies = len(of) > 1
			}
		}
	}
}

// spread marks the registers that are computed from marked registers.
func (a *undefAnalysis) spread(reach []bool) {
	users := make([][]*undefInst, len(reach))
	var work []int32
	for _, u := range a.insts {
		if u.defines() {
			continue
		}
		for _, s := range u.src {
			if s.id >= 0 {
				users[s.id] = append(users[s.id], u)
			}
		}
	}
	for id, r := range reach {
		if r {
			work = append(work, int32(id))
		}
	}
	for len(work) > 0 {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		for _, u := range users[id] {
			for _, d := range u.dst {
				if d.id >= 0 && !reach[d.id] {
					reach[d.id] = true
					work = append(work, d.id)
				}
			}
		}
	}
}

// bitset is a set of registers.
type bitset []uint64

func (b bitset) add(i int32)      { b[i>>6] |= 1 << (i & 63) }
func (b bitset) has(i int32) bool { return b[i>>6]>>(i&63)&1 != 0 }

// unwritten returns the registers that some path reads before it writes them. A write under a
// guard, or of one component of a vector, does not count as a write.
func (a *undefAnalysis) unwritten(n int) []bool {
	blocks := a.cfg.Blocks
	words := (n + 63) / 64
	exposed, kills := make([]bitset, len(blocks)), make([]bitset, len(blocks))
	for b := range blocks {
		exposed[b], kills[b] = make(bitset, words), make(bitset, words)
		for _, s := range a.f.Body[blocks[b].Start:blocks[b].End] {
			if in, ok := s.(*ptx.Inst); ok && a.of[in] != nil {
				a.of[in].effects(exposed[b], kills[b])
			}
		}
	}
	live := exposed // by block: the registers that are live at its start
	for changed := true; changed; {
		changed = false
		for i := len(a.cfg.RPO) - 1; i >= 0; i-- {
			b := a.cfg.RPO[i]
			for _, s := range blocks[b].Succs {
				for w := range words {
					if more := live[s][w] &^ kills[b][w] &^ live[b][w]; more != 0 {
						live[b][w] |= more
						changed = true
					}
				}
			}
		}
	}
	fresh := make([]bool, n)
	for id := range n {
		fresh[id] = live[0].has(int32(id))
	}
	for _, v := range a.f.Params { // registers of the old calling convention
		if v.Sym.Kind == ptx.RegSymbol {
			fresh[v.Sym.ID] = false
		}
	}
	return fresh
}

func (u *undefInst) effects(exposed, kills bitset) {
	read := func(id int32) {
		if id >= 0 && !kills.has(id) {
			exposed.add(id)
		}
	}
	read(u.guard)
	for _, as := range [][]undefArg{u.src, u.addr} {
		for _, a := range as {
			read(a.id)
		}
	}
	for _, d := range u.dst {
		if d.id >= 0 && u.guard < 0 && (d.o == nil || d.o.Sym.Vec == 0) {
			kills.add(d.id)
		}
	}
}

// constantIn returns the value of an operand that is a constant, or a register that only one
// instruction writes: a mov of a constant.
func constantIn(o *ptx.Operand, movs map[int32]*observe.Inst) (int64, bool) {
	switch {
	case o.Kind == ptx.ImmOperand:
		return o.Val, true
	case o.Kind == ptx.RegOperand && o.Val == 0 && movs[o.Sym.ID] != nil:
		if a := movs[o.Sym.ID].Arg("a"); a.Kind == ptx.ImmOperand {
			return a.Val, true
		}
	}
	return 0, false
}
