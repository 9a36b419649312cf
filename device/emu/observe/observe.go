package observe

import (
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Observer is told what launches do.
type Observer interface {
	// Launch is called when a launch starts. It returns nil if the launch is not of
	// interest.
	Launch(l *LaunchInfo) LaunchObserver
}

// LaunchInfo describes a launch that starts.
type LaunchInfo struct {
	File    string
	Kernel  string
	Module  *ptx.Module
	Launch  device.Launch
	Serial  bool     // blocks may communicate, so one goroutine interleaves them
	Program []Inst   // all instructions, by ID
	Shared  []Shared // the variables in a block's shared memory, by offset
	Bytes   int      // size of a block's shared memory
}

// Inst is an instruction of a loaded module.
type Inst struct {
	isa.Bound
	Func   *ptx.Func
	Source string // "kernel.cu:12:3" from .loc, or ""
	// Callers are the places from which the inlined code that contains Source was
	// called, the innermost call first.
	Callers []string
	Library bool // the code is inlined from a header that the author did not write
	ID      int  // index in LaunchInfo.Program
}

// Shared is a variable in shared memory. Dynamic shared memory counts as one variable.
type Shared struct {
	Name         string
	Offset, Size int
}

// LaunchObserver is told what one launch does.
type LaunchObserver interface {
	// Wants reports whether an instruction is announced each time it executes: see
	// ClusterObserver.Step.
	Wants(in *Inst) bool
	// Cluster is called when a cluster starts. A launch without clusters has clusters of
	// one block. The emulator calls the methods of the result one after the other.
	// Different clusters may run at the same time unless the launch is serial.
	Cluster(c *ClusterInfo) ClusterObserver
	// End is called when the launch is over, with the error that the launch returns.
	End(err error)
}

// SkipObserver is a LaunchObserver that can also be told of instructions that no lane
// executes because every guard fails. Such a Step has an empty Mask.
type SkipObserver interface {
	LaunchObserver
	WantsSkipped() bool
}

// ReplayObserver is a LaunchObserver that may need to see a launch a second time.
type ReplayObserver interface {
	LaunchObserver
	// Again is called when the launch has run, before End. It returns the observer of a second
	// run of the launch, or nil. The second run starts with the memory of the first and runs the
	// warps in the same order. Its results are dropped.
	Again() LaunchObserver
}

// WantsSkipped reports whether an observer wants instructions that no lane executes.
func WantsSkipped(l LaunchObserver) bool {
	s, ok := l.(SkipObserver)
	return ok && s.WantsSkipped()
}

// FaultObserver is a ClusterObserver that is also told of faults: of the fault that ends
// the launch, and of the faults after which the launch continues.
type FaultObserver interface {
	ClusterObserver
	Fault(f *device.Fault)
}

// ClusterInfo describes a cluster that starts.
type ClusterInfo struct {
	Index  int
	Blocks []BlockInfo // by rank
}

// BlockInfo describes a block of a cluster.
type BlockInfo struct {
	Index   int // the index in the grid, x first
	Ctaid   [3]int
	Threads int
	Memory  []byte // the block's shared memory; observers only read it
}

// ClusterObserver is told what one cluster does.
type ClusterObserver interface {
	// Step is called before lanes of a warp execute an instruction. An instruction that
	// waits (bar.sync) is announced when lanes reach it.
	Step(s *Step)
	// Pass is called when lanes have completed an instruction that may wait.
	Pass(s *Step)
	// Access is called when lanes access memory, or start asynchronous work that will.
	Access(a *Access)
	// Start is called when a thread has started asynchronous work. The accesses of the
	// work have been announced before.
	Start(a *Async)
	// Complete is called when asynchronous work has taken effect.
	Complete(c *Completion)
	// Mbarrier is called when an operation on an mbarrier has taken effect, or has failed.
	Mbarrier(e *Mbarrier)
	// Open is called when a barrier releases lanes.
	Open(o *Opening)
	// End is called when all threads of the cluster have ended, or when the launch was
	// stopped.
	End()
}
