package emu

import (
	"cmp"
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// watcher is what a launch has for its observer.
type watcher struct {
	observer observe.LaunchObserver
	program  []observe.Inst
}

// watch asks the observer about a launch. When it is of interest, the launch runs a
// twin of the program, in which the instructions that the observer wants announce
// themselves; the plain program is left as it is.
func (l *launch) watch(o observe.Observer) {
	if o == nil {
		return
	}
	k := l.kernel
	insts := k.prog.number()
	info := &observe.LaunchInfo{
		File: k.prog.file, Kernel: k.name, Module: k.prog.mod, Launch: l.Launch, Serial: k.entry.serial,
		Program: insts, Shared: k.sharedVars(l.Shared), Bytes: int(k.entry.statics) + l.Shared,
	}
	lo := o.Launch(info)
	if lo == nil {
		return
	}
	l.watcher = &watcher{lo, insts}
	twin := *k
	twin.prog = k.prog.watched(l.watcher)
	twin.entry = twin.prog.funcs[k.entry.f.Sym.Name]
	l.kernel = &twin
}

// number lists the instructions of a program and gives each op its place there.
func (p *program) number() []observe.Inst {
	p.numbered.Do(func() {
		for _, f := range p.mod.Funcs() {
			fn := p.funcs[f.Sym.Name]
			source := sources(fn)
			for i := range fn.code {
				o := &fn.code[i]
				o.id = -1
				if o.in == nil {
					continue
				}
				b, err := isa.BindInst(o.in)
				if err != nil {
					continue
				}
				o.id = int32(len(p.insts))
				at := source[o.in]
				p.insts = append(p.insts, observe.Inst{Bound: b, Func: fn.f, Source: at.line, Callers: at.callers, Library: at.library, ID: int(o.id)})
			}
		}
	})
	return p.insts
}

// sharedVars are the variables in the shared memory of a kernel's blocks.
func (k *kernel) sharedVars(dynamic int) (vars []observe.Shared) {
	add := func(offsets map[*ptx.Symbol]int64) {
		for s, off := range offsets {
			if s.Var.Space == ptx.Shared {
				vars = append(vars, observe.Shared{Name: s.Name, Offset: int(off), Size: int(s.Var.Size())})
			}
		}
	}
	add(k.prog.shared)
	for _, fn := range k.prog.funcs {
		if fn == k.entry || !fn.f.Entry {
			add(fn.offsets)
		}
	}
	if dynamic > 0 {
		name := "dynamic shared memory"
		if d := k.prog.dynamic; len(d) > 0 {
			name = d[0].Name
		}
		vars = append(vars, observe.Shared{Name: name, Offset: int(k.entry.statics), Size: dynamic})
	}
	slices.SortFunc(vars, func(a, b observe.Shared) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Name, b.Name))
	})
	return vars
}

// watched is the program as an observed launch runs it.
func (p *program) watched(w *watcher) *program {
	twin := &program{
		file: p.file, mod: p.mod, target: p.target, addrOf: p.addrOf, globals: p.globals,
		shared: p.shared, statics: p.statics, dynamic: p.dynamic,
		funcs: make(map[string]*function, len(p.funcs)), byAddr: make(map[uint64]*function, len(p.byAddr)),
	}
	twins := make(map[*function]*function, len(p.funcs))
	for name, fn := range p.funcs {
		t := *fn
		t.prog = twin
		twins[fn], twin.funcs[name] = &t, &t
	}
	for addr, fn := range p.byAddr {
		twin.byAddr[addr] = twins[fn]
	}
	for _, t := range twins {
		code := make([]op, len(t.code))
		for i := range t.code {
			code[i] = w.op(t.code[i])
			if c := code[i].call; c != nil && c.fn != nil {
				site := *c
				site.fn = twins[c.fn]
				code[i].call = &site
			}
		}
		t.code = code
	}
	return twin
}

// op is an instruction that announces itself, if it is of interest. What the
// decoder put in front of one (reading a clock) is part of it and says nothing.
func (w *watcher) op(o op) op {
	if o.in == nil || o.id < 0 || !w.observer.Wants(&w.program[o.id]) {
		return o
	}
	in := &w.program[o.id]
	_, skips := w.observer.(observe.SkipObserver)
	parts := o.kind != opSync && o.kind != opTry // those have parted from lanes whose guard fails
	step := func(f *frame, mask, together uint32) *observe.Step {
		s := &f.w.step
		*s = observe.Step{
			Rank: f.b.rank, Warp: f.w.id, Mask: mask, Together: together,
			Live: f.w.lanes &^ f.w.exited, Active: mask, Inst: in, State: f.state(),
		}
		if parts {
			s.Active |= f.w.splits[f.w.cur].mask
		}
		return s
	}
	o.said = func(f *frame, mask, together uint32) { f.b.watch.Step(step(f, mask, together)) }
	said := o.said
	switch run := o.run; {
	case o.kind == opTry:
		o.try = watchedTry(o.try, step)
	case skips && o.kind == opRun && o.guard >= 0:
		o.real, o.kind, o.skips = opRun, opWatched, true
	case o.kind == opSync || o.kind == opPoll || o.kind == opRun && run != nil:
		o.run = func(f *frame, mask uint32) {
			said(f, mask, mask)
			if run != nil {
				run(f, mask)
			}
		}
	default: // control flow, which the warp's loop carries out itself
		o.real, o.kind, o.skips = o.kind, opWatched, skips
	}
	return o
}

// watchedTry announces lanes when they first reach an instruction that may wait,
// and when they are through.
func watchedTry(try func(f *frame, m uint32) status, step func(f *frame, m, together uint32) *observe.Step) func(f *frame, m uint32) status {
	return func(f *frame, m uint32) status {
		w := f.w
		if w.reached == nil {
			w.reached = map[int32]uint32{}
		}
		pc := w.pc
		if fresh := m &^ w.reached[pc]; fresh != 0 {
			w.reached[pc] |= fresh
			f.b.watch.Step(step(f, fresh, fresh))
		}
		s := try(f, m)
		if s != again {
			w.reached[pc] &^= m
			f.b.watch.Pass(step(f, m, m))
		}
		return s
	}
}

// announced carries out control flow after it has been announced, or an instruction
// that is announced also when no lane executes it.
func (w *warp) announced(o *op, m uint32) outcome {
	s := &w.splits[w.cur]
	if m != 0 || o.skips {
		o.said(s.f, m, m)
	}
	if o.real == opRun {
		if m != 0 {
			o.run(s.f, m)
		}
		s.pc++
		return ranOut
	}
	plain := *o
	plain.kind = o.real
	if plain.kind == opBra {
		switch m {
		case 0:
			s.pc++
			return ranOut
		case s.mask:
			s.pc = o.target
			return ranOut
		}
	}
	return w.special(&plain, m)
}

// watch has the observer watch a cluster.
func (c *cluster) watch(o observe.LaunchObserver) {
	info := &observe.ClusterInfo{Index: c.index}
	for _, b := range c.blocks {
		info.Blocks = append(info.Blocks, observe.BlockInfo{
			Index: b.index, Ctaid: b.ctaid, Threads: b.launch.Block.Count(), Memory: b.shared,
		})
	}
	watch := o.Cluster(info)
	for _, b := range c.blocks {
		b.watch = watch
	}
}
