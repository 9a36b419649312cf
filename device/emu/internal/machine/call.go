package machine

import (
	"fmt"
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
)

// ArgPlace is the place of an argument or result in the caller or the callee: a register,
// or the frame's .param memory.
type ArgPlace struct {
	Cell Cell
	Bits int   // of the register; 0 in memory
	Off  int64 // in memory
	Size int64
}

// CallSite is a decoded call.
type CallSite struct {
	Fn       *Function
	Indirect Slot // register with the address of the function if Fn is nil
	Args     []ArgPlace
	Rets     []ArgPlace
	Builtin  Builtin // a function of the runtime
}

// maxDepth bounds recursion.
const maxDepth = 4096

// Mismatch returns why the call does not match the function, or "".
func (c *CallSite) Mismatch(fn *Function) string {
	if len(fn.params) == len(c.Args) && len(fn.returns) >= len(c.Rets) {
		return ""
	}
	return fmt.Sprintf("%s: the call has %d arguments and %d results, the function has %d and %d",
		fn.Decl.Sym.Name, len(c.Args), len(c.Rets), len(fn.params), len(fn.returns))
}

// load reads a lane's value of up to 16 bytes.
func (p *ArgPlace) load(f *Frame, lane int) (lo, hi uint64) {
	switch {
	case p.Bits == 0:
		var b [16]byte
		copy(b[:], f.param(lane)[p.Off:][:p.Size])
		return memory.Word(b[:8]), memory.Word(b[8:])
	case p.Cell.Width == wPred:
		return uint64(f.Pred[p.Cell.Slot] >> lane & 1), 0
	case p.Cell.Width == W128:
		return f.R64[p.Cell.Slot][lane], f.R64[p.Cell.Slot+1][lane]
	}
	return p.Cell.Get(f, lane), 0
}

// store writes a lane's value of up to 16 bytes.
func (p *ArgPlace) store(f *Frame, lane int, lo, hi uint64) {
	switch {
	case p.Bits == 0:
		var b [16]byte
		memory.PutWord(b[:8], lo)
		memory.PutWord(b[8:], hi)
		copy(f.param(lane)[p.Off:][:p.Size], b[:])
	case p.Cell.Width == wPred:
		f.SetPred(p.Cell.Slot, 1<<lane, uint32(lo&1)<<lane)
	case p.Cell.Width == W128:
		f.R64[p.Cell.Slot][lane], f.R64[p.Cell.Slot+1][lane] = lo, hi
	default:
		p.Cell.Set(f, lane, lo, p.Bits)
	}
}

// pass copies the values of lanes m from one frame to another.
func pass(m uint32, from *Frame, src []ArgPlace, to *Frame, dst []ArgPlace) {
	for i := range min(len(src), len(dst)) {
		s, d := &src[i], &dst[i]
		for rest := m; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			if s.Bits == 0 && d.Bits == 0 {
				n := min(s.Size, d.Size)
				copy(to.param(l)[d.Off:][:n], from.param(l)[s.Off:][:n])
				continue
			}
			lo, hi := s.load(from, l)
			d.store(to, l, lo, hi)
		}
	}
}

// call enters a function with the lanes m of the current split.
func (w *Warp) call(o *Op, m uint32) {
	if m == 0 {
		w.splits[w.cur].pc++
		return
	}
	w.isolate(m)
	s := &w.splits[w.cur]
	c := o.Call
	if c.Builtin != nil {
		c.run(s.f, m)
		s.pc++
		return
	}
	fn := c.Fn
	if fn == nil {
		fn, m = w.indirect(c, m)
		s = &w.splits[w.cur]
	}
	callee := w.newFrame(fn, s.f, m)
	if callee.depth > maxDepth {
		s.f.Raise(-1, "calls nested more than %d deep", maxDepth)
	}
	callee.site, callee.ret = c, s.pc+1
	pass(m, s.f, c.Args, callee, fn.params)
	s.f, s.pc = callee, 0
}

// indirect returns the function that the first lane of m calls, and the lanes that call
// the same. The other lanes become a split that executes the call next.
func (w *Warp) indirect(c *CallSite, m uint32) (*Function, uint32) {
	s := &w.splits[w.cur]
	lead := bits.TrailingZeros32(m)
	addr := s.f.R64[c.Indirect][lead]
	fn := w.b.kernel.Prog.ByAddr[addr]
	switch {
	case fn == nil:
		s.f.Raise(lead, "call of address %#x: there is no function", addr)
	case fn.Decl.Entry:
		s.f.Raise(lead, "call of %s: it is a kernel, not a device function", fn.Decl.Sym.Name)
	case c.Mismatch(fn) != "":
		s.f.Raise(lead, "call of %s", c.Mismatch(fn))
	}
	same := SameLanes64(&s.f.R64[c.Indirect], m, addr)
	if same != m {
		w.SplitOff(m&^same, s.pc)
	}
	return fn, same
}

// ret returns from a device function, or ends the threads of a kernel.
func (w *Warp) ret(m uint32) {
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
	pass(m, f, f.fn.returns, f.parent, f.site.Rets)
	s.f, s.pc = f.parent, f.ret
	f.parent.live++
	w.leave(f)
}

// leave removes a split from a frame. A frame without splits is stored for the next call
// of its function, and releases its caller's frame.
func (w *Warp) leave(f *Frame) {
	for f != nil {
		if f.live--; f.live > 0 {
			return
		}
		if f.parent != nil {
			w.spare[f.fn.Index] = append(w.spare[f.fn.Index], f)
		}
		f = f.parent
	}
}

// param returns a lane's .param memory of the frame.
func (f *Frame) param(lane int) []byte {
	n := f.fn.ParamSize
	return f.params[int64(lane)*n:][:n]
}

// newFrame starts an activation of fn by the lanes m. A frame that is used again keeps the
// register values of its last activation, because correct programs do not read them.
func (w *Warp) newFrame(fn *Function, parent *Frame, m uint32) *Frame {
	f := w.oldFrame(fn)
	if f == nil {
		f = &Frame{
			Warp: w, Block: w.b, fn: fn,
			R32:    make([]Lanes32, len(fn.Init32)),
			R64:    make([]Lanes64, len(fn.Init64)),
			Pred:   make([]uint32, fn.nPred),
			params: make([]byte, fn.ParamSize*32),
		}
		copy(f.R32, fn.Init32)
		copy(f.R64, fn.Init64)
		for _, s := range fn.Specials {
			w.FillSpecial(f, s)
		}
	}
	f.parent, f.stack, f.live = parent, nil, 1
	if parent != nil {
		f.depth = parent.depth + 1
		f.local = parent.highest(m)
	}
	for _, r := range fn.Based {
		at := f.local + r.Off
		if r.Shared {
			at = uint64(w.b.kernel.Entry.Statics) + r.Off
		}
		for l := range 32 {
			if r.Wide {
				f.R64[r.Slot][l] = at
			} else {
				f.R32[r.Slot][l] = uint32(at)
			}
		}
	}
	return f
}

// oldFrame returns a free frame of fn, or nil.
func (w *Warp) oldFrame(fn *Function) *Frame {
	if w.spare == nil {
		w.spare = make([][]*Frame, len(fn.Prog.Funcs))
	}
	s := w.spare[fn.Index]
	if len(s) == 0 {
		return nil
	}
	w.spare[fn.Index] = s[:len(s)-1]
	return s[len(s)-1]
}

// Builtin implements a function of the CUDA runtime whose body is not in the module. It
// takes the arguments of a lane and returns the result.
type Builtin func(f *Frame, lane int, args []uint64) uint64

// run calls the builtin for the lanes m, one after the other.
func (c *CallSite) run(f *Frame, m uint32) {
	args := make([]uint64, len(c.Args))
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		for i := range c.Args {
			args[i], _ = c.Args[i].load(f, l)
		}
		v := c.Builtin(f, l, args)
		if len(c.Rets) > 0 {
			c.Rets[0].store(f, l, v, 0)
		}
	}
}
