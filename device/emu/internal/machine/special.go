package machine

import (
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
)

// FillSpecial puts the value of a special register into its slot. Only the registers of
// the thread itself (%tid, %laneid) differ between lanes.
func (w *Warp) FillSpecial(f *Frame, s SpecialReg) {
	own := strings.HasPrefix(s.Name, "%tid") || strings.HasPrefix(s.Name, "%lane")
	var v uint64
	for l := range 32 {
		if own || l == 0 {
			v = w.specialValue(s.Name, l)
		}
		if s.Wide {
			f.R64[s.Slot][l] = v
		} else {
			f.R32[s.Slot][l] = uint32(v)
		}
	}
}

// specialValue returns the value of a special register in a lane.
func (w *Warp) specialValue(name string, lane int) uint64 {
	b := w.b
	if strings.HasPrefix(name, "%reserved_smem_offset_") {
		return memory.ReservedShared
	}
	if base, dim, ok := strings.Cut(name, "."); ok {
		i := strings.Index("xyzw", dim)
		if i > 2 {
			return 0
		}
		return uint64(w.vector(base, lane)[i])
	}
	switch name {
	case "%laneid":
		return uint64(lane)
	case "%warpid":
		return b.Launch.slot(b.index, w.ID)
	case "%nwarpid":
		return b.Launch.slots()
	case "%smid":
		return b.Launch.sm(b.index)
	case "%nsmid":
		return b.Launch.numberOfSMs()
	case "%gridid":
		return b.Launch.ID + b.Launch.Moment>>32
	case "%lanemask_eq":
		return 1 << lane
	case "%lanemask_le":
		return 1<<(lane+1) - 1
	case "%lanemask_lt":
		return 1<<lane - 1
	case "%lanemask_ge":
		return FullMask &^ (1<<lane - 1)
	case "%lanemask_gt":
		return FullMask &^ (1<<(lane+1) - 1)
	case "%clock", "%clock64", "%globaltimer", "%globaltimer_lo", "%pm0", "%pm1", "%pm2", "%pm3", "%pm4", "%pm5", "%pm6", "%pm7":
		return w.steps + w.Slept + b.Launch.Moment
	case "%clock_hi", "%globaltimer_hi":
		return (w.steps + w.Slept + b.Launch.Moment) >> 32
	case "%cluster_ctarank":
		return uint64(b.Rank)
	case "%cluster_nctarank":
		return uint64(b.Launch.Cluster.Count())
	case "%dynamic_smem_size":
		return uint64(b.Launch.Shared)
	case "%total_smem_size", "%aggr_smem_size":
		return uint64(len(b.Shared))
	case "WARP_SZ":
		return 32
	case "%envreg1", "%envreg2":
		return b.Launch.gridBarrier(name)
	case "%current_graph_exec":
		return b.Launch.graph()
	}
	return 0
}

// numberOfSMs returns the number of SMs that a launch sees. With a Moment it is a number from 129 to 256, even
// or odd: PTX does not promise that the numbers of SMs are contiguous, or that they are smaller than the number
// that the host knows.
func (l *launch) numberOfSMs() uint64 {
	if l.Moment == 0 {
		return uint64(l.SMs)
	}
	return 129 + l.random(-1)%128
}

// sm returns the number of the SM that a block runs on.
func (l *launch) sm(block int) uint64 {
	if l.Moment == 0 {
		return uint64(block % l.SMs)
	}
	return l.random(block) % l.numberOfSMs()
}

// random returns 24 bits that depend on the moment and on a block.
func (l *launch) random(block int) uint64 {
	x := l.Moment + uint64(block)*0x9e3779b97f4a7c15
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x >> 40
}

// graph returns the number of the graph that the launch is a node of. Without a Moment, and with every other one, the
// launch is not in a graph, and the number is 0.
func (l *launch) graph() uint64 {
	if l.random(-2)&1 == 0 || l.Moment == 0 {
		return 0
	}
	return l.Moment | 1
}

// slots returns the number of warps that an SM can hold: 64, or 48 on some chips.
func (l *launch) slots() uint64 {
	if l.Moment&1 != 0 {
		return 48
	}
	return 64
}

// slot returns the number of a warp among those of its SM. On a GPU it is not the number of the warp
// in its block.
func (l *launch) slot(block, warp int) uint64 {
	if l.Moment == 0 {
		return uint64(warp)
	}
	return (uint64(warp) + l.random(block)>>12) % l.slots()
}

// gridBarrier returns one half of the address of the memory that a grid barrier counts in,
// or 0 if the launch is not cooperative.
func (l *launch) gridBarrier(name string) uint64 {
	switch {
	case l.barrierMemory == nil:
		return 0
	case name == "%envreg1":
		return l.barrierMemory.Addr >> 32
	}
	return l.barrierMemory.Addr & 0xffffffff
}

// vector returns the value of a special register of three components.
func (w *Warp) vector(name string, lane int) [3]int {
	b, l := w.b, w.b.Launch
	grid, block, cl := l.Grid, l.Block, l.Cluster
	switch name {
	case "%tid":
		t := w.ID*32 + lane
		return [3]int{t % block.X, t / block.X % block.Y, t / (block.X * block.Y)}
	case "%ntid":
		return [3]int{block.X, block.Y, block.Z}
	case "%ctaid":
		return b.ctaid
	case "%nctaid":
		return [3]int{grid.X, grid.Y, grid.Z}
	case "%clusterid":
		return [3]int{b.ctaid[0] / cl.X, b.ctaid[1] / cl.Y, b.ctaid[2] / cl.Z}
	case "%nclusterid":
		return [3]int{grid.X / cl.X, grid.Y / cl.Y, grid.Z / cl.Z}
	case "%cluster_ctaid":
		return [3]int{b.ctaid[0] % cl.X, b.ctaid[1] % cl.Y, b.ctaid[2] % cl.Z}
	case "%cluster_nctaid":
		return [3]int{cl.X, cl.Y, cl.Z}
	}
	return [3]int{}
}
