package emu

import "attest/ptx/isa"

// watched is the program as an observed launch runs it: a twin whose every
// instruction announces itself first. The plain program is left as it is.
func (p *program) watched() *program {
	twin := *p
	twin.funcs = make(map[string]*function, len(p.funcs))
	twins := make(map[*function]*function, len(p.funcs))
	for name, fn := range p.funcs {
		t := *fn
		t.prog = &twin
		twins[fn], twin.funcs[name] = &t, &t
	}
	twin.byAddr = make(map[uint64]*function, len(p.byAddr))
	for addr, fn := range p.byAddr {
		twin.byAddr[addr] = twins[fn]
	}
	for _, t := range twins {
		code := make([]op, len(t.code))
		for i := range t.code {
			code[i] = watchedOp(t.code[i])
			if c := code[i].call; c != nil && c.fn != nil {
				site := *c
				site.fn = twins[c.fn]
				code[i].call = &site
			}
		}
		t.code = code
	}
	return &twin
}

// watchedOp is an instruction that announces itself. What the decoder put in front
// of one (reading a clock) is part of it and says nothing.
func watchedOp(o op) op {
	if o.in == nil {
		return o
	}
	m, err := isa.Resolve(o.in)
	if err != nil {
		return o
	}
	step := func(f *frame, mask uint32) *Step {
		return &Step{Warp: f.w.id, Mask: mask, Inst: o.in, Match: m, f: f}
	}
	o.said = func(f *frame, mask uint32) { f.b.watch.Step(step(f, mask)) }
	said := o.said
	switch run := o.run; {
	case o.kind == opTry:
		o.try = watchedTry(o.try, step)
	case o.kind == opSync || o.kind == opPoll || o.kind == opRun && run != nil:
		o.run = func(f *frame, mask uint32) {
			said(f, mask)
			if run != nil {
				run(f, mask)
			}
		}
	default: // control flow, which the warp's loop carries out itself
		o.real, o.kind = o.kind, opWatched
	}
	return o
}

// watchedTry announces lanes when they first reach an instruction that may wait,
// and when they are through.
func watchedTry(try func(f *frame, m uint32) status, step func(f *frame, m uint32) *Step) func(f *frame, m uint32) status {
	return func(f *frame, m uint32) status {
		w := f.w
		if w.reached == nil {
			w.reached = map[int32]uint32{}
		}
		pc := w.pc
		if fresh := m &^ w.reached[pc]; fresh != 0 {
			w.reached[pc] |= fresh
			f.b.watch.Step(step(f, fresh))
		}
		s := try(f, m)
		if s != again {
			w.reached[pc] &^= m
			f.b.watch.Pass(step(f, m))
		}
		return s
	}
}

// announced carries out control flow after it has been announced.
func (w *warp) announced(o *op, m uint32) outcome {
	s := &w.splits[w.cur]
	if m != 0 {
		o.said(s.f, m)
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

// completed tells the block's observer that the work has taken effect.
func (o origin) completed(lane int, read bool) {
	if watch := o.f.b.watch; watch != nil {
		watch.Complete(&Completion{Warp: o.f.w.id, Lane: lane, Inst: o.f.fn.code[o.pc].in, Read: read})
	}
}
