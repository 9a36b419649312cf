package emu

import (
	"math/bits"

	"attest/ptx"
)

// branchTable is brx.idx: each lane goes where its index says.
func (w *warp) branchTable(o *op, m uint32) {
	s := &w.splits[w.cur]
	idx := &s.f.r32[o.index]
	if m != s.mask {
		w.part(s.mask&^m, s.pc+1)
	}
	for m != 0 {
		lane := bits.TrailingZeros32(m)
		i := idx[lane]
		if int(i) >= len(o.table) {
			s.f.raise(lane, "index %d into a table of %d targets", i, len(o.table))
		}
		var same uint32
		for l := range 32 {
			if m>>l&1 != 0 && idx[l] == i {
				same |= 1 << l
			}
		}
		m &^= same
		if m == 0 {
			w.splits[w.cur].pc = o.table[i]
			return
		}
		w.part(same, o.table[i])
	}
}

// callSite is a decoded call.
type callSite struct {
	fn       *function
	indirect slot // of the function's address, or -1
	args     []paramCopy
	rets     []paramCopy
	builtin  func(f *frame, m uint32) // a function of the runtime: vprintf
}

// paramCopy moves a .param variable between caller and callee.
type paramCopy struct{ caller, callee, size int64 }

// call enters a function with the lanes m of the current split.
func (w *warp) call(o *op, m uint32) {
	s := &w.splits[w.cur]
	if m == 0 {
		s.pc++
		return
	}
	w.isolate(m)
	s = &w.splits[w.cur]
	c := o.call
	if c.builtin != nil {
		c.builtin(s.f, m)
		s.pc++
		return
	}
	fn := c.fn
	if fn == nil {
		fn, m = w.indirect(c, m)
		s = &w.splits[w.cur]
	}
	callee := w.newFrame(fn, s.f, m)
	callee.ret = s.pc + 1
	if callee.depth > maxDepth {
		s.f.raise(-1, "calls nested more than %d deep", maxDepth)
	}
	for _, a := range c.args {
		eachLane(m, func(l int) {
			copy(callee.param(l)[a.callee:][:a.size], s.f.param(l)[a.caller:][:a.size])
		})
	}
	callee.rets = c.rets
	s.f.live--
	s.f, s.pc = callee, 0
	callee.live = 1
}

// maxDepth bounds recursion: each thread has 512 KB of stack at most.
const maxDepth = 4096

// indirect finds the function that the lanes of m call; lanes that call another
// one stay behind and call it next.
func (w *warp) indirect(c *callSite, m uint32) (*function, uint32) {
	s := &w.splits[w.cur]
	addr := &s.f.r64[c.indirect]
	lead := bits.TrailingZeros32(m)
	fn := w.b.kernel.prog.byAddr[addr[lead]]
	if fn == nil {
		s.f.raise(lead, "call of %#x, where no function is", addr[lead])
	}
	same := uint32(0)
	eachLane(m, func(l int) {
		if addr[l] == addr[lead] {
			same |= 1 << l
		}
	})
	if same != m {
		w.part(m&^same, s.pc)
	}
	return fn, same
}

// ret returns from a device function, or ends the threads of a kernel.
func (w *warp) ret(o *op, m uint32) {
	s := &w.splits[w.cur]
	if m == 0 {
		s.pc++
		return
	}
	f := s.f
	if f.parent == nil {
		w.exit(m)
		return
	}
	w.isolate(m)
	s = &w.splits[w.cur]
	for _, r := range f.rets {
		eachLane(m, func(l int) {
			copy(f.parent.param(l)[r.caller:][:r.size], f.param(l)[r.callee:][:r.size])
		})
	}
	s.f, s.pc = f.parent, f.ret
	f.parent.live++
	f.live--
}

// eachLane calls do for the lanes of a mask, in order.
func eachLane(m uint32, do func(lane int)) {
	for ; m != 0; m &= m - 1 {
		do(bits.TrailingZeros32(m))
	}
}

// param is a lane's .param memory of the frame.
func (f *frame) param(lane int) []byte {
	n := f.fn.paramSize
	return f.params[int64(lane)*n:][:n]
}

// newFrame starts an activation of fn by the lanes m.
func (w *warp) newFrame(fn *function, parent *frame, m uint32) *frame {
	f := &frame{
		w: w, b: w.b, fn: fn, parent: parent,
		r32:    make([]lanes32, len(fn.tmpl32)),
		r64:    make([]lanes64, len(fn.tmpl64)),
		p:      make([]uint32, fn.nPred),
		params: make([]byte, fn.paramSize*32),
	}
	copy(f.r32, fn.tmpl32)
	copy(f.r64, fn.tmpl64)
	if parent != nil {
		f.depth = parent.depth + 1
		f.local = parent.highest(m)
	}
	for _, s := range fn.specials {
		w.fillSpecial(f, s)
	}
	return f
}

func init() {
	control("ret", func(d *decoder, x *inst, o *op) { o.kind = opRet })
	control("exit", func(d *decoder, x *inst, o *op) { o.kind = opExit })
	control("bra", func(d *decoder, x *inst, o *op) {
		o.kind = opBra
		o.target = d.label(&x.in.Args[0])
	})
	control("brx", func(d *decoder, x *inst, o *op) {
		o.kind = opBrx
		o.index = d.src32(&x.in.Args[0], ptx.U32)
		for _, t := range d.targets[x.in.Args[1].Sym].List {
			o.table = append(o.table, d.label(&t))
		}
	})
	build("trap", func(d *decoder, x *inst) exec {
		return func(f *frame, m uint32) { f.raise(bits.TrailingZeros32(m), "trap") }
	})
	build("brkpt", func(d *decoder, x *inst) exec { return func(*frame, uint32) {} })
	build("pmevent", func(d *decoder, x *inst) exec { return func(*frame, uint32) {} })
}
