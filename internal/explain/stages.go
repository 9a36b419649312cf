package explain

import (
	"slices"

	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
)

// stages tries one more stage in the rings of shared memory that copies fill.
func (f *finder) stages() {
	groups, bulk := 0, false
	for i := range f.l.Program {
		if f.m.WaitsForCopies(int32(i)) {
			groups++
		}
	}
	for _, c := range f.l.Clusters {
		bulk = bulk || len(c.Works) > 0
	}
	switch {
	case groups > 0:
		f.add(candidate{Change: Change{Kind: "stages"}, edit: &machine.Edit{Groups: 1}}, nil,
			"add one more stage: wait for cp.async copies that were started one iteration earlier")
	case bulk:
		f.add(candidate{Change: Change{Kind: "stages"}, trace: moreStages(f.l)}, nil,
			"add one more stage to the ring of bulk copies, so that copies start one round earlier")
	}
}

// moreStages returns a trace in which rings of bulk copies have one more stage. If warps that start
// copies wait until a slot is free, they wait for the round before. Otherwise the warps that wait
// for a copy find the copy of the round before, because it was started one round earlier.
func moreStages(l *warptrace.Launch) *warptrace.Launch {
	edited := *l
	edited.Clusters = nil
	for _, c := range l.Clusters {
		edited.Clusters = append(edited.Clusters, moreStagesOf(l, c))
	}
	return &edited
}

func moreStagesOf(l *warptrace.Launch, c *warptrace.Cluster) *warptrace.Cluster {
	filled := map[int32]bool{} // phases that copies complete
	for i := range c.Works {
		for _, p := range c.Works[i].Phases {
			filled[p] = true
		}
	}
	edited := *c
	edited.Facts = slices.Clone(c.Facts)
	shifted := false
	each := func(shift func(path []warptrace.Event)) {
		for b := range c.Blocks {
			for _, path := range c.Blocks[b].Warps {
				shift(path)
			}
		}
	}
	each(func(path []warptrace.Event) {
		if startsCopies(c, path) {
			shifted = shiftWaits(l, c, &edited, path, func(p int32) bool { return !filled[p] }, false) || shifted
		}
	})
	if !shifted {
		each(func(path []warptrace.Event) {
			shiftWaits(l, c, &edited, path, func(p int32) bool { return filled[p] }, true)
		})
	}
	return &edited
}

// startsCopies reports whether a warp starts copies that mbarriers count.
func startsCopies(c *warptrace.Cluster, path []warptrace.Event) bool {
	return slices.ContainsFunc(path, func(e warptrace.Event) bool {
		return e.Fact >= 0 && slices.ContainsFunc(c.Facts[e.Fact].Works, func(w int32) bool { return len(c.Works[w].Phases) > 0 })
	})
}

// shiftWaits makes each wait of a warp for an mbarrier wait for the phase of the previous wait
// instead. The waits of one source line are a sequence. The first wait then waits for no phase, or
// for its own if keep is set. It reports whether there was a wait to shift.
func shiftWaits(l *warptrace.Launch, c, edited *warptrace.Cluster, path []warptrace.Event, which func(phase int32) bool, keep bool) bool {
	before := map[string]int32{}
	found := false
	for _, e := range path {
		if e.Fact < 0 {
			continue
		}
		p := c.Facts[e.Fact].Waits
		if p < 0 || !c.Phases[p].Mbarrier || !which(p) {
			continue
		}
		at := l.Program[e.ID].Source
		last, ok := before[at]
		before[at] = p
		if !ok {
			last = -1
			if keep {
				last = p
			}
		}
		found = found || ok
		edited.Facts[e.Fact].Waits = last
	}
	return found
}
