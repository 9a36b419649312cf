package predict

import (
	"slices"

	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
)

// placeAll assigns all clusters of a launch to groups of SMs, in order, each to the group that has
// room first, and returns what the group that ends last runs. A cluster that was not recorded
// counts as the recorded one that is nearest in the grid.
func placeAll(l *warptrace.Launch, groups, resident int) machine.Plan {
	weights := make([]float64, len(l.Clusters))
	for i, c := range l.Clusters {
		weights[i] = weight(c)
	}
	if l.Count <= groups {
		// Every group runs one cluster; the longest one decides.
		return machine.Plan{Clusters: []int{longest(weights)}, Resident: 1}
	}
	if slices.Min(weights) == slices.Max(weights) {
		return machine.Plan{Clusters: make([]int, (l.Count+groups-1)/groups), Resident: resident}
	}
	ends := make([]float64, groups*resident) // slot i belongs to group i % groups
	runs := make([][]int, groups*resident)
	for n := range l.Count {
		slot := 0
		for i := range ends {
			if ends[i] < ends[slot] {
				slot = i
			}
		}
		c := nearest(l, n)
		ends[slot] += weights[c]
		runs[slot] = append(runs[slot], c)
	}
	return machine.Plan{Clusters: busiest(runs, weights, groups), Resident: resident}
}

// Balance returns the average work of the SMs that have blocks, as a share of the work of the SM that ends last. It
// is 1 if all blocks have the same work, even if some SMs have one block more.
func (w *Work) Balance(chip chips.Chip) float64 {
	l := w.Trace
	groups := max(chip.SMs/len(l.Clusters[0].Blocks), 1)
	last, all, most := 0.0, 0.0, 0.0
	for _, c := range placeAll(l, groups, w.Fit(chip).Blocks+w.More).Clusters {
		last += weight(l.Clusters[c])
	}
	for n := range l.Count {
		x := weight(l.Clusters[nearest(l, n)])
		all, most = all+x, max(most, x)
	}
	if last == 0 || all == most*float64(l.Count) {
		return 1
	}
	return min(all/float64(min(groups, l.Count))/last, 1)
}

// busiest returns the clusters of the group with the most work, in the order in which they start.
func busiest(runs [][]int, weights []float64, groups int) []int {
	best, most := 0, -1.0
	for g := range groups {
		sum := 0.0
		for slot := g; slot < len(runs); slot += groups {
			for _, c := range runs[slot] {
				sum += weights[c]
			}
		}
		if sum > most {
			best, most = g, sum
		}
	}
	var list []int
	for round := 0; ; round++ {
		before := len(list)
		for slot := best; slot < len(runs); slot += groups {
			if round < len(runs[slot]) {
				list = append(list, runs[slot][round])
			}
		}
		if len(list) == before {
			return list
		}
	}
}

// weight estimates the work of a cluster: the instructions of its warps.
func weight(c *warptrace.Cluster) float64 {
	n := 0
	for i := range c.Blocks {
		for _, w := range c.Blocks[i].Warps {
			n += len(w)
		}
	}
	return float64(n)
}

func longest(weights []float64) int { return slices.Index(weights, slices.Max(weights)) }

// nearest returns the recorded cluster whose index in the grid is nearest to n.
func nearest(l *warptrace.Launch, n int) int {
	best := 0
	for i, c := range l.Clusters {
		if abs(c.Index-n) < abs(l.Clusters[best].Index-n) {
			best = i
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }
