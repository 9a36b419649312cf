package observe

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/ptx"
)

// State answers questions about the registers and the stack of the lanes that execute
// an instruction. The emulator implements it; it is valid during one call of an observer.
type State interface {
	// Value returns a scalar operand in a lane.
	Value(o *ptx.Operand, lane int) uint64
	// Address returns the state space and the address of an address operand in a lane.
	Address(o *ptx.Operand, space ptx.Space, lane int) (ptx.Space, uint64)
	// Depth returns the number of calls that the lanes are inside of.
	Depth() int
	// Frame returns where the local variables of the present function start.
	Frame() uint64
	// Top returns where the stack of a lane ends.
	Top(lane int) uint64
	// Stored returns the bytes that the st or stmatrix of a lane is about to write.
	Stored(in *Inst, lane, size int) (data []byte, ok bool)
	// Word returns what the st of a lane is about to write if that is one register of up
	// to 32 bits and offsets belong to that store.
	Word(offsets *[32]uint64, lane int) (v uint32, ok bool)
	// Callers returns the source lines of the calls that led here, the innermost first.
	Callers() []string
}

// Step is an instruction that lanes of a warp execute. It is valid during the call.
type Step struct {
	Rank, Warp int
	Mask       uint32 // the lanes whose guard holds
	// Together are the lanes that execute an instruction such as shfl.sync with each
	// other: Mask, and lanes that wait at the same instruction elsewhere.
	Together uint32
	Live     uint32 // the lanes of the warp that have not ended
	Active   uint32 // the lanes that are at the instruction: Mask, and those whose guard fails
	*Inst
	State State
}

// Value returns a scalar operand in a lane: a register, a constant, a predicate as 0 or
// 1, or the address of a variable in its own space.
func (s *Step) Value(o *ptx.Operand, lane int) uint64 { return s.State.Value(o, lane) }

// Address returns the state space and the address of an address operand in a lane. A
// generic address is returned in the space that it falls into. An address in the shared
// memory of another block of the cluster has the rank of that block plus one from bit 24
// on.
func (s *Step) Address(o *ptx.Operand, space ptx.Space, lane int) (ptx.Space, uint64) {
	return s.State.Address(o, space, lane)
}

// Depth returns the number of calls that the lanes are inside of.
func (s *Step) Depth() int { return s.State.Depth() }

// Frame returns where the local variables of the function that the lanes are in start in
// each thread's local memory. Value returns addresses relative to it.
func (s *Step) Frame() uint64 { return s.State.Frame() }

// Top returns where the stack of a lane ends. Memory behind it belongs to no variable.
func (s *Step) Top(lane int) uint64 { return s.State.Top(lane) }

// Lanes calls do for each lane of the step, in order.
func (s *Step) Lanes(do func(lane int)) {
	for m := s.Mask; m != 0; m &= m - 1 {
		do(bits.TrailingZeros32(m))
	}
}

// Access is an access of lanes of a warp to memory. It is valid during the call.
type Access struct {
	Rank, Warp int
	Mask       uint32
	ID         int
	Space      ptx.Space // Global, Shared or Local
	Block      int       // Shared: the rank of the block that owns the memory
	Alloc      *Alloc    // Global: the allocation
	Offsets    *[32]uint64
	Size       int // bytes at each offset
	// Units are the offsets that the warp as a whole accesses if Offsets is nil.
	Units []int32
	Write bool
	State State
}

// Stored returns the bytes that the st or stmatrix of a lane is about to write. ok is false
// for other instructions.
func (a *Access) Stored(in *Inst, lane int) (data []byte, ok bool) {
	if in.Op.Name != "st" && in.Op.Name != "stmatrix" || !a.Write || a.Size > 64 {
		return nil, false
	}
	return a.State.Stored(in, lane, a.Size)
}

// Word returns what the st of a lane is about to write if it writes up to four bytes. ok
// is false for other instructions, and if the stores of the lanes do not fall into one
// piece of memory.
func (a *Access) Word(lane int) (v uint32, ok bool) {
	if a.Size > 4 {
		return 0, false
	}
	v, ok = a.State.Word(a.Offsets, lane)
	return v & (1<<(8*a.Size) - 1), ok
}

// Callers returns the source lines of the calls that led to the access, the innermost
// first.
func (a *Access) Callers() []string { return a.State.Callers() }

// Alloc is an allocation of global memory.
type Alloc struct {
	Addr uint64
	Size int
	Data []byte // observers only read it
	Name string // of a module's variable, or ""
	// Undefined has the bytes that nobody has set: see device.Undefiner. An observer that sees the
	// writes of a launch removes what the launch has written.
	Undefined ByteSet
	Certain   bool // reading undefined bytes is an error; otherwise it may be meant
}

// ByteSet is a set of bytes by offset. The zero value is empty.
type ByteSet []uint64

// Has reports whether the set has one of n bytes from an offset on.
func (s ByteSet) Has(from, n int) bool {
	for i := from; i < from+n && i/64 < len(s); i++ {
		if s[i/64]>>(i%64)&1 != 0 {
			return true
		}
	}
	return false
}

// Add adds n bytes from an offset on.
func (s *ByteSet) Add(from, n int) {
	for len(*s) < (from+n+63)/64 {
		*s = append(*s, 0)
	}
	for i := from; i < from+n; i++ {
		(*s)[i/64] |= 1 << (i % 64)
	}
}

// Remove removes n bytes from an offset on.
func (s ByteSet) Remove(from, n int) {
	for i := from; i < from+n && i/64 < len(s); i++ {
		s[i/64] &^= 1 << (i % 64)
	}
}

// Async is asynchronous work that a thread or a warp has started.
type Async struct {
	Rank, Warp, Lane int // lane -1 stands for the whole warp
	ID               int
	Work             uint64       // number of the work, unique in the cluster
	Bars             []MbarrierAt // the mbarriers that count its bytes
}

// MbarrierAt is the place of an mbarrier.
type MbarrierAt struct {
	Block  int // rank
	Offset int
}

// Completion is asynchronous work that has taken effect.
type Completion struct {
	Rank, Warp, Lane int // who started the work; lane -1 stands for the whole warp
	ID               int
	Work             uint64 // number of work that mbarriers count, else 0
	Read             bool   // only the source has been read: cp.async.bulk.wait_group.read
}

// MbarrierOp is an operation on an mbarrier.
type MbarrierOp uint8

// The operations.
const (
	MbarrierInit MbarrierOp = iota
	MbarrierInval
	MbarrierArrive   // Count arrivals
	MbarrierDrop     // Count arrivals, which later phases do not await
	MbarrierExpect   // Count bytes
	MbarrierComplete // Count bytes
	MbarrierWait     // a wait that found its phase complete
)

// Mbarrier is an operation on an mbarrier that has taken effect or has failed.
type Mbarrier struct {
	MbarrierAt
	Op         MbarrierOp
	Rank, Warp int
	Mask       uint32
	ID         int
	Work       uint64 // MbarrierComplete: the number of the work
	Late       bool   // an arrival by cp.async.mbarrier.arrive, after the copies
	Count      int
	Expected   int   // arrivals that a phase awaits, after the operation
	Pending    int   // arrivals that the present phase still awaits
	Bytes      int   // bytes that the present phase still awaits
	Ended      bool  // the operation completed the phase
	Parity     int   // MbarrierWait: parity of the complete phase; -1 if a state named it
	Err        error // why the operation failed; the launch ends
}

// Opening is a barrier that releases lanes: barrier.cluster if Cluster is set, else
// barrier Bar of the block with that rank.
type Opening struct {
	Cluster bool
	Rank    int
	Bar     int
	Warps   []uint32 // by warp: lanes that waited
}
