package emu

import (
	"fmt"
	"math/bits"

	"github.com/GOATnote-Inc/attest/ptx"
)

// argPlace is where an argument or result of a call lies on one side of it: in a
// register, or in the frame's .param memory.
type argPlace struct {
	c    cell
	bits int   // of the register; 0 in memory
	off  int64 // in memory
	size int64
}

// callSite is a decoded call.
type callSite struct {
	fn       *function
	indirect slot // of the function's address, when fn is nil
	args     []argPlace
	rets     []argPlace
	builtin  builtin // a function of the runtime
}

// maxDepth bounds recursion.
const maxDepth = 4096

func init() { control("call", buildCall) }

// signature notes where the function's registers, parameters and results lie.
func (fn *function) signature() {
	fn.regs = make([]slot, len(fn.f.Regs))
	for i, r := range fn.f.Regs {
		fn.regs[i] = fn.newRegs(r.Type, max(int(r.Vec), 1))
	}
	if fn.f.Entry {
		return
	}
	formal := func(v *ptx.Var) argPlace {
		if v.Space == ptx.Reg {
			c := cell{s: fn.regs[v.Sym.ID], width: widthOf(v.Type)}
			return argPlace{c: c, bits: v.Type.Bits(), size: int64(v.Type.Bytes())}
		}
		return argPlace{off: fn.offsets[v.Sym], size: v.Size()}
	}
	for _, v := range fn.f.Params {
		fn.params = append(fn.params, formal(v))
	}
	for _, v := range fn.f.Returns {
		fn.returns = append(fn.returns, formal(v))
	}
}

// buildCall is call. Its operands are found by their kinds: lists are what comes
// back and what goes in, the name or register before them is the function.
func buildCall(d *decoder, x *inst, o *op) {
	o.kind = opCall
	site := &callSite{indirect: -1}
	o.call = site
	var callee *ptx.Operand
	for i := range x.Args {
		a := &x.Args[i]
		switch {
		case a.Kind == ptx.ListOperand && callee == nil:
			site.rets = d.actuals(a)
		case a.Kind == ptx.ListOperand:
			site.args = d.actuals(a)
		case callee == nil:
			callee = a
		}
	}
	if callee.Kind == ptx.RegOperand {
		site.indirect = d.src64(callee, ptx.U64)
		return
	}
	if site.fn = d.p.function(callee.Sym); site.fn != nil {
		if why := site.misfit(site.fn); why != "" {
			d.fail("call of %s", why)
		}
		return
	}
	if site.builtin = builtins[callee.Sym.Name]; site.builtin == nil {
		d.fail("function %s has no body in this module and is none of the runtime's: link it in first", callee.Sym.Name)
	}
}

// misfit says why the call does not fit the function, if it does not.
func (c *callSite) misfit(fn *function) string {
	if len(fn.params) == len(c.args) && len(fn.returns) >= len(c.rets) {
		return ""
	}
	return fmt.Sprintf("%s, which takes %d arguments and gives %d results, with %d and %d",
		fn.f.Sym.Name, len(fn.params), len(fn.returns), len(c.args), len(c.rets))
}

// actuals decodes the arguments or results of a call.
func (d *decoder) actuals(list *ptx.Operand) (ps []argPlace) {
	for i := range list.Elems {
		ps = append(ps, d.actual(&list.Elems[i]))
	}
	return ps
}

func (d *decoder) actual(o *ptx.Operand) argPlace {
	switch o.Kind {
	case ptx.SymOperand:
		if o.Sym.Kind == ptx.VarSymbol && o.Sym.Var.Space == ptx.Param {
			return argPlace{off: int64(d.variable(o.Sym)), size: o.Sym.Var.Size()}
		}
		return argPlace{c: cell{s: d.src64(o, ptx.U64), width: w64}, bits: 64, size: 8}
	case ptx.RegOperand:
		t := o.Sym.Type
		return argPlace{c: cell{s: d.reg(o), width: widthOf(t)}, bits: t.Bits(), size: int64(t.Bytes())}
	case ptx.ImmOperand:
		return argPlace{c: cell{s: d.const64(uint64(o.Val)), width: w64}, bits: 64, size: 8}
	case ptx.F32Operand:
		return argPlace{c: cell{s: d.const32(uint32(o.Val)), width: w32}, bits: 32, size: 4}
	case ptx.F64Operand:
		return argPlace{c: cell{s: d.const64(uint64(o.Val)), width: w64}, bits: 64, size: 8}
	case ptx.SinkOperand:
		return argPlace{c: cell{s: d.newRegs(ptx.B64, 1), width: w64}, bits: 64, size: 8}
	}
	d.fail("%s is no argument of a call", o)
	return argPlace{}
}

// load reads a lane's value of up to 16 bytes.
func (p *argPlace) load(f *frame, lane int) (lo, hi uint64) {
	switch {
	case p.bits == 0:
		var b [16]byte
		copy(b[:], f.param(lane)[p.off:][:p.size])
		return word(b[:8]), word(b[8:])
	case p.c.width == wPred:
		return uint64(f.p[p.c.s] >> lane & 1), 0
	case p.c.width == w128:
		return f.r64[p.c.s][lane], f.r64[p.c.s+1][lane]
	}
	return p.c.get(f, lane), 0
}

// store writes a lane's value of up to 16 bytes.
func (p *argPlace) store(f *frame, lane int, lo, hi uint64) {
	switch {
	case p.bits == 0:
		var b [16]byte
		putWord(b[:8], lo)
		putWord(b[8:], hi)
		copy(f.param(lane)[p.off:][:p.size], b[:])
	case p.c.width == wPred:
		f.setPred(p.c.s, 1<<lane, uint32(lo&1)<<lane)
	case p.c.width == w128:
		f.r64[p.c.s][lane], f.r64[p.c.s+1][lane] = lo, hi
	default:
		p.c.set(f, lane, lo, p.bits)
	}
}

// pass copies the values of lanes m from one frame to another.
func pass(m uint32, from *frame, src []argPlace, to *frame, dst []argPlace) {
	for i := range min(len(src), len(dst)) {
		s, d := &src[i], &dst[i]
		for rest := m; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			if s.bits == 0 && d.bits == 0 {
				n := min(s.size, d.size)
				copy(to.param(l)[d.off:][:n], from.param(l)[s.off:][:n])
				continue
			}
			lo, hi := s.load(from, l)
			d.store(to, l, lo, hi)
		}
	}
}

// call enters a function with the lanes m of the current split.
func (w *warp) call(o *op, m uint32) {
	if m == 0 {
		w.splits[w.cur].pc++
		return
	}
	w.isolate(m)
	s := &w.splits[w.cur]
	c := o.call
	if c.builtin != nil {
		c.run(s.f, m)
		s.pc++
		return
	}
	fn := c.fn
	if fn == nil {
		fn, m = w.indirect(c, m)
		s = &w.splits[w.cur]
	}
	callee := w.newFrame(fn, s.f, m)
	if callee.depth > maxDepth {
		s.f.raise(-1, "calls nested more than %d deep", maxDepth)
	}
	callee.site, callee.ret = c, s.pc+1
	pass(m, s.f, c.args, callee, fn.params)
	s.f, s.pc = callee, 0
}

// indirect finds the function that the lanes of m call; lanes that call another
// one stay behind and call it next.
func (w *warp) indirect(c *callSite, m uint32) (*function, uint32) {
	s := &w.splits[w.cur]
	lead := bits.TrailingZeros32(m)
	addr := s.f.r64[c.indirect][lead]
	fn := w.b.kernel.prog.byAddr[addr]
	switch {
	case fn == nil:
		s.f.raise(lead, "call of %#x, where no function is", addr)
	case fn.f.Entry:
		s.f.raise(lead, "call of %s, which is a kernel", fn.f.Sym.Name)
	case c.misfit(fn) != "":
		s.f.raise(lead, "call of %s", c.misfit(fn))
	}
	same := sameLanes64(&s.f.r64[c.indirect], m, addr)
	if same != m {
		w.part(m&^same, s.pc)
	}
	return fn, same
}

// ret returns from a device function, or ends the threads of a kernel.
func (w *warp) ret(m uint32) {
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
	pass(m, f, f.fn.returns, f.parent, f.site.rets)
	s.f, s.pc = f.parent, f.ret
	f.parent.live++
	w.leave(f)
}

// leave takes a split out of a frame. A frame that nobody is in any more is kept
// for the next call, and its caller has one frame less to wait for.
func (w *warp) leave(f *frame) {
	for f != nil {
		if f.live--; f.live > 0 {
			return
		}
		if f.parent != nil {
			w.spare[f.fn.index] = append(w.spare[f.fn.index], f)
		}
		f = f.parent
	}
}

// param is a lane's .param memory of the frame.
func (f *frame) param(lane int) []byte {
	n := f.fn.paramSize
	return f.params[int64(lane)*n:][:n]
}

// newFrame starts an activation of fn by the lanes m. Registers hold what they
// did in the last one: a program that reads them before it writes them is wrong.
func (w *warp) newFrame(fn *function, parent *frame, m uint32) *frame {
	f := w.oldFrame(fn)
	if f == nil {
		f = &frame{
			w: w, b: w.b, fn: fn,
			r32:    make([]lanes32, len(fn.tmpl32)),
			r64:    make([]lanes64, len(fn.tmpl64)),
			p:      make([]uint32, fn.nPred),
			params: make([]byte, fn.paramSize*32),
		}
		copy(f.r32, fn.tmpl32)
		copy(f.r64, fn.tmpl64)
		for _, s := range fn.specials {
			w.fillSpecial(f, s)
		}
	}
	f.parent, f.stack, f.live = parent, nil, 1
	if parent != nil {
		f.depth = parent.depth + 1
		f.local = parent.highest(m)
	}
	for _, r := range fn.based {
		at := f.local + r.off
		if r.shared {
			at = uint64(w.b.kernel.entry.statics) + r.off
		}
		for l := range 32 {
			if r.wide {
				f.r64[r.slot][l] = at
			} else {
				f.r32[r.slot][l] = uint32(at)
			}
		}
	}
	return f
}

// oldFrame is a frame of fn that is free, or nil.
func (w *warp) oldFrame(fn *function) *frame {
	if w.spare == nil {
		w.spare = make([][]*frame, len(fn.prog.funcs))
	}
	s := w.spare[fn.index]
	if len(s) == 0 {
		return nil
	}
	w.spare[fn.index] = s[:len(s)-1]
	return s[len(s)-1]
}
