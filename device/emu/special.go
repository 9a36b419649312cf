package emu

import (
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// specialSlot is the slot of a special register, widened to 64 bits when wide.
func (d *decoder) specialSlot(s *ptx.Symbol, wide bool) slot {
	key := s.Name
	if wide {
		key += " wide"
	}
	if at, ok := d.special[key]; ok {
		if changes(s.Name) {
			d.before(readSpecial(s.Name, at, wide))
		}
		return at
	}
	t := ptx.B32
	if wide {
		t = ptx.B64
	}
	at := d.newRegs(t, 1)
	d.special[key] = at
	if changes(s.Name) {
		d.before(readSpecial(s.Name, at, wide))
	} else {
		d.fn.specials = append(d.fn.specials, specialReg{s.Name, at, wide})
	}
	return at
}

// changes reports whether a special register has a new value at each read.
func changes(name string) bool {
	return strings.HasPrefix(name, "%clock") || strings.HasPrefix(name, "%globaltimer") || strings.HasPrefix(name, "%pm")
}

func readSpecial(name string, at slot, wide bool) exec {
	return func(f *frame, m uint32) { f.w.fillSpecial(f, specialReg{name, at, wide}) }
}

// specialPred is the slot of a special register that is a predicate.
func (d *decoder) specialPred(s *ptx.Symbol) slot {
	at := d.newRegs(ptx.Pred, 1)
	d.before(func(f *frame, m uint32) {
		f.p[at] = 0
		if f.b.cluster.explicit { // %is_explicit_cluster, the only one there is
			f.p[at] = fullMask
		}
	})
	return at
}

// fillSpecial puts a special register's value into its slot. All but those of the
// thread itself are the same in all lanes.
func (w *warp) fillSpecial(f *frame, s specialReg) {
	own := strings.HasPrefix(s.name, "%tid") || strings.HasPrefix(s.name, "%lane")
	var v uint64
	for l := range 32 {
		if own || l == 0 {
			v = w.specialValue(s.name, l)
		}
		if s.wide {
			f.r64[s.slot][l] = v
		} else {
			f.r32[s.slot][l] = uint32(v)
		}
	}
}

// special is the value of a special register in a lane.
func (w *warp) specialValue(name string, lane int) uint64 {
	b := w.b
	if strings.HasPrefix(name, "%reserved_smem_offset_") {
		return reservedShared
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
		return uint64(w.id)
	case "%nwarpid":
		return 64
	case "%smid":
		return uint64(b.index % b.launch.sms)
	case "%nsmid":
		return uint64(b.launch.sms)
	case "%gridid":
		return b.launch.id
	case "%lanemask_eq":
		return 1 << lane
	case "%lanemask_le":
		return 1<<(lane+1) - 1
	case "%lanemask_lt":
		return 1<<lane - 1
	case "%lanemask_ge":
		return fullMask &^ (1<<lane - 1)
	case "%lanemask_gt":
		return fullMask &^ (1<<(lane+1) - 1)
	case "%clock", "%clock64", "%globaltimer", "%globaltimer_lo":
		return w.steps + w.slept
	case "%clock_hi", "%globaltimer_hi":
		return (w.steps + w.slept) >> 32
	case "%cluster_ctarank":
		return uint64(b.rank)
	case "%cluster_nctarank":
		return uint64(b.launch.Cluster.Count())
	case "%dynamic_smem_size":
		return uint64(b.launch.Shared)
	case "%total_smem_size", "%aggr_smem_size":
		return uint64(len(b.shared))
	case "WARP_SZ":
		return 32
	case "%envreg1", "%envreg2":
		return b.launch.gridBarrier(name)
	}
	return 0
}

// gridBarrier is half of the address of what a barrier of the grid counts in; 0 when
// the launch is not cooperative.
func (l *launch) gridBarrier(name string) uint64 {
	switch {
	case l.grid == nil:
		return 0
	case name == "%envreg1":
		return l.grid.addr >> 32
	}
	return l.grid.addr & 0xffffffff
}

// vector is the value of a special register of three components.
func (w *warp) vector(name string, lane int) [3]int {
	b, l := w.b, w.b.launch
	grid, block, cl := l.Grid, l.Block, l.Cluster
	switch name {
	case "%tid":
		t := w.id*32 + lane
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
