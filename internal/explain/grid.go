package explain

import (
	"github.com/GOATnote-Inc/attest/internal/occupancy"
	"github.com/GOATnote-Inc/attest/internal/predict"
)

// mostlyBusy is the share of the SMs, or of their time, from which a kernel uses the chip.
const mostlyBusy = 0.95

// groups returns how many clusters run at once if each SM has one block.
func (f *finder) groups() int { return max(f.chip.SMs/len(f.l.Clusters[0].Blocks), 1) }

// occupancy tries one more block per SM, and as many as the grid needs for one wave less.
func (f *finder) occupancy(w *predict.Work) {
	fit, groups := w.Fit(f.chip), f.groups()
	sm, ok := occupancy.Of(f.chip.Target)
	if !ok || f.l.Count <= groups*fit.Blocks {
		return
	}
	most := sm.Fit(occupancy.Block{Threads: f.l.Clusters[0].Blocks[0].Threads}).Blocks
	waves := ceil(f.l.Count, groups*fit.Blocks)
	fewer := ceil(f.l.Count, groups*(waves-1))
	for _, n := range []int{fit.Blocks + 1, fewer} {
		if n > most || n == fewer && len(f.list) > 0 && f.list[len(f.list)-1].more == n-fit.Blocks {
			continue
		}
		f.add(candidate{Change: Change{Kind: "occupancy"}, more: n - fit.Blocks}, nil,
			"fit %d blocks on an SM instead of %d: %s limits them", n, fit.Blocks, fit.Limit)
	}
}

// lastWave tries a grid that keeps all SMs busy until the end.
func (f *finder) lastWave(w *predict.Work) {
	groups, blocks := f.groups(), len(f.l.Clusters[0].Blocks)
	full := groups * max(w.Fit(f.chip).Blocks, 1)
	if rest := f.l.Count % full; f.l.Count >= full && rest > 0 {
		f.add(candidate{Change: Change{Kind: "last wave"}, count: f.l.Count - rest}, nil,
			"divide the work evenly: the last wave has %d of %d blocks", rest*blocks, full*blocks)
		return
	}
	if rest := f.l.Count % groups; f.l.Count > groups && rest > 0 {
		f.add(candidate{Change: Change{Kind: "last wave"}, count: f.l.Count - rest}, nil,
			"divide the work evenly: there is one block more on %d of %d SMs", rest*blocks, groups*blocks)
	}
}

// imbalance tries blocks that all take as long. Other blocks than the recorded ones may differ from
// them, and the work may not be divisible, so the gain is a bound.
func (f *finder) imbalance(w *predict.Work) {
	share := w.Balance(f.chip)
	if share > mostlyBusy {
		return
	}
	f.add(candidate{Change: Change{Kind: "imbalance", Bound: true}, scale: share}, nil,
		"give all blocks the same work: the SM that ends last has %.1f times the work of an average one", 1/share)
}

// idle tries a grid that has work for all SMs. The launch takes as long as before, and so do copies
// and barriers that more blocks would repeat, so the gain is a bound.
func (f *finder) idle() {
	groups, blocks := f.groups(), len(f.l.Clusters[0].Blocks)
	share := float64(f.l.Count) / float64(groups)
	if share > mostlyBusy {
		return
	}
	f.add(candidate{Change: Change{Kind: "idle SMs", Bound: true}, scale: share}, nil,
		"divide the work among more blocks, which now use %d of %d SMs", f.l.Count*blocks, groups*blocks)
}

func ceil(n, by int) int { return (n + by - 1) / by }
