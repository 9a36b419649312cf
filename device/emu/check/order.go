package check

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
)

// order finds accesses that nothing orders: races, missing proxy fences, missing waits
// and the like. It records which accesses the program orders before which others by its
// barriers, fences and waits. It compares each access with the last accesses to the same
// bytes.
type order struct {
	l       *launch
	classes []class
	called  []bool // by instruction: it is in a function that the kernel calls
	ignored []bool // by instruction: it orders nothing, see Checker.Ignore
	warps   int    // per block
	// everything is the global memory of all clusters if clusters may communicate, else nil.
	everything *memory
	flags      map[place]*syncVar // the flags in global memory by which threads synchronise
	merge      merger
	gaps       []byteSet // by zone of shared memory: the bytes that belong to no variable
	freeZones  zonesList
	cellsOnly  bool          // no read is deferred: see order_zones.go
	stopped    []*orderWatch // clusters in which some threads did not end
	loadsEnded bool          // endLoads was called
}

// place is an address through which threads synchronise.
type place struct {
	alloc  *observe.Alloc // nil for shared memory
	block  int            // shared memory: the rank of the block
	offset int
}

func newOrder(l *launch) part {
	threads := l.LaunchInfo.Launch.Block.Count()
	o := &order{l: l, warps: (threads + 31) / 32, classes: make([]class, len(l.Program)), called: make([]bool, len(l.Program)), ignored: make([]bool, len(l.Program)), cellsOnly: l.c.cellsOnly, flags: map[place]*syncVar{}}
	for id := range l.Program {
		o.classes[id] = classify(&l.Program[id])
		o.ignored[id] = l.c.ignored[int(l.Program[id].Pos.Line)]
	}
	guesses(l.Program, o.classes)
	rowLoads(l.Program, o.classes)
	for id := range l.Program {
		o.called[id] = l.Program[id].Func != l.calls().entry
	}
	if l.Serial {
		o.everything = &memory{}
	}
	o.merge.o = o
	o.findGaps()
	return o
}

func (o *order) wants(in *observe.Inst) bool {
	r := o.classes[in.ID].role
	return r != roleNone && r != roleBulk && r != roleProduct && r != rolePrefetch
}

// orderWatch watches the accesses of a cluster.
type orderWatch struct {
	*cluster
	o        *order
	warps    []*warp // by rank, then by warp
	agents   int     // warps and mbarriers so far
	shared   []pages // by rank
	zones    []zones // by rank
	global   *memory
	bars     map[observe.MbarrierAt]*mbar
	named    map[[2]int]*released // by rank and barrier: what bar.arrive has released
	meeting  *released            // barrier.cluster: what the arrivals of this phase release
	met      *released            // barrier.cluster: what the arrivals of the last phase released
	building *work                // asynchronous work whose accesses are being announced, or nil
	factors  map[factorKey]*bool  // by matrix: some row of it was found written
	brought  []bool               // by rank and instruction: an ldmatrix has found its rows written
	works    map[uint64]*work     // by number: work that mbarriers count
	lastWork uint64
	flags    map[place]*syncVar // the flags by which only threads of the cluster synchronise
	barList  []*mbar            // by agent, after the warps
	ends     []released         // by rank: what the threads of the block knew when they ended
	cur      current
}

// warp is the state of a warp.
type warp struct {
	cl      *orderWatch
	agent   int
	rank    int
	index   int
	time    uint32
	touched bool // the warp has accessed memory at this time
	barrier int  // the instruction of the last barrier of the block that the warp has reached
	live    uint32
	v       *view      // the view of all lanes, or nil if their views differ
	lanes   [32]*view  // by lane, if v is nil
	events  []*event   // by instruction: the last event
	copies  groups     // cp.async
	bulk    groups     // cp.async.bulk
	product groups     // wgmma
	late    []lateWork // arrivals by cp.async.mbarrier.arrive that are outstanding
	copying *work      // the last cp.async
	// waitedFor says by instruction that the warp has waited for its copies.
	waitedFor []bool
}

var start = &view{}

func (o *order) cluster(c *cluster) any {
	n := &orderWatch{
		cluster: c, o: o, global: o.everything, bars: map[observe.MbarrierAt]*mbar{},
		named: map[[2]int]*released{}, works: map[uint64]*work{}, flags: map[place]*syncVar{}, factors: map[factorKey]*bool{}, ends: make([]released, len(c.Blocks)),
	}
	if n.global == nil {
		n.global = &memory{}
	}
	c.order = n
	for rank, b := range c.Blocks {
		for i := range o.warps {
			w := &warp{cl: n, agent: n.agents, rank: rank, index: i, time: 1, live: 1<<32 - 1, v: start, events: make([]*event, len(o.classes))}
			if left := b.Threads - 32*i; left < 32 {
				w.live = 1<<left - 1
			}
			n.agents++
			n.warps = append(n.warps, w)
		}
		n.shared, n.zones = append(n.shared, o.sharedCells()), append(n.zones, o.newZones())
	}
	return n
}

// sharedCells returns the cells of a block's shared memory. The gaps between variables are
// marked.
func (o *order) sharedCells() pages {
	cells := newPages(o.l.Bytes)
	o.eachGap(func(from, to int) {
		for off := from; off < to; {
			n := unitAt(off, to-off)
			cells.part(off, n).flags |= isGap
			off += n
		}
	})
	return cells
}

// eachGap calls do for each gap between the variables in shared memory.
func (o *order) eachGap(do func(from, to int)) {
	if len(o.l.Shared) == 0 {
		return
	}
	end := 0
	for _, v := range o.l.Shared {
		do(end, v.Offset)
		end = max(end, v.Offset+v.Size)
	}
	do(end, o.l.Bytes)
}

func (c *orderWatch) warp(rank, index int) *warp { return c.warps[rank*c.o.warps+index] }

// view returns the view of a lane.
func (w *warp) view(lane int) *view {
	if w.v != nil {
		return w.v
	}
	return w.lanes[lane]
}

// together returns the union of what the lanes know.
func (w *warp) together(lanes uint32) *view {
	if w.v != nil {
		return w.v
	}
	v := w.lanes[bits.TrailingZeros32(lanes)]
	for rest := lanes & (lanes - 1); rest != 0; rest &= rest - 1 {
		if u := w.lanes[bits.TrailingZeros32(rest)]; u != v {
			v = v.with(u.passes())
		}
	}
	return v
}

// setView sets the view of lanes.
func (w *warp) setView(lanes uint32, v *view) {
	if lanes&w.live == w.live {
		w.v = v
		return
	}
	if w.v != nil {
		if w.v == v {
			return
		}
		for l := range w.lanes {
			w.lanes[l] = w.v
		}
		w.v = nil
	}
	for rest := lanes; rest != 0; rest &= rest - 1 {
		w.lanes[bits.TrailingZeros32(rest)] = v
	}
}

// acquire adds what r passes on to the views of lanes.
func (w *warp) acquire(lanes uint32, r *released) {
	if r == nil {
		return
	}
	if w.v != nil {
		w.setView(lanes, w.v.with(r))
		return
	}
	for rest := lanes; rest != 0; {
		l := bits.TrailingZeros32(rest)
		old := w.lanes[l]
		same := uint32(0)
		for m := rest; m != 0; m &= m - 1 {
			if i := bits.TrailingZeros32(m); w.lanes[i] == old {
				same |= 1 << i
			}
		}
		rest &^= same
		w.setView(same, old.with(r))
		if w.v != nil {
			return
		}
	}
	w.unify()
}

// unify makes the views of the lanes one view if all lanes know the same.
func (w *warp) unify() {
	v := w.lanes[bits.TrailingZeros32(w.live)]
	for m := w.live; m != 0; m &= m - 1 {
		if w.lanes[bits.TrailingZeros32(m)] != v {
			return
		}
	}
	w.v = v
}

// release returns what lanes pass on: what they know and what they did. Time advances, so that
// later accesses are not part of it.
func (w *warp) release(lanes uint32) *released {
	v := w.together(lanes)
	r := v.passes()
	if w.touched || !v.c.at(w.agent).covers(lanes, w.time-1) {
		c := v.c.copy(max(w.cl.agents, lenOf(v.c)))
		at := w.time
		if !w.touched {
			at--
		}
		c.own[w.agent].set(lanes, at, lanes&w.live == w.live)
		r.c = c
	}
	if w.touched {
		w.time++
		w.touched = false
	}
	return r
}

func lenOf(c *clock) int {
	if c == nil {
		return 0
	}
	return len(c.own)
}

// event returns the event of an instruction at the warp's present time, with size bytes
// per lane.
func (w *warp) event(id int, cls *class, size int, write bool) *event {
	w.touched = true
	if e := w.events[id]; e != nil && e.time == w.time {
		return e
	}
	e := &event{w: w, id: id, time: w.time, size: int32(size), class: cls, writes: write}
	w.events[id] = e
	return e
}
