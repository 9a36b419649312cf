package machine

import (
	"fmt"
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/ptx"
)

// ArgPlace is the place of an argument or result in the caller or the callee: a register,
// a vector register, or the frame's .param memory.
type ArgPlace struct {
	Cell  Cell
	Bits  int   // the bits of the register, or of each element of a vector register; 0 in memory
	Count int   // elements of a vector register, which have consecutive slots; 0 for other places
	Off   int64 // the offset in memory
	Size  int64 // the size in bytes
}

// RegisterPlace returns the place of a register, or of all elements of a vector register.
func RegisterPlace(first Slot, t ptx.Type, vec int) ArgPlace {
	return ArgPlace{
		Cell: Cell{Slot: first, Width: WidthOf(t)}, Bits: t.Bits(), Count: vec,
		Size: int64(t.Bytes() * max(vec, 1)),
	}
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

// maxArgBytes is the size of the largest vector register.
const maxArgBytes = 4 * 16

// scalar reports whether the place is one register of at most 64 bits that is not a predicate.
func (p *ArgPlace) scalar() bool {
	return p.Bits != 0 && p.Count == 0 && (p.Cell.Width == W32 || p.Cell.Width == W64)
}

// element returns the place of element i of a vector register.
func (p *ArgPlace) element(i int) ArgPlace {
	e := *p
	e.Count = 0
	e.Size = p.Size / int64(p.Count)
	if p.Cell.Width == W128 {
		i *= 2
	}
	e.Cell.Slot += Slot(i)
	return e
}

// load copies a lane's value to b.
func (p *ArgPlace) load(f *Frame, lane int, b *[maxArgBytes]byte) {
	switch {
	case p.Bits == 0:
		copy(b[:], f.param(lane)[p.Off:][:p.Size])
	case p.Count > 0:
		for i := range p.Count {
			e := p.element(i)
			var part [maxArgBytes]byte
			e.load(f, lane, &part)
			copy(b[int64(i)*e.Size:], part[:e.Size])
		}
	case p.Cell.Width == wPred:
		b[0] = byte(f.Pred[p.Cell.Slot] >> lane & 1)
	case p.Cell.Width == W128:
		memory.PutWord(b[:8], f.R64[p.Cell.Slot][lane])
		memory.PutWord(b[8:16], f.R64[p.Cell.Slot+1][lane])
	default:
		memory.PutWord(b[:8], p.Cell.Get(f, lane))
	}
}

// store sets a lane's value from b.
func (p *ArgPlace) store(f *Frame, lane int, b *[maxArgBytes]byte) {
	switch {
	case p.Bits == 0:
		copy(f.param(lane)[p.Off:][:p.Size], b[:])
	case p.Count > 0:
		for i := range p.Count {
			e := p.element(i)
			var part [maxArgBytes]byte
			copy(part[:e.Size], b[int64(i)*e.Size:])
			e.store(f, lane, &part)
		}
	case p.Cell.Width == wPred:
		f.SetPred(p.Cell.Slot, 1<<lane, uint32(b[0]&1)<<lane)
	case p.Cell.Width == W128:
		f.R64[p.Cell.Slot][lane], f.R64[p.Cell.Slot+1][lane] = memory.Word(b[:8]), memory.Word(b[8:16])
	default:
		p.Cell.Set(f, lane, memory.Word(b[:8]), p.Bits)
	}
}

// pass copies the values of lanes m from one frame to another.
func pass(m uint32, from *Frame, src []ArgPlace, to *Frame, dst []ArgPlace) {
	for i := range min(len(src), len(dst)) {
		s, d := &src[i], &dst[i]
		for rest := m; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			switch {
			case s.Bits == 0 && d.Bits == 0:
				n := min(s.Size, d.Size)
				copy(to.param(l)[d.Off:][:n], from.param(l)[s.Off:][:n])
			case s.scalar() && d.scalar():
				d.Cell.Set(to, l, s.Cell.Get(from, l), d.Bits)
			default:
				var b [maxArgBytes]byte
				s.load(from, l, &b)
				d.store(to, l, &b)
			}
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
		f = fn.freshFrame()
		f.Warp, f.Block = w, w.b
		if w.b.Launch.Moment != 0 {
			f.litter()
		}
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
			var b [maxArgBytes]byte
			c.Args[i].load(f, l, &b)
			args[i] = memory.Word(b[:8])
		}
		v := c.Builtin(f, l, args)
		if len(c.Rets) > 0 {
			var b [maxArgBytes]byte
			memory.PutWord(b[:8], v)
			c.Rets[0].store(f, l, &b)
		}
	}
}
