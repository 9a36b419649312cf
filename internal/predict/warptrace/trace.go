package warptrace

import (
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Launch is the recorded part of one launch.
type Launch struct {
	Kernel   string
	Module   *ptx.Module
	Program  []observe.Inst // by ID
	Launch   device.Launch
	Shared   int        // bytes of shared memory per block
	Clusters []*Cluster // the recorded clusters, by their index in the grid
	Count    int        // number of clusters in the grid
}

// Cluster is a recorded cluster. A launch without clusters has clusters of one block.
type Cluster struct {
	Index  int
	Blocks []Block // by rank
	Facts  []Fact
	Works  []Work
	Phases []Phase
	// Updates counts how often lanes update addresses of global memory with atomics and reductions.
	Updates map[uint64]int
}

// Block is a recorded block.
type Block struct {
	Threads int
	Warps   [][]Event
}

// Event is an instruction that a warp or a part of a warp executed.
type Event struct {
	ID   int32 // the ID of the instruction, in Launch.Program
	Fact int32 // index in Cluster.Facts, or -1
	Off  bool  // no lane executed it, because every guard failed
	// Lanes is the number of lanes that executed it.
	Lanes uint8
}

// Fact is what an instruction did to memory and barriers.
type Fact struct {
	Wavefronts int      // the wavefronts of shared memory
	Conflicts  int      // wavefronts that addresses without bank conflicts would save
	Sectors    int      // the sectors of global memory, 32 bytes each
	Needed     int      // sectors that the accessed bytes would fill
	Lines      []uint64 // the lines of global memory, by address / 128; only for instructions of threads
	Same       int      // the most lanes that update one address with an atomic or a reduction
	Remote     bool     // it accessed the shared memory of another block
	Waits      int32    // the phase that it waited for, or -1
	Arrivals   []Arrival
	Works      []int32 // asynchronous work that it started: indices in Cluster.Works
}

// Arrival is arrivals at a phase.
type Arrival struct {
	Phase int32
	Count int
	Late  bool // counted when the warp's earlier cp.async copies are complete
}

// Work is an asynchronous copy that mbarriers count, or that a bulk group counts.
type Work struct {
	Bytes   int
	Sectors int     // the sectors of global memory
	Remote  bool    // it wrote the shared memory of another block
	Phases  []int32 // each expects one contribution of this work
}

// Phase is one completion of a barrier or an mbarrier.
type Phase struct {
	Need     int // contributions: arrivals and completed copies
	Mbarrier bool
	Cluster  bool // a barrier of the cluster
	Rank     int  // the block that owns the barrier
	At       int  // the offset of an mbarrier in shared memory, or the number of a barrier
}

// LineBytes is the size of a line of the caches.
const LineBytes = 128
