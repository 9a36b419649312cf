package occupancy

import (
	"github.com/GOATnote-Inc/attest/ptx"
)

// SM is what one streaming multiprocessor offers to the blocks that it holds.
type SM struct {
	Warps     int
	Blocks    int
	Registers int
	Shared    int // bytes
	SharedMax int // bytes that one block may use
}

// Rules of allocation that all supported architectures share.
const (
	warpThreads   = 32
	registerUnit  = 256  // registers are given to a warp in units of this many
	partitions    = 4    // an SM has four partitions, each with a quarter of the registers
	sharedUnit    = 128  // bytes
	driverShared  = 1024 // bytes of shared memory that the driver takes for each block
	registerLimit = 255  // per thread
)

// sms are the architectures from sm_80 on, by their number.
var sms = map[int]SM{
	80: {Warps: 64, Blocks: 32, Registers: 65536, Shared: 164 << 10, SharedMax: 163 << 10},
	86: {Warps: 48, Blocks: 16, Registers: 65536, Shared: 100 << 10, SharedMax: 99 << 10},
	89: {Warps: 48, Blocks: 24, Registers: 65536, Shared: 100 << 10, SharedMax: 99 << 10},
	90: {Warps: 64, Blocks: 32, Registers: 65536, Shared: 228 << 10, SharedMax: 227 << 10},
}

// Of returns the SM of an architecture, and whether it is known.
func Of(t ptx.Target) (SM, bool) {
	s, ok := sms[t.SM]
	return s, ok
}

// Block is what one block of a kernel uses.
type Block struct {
	Threads   int
	Registers int // per thread
	Shared    int // bytes, static and dynamic
}

// Fit is how many blocks an SM holds at once.
type Fit struct {
	Blocks int
	Limit  string  // what another block would lack: "registers", "shared memory", "threads" or "blocks"
	Warps  float64 // share of the SM's warps that are in use
}

// Fit returns how many of these blocks fit on the SM. With no blocks, Limit says what one
// block has too much of.
func (s SM) Fit(b Block) Fit {
	warps := (b.Threads + warpThreads - 1) / warpThreads
	if warps == 0 {
		return Fit{Limit: "threads"}
	}
	f := Fit{Blocks: s.Blocks, Limit: "blocks"}
	limit := func(n int, what string) {
		if n < f.Blocks {
			f.Blocks, f.Limit = n, what
		}
	}
	limit(s.Warps/warps, "threads")
	limit(s.byRegisters(b.Registers)/warps, "registers")
	limit(s.byShared(b.Shared), "shared memory")
	f.Warps = float64(f.Blocks*warps) / float64(s.Warps)
	return f
}

// byRegisters is how many warps the registers suffice for.
func (s SM) byRegisters(perThread int) int {
	switch {
	case perThread <= 0:
		return s.Warps
	case perThread > registerLimit:
		return 0
	}
	perWarp := roundUp(perThread*warpThreads, registerUnit)
	return s.Registers / partitions / perWarp * partitions
}

// byShared is how many blocks the shared memory suffices for.
func (s SM) byShared(bytes int) int {
	if bytes > s.SharedMax {
		return 0
	}
	return s.Shared / (roundUp(bytes, sharedUnit) + driverShared)
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
