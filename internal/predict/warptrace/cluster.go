package warptrace

import (
	"math/bits"
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// cluster records one cluster. It is an observe.ClusterObserver.
type cluster struct {
	l       *launch
	trace   *Cluster
	meter   *count.Meter
	warps   [][]warp         // by rank and number
	current map[place]int32  // the incomplete phase of each barrier
	works   map[uint64]int32 // work in flight, by the emulator's number
	metered *Event           // the event whose accesses the meter is measuring
	copied  int              // bytes of the present instruction's asynchronous copy
	sectors int              // the sectors of global memory that the present copy touches
	remote  bool
	pending int  // bytes that the recorder has not counted yet
	full    bool // the recorder has no room
	// selected is false for a cluster that is recorded because it runs beside one that Wants selects.
	selected bool
}

// place identifies a barrier: an mbarrier by its offset, a barrier of the block by its number.
type place struct {
	rank, at int
	mbarrier bool
}

// warp is the state of the recording of a warp.
type warp struct {
	poll    int   // index of the last poll in the path
	pollID  int   // its instruction, or -1 if the last poll succeeded
	cluster int32 // the phase of the cluster's barrier at which the warp arrived last, or -1
	arrived int   // how often the warp has arrived at the cluster's barrier
}

func (c *cluster) path(rank, number int) *[]Event { return &c.trace.Blocks[rank].Warps[number] }

// eventBytes and factBytes are the sizes of an event and of a fact with a few lines.
const eventBytes, factBytes = 16, 160

// piece is the memory in bytes that a cluster counts at once. It counts one at its start, so that many small
// clusters count, too.
const piece = 1 << 12

// take counts memory in pieces. It reports whether there is room.
func (c *cluster) take(n int) bool {
	if c.pending += n; c.pending >= piece {
		take := c.l.recorder.take
		if !c.selected {
			take = c.l.recorder.takeBeside
		}
		c.full = !take(c.pending)
		c.pending = 0
	}
	return !c.full
}

// Step records an instruction.
func (c *cluster) Step(s *observe.Step) {
	c.settle()
	if !c.take(eventBytes) {
		return
	}
	k := &c.l.kinds[s.ID]
	w, path := &c.warps[s.Rank][s.Warp], c.path(s.Rank, s.Warp)
	if k.polls {
		if w.pollID == s.ID+1 {
			*path = (*path)[:w.poll]
		}
		w.pollID, w.poll = s.ID+1, len(*path)
	}
	*path = append(*path, Event{ID: int32(s.ID), Fact: -1, Off: s.Mask == 0, Lanes: uint8(bits.OnesCount32(s.Mask))})
	e := &(*path)[len(*path)-1]
	if s.Mask == 0 {
		return
	}
	if k.memory {
		c.metered, c.copied, c.sectors, c.remote = e, 0, 0, false
	}
	if k.barrier != noBarrier {
		c.barrier(s, k.barrier, w, e)
	}
}

// settle stores what the meter has measured of the last instruction that accesses memory.
func (c *cluster) settle() {
	e := c.metered
	if e == nil {
		return
	}
	c.metered = nil
	shared, global := c.meter.Take(int(e.ID))
	if shared.Wavefronts == 0 && global.Sectors == 0 {
		return
	}
	f := c.fact(e)
	f.Wavefronts, f.Conflicts, f.Sectors = int(shared.Wavefronts), int(shared.Conflicts), int(global.Sectors)
	f.Needed = int(global.BytesUsed+31) / 32
}

// fact returns the fact of an event. The event gets one if it has none.
func (c *cluster) fact(e *Event) *Fact {
	if e.Fact < 0 {
		c.pending += factBytes
		e.Fact = int32(len(c.trace.Facts))
		c.trace.Facts = append(c.trace.Facts, Fact{Waits: -1})
	}
	return &c.trace.Facts[e.Fact]
}

// last returns the newest event of a warp if it is the instruction with that ID.
func (c *cluster) last(rank, number, id int) *Event {
	path := *c.path(rank, number)
	if n := len(path); n > 0 && path[n-1].ID == int32(id) {
		return &path[n-1]
	}
	return nil
}

// arrival returns the event of an arrival at an mbarrier. A late arrival is announced when the
// copies are complete, which may be after its warp has gone on.
func (c *cluster) arrival(m *observe.Mbarrier) *Event {
	path := *c.path(m.Rank, m.Warp)
	for i := len(path) - 1; m.Late && i >= 0; i-- {
		if path[i].ID == int32(m.ID) {
			return &path[i]
		}
	}
	return c.last(m.Rank, m.Warp, m.ID)
}

// phase returns the incomplete phase of a barrier.
func (c *cluster) phase(at place) int32 {
	p, ok := c.current[at]
	if !ok {
		p = c.newPhase(Phase{Mbarrier: at.mbarrier, Rank: at.rank, At: at.at})
		c.current[at] = p
	}
	return p
}

func (c *cluster) newPhase(p Phase) int32 {
	c.trace.Phases = append(c.trace.Phases, p)
	return int32(len(c.trace.Phases) - 1)
}

// barrier records a barrier of the block or of the cluster.
func (c *cluster) barrier(s *observe.Step, k barrierKind, w *warp, e *Event) {
	switch k {
	case clusterArrive:
		c.clusterArrive(w, e)
	case clusterWait:
		if w.arrived > 0 {
			c.fact(e).Waits = w.cluster
		}
	default:
		lane := bits.TrailingZeros32(s.Mask)
		p := c.phase(place{s.Rank, int(s.Value(s.Arg("bar"), lane)), false})
		c.arrive(e, p, 1, false)
		if k == blockSync {
			c.fact(e).Waits = p
		}
	}
}

// clusterArrive records an arrival at the cluster's barrier. Every warp arrives once per phase, so
// the number of its arrivals is the number of the phase.
func (c *cluster) clusterArrive(w *warp, e *Event) {
	at := place{-1, w.arrived, false}
	p, ok := c.current[at]
	if !ok {
		p = c.newPhase(Phase{Cluster: true})
		c.current[at] = p
	}
	w.arrived++
	w.cluster = p
	c.arrive(e, p, 1, false)
}

// arrive adds arrivals of an event at a phase.
func (c *cluster) arrive(e *Event, p int32, n int, late bool) {
	c.trace.Phases[p].Need += n
	f := c.fact(e)
	if i := len(f.Arrivals) - 1; i >= 0 && f.Arrivals[i].Phase == p && f.Arrivals[i].Late == late {
		f.Arrivals[i].Count += n
		return
	}
	f.Arrivals = append(f.Arrivals, Arrival{p, n, late})
}

// Access records an access.
func (c *cluster) Access(a *observe.Access) {
	e := c.last(a.Rank, a.Warp, a.ID)
	if e == nil || c.metered == nil || c.metered != e {
		return
	}
	c.meter.Access(a)
	k := &c.l.kinds[a.ID]
	if k.updates && a.Write && a.Offsets != nil {
		c.update(e, a)
	}
	n := bits.OnesCount32(a.Mask) * a.Size
	switch {
	case a.Space == ptx.Shared && a.Block != a.Rank:
		c.remote = true
		c.fact(e).Remote = true
		c.copied += n
	case a.Space == ptx.Global && a.Alloc != nil && a.Offsets != nil:
		if k.bulk {
			c.copied += n
			c.sectors += (n + 31) / 32
			return
		}
		f := c.fact(e)
		for m := a.Mask; m != 0; m &= m - 1 {
			at := a.Alloc.Addr + a.Offsets[bits.TrailingZeros32(m)]
			for line := at / LineBytes; line <= (at+uint64(a.Size)-1)/LineBytes; line++ {
				if !slices.Contains(f.Lines, line) {
					f.Lines = append(f.Lines, line)
				}
			}
		}
	case k.bulk:
		if c.sectors == 0 && a.Write {
			c.copied += n
		}
	}
}

// update records that lanes update addresses.
func (c *cluster) update(e *Event, a *observe.Access) {
	f := c.fact(e)
	for m := a.Mask; m != 0; m &= m - 1 {
		at, same := a.Offsets[bits.TrailingZeros32(m)], 0
		for o := a.Mask; o != 0; o &= o - 1 {
			if a.Offsets[bits.TrailingZeros32(o)] == at {
				same++
			}
		}
		f.Same = max(f.Same, same)
		if a.Space == ptx.Global && a.Alloc != nil {
			c.trace.Updates[a.Alloc.Addr+at]++
		}
	}
}

// Start records asynchronous work.
func (c *cluster) Start(a *observe.Async) {
	e := c.last(a.Rank, a.Warp, a.ID)
	if e == nil || !c.l.kinds[a.ID].bulk && len(a.Bars) == 0 {
		return
	}
	w := int32(len(c.trace.Works))
	c.trace.Works = append(c.trace.Works, Work{Bytes: c.copied, Sectors: c.sectors, Remote: c.remote})
	c.works[a.Work] = w
	f := c.fact(e)
	f.Works = append(f.Works, w)
	c.copied, c.sectors = 0, 0
}

// Mbarrier records an operation on an mbarrier.
func (c *cluster) Mbarrier(m *observe.Mbarrier) {
	if m.Err != nil {
		return
	}
	at := place{m.Block, m.Offset, true}
	p := c.phase(at)
	switch m.Op {
	case observe.MbarrierArrive, observe.MbarrierDrop:
		if e := c.arrival(m); e != nil {
			c.arrive(e, p, m.Count, m.Late)
		}
	case observe.MbarrierComplete:
		if w, ok := c.works[m.Work]; ok && !slices.Contains(c.trace.Works[w].Phases, p) {
			c.trace.Works[w].Phases = append(c.trace.Works[w].Phases, p)
			c.trace.Phases[p].Need++
		}
	case observe.MbarrierWait:
		if e := c.last(m.Rank, m.Warp, m.ID); e != nil {
			if prev, ok := c.previous(at); ok {
				c.fact(e).Waits = prev
			}
			c.warps[m.Rank][m.Warp].pollID = 0
		}
	}
	if m.Ended {
		c.current[place{m.Block, ^m.Offset, true}] = p
		c.current[at] = c.newPhase(Phase{Mbarrier: true, Rank: m.Block, At: m.Offset})
	}
}

// previous returns the phase of an mbarrier that was completed last.
func (c *cluster) previous(at place) (int32, bool) {
	p, ok := c.current[place{at.rank, ^at.at, true}]
	return p, ok
}

// Open records that a barrier of a block is complete.
func (c *cluster) Open(o *observe.Opening) {
	if !o.Cluster {
		at := place{o.Rank, o.Bar, false}
		c.current[at] = c.newPhase(Phase{Rank: o.Rank, At: o.Bar})
	}
}

func (c *cluster) Pass(*observe.Step)           { c.settle() }
func (c *cluster) Complete(*observe.Completion) {}
func (c *cluster) End()                         { c.settle() }
