package emu

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Observer is told what launches do. The emulator knows nothing of what observers
// make of it, and a launch without one runs code that has never heard of them.
type Observer interface {
	// Launch is called when a launch starts; nil means that it is not of interest.
	Launch(l *LaunchInfo) LaunchObserver
}

// LaunchInfo is a launch that starts.
type LaunchInfo struct {
	File    string
	Kernel  string
	Module  *ptx.Module
	Launch  device.Launch
	Serial  bool     // its blocks may talk to each other: one goroutine runs them in turns
	Program []Inst   // all instructions, by ID
	Shared  []Shared // the variables in a block's shared memory, by offset
	Bytes   int      // of a block's shared memory
}

// Inst is an instruction of a loaded module.
type Inst struct {
	*ptx.Inst
	Match  isa.Match
	Func   *ptx.Func
	Source string // "kernel.cu:12:3", from .loc, or ""
	// Callers are where the inlined code that Source is in was called, the innermost
	// call first.
	Callers []string
	Library bool // it is inlined from a header that is not the author's
	ID      int  // in the program
	at      []int
}

// Shared is a variable in shared memory. Dynamic shared memory is one as well.
type Shared struct {
	Name         string
	Offset, Size int
}

// LaunchObserver is told what one launch does.
type LaunchObserver interface {
	// Wants reports whether an instruction is to be announced when it executes:
	// see Step.
	Wants(in *Inst) bool
	// Cluster is called when a cluster starts; a launch without clusters has clusters
	// of one block. The calls on what it returns come one after the other; unless the
	// launch is serial, different clusters may run at the same time.
	Cluster(c *ClusterInfo) ClusterObserver
	// End: the launch is over, with the error that it gives.
	End(err error)
}

// SkipObserver is a LaunchObserver that is also told of instructions that the guard
// of no lane lets through: by a Step with an empty Mask.
type SkipObserver interface {
	LaunchObserver
	WantsSkipped()
}

// ClusterInfo is a cluster that starts.
type ClusterInfo struct {
	Index  int
	Blocks []BlockInfo // by rank
}

// BlockInfo is a block of a cluster.
type BlockInfo struct {
	Index   int // in the grid, x first
	Ctaid   [3]int
	Threads int
	Memory  []byte // its shared memory, to look at
}

// ClusterObserver is told what one cluster does.
type ClusterObserver interface {
	// Step: lanes of a warp execute an instruction, which has not taken effect. An
	// instruction that waits (bar.sync) is announced when lanes reach it.
	Step(s *Step)
	// Pass: lanes are through with an instruction that may wait.
	Pass(s *Step)
	// Access: lanes touch memory, or start asynchronous work that does.
	Access(a *Access)
	// Start: a thread has started asynchronous work, whose accesses have been told.
	Start(a *Async)
	// Complete: asynchronous work has taken effect.
	Complete(c *Completion)
	// Mbarrier: an operation on an mbarrier has taken effect, or is at fault.
	Mbarrier(e *Mbarrier)
	// Open: a barrier lets lanes go.
	Open(o *Opening)
	// End: all threads of the cluster have ended, or its launch was stopped.
	End()
}

// Step is an instruction as lanes of a warp execute it. It is valid during the call.
type Step struct {
	Rank, Warp int
	Mask       uint32 // the lanes whose guard holds
	// Together are the lanes that execute an instruction such as shfl.sync with each
	// other: Mask, and lanes that are at the same one elsewhere.
	Together uint32
	Live     uint32 // the lanes of the warp that have not ended
	Active   uint32 // the lanes that are at the instruction: Mask, and those whose guard fails
	*Inst

	f *frame
}

// Access is memory that lanes of a warp touch.
type Access struct {
	Rank, Warp int
	Mask       uint32
	ID         int
	Space      ptx.Space // Global, Shared or Local
	Block      int       // Shared: the rank of the block whose memory it is
	Alloc      *Alloc    // Global: the allocation
	Offsets    *[32]uint64
	Size       int // bytes at each offset
	// Units are, where Offsets is nil, the offsets that the warp as a whole touches.
	Units []int32
	Write bool

	f *frame
}

// Alloc is an allocation of global memory.
type Alloc struct {
	Addr uint64
	Size int
	Data []byte // to look at
	Name string // of a module's variable, or ""
}

// Async is asynchronous work that a thread, or a warp, has started.
type Async struct {
	Rank, Warp, Lane int // lane -1 stands for the whole warp
	ID               int
	Work             uint64       // a number for it
	Bars             []MbarrierAt // the mbarriers that count its bytes
}

// MbarrierAt is where an mbarrier is.
type MbarrierAt struct {
	Block  int // rank
	Offset int
}

// Completion is asynchronous work that has taken effect.
type Completion struct {
	Rank, Warp, Lane int // who started it; lane -1 stands for the whole warp
	ID               int
	Work             uint64 // of work that mbarriers count, else 0
	Read             bool   // only its source has been read: cp.async.bulk.wait_group.read
}

// MbarrierOp is what happens to an mbarrier.
type MbarrierOp uint8

// The operations.
const (
	MbarrierInit MbarrierOp = iota
	MbarrierInval
	MbarrierArrive   // Count arrivals
	MbarrierDrop     // Count arrivals, and as many fewer from then on
	MbarrierExpect   // Count bytes
	MbarrierComplete // Count bytes
	MbarrierWait     // found its phase over
)

// Mbarrier is an operation on an mbarrier.
type Mbarrier struct {
	MbarrierAt
	Op         MbarrierOp
	Rank, Warp int
	Mask       uint32
	ID         int
	Work       uint64 // of MbarrierComplete
	Late       bool   // an arrival by cp.async.mbarrier.arrive, after the copies
	Count      int
	Expected   int   // arrivals a phase awaits, after it
	Pending    int   // arrivals the present phase still awaits
	Bytes      int   // and bytes
	Ended      bool  // it ended the phase
	Parity     int   // MbarrierWait: of the phase that was found over; -1 when a state named it
	Err        error // it could not be done: the launch ends
}

// Opening is a barrier that lets lanes go.
type Opening struct {
	Cluster bool // barrier.cluster; else
	Rank    int  // barrier Bar of a block
	Bar     int
	Warps   []uint32 // by warp: lanes that waited
}

// Arg is the operand of that name in the form, or nil where it is left out.
func (i *Inst) Arg(name string) *ptx.Operand { return (&inst{i.Inst, i.Match, i.at}).arg(name) }

// Space is the state space that the instruction names for an address operand.
func (i *Inst) Space(name string) ptx.Space {
	return ptx.ParseSpace((&inst{i.Inst, i.Match, i.at}).space(name))
}

// Value is a scalar operand in a lane: a register, a constant, a predicate as 0 or
// 1, or the address of a variable in its own space.
func (s *Step) Value(o *ptx.Operand, lane int) uint64 {
	switch o.Kind {
	case ptx.RegOperand:
		return s.register(o, lane)
	case ptx.SpecialOperand:
		return s.f.w.specialValue(o.Sym.Name, lane)
	case ptx.SymOperand, ptx.AddrOperand:
		return s.base(o, lane) + uint64(o.Val)
	}
	return uint64(o.Val)
}

// Address is the state space and the address of an address operand in a lane. A
// generic address is given as one of the space that it falls into; the shared
// memory of another block of the cluster has its rank plus one from bit 24 on.
func (s *Step) Address(o *ptx.Operand, space ptx.Space, lane int) (ptx.Space, uint64) {
	addr := s.Value(o, lane)
	if space != ptx.Generic {
		return space, addr
	}
	if o.Sym != nil && o.Sym.Kind == ptx.VarSymbol {
		return o.Sym.Var.Space, addr
	}
	for _, w := range []ptx.Space{ptx.Shared, ptx.Local, ptx.Param} {
		if addr>>windowBits == genericBase(w)>>windowBits {
			return w, addr & (1<<windowBits - 1)
		}
	}
	return ptx.Global, addr
}

// Depth is how many calls deep the lanes are.
func (s *Step) Depth() int { return s.f.depth }

func (s *Step) register(o *ptx.Operand, lane int) uint64 {
	d := &decoder{fn: s.f.fn, regs: s.f.fn.slots}
	r := d.reg(o)
	var v uint64
	switch widthOf(o.Sym.Type) {
	case wPred:
		v = uint64(s.f.p[r] >> lane & 1)
		if o.Neg {
			v ^= 1
		}
	case w32:
		v = uint64(s.f.r32[r][lane])
	default:
		v = s.f.r64[r][lane]
	}
	return v + uint64(o.Val)
}

// base is the address of a variable or function, or what a base register holds.
func (s *Step) base(o *ptx.Operand, lane int) uint64 {
	switch {
	case o.Sym == nil:
		return 0
	case o.Sym.Kind == ptx.RegSymbol:
		r := *o
		r.Kind, r.Val = ptx.RegOperand, 0
		return s.register(&r, lane)
	case o.Sym.Kind == ptx.FuncSymbol:
		return s.f.fn.prog.funcAddr(o.Sym)
	}
	d := &decoder{p: s.f.fn.prog, fn: s.f.fn}
	return d.variable(o.Sym)
}

// Lanes calls do for each lane of the step, in order.
func (s *Step) Lanes(do func(lane int)) {
	for m := s.Mask; m != 0; m &= m - 1 {
		do(bits.TrailingZeros32(m))
	}
}
