package emu

import (
	"encoding/binary"

	"github.com/GOATnote-Inc/attest/ptx"
)

// address is a decoded address operand.
type address struct {
	space ptx.Space
	entry bool // .param of a kernel: one copy for all threads
	wide  bool // the base is a 64-bit register
	base  slot // or -1: off is the whole address
	off   uint64
}

// addr decodes an address operand in the state space that a modifier names; ""
// is generic.
func (d *decoder) addr(o *ptx.Operand, space string) *address {
	a := &address{space: ptx.ParseSpace(space), base: -1, off: uint64(o.Val)}
	s := o.Sym
	switch {
	case s == nil:
	case s.Kind == ptx.RegSymbol:
		a.base, a.wide = d.fn.regs[s.ID], widthOf(s.Type) != w32
	case s.Kind == ptx.VarSymbol:
		a.off += d.variable(s)
		if d.moves(s) {
			a.base, a.wide = d.basedAddress(s, 0, true), true
		}
		if a.space == ptx.Generic {
			a.off += genericBase(s.Var.Space)
		}
	default:
		d.fail("%s is no address", o)
	}
	a.entry = a.space == ptx.Param && d.fn.f.Entry && (a.base >= 0 || d.isKernelParam(s))
	return a
}

func (d *decoder) isKernelParam(s *ptx.Symbol) bool {
	for _, p := range d.fn.f.Params {
		if p.Sym == s {
			return true
		}
	}
	return false
}

// genericBase is where a state space's window starts in the generic address space.
func genericBase(s ptx.Space) uint64 {
	switch s {
	case ptx.Shared:
		return sharedBase
	case ptx.Local:
		return localBase
	case ptx.Param:
		return paramBase
	}
	return 0
}

// at is the address in a lane.
func (a *address) at(f *frame, lane int) uint64 {
	switch {
	case a.base < 0:
		return a.off
	case a.wide:
		return f.r64[a.base][lane] + a.off
	}
	return uint64(f.r32[a.base][lane] + uint32(a.off))
}

// view is n bytes of memory at a lane's address, which must be aligned to n.
func (a *address) view(f *frame, lane, n int, write bool) []byte {
	addr := a.at(f, lane)
	if addr&uint64(n-1) != 0 {
		f.raiseAs("misaligned", lane, "address %#x is not aligned to %d bytes", addr, n)
	}
	if a.entry {
		return f.within(lane, f.b.params, addr, n, "kernel parameter")
	}
	return f.memory(lane, a.space, addr, n, write)
}

// memory is n bytes at an address of a state space.
func (f *frame) memory(lane int, space ptx.Space, addr uint64, n int, write bool) []byte {
	switch space {
	case ptx.Global, ptx.Const:
		return f.global(lane, addr, n, write)
	case ptx.Shared:
		return f.shared(lane, addr, n, write)
	case ptx.Local:
		return f.stackBytes(lane, addr, n, write)
	case ptx.Param:
		return f.within(lane, f.param(lane), addr, n, "parameter")
	}
	switch addr >> windowBits {
	case sharedBase >> windowBits:
		return f.shared(lane, addr&(1<<32-1), n, write)
	case localBase >> windowBits:
		return f.stackBytes(lane, addr&(1<<windowBits-1), n, write)
	case paramBase >> windowBits:
		return f.within(lane, f.b.params, addr&(1<<windowBits-1), n, "kernel parameter")
	}
	return f.global(lane, addr, n, write)
}

func (f *frame) within(lane int, mem []byte, addr uint64, n int, what string) []byte {
	if addr+uint64(n) > uint64(len(mem)) || addr+uint64(n) < addr {
		kind := ""
		if what == "shared-memory" {
			if addr >= reservedShared {
				f.raise(lane, "the emulator has no shared memory that the driver reserves, which cooperative groups of several warps use")
			}
			kind = "oob-shared"
		}
		f.raiseAs(kind, lane, "%s access of %d bytes at %#x, past its %d bytes", what, n, addr, len(mem))
	}
	return mem[addr:][:n]
}

// global is n bytes of global memory.
func (f *frame) global(lane int, addr uint64, n int, write bool) []byte {
	c := f.w.cache
	if c == nil || addr-c.addr >= uint64(len(c.data)) {
		c = f.b.launch.mem.find(addr)
		if before := sharedBase - addr; c == nil && before <= 1<<rankShift {
			f.raiseAs("oob-shared", lane, "shared-memory access of %d bytes at an address %d bytes before its start", n, before)
		}
		if c == nil {
			f.raiseAs("oob-global", lane, "global address %#x is %s", addr, f.b.launch.mem.nearest(addr))
		}
		f.w.cache = c
	}
	o := addr - c.addr
	if o+uint64(n) > uint64(len(c.data)) {
		f.raiseAs("oob-global", lane, "global access of %d bytes at %#x runs past the end of an allocation of %d", n, addr, len(c.data))
	}
	if write && c.readOnly {
		f.raise(lane, "write to constant memory at %#x", addr)
	}
	f.touched(lane, ptx.Global, nil, c, o, n, write)
	return c.data[o:][:n]
}

// shared is n bytes of shared memory, of one's own block or of another one of
// the cluster.
func (f *frame) shared(lane int, addr uint64, n int, write bool) []byte {
	b := f.b
	if r := addr >> rankShift; r != 0 {
		if r > uint64(len(b.cluster.blocks)) {
			f.raiseAs("oob-shared", lane, "shared address %#x is of block %d of a cluster of %d", addr, r-1, len(b.cluster.blocks))
		}
		b = b.cluster.blocks[r-1]
		addr &= sharedMask
	}
	mem := f.within(lane, b.shared, addr, n, "shared-memory")
	f.touched(lane, ptx.Shared, b, nil, addr, n, write)
	return mem
}

// localBytes is how much local memory a thread may have.
const localBytes = 512 << 10

// stackBytes is n bytes of a thread's local memory, which grows as it is used.
func (f *frame) stackBytes(lane int, addr uint64, n int, write bool) []byte {
	if addr > localBytes-uint64(n) {
		f.raiseAs("oob-local", lane, "local access at %#x: a thread has %d bytes", addr, localBytes)
	}
	if top := f.top(lane); addr+uint64(n) > top {
		f.raiseAs("oob-local", lane, "local access of %d bytes at %#x, past the %d bytes of the thread's variables", n, addr, top)
	}
	l := &f.w.local[lane]
	if need := int(addr) + n; need > len(*l) {
		*l = append(*l, make([]byte, need-len(*l))...)
	}
	f.touched(lane, ptx.Local, nil, nil, addr, n, write)
	return (*l)[addr:][:n]
}

// word reads up to eight bytes.
func word(b []byte) uint64 {
	switch len(b) {
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		return binary.LittleEndian.Uint64(b)
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	}
	return uint64(b[0])
}

// putWord writes as many of the low bytes of v as b has.
func putWord(b []byte, v uint64) {
	switch len(b) {
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(b, v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	default:
		b[0] = byte(v)
	}
}
