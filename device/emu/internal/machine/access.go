package machine

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Address is a decoded address operand.
type Address struct {
	Space ptx.Space
	Own   bool // .shared or .shared::cta: another block's shared memory is out of reach
	Entry bool // a kernel parameter: all threads share one copy
	Wide  bool // the base is a 64-bit register
	Base  Slot // -1 if Off is the whole address
	Off   uint64
}

// At returns the address in a lane.
func (a *Address) At(f *Frame, lane int) uint64 {
	switch {
	case a.Base < 0:
		return a.Off
	case a.Wide:
		return f.R64[a.Base][lane] + a.Off
	}
	return uint64(f.R32[a.Base][lane] + uint32(a.Off))
}

// View returns n bytes of memory at a lane's address, which must be aligned to n.
func (a *Address) View(f *Frame, lane, n int, write bool) []byte {
	addr := a.At(f, lane)
	if addr&uint64(n-1) != 0 {
		return f.Void("misaligned", lane, n, "address %#x is not aligned to %d bytes", addr, n)
	}
	if a.Entry {
		return f.kernelParam(lane, addr, n, write)
	}
	if a.Own && f.foreign(addr) {
		return f.Void("oob-shared", lane, n, notOwn, addr)
	}
	return f.Memory(lane, a.Space, addr, n, write)
}

// Memory returns n bytes at an address of a state space. Outside of all memory these are
// the bytes of Void.
func (f *Frame) Memory(lane int, space ptx.Space, addr uint64, n int, write bool) []byte {
	switch space {
	case ptx.Global, ptx.Const:
		return f.Global(lane, addr, n, write)
	case ptx.Shared:
		return f.shared(lane, addr, n, write)
	case ptx.Local:
		return f.stackBytes(lane, addr, n, write)
	case ptx.Param:
		return f.Within(lane, f.param(lane), addr, n, "parameter")
	}
	switch addr >> memory.WindowBits {
	case memory.SharedBase >> memory.WindowBits:
		return f.shared(lane, addr&(1<<32-1), n, write)
	case memory.LocalBase >> memory.WindowBits:
		return f.stackBytes(lane, addr&(1<<memory.WindowBits-1), n, write)
	case memory.ParamBase >> memory.WindowBits:
		return f.kernelParam(lane, addr&(1<<memory.WindowBits-1), n, write)
	}
	return f.Global(lane, addr, n, write)
}

// kernelParam returns n bytes of the parameters of the kernel, which no thread may write.
func (f *Frame) kernelParam(lane int, addr uint64, n int, write bool) []byte {
	if write {
		return f.Void("read-only", lane, n, "write to the kernel parameter at %#x: kernel parameters are read-only", addr)
	}
	return f.Within(lane, f.Block.params, addr, n, "kernel parameter")
}

// Within returns the n bytes of mem at addr. It ends the launch with a fault if they are
// not all in mem. what names the memory in the message.
func (f *Frame) Within(lane int, mem []byte, addr uint64, n int, what string) []byte {
	if !holds(mem, addr, n) {
		kind := ""
		if what == sharedMemory {
			f.reserved(lane, addr)
			kind = "oob-shared"
		}
		f.RaiseAs(kind, lane, pastEnd, what, english.Count(n, "byte"), addr, len(mem))
	}
	return mem[addr:][:n]
}

const (
	sharedMemory = "shared-memory"
	pastEnd      = "%s access of %s at %#x, past its %d bytes"
)

// holds reports whether mem has n bytes at an address.
func holds(mem []byte, addr uint64, n int) bool {
	return addr+uint64(n) <= uint64(len(mem)) && addr+uint64(n) >= addr
}

// reserved ends the launch if a shared address lies in the memory that the driver reserves.
func (f *Frame) reserved(lane int, addr uint64) {
	if addr >= memory.ReservedShared {
		f.Raise(lane, "the emulator does not have the shared memory that the driver reserves; cooperative groups of more than one warp use it")
	}
}

// Global returns n bytes of global memory.
func (f *Frame) Global(lane int, addr uint64, n int, write bool) []byte {
	c := f.Warp.cache
	if c == nil || addr-c.Addr >= uint64(len(c.Data)) {
		c = f.Block.Launch.Memory.Find(addr)
		if before := memory.SharedBase - addr; c == nil && before <= 1<<memory.RankShift {
			return f.Void("oob-shared", lane, n, "shared-memory access of %s at an address %s before its start", english.Count(n, "byte"), english.Count(before, "byte"))
		}
		if c == nil {
			return f.Void("oob-global", lane, n, "global address %#x is %s", addr, f.Block.Launch.Memory.Nearest(addr))
		}
		f.Warp.cache = c
	}
	o := addr - c.Addr
	if o+uint64(n) > uint64(len(c.Data)) {
		return f.Void("oob-global", lane, n, "global access of %s at %#x runs past the end of an allocation of %s", english.Count(n, "byte"), addr, english.Count(len(c.Data), "byte"))
	}
	if write && c.ReadOnly {
		return f.Void("read-only", lane, n, "write to constant memory at %#x", addr)
	}
	f.AnnounceLane(lane, ptx.Global, nil, c, o, n, write)
	return c.Data[o:][:n]
}

// shared returns n bytes of the shared memory of the own block or of another block of
// the cluster.
func (f *Frame) shared(lane int, addr uint64, n int, write bool) []byte {
	b := f.Block
	if r := addr >> memory.RankShift; r != 0 {
		if r > uint64(len(b.Cluster.Blocks)) {
			return f.Void("oob-shared", lane, n, "shared address %#x names block %d of a cluster of %d", addr, r-1, len(b.Cluster.Blocks))
		}
		b = b.Cluster.Blocks[r-1]
		addr &= memory.SharedMask
	}
	if !holds(b.Shared, addr, n) {
		f.reserved(lane, addr)
		return f.Void("oob-shared", lane, n, pastEnd, sharedMemory, english.Count(n, "byte"), addr, len(b.Shared))
	}
	f.AnnounceLane(lane, ptx.Shared, b, nil, addr, n, write)
	return b.Shared[addr:][:n]
}

// LocalBytes is the largest size of a thread's local memory, in bytes.
const LocalBytes = 512 << 10

// stackBytes returns n bytes of a thread's local memory, which grows as it is used.
func (f *Frame) stackBytes(lane int, addr uint64, n int, write bool) []byte {
	if addr > LocalBytes-uint64(n) {
		return f.Void("oob-local", lane, n, "local access at %#x is beyond the %d bytes of local memory that a thread may use", addr, LocalBytes)
	}
	if top := f.Top(lane); addr+uint64(n) > top {
		return f.Void("oob-local", lane, n, "local access of %s at %#x, past the %s of the thread's variables", english.Count(n, "byte"), addr, english.Count(top, "byte"))
	}
	l := &f.Warp.local[lane]
	if need := int(addr) + n; need > len(*l) {
		fresh := make([]byte, need-len(*l))
		if f.Block.Launch.Moment != 0 {
			litterLocal(fresh, len(*l), lane)
		}
		*l = append(*l, fresh...)
	}
	f.AnnounceLane(lane, ptx.Local, nil, nil, addr, n, write)
	return (*l)[addr:][:n]
}

// Text returns the zero-terminated string at a generic address. It reads at most 64 KiB.
func (f *Frame) Text(lane int, addr uint64) string {
	const maxText = 1 << 16
	var b []byte
	for len(b) < maxText {
		c := f.Memory(lane, 0, addr+uint64(len(b)), 1, false)[0]
		if c == 0 {
			break
		}
		b = append(b, c)
	}
	return string(b)
}

// IsConst reports whether a global address is in constant memory.
func (f *Frame) IsConst(addr uint64) bool {
	c := f.Block.Launch.Memory.Find(addr)
	return c != nil && c.ReadOnly
}

// notOwn is the fault of an access by .shared::cta to the shared memory of another block.
const notOwn = "shared address %#x is in another block of the cluster, which only .shared::cluster and generic addresses reach"

// foreign reports whether an address in the shared window points into another block's memory.
func (f *Frame) foreign(addr uint64) bool {
	return addr>>memory.RankShift != 0 && f.RankOf(addr) != uint64(f.Block.Rank)
}

// RankOf returns the rank of the block whose shared memory an address points into.
func (f *Frame) RankOf(addr uint64) uint64 {
	if r := addr >> memory.RankShift & 0xff; r != 0 {
		return r - 1
	}
	return uint64(f.Block.Rank)
}

// Top returns the local address where the stack of a lane ends: behind the variables of
// the frame and the memory that alloca has allocated.
func (f *Frame) Top(lane int) uint64 {
	if f.stack != nil && f.stack[lane] != 0 {
		return f.stack[lane]
	}
	return f.local + uint64(f.fn.LocalSize)
}

// SetTop moves the end of a lane's stack to a local address.
func (f *Frame) SetTop(lane int, at uint64) {
	if f.stack == nil {
		f.stack = new(Lanes64)
	}
	f.stack[lane] = at
}

// highest returns the highest top of the lanes m, aligned for the next frame.
func (f *Frame) highest(m uint32) uint64 {
	var h uint64
	for ; m != 0; m &= m - 1 {
		h = max(h, f.Top(bits.TrailingZeros32(m)))
	}
	return (h + 15) &^ 15
}
