package predict

import (
	"slices"

	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// shareMemory sets how many bytes per cycle an SM gets from the L2 and gives to it. SMs that are active share the rate of the
// L2. For operands that are not in the L2 they share the rate of DRAM too, and what they read has its latency.
func (w *Work) shareMemory(p *machine.Plan, chip chips.Chip, mhz float64) {
	active := float64(max(min(chip.SMs, w.Trace.Count*len(w.Trace.Clusters[0].Blocks)), 1))
	share := float64(chip.SMs) / active // how much more of the L2 rate an SM gets than if all SMs were active
	p.L2Bytes = min(chip.Get("sm_bytes"), chip.Get("l2_bytes")*share)
	p.BulkBytes = min(chip.Get("sm_bulk_bytes"), chip.Get("bulk_bytes")*share)
	p.StoreBytes = chip.Get("store_bytes") * share
	if p.Misses = w.misses(&chip); p.Misses == 0 {
		return
	}
	// Several SMs read the same bytes, but these come from DRAM once.
	repeats := max(traffic(w.Trace)/max(w.touched(), 1), 1)
	p.DRAMBytes = chip.Get("dram_gbps") * 1e3 / mhz / active * repeats / p.Misses
}

// misses returns the share of the operands that DRAM delivers. The L2 has two halves, and what SMs of both halves read is in
// both. So operands that fit in one half never leave the L2, and operands that do not fit in the whole L2 displace each other.
func (w *Work) misses(chip *chips.Chip) float64 {
	if w.Cold {
		return 1
	}
	half := chip.Get("l2_mb") * 1e6 / 2
	return min(max((w.touched()-half)/half, 0), 1)
}

// touched returns the bytes of the operands and workspaces that the launch reads or writes.
func (w *Work) touched() float64 { return min(float64(w.Bytes), traffic(w.Trace)) + w.scratch() }

// scratch estimates the bytes of the workspaces that the launch stores or loads, from its recorded clusters. What one block
// stores and another one loads counts once.
func (w *Work) scratch() float64 {
	if len(w.Workspaces) == 0 {
		return 0
	}
	stored, loaded := map[uint64]bool{}, map[uint64]bool{}
	for _, c := range w.Trace.Clusters {
		for i := range c.Blocks {
			for _, path := range c.Blocks[i].Warps {
				for _, e := range path {
					if e.Fact < 0 {
						continue
					}
					lines := loaded
					if w.Trace.Program[e.ID].Match.Class().Role == isa.RoleStore {
						lines = stored
					}
					for _, line := range c.Facts[e.Fact].Lines {
						if at := line * warptrace.LineBytes; slices.ContainsFunc(w.Workspaces, func(x [2]uint64) bool { return x[0] <= at && at < x[1] }) {
							lines[line] = true
						}
					}
				}
			}
		}
	}
	return float64(max(len(stored), len(loaded))) * warptrace.LineBytes * float64(w.Trace.Count) / float64(len(w.Trace.Clusters))
}

// traffic estimates the bytes that a launch moves between the SMs and the L2, from its recorded clusters.
func traffic(l *warptrace.Launch) float64 {
	sectors := 0
	for _, c := range l.Clusters {
		for i := range c.Facts {
			sectors += c.Facts[i].Sectors
		}
	}
	return float64(sectors) * 32 * float64(l.Count) / float64(len(l.Clusters))
}
