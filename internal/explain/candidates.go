package explain

import (
	"cmp"
	"fmt"
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
	micros    float64 // the microseconds that warps spent at it
	executed  int     // by warps
	conflicts int
	waves     int
	sectors   int
	needed    int
	loads     int // executions that read global memory
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
	f.chains()
	f.exponentials()
	f.divisions()
	f.products()
	f.earlyLoads()
	f.occupancy(w)
	f.lastWave(w)
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
			s = &spot{key: k, ids: machine.IDs{}, line: int(in.Pos.Line)}
			f.spots[k] = s
		}
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
				for _, e := range path {
					of[e.ID].count(c, &e)
				}
			}
		}
	}
}

func keyOf(in *observe.Inst) spotKey {
	if in.Source == "" {
		return spotKey{"", in.Op.Text, int(in.Pos.Line)}
	}
	return spotKey{in.Source, in.Op.Text, 0}
}

func (s *spot) count(c *warptrace.Cluster, e *warptrace.Event) {
	s.executed++
	if e.Fact < 0 {
		return
	}
	fact := &c.Facts[e.Fact]
	s.conflicts += fact.Conflicts
	s.waves += fact.Wavefronts
	s.sectors += fact.Sectors
	s.needed += fact.Needed
	if len(fact.Lines) > 0 {
		s.loads++
	}
}

// String returns "ld.shared.u32 at kernel.go:12" or "ld.shared.u32 at PTX line 40".
func (s *spot) String() string { return s.key.text + " at " + s.place() }

// place returns the source line, or the PTX line if there is none.
func (s *spot) place() string {
	if s.key.source == "" {
		return fmt.Sprintf("PTX line %d", s.line)
	}
	at := path.Base(s.key.source)
	if parts := strings.SplitN(at, ":", 3); len(parts) == 3 {
		at = parts[0] + ":" + parts[1]
	}
	return at
}

// top returns the spots with the largest positive values.
func (f *finder) top(n int, value func(*spot) float64) []*spot {
	var list []*spot
	for _, s := range f.spots {
		if value(s) > 0 {
			list = append(list, s)
		}
	}
	sorted.By(list, func(a, b *spot) int {
		return cmp.Or(cmp.Compare(value(b), value(a)), cmp.Compare(a.line, b.line), strings.Compare(a.key.text, b.key.text))
	})
	return list[:min(n, len(list))]
}

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
