package machine

import (
	"cmp"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// watcher connects a launch with its observer.
type watcher struct {
	observer observe.LaunchObserver
	program  []observe.Inst
}

// watch asks the observer whether it wants to observe the launch. If it does, the launch
// runs a copy of the program in which the instructions that the observer wants announce
// themselves. The program itself does not change.
func (l *launch) watch(o observe.Observer) {
	if o == nil {
		return
	}
	k := l.kernel
	insts := k.Prog.number()
	info := &observe.LaunchInfo{
		File: k.Prog.File, Kernel: k.Name, Module: k.Prog.Module, Launch: l.Launch, Serial: k.Entry.Serial,
		Program: insts, Shared: k.sharedVars(l.Shared), Bytes: int(k.Entry.Statics) + l.Shared,
	}
	lo := o.Launch(info)
	if lo == nil {
		return
	}
	l.observeBy(lo, insts)
}

// observeBy makes the launch run a copy of the program for an observer.
func (l *launch) observeBy(lo observe.LaunchObserver, insts []observe.Inst) {
	k := l.kernel
	l.watcher = &watcher{lo, insts}
	twin := *k
	twin.Prog = k.Prog.watched(l.watcher)
	twin.Entry = twin.Prog.Funcs[k.Entry.Decl.Sym.Name]
	l.kernel = &twin
}

// number lists the instructions of a program and stores in each op its index in the list.
func (p *Program) number() []observe.Inst {
	p.numbered.Do(func() {
		for _, f := range p.Module.Funcs() {
			fn := p.Funcs[f.Sym.Name]
			source := sources(fn)
			for i := range fn.Code {
				o := &fn.Code[i]
				o.id = -1
				if o.Inst == nil {
					continue
				}
				b, err := isa.BindInst(o.Inst)
				if err != nil {
					continue
				}
				o.id = int32(len(p.insts))
				at := source[o.Inst]
				p.insts = append(p.insts, observe.Inst{Bound: b, Func: fn.Decl, Source: at.line, Callers: at.callers, Library: at.library, ID: int(o.id)})
			}
		}
	})
	return p.insts
}

// sharedVars returns the variables in the shared memory of a kernel's blocks.
func (k *Kernel) sharedVars(dynamic int) (vars []observe.Shared) {
	add := func(offsets map[*ptx.Symbol]int64) {
		for s, off := range offsets {
			if s.Var.Space == ptx.Shared {
				vars = append(vars, observe.Shared{Name: s.Name, Offset: int(off), Size: int(s.Var.Size())})
			}
		}
	}
	add(k.Prog.Shared)
	for _, fn := range k.Prog.Funcs {
		if fn == k.Entry || !fn.Decl.Entry {
			add(fn.Offsets)
		}
	}
	if dynamic > 0 {
		name := "dynamic shared memory"
		if d := k.Prog.Dynamic; len(d) > 0 {
			name = d[0].Name
		}
		vars = append(vars, observe.Shared{Name: name, Offset: int(k.Entry.Statics), Size: dynamic})
	}
	sorted.By(vars, func(a, b observe.Shared) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Name, b.Name))
	})
	return vars
}

// watched returns a copy of the program in which the instructions that the observer wants
// announce themselves.
func (p *Program) watched(w *watcher) *Program {
	twin := &Program{
		File: p.File, Module: p.Module, Target: p.Target, AddrOf: p.AddrOf, Globals: p.Globals,
		Shared: p.Shared, Statics: p.Statics, Dynamic: p.Dynamic,
		Funcs: make(map[string]*Function, len(p.Funcs)), ByAddr: make(map[uint64]*Function, len(p.ByAddr)),
	}
	twins := make(map[*Function]*Function, len(p.Funcs))
	for name, fn := range p.Funcs {
		t := *fn
		t.Prog = twin
		twins[fn], twin.Funcs[name] = &t, &t
	}
	for addr, fn := range p.ByAddr {
		twin.ByAddr[addr] = twins[fn]
	}
	for _, t := range twins {
		code := make([]Op, len(t.Code))
		for i := range t.Code {
			code[i] = w.op(t.Code[i])
			if c := code[i].Call; c != nil && c.Fn != nil {
				site := *c
				site.Fn = twins[c.Fn]
				code[i].Call = &site
			}
		}
		t.Code = code
	}
	return twin
}

// op returns the instruction in a form that announces itself, if the observer wants it.
// Operations that the decoder put in front of it (reading a clock) are not announced.
func (w *watcher) op(o Op) Op {
	if o.Inst == nil || o.id < 0 || !w.observer.Wants(&w.program[o.id]) {
		return o
	}
	in := &w.program[o.id]
	skips := observe.WantsSkipped(w.observer)
	parts := o.Kind != OpSync && o.Kind != OpTry // lanes whose guard fails have already been separated
	step := func(f *Frame, mask, together uint32) *observe.Step {
		s := &f.Warp.step
		*s = observe.Step{
			Rank: f.Block.Rank, Warp: f.Warp.ID, Mask: mask, Together: together,
			Live: f.Warp.Lanes &^ f.Warp.Exited, Active: mask, Inst: in, State: f.state(),
		}
		if parts {
			s.Active |= f.Warp.splits[f.Warp.cur].mask
		}
		return s
	}
	o.announce = func(f *Frame, mask, together uint32) { f.Block.Watch.Step(step(f, mask, together)) }
	announce := o.announce
	switch run := o.Run; {
	case o.Kind == OpTry:
		o.Try = watchedTry(o.Try, step)
	case skips && o.Kind == opRun && o.Guard >= 0:
		o.plainKind, o.Kind, o.announceSkipped = opRun, opWatched, true
	case o.Kind == OpSync || o.Kind == OpPoll || o.Kind == opRun && run != nil:
		o.Run = func(f *Frame, mask uint32) {
			announce(f, mask, mask)
			if run != nil {
				run(f, mask)
			}
		}
	default: // control flow, which the loop of the warp executes itself
		o.plainKind, o.Kind, o.announceSkipped = o.Kind, opWatched, skips
	}
	return o
}

// watchedTry announces lanes when they first reach an instruction that may wait, and when
// they have completed it.
func watchedTry(try func(f *Frame, m uint32) Status, step func(f *Frame, m, together uint32) *observe.Step) func(f *Frame, m uint32) Status {
	return func(f *Frame, m uint32) Status {
		w := f.Warp
		if w.reached == nil {
			w.reached = map[int32]uint32{}
		}
		pc := w.PC
		if fresh := m &^ w.reached[pc]; fresh != 0 {
			w.reached[pc] |= fresh
			f.Block.Watch.Step(step(f, fresh, fresh))
		}
		s := try(f, m)
		if s != Again {
			w.reached[pc] &^= m
			f.Block.Watch.Pass(step(f, m, m))
		}
		return s
	}
}

// announceStep announces an instruction of kind opWatched and returns the kind of the instruction
// itself, which the warp then executes as if nobody watched: the order in which lanes run must not
// depend on observers.
func (o *Op) announceStep(f *Frame, m uint32) opKind {
	if m != 0 || o.announceSkipped {
		o.announce(f, m, m)
	}
	return o.plainKind
}

// watch creates the observer of a cluster.
func (c *cluster) watch(o observe.LaunchObserver) {
	info := &observe.ClusterInfo{Index: c.index}
	for _, b := range c.Blocks {
		info.Blocks = append(info.Blocks, observe.BlockInfo{
			Index: b.index, Ctaid: b.ctaid, Threads: b.Launch.Block.Count(), Memory: b.Shared,
		})
	}
	watch := o.Cluster(info)
	for _, b := range c.Blocks {
		b.Watch = watch
	}
}
