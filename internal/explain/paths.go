package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// stretch is a part of the code without a branch that leaves it: a basic block, or neighbouring ones.
type stretch struct {
	ids          machine.IDs
	first, last  int32
	warps, lanes int // the most of one block that execute it, and the most lanes of one warp
	active       int // lanes of all events
	width        int // lanes that the warps of all events have
	events       int
	micros       float64
	synchronises bool
}

// stretches returns what the recorded clusters did in each basic block, in the order of the program.
func (f *finder) stretches() []*stretch {
	of := map[int32]*stretch{}
	var list []*stretch
	for i := range f.l.Program {
		id := int32(i)
		b := f.m.BlockOf(id)
		if of[b] == nil {
			of[b] = &stretch{ids: machine.IDs{}, first: id}
			list = append(list, of[b])
		}
		of[b].ids[id], of[b].last = true, id
	}
	for _, c := range f.l.Clusters {
		for b := range c.Blocks {
			f.follow(c, &c.Blocks[b], of)
		}
	}
	for _, at := range f.spenders() {
		of[f.m.BlockOf(at.ID)].micros += f.base.Spent[at]
	}
	return list
}

// spenders returns the instructions that take time, in order.
func (f *finder) spenders() (list []machine.Spender) {
	for at := range f.base.Spent {
		if at.ID >= 0 {
			list = append(list, at)
		}
	}
	sorted.By(list, func(a, b machine.Spender) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Why, b.Why))
	})
	return list
}

// follow adds what the warps of a block did.
func (f *finder) follow(c *warptrace.Cluster, b *warptrace.Block, of map[int32]*stretch) {
	warps := map[*stretch]int{}
	for w, path := range b.Warps {
		seen := map[*stretch]bool{}
		for _, e := range path {
			if e.Off {
				continue
			}
			s := of[f.m.BlockOf(e.ID)]
			seen[s] = true
			s.lanes = max(s.lanes, int(e.Lanes))
			s.active += int(e.Lanes)
			s.width += widthOf(b, w)
			s.events++
			s.synchronises = s.synchronises || synchronises(c, e)
		}
		for s := range seen {
			warps[s]++
			s.warps = max(s.warps, warps[s])
		}
	}
}

// widthOf returns the number of threads of a warp.
func widthOf(b *warptrace.Block, warp int) int { return min(32, b.Threads-32*warp) }

// synchronises reports whether an event is a part of the communication between warps or with copies.
func synchronises(c *warptrace.Cluster, e warptrace.Event) bool {
	if e.Fact < 0 {
		return false
	}
	fact := &c.Facts[e.Fact]
	return fact.Waits >= 0 || len(fact.Arrivals) > 0 || len(fact.Works) > 0
}

// few reports whether one warp, or one eighth of a block's warps, executes a part of the code with at most one eighth of
// the block's threads.
func (f *finder) few(s *stretch) bool {
	threads := f.l.Clusters[0].Blocks[0].Threads
	most := fewShare * float64(threads)
	return threads >= 64 && s.warps > 0 && float64(s.warps*s.lanes) <= most && (s.warps == 1 || float64(32*s.warps) <= most)
}

// leastSerial is the number of instructions from which code of few threads is worth a change.
const leastSerial = 16

// serialCode tries to take away the code that few threads of a block execute, other than loops that
// serialLoops spreads.
func (f *finder) serialCode() {
	var list []*stretch
	last := (*stretch)(nil)
	for _, s := range f.stretches() {
		switch {
		case s.synchronises || !f.few(s):
			last = nil
		case last != nil && last.warps == s.warps && last.lanes == s.lanes:
			last.join(s)
		default:
			last = s
			list = append(list, s)
		}
	}
	sorted.By(list, func(a, b *stretch) int { return cmp.Or(cmp.Compare(b.micros, a.micros), cmp.Compare(a.first, b.first)) })
	list = slices.DeleteFunc(list, func(s *stretch) bool { return s.events < leastSerial || s.micros == 0 })
	for _, s := range list[:min(most, len(list))] {
		f.add(candidate{Change: Change{Kind: "serial code", Bound: true}, edit: &machine.Edit{Free: s.ids}}, f.spotOf(s.first),
			"let all threads of the block share the code at %s, now run by %d of %d", f.between(s), s.warps*s.lanes, f.l.Clusters[0].Blocks[0].Threads)
	}
}

// join adds the part of the code that follows.
func (s *stretch) join(o *stretch) {
	for id := range o.ids {
		s.ids[id] = true
	}
	s.last = o.last
	s.events += o.events
	s.micros += o.micros
}

func (f *finder) spotOf(id int32) *spot { return f.spots[keyOf(&f.l.Program[id])] }

// between names a part of the code.
func (f *finder) between(s *stretch) string {
	from, to := f.spotOf(s.first), f.spotOf(s.last)
	switch {
	case from.place() == to.place():
		return from.place()
	case from.key.source == "" && to.key.source == "":
		return fmt.Sprintf("PTX lines %d to %d", from.line, to.last)
	}
	return from.place() + " to " + to.place()
}

// mixedChains tries independent chains in place of one of different operations, in which each iteration of
// a loop depends on the one before.
func (f *finder) mixedChains() {
	list := f.stretches()
	sorted.By(list, func(a, b *stretch) int { return cmp.Or(cmp.Compare(b.micros, a.micros), cmp.Compare(a.first, b.first)) })
	for _, s := range list[:min(most, len(list))] {
		chain, names := machine.IDs{}, map[string]bool{}
		at := *s
		at.first = -1
		for id := s.first; id <= s.last; id++ {
			switch f.m.UnitOf(id) {
			case machine.Float, machine.Half, machine.Double, machine.Exp:
				if s.ids[id] && f.m.Recurs(machine.IDs{id: true}) {
					chain[id], names[f.l.Program[id].Op.Text], at.last = true, true, id
					if at.first < 0 {
						at.first = id
					}
				}
			}
		}
		if len(names) > 1 {
			f.add(candidate{Change: Change{Kind: "serial reduction"}, edit: &machine.Edit{Chains: chain}}, f.spotOf(at.first),
				"split the serial chain of %s at %s into %d independent ones", strings.Join(slices.Sorted(maps.Keys(names)), " and "), f.between(&at), machine.Accumulators)
		}
	}
}

// leastDivergent is the share of the events from which divergent code is worth a change.
const leastDivergent = 0.05

// divergence tries warps whose lanes take the same path: a warp then executes divergent code only as
// often as its active lanes fill it.
func (f *finder) divergence() {
	all, part, active, width := 0, 0, 0, 0
	divergent := map[int32]bool{} // basic blocks
	var worst *stretch
	for _, s := range f.stretches() {
		all += s.events
		if s.synchronises || f.few(s) || 4*s.active > 3*s.width {
			continue
		}
		divergent[f.m.BlockOf(s.first)] = true
		part, active, width = part+s.events, active+s.active, width+s.width
		if worst == nil || s.micros > worst.micros {
			worst = s
		}
	}
	if float64(part) < leastDivergent*float64(all) || worst == nil {
		return
	}
	f.add(candidate{Change: Change{Kind: "divergence"}, trace: f.converge(divergent)}, f.spotOf(worst.first),
		"let the lanes of a warp take the same path: on average %.1f of 32 lanes work in divergent code, above all at %s",
		32*float64(active)/float64(width), f.between(worst))
}

// converge returns a trace in which a warp executes divergent basic blocks as often as its active lanes fill them.
func (f *finder) converge(divergent map[int32]bool) *warptrace.Launch {
	edited := *f.l
	edited.Clusters = nil
	for _, c := range f.l.Clusters {
		cluster := *c
		cluster.Blocks = nil
		for i := range c.Blocks {
			b := &c.Blocks[i]
			block := warptrace.Block{Threads: b.Threads}
			for w, path := range b.Warps {
				block.Warps = append(block.Warps, f.fill(path, divergent, widthOf(b, w)))
			}
			cluster.Blocks = append(cluster.Blocks, block)
		}
		edited.Clusters = append(edited.Clusters, &cluster)
	}
	return &edited
}

// fill removes passes through divergent basic blocks from the path of a warp, until the lanes of those that it
// removes would fill those that remain.
func (f *finder) fill(path []warptrace.Event, divergent map[int32]bool, width int) (out []warptrace.Event) {
	waiting := 0 // lanes whose work is in no pass that remains
	for i := 0; i < len(path); {
		b, start := f.m.BlockOf(path[i].ID), i
		lanes := 0
		for i == start || i < len(path) && f.m.BlockOf(path[i].ID) == b && path[i].ID > path[i-1].ID {
			lanes = max(lanes, int(path[i].Lanes))
			i++
		}
		if !divergent[b] || lanes >= width {
			out = append(out, path[start:i]...)
			continue
		}
		if waiting += lanes; waiting >= width || i == len(path) {
			out = append(out, path[start:i]...)
			waiting = max(waiting-width, 0)
		}
	}
	return out
}
