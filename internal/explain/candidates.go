package explain

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// most is the number of places that are tried for each kind of change.
const most = 6

// finder collects the changes that fit a launch.
type finder struct {
	l     *warptrace.Launch
	base  *predict.Profile
	m     *machine.Machine
	chip  chips.Chip
	spots map[spotKey]*spot
	list  []candidate
}

// spot is an instruction of a source line in all its unrolled copies, or of a PTX line if the
// kernel has no source lines.
type spot struct {
	key       spotKey
	ids       machine.IDs
	line      int     // the first PTX line
	last      int     // the last PTX line
	copies    int     // PTX lines
	micros    float64 // the microseconds that warps spent at it
	executed  int     // by warps
	conflicts int
	waves     int
	sectors   int
	needed    int
	same      int // lanes that update one address, over all executions
	loads     int // executions that read global memory
	late      int // of these, the ones that are not among the first instructions of a warp
}

type spotKey struct {
	source, text string
	line         int
}

// candidates returns the changes that fit a launch.
func candidates(w *predict.Work, base *predict.Profile, chip chips.Chip) []candidate {
	f := &finder{l: w.Trace, base: base, chip: chip, m: machine.New(w.Trace, &chip, float64(base.Clock), nil)}
	f.findSpots()
	f.conflicts()
	f.sectors()
	f.stages()
	f.serialLoops()
	f.serialCode()
	f.divergence()
	f.chains()
	f.mixedChains()
	f.updates()
	f.exponentials()
	f.divisions()
	f.products()
	f.earlyLoads()
	f.occupancy(w)
	f.lastWave(w)
	f.imbalance(w)
	f.idle()
	f.barriers()
	f.fetches()
	f.freeLines()
	return f.list
}

// findSpots groups the instructions and adds up what the recorded clusters did at each spot.
func (f *finder) findSpots() {
	f.spots = map[spotKey]*spot{}
	of := make([]*spot, len(f.l.Program))
	for i := range f.l.Program {
		in := &f.l.Program[i]
		k := keyOf(in)
		s := f.spots[k]
		if s == nil {
			s = &spot{key: k, ids: machine.IDs{}, line: int(in.Pos.Line), copies: 1}
			f.spots[k] = s
		}
		s.last = int(in.Pos.Line)
		s.ids[int32(i)] = true
		of[i] = s
	}
	for at, us := range f.base.Spent {
		if at.ID >= 0 {
			of[at.ID].micros += us
		}
	}
	for _, c := range f.l.Clusters {
		for b := range c.Blocks {
			for _, path := range c.Blocks[b].Warps {
				for i, e := range path {
					of[e.ID].count(c, &e, i)
				}
			}
		}
	}
}

// prologue is the number of instructions of a warp that have nothing before them behind which a load could hide.
const prologue = 32

func keyOf(in *observe.Inst) spotKey {
	if in.Source == "" {
		return spotKey{"", in.Op.Text, int(in.Pos.Line)}
	}
	return spotKey{in.Source, in.Op.Text, 0}
}

// count adds an event, the at-th of its warp.
func (s *spot) count(c *warptrace.Cluster, e *warptrace.Event, at int) {
	s.executed++
	if e.Fact < 0 {
		return
	}
	fact := &c.Facts[e.Fact]
	s.conflicts += fact.Conflicts
	s.waves += fact.Wavefronts
	s.sectors += fact.Sectors
	s.needed += fact.Needed
	s.same += fact.Same
	if len(fact.Lines) > 0 {
		s.loads++
		if at >= prologue {
			s.late++
		}
	}
}

// merge adds the counts of another spot.
func (s *spot) merge(o *spot) {
	for id := range o.ids {
		s.ids[id] = true
	}
	s.line, s.last, s.copies = min(s.line, o.line), max(s.last, o.last), s.copies+o.copies
	s.micros += o.micros
	s.executed += o.executed
	s.conflicts += o.conflicts
	s.waves += o.waves
	s.sectors += o.sectors
	s.needed += o.needed
	s.same += o.same
	s.loads += o.loads
	s.late += o.late
}

// String returns "ld.shared.u32 at kernel.go:12" or "ld.shared.u32 at PTX line 40".
func (s *spot) String() string { return s.key.text + " at " + s.place() }

// place returns the source line, or the PTX line if there is none.
func (s *spot) place() string {
	switch {
	case s.key.source == "" && s.copies > 1:
		return fmt.Sprintf("PTX lines %d to %d (%d copies)", s.line, s.last, s.copies)
	case s.key.source == "":
		return fmt.Sprintf("PTX line %d", s.line)
	}
	at := path.Base(s.key.source)
	if parts := strings.SplitN(at, ":", 3); len(parts) == 3 {
		at = parts[0] + ":" + parts[1]
	}
	return at
}

// top returns the spots with the largest positive values. Spots without a source line that lie in
// one basic block and have the same opcode become one: they are copies of an unrolled line.
func (f *finder) top(n int, value func(*spot) float64) []*spot {
	type copies struct {
		block int32
		text  string
	}
	merged := map[copies]*spot{}
	var list []*spot
	for _, s := range f.inOrder() {
		if value(s) <= 0 {
			continue
		}
		if s.key.source != "" {
			list = append(list, s)
			continue
		}
		k := copies{f.m.BlockOf(s.first()), s.key.text}
		if merged[k] == nil {
			merged[k] = &spot{key: s.key, ids: machine.IDs{}, line: s.line}
			list = append(list, merged[k])
		}
		merged[k].merge(s)
	}
	sorted.By(list, func(a, b *spot) int {
		return cmp.Or(cmp.Compare(value(b), value(a)), cmp.Compare(a.line, b.line), strings.Compare(a.key.text, b.key.text))
	})
	return list[:min(n, len(list))]
}

// inOrder returns the spots by their first instruction, so that sums of floats are the same in every run.
func (f *finder) inOrder() []*spot {
	list := slices.Collect(maps.Values(f.spots))
	sorted.By(list, func(a, b *spot) int { return cmp.Compare(a.first(), b.first()) })
	return list
}

// first returns the first instruction of a spot.
func (s *spot) first() int32 { return slices.Min(slices.Collect(maps.Keys(s.ids))) }

// add adds a change. s is the spot that it is about, or nil.
func (f *finder) add(c candidate, s *spot, format string, args ...any) {
	c.What = fmt.Sprintf(format, args...)
	if s != nil {
		c.Source, c.Line = s.key.source, s.line
	}
	f.list = append(f.list, c)
}

// unit returns all instructions of some units, in order.
func (f *finder) unit(units ...machine.Unit) (ids []int32) {
	for i := range f.l.Program {
		if slices.Contains(units, f.m.UnitOf(int32(i))) {
			ids = append(ids, int32(i))
		}
	}
	return ids
}
