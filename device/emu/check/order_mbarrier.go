package check

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
)

// mbarrierBytes is the size of an mbarrier in shared memory.
const mbarrierBytes = 8

// mbar is an mbarrier. It is an agent, and its times are its phases: an asynchronous copy
// counts as done by the mbarrier in the phase that counted its bytes.
type mbar struct {
	agent       int
	phase       uint32                 // the number of completed phases
	pending     released               // what the arrivals of the present phase release
	completed   released               // what the arrivals of all completed phases have released
	recent      [recentPhases]released // completed, after each of the last phases
	lastArrival map[*warp]uint32       // by warp: the phase of its last arrival
	latest      arriving               // the last arrival
	waited      uint32                 // the last phase for which a thread has waited
	expect      *observe.Mbarrier
	bytes       int
	inited      *event
	initLanes   uint32 // the lanes that initialised it
	fenced      bool   // fence.mbarrier_init has followed the initialisation
	suspect     bool   // a thread used it, and its initialisation is not ordered before that
}

// barOf returns the mbarrier of an agent.
func (c *orderWatch) barOf(agent int) *mbar { return c.barList[agent-len(c.warps)] }

func (c *orderWatch) mbarrier(e *observe.Mbarrier) {
	w := c.warp(e.Rank, e.Warp)
	b := c.bars[e.MbarrierAt]
	switch e.Op {
	case observe.MbarrierInit:
		c.initBarrier(w, e, b)
		return
	case observe.MbarrierInval:
		c.checkMbarrierBytes(w, e, true)
		delete(c.bars, e.MbarrierAt)
		c.mark(e.MbarrierAt, 0)
		return
	}
	if b == nil {
		return // the emulator reports a use without initialisation
	}
	// The copy engine makes late arrivals: the phase orders them.
	if e.Op != observe.MbarrierComplete && !e.Late && !b.suspect {
		n := c.serial
		c.checkMbarrierBytes(w, e, false)
		b.suspect = c.serial > n
	}
	if e.Err != nil {
		return
	}
	b.bytes = e.Bytes
	switch e.Op {
	case observe.MbarrierArrive, observe.MbarrierDrop:
		c.inOnePhase(w, b, e)
		b.lastArrival[w] = b.phase
		switch {
		case c.o.ignored[e.ID]:
		case e.Late:
			b.pending.add(w.arrived(lane(e.Mask), b))
		case !c.l.Program[e.ID].Op.Has("relaxed"):
			b.pending.add(w.release(e.Mask))
		}
	case observe.MbarrierExpect:
		expect := *e
		b.expect = &expect
	case observe.MbarrierComplete:
		if k := c.works[e.Work]; k != nil {
			k.done = append(k.done, doer{agent: b.agent, lanes: 1<<32 - 1, time: b.phase + 1, bar: true})
		}
	case observe.MbarrierWait:
		if !c.o.ignored[e.ID] {
			c.waits(w, b, e)
		}
		return
	}
	if e.Ended {
		b.end(c)
	}
}

// arriving is an arrival at an mbarrier.
type arriving struct {
	w     *warp
	id    int
	lane  int
	phase uint32
}

// inOnePhase reports lanes that arrive by one instruction in different phases. The lanes that
// arrive after the phase is complete cannot know that it is.
func (c *orderWatch) inOnePhase(w *warp, b *mbar, e *observe.Mbarrier) {
	now := arriving{w, e.ID, lane(e.Mask), b.phase}
	old := b.latest
	b.latest = now
	if e.Late || old.w != w || old.id != e.ID || old.lane >= now.lane || old.phase == now.phase || w.view(now.lane).c.at(b.agent).all >= now.phase {
		return
	}
	a := c.mbarrierAccess(e)
	a.Lanes |= 1 << old.lane
	c.report(finding.Finding{
		Kind: MbarrierMisuse, Severity: finding.Error, Place: a,
		Message: fmt.Sprintf("more lanes of one warp arrive together at the mbarrier at %s than its phase still awaits", a.Address),
		Why:     "each phase takes as many arrivals as the mbarrier was initialised for; the other arrivals count for the next phase, which no thread has begun",
		Fix:     "have one lane arrive for its warp, or initialise the mbarrier for all threads that arrive",
	})
}

// end completes a phase: threads that wait for it learn what its arrivals released.
func (b *mbar) end(c *orderWatch) {
	b.phase++
	b.completed.add(&b.pending)
	b.pending = released{}
	n := b.completed.c.copy(c.agents)
	n.own[b.agent].all = b.phase
	b.completed.c = n
	b.recent[b.phase%recentPhases] = b.completed
}

// recentPhases is the number of completed phases of an mbarrier that are kept one by one.
const recentPhases = 8

// waits adds what a wait promises to the views of lanes. A wait for a parity promises only the
// first phase of that parity after the phases that the thread knows to be complete. If the last
// of these has the parity already, the wait promises nothing.
func (c *orderWatch) waits(w *warp, b *mbar, e *observe.Mbarrier) {
	told := &b.completed
	phase := b.phase
	if e.Parity >= 0 {
		known := max(w.view(lane(e.Mask)).c.at(b.agent).all, b.lastArrival[w])
		if (known+1)&1 == uint32(e.Parity) {
			return
		}
		phase = min(known+1, b.phase)
		if b.phase-phase < recentPhases {
			told = &b.recent[phase%recentPhases]
		}
	}
	b.waited = max(b.waited, phase)
	if !c.l.Program[e.ID].Op.Has("relaxed") {
		w.acquire(e.Mask, told)
	}
}

func (c *orderWatch) initBarrier(w *warp, e *observe.Mbarrier, old *mbar) {
	if old != nil {
		a := c.mbarrierAccess(e)
		there := c.at(old.inited.id, old.inited.w.rank, old.inited.w.index, 1<<lane(e.Mask))
		c.l.touchShared(&there, e.Offset, mbarrierBytes, "")
		there.Action = "initialisation"
		c.report(finding.Finding{
			Kind: MbarrierMisuse, Severity: finding.Error, Place: a, Other: &there,
			Message: fmt.Sprintf("the mbarrier at %s is initialised again while it is in use", a.Address),
			Why:     "mbarrier.init on an mbarrier that is in use is undefined: threads may be waiting for it",
			Fix:     "initialise it once, or invalidate it with mbarrier.inval when no thread uses it any more",
		})
	}
	c.mark(e.MbarrierAt, 0)
	c.checkMbarrierBytes(w, e, true)
	c.mark(e.MbarrierAt, isBarrier)
	b := &mbar{agent: c.agents, inited: w.event(e.ID, &c.o.classes[e.ID], mbarrierBytes, true), initLanes: e.Mask, lastArrival: map[*warp]uint32{}}
	c.agents++
	c.barList = append(c.barList, b)
	c.bars[e.MbarrierAt] = b
}

// mark sets or clears the flag of the cells of an mbarrier.
func (c *orderWatch) mark(at observe.MbarrierAt, f flag) {
	c.zones[at.Block].bar(at.Offset, at.Offset+mbarrierBytes, f != 0)
	for i := range 2 {
		x := c.shared[at.Block].part(at.Offset+4*i, 4)
		x.flags = x.flags&^isBarrier | f
	}
}

// checkMbarrierBytes compares an operation on an mbarrier with other accesses to its bytes. Initialising and
// invalidating are writes; the other operations are atomic.
func (c *orderWatch) checkMbarrierBytes(w *warp, e *observe.Mbarrier, write bool) {
	var offsets [32]uint64
	l := lane(e.Mask)
	offsets[l] = uint64(e.Offset)
	cls := &c.o.classes[e.ID]
	a := &observe.Access{Rank: e.Rank, Warp: e.Warp, Mask: 1 << l, ID: e.ID, Space: sharedSpace, Block: e.Block, Offsets: &offsets, Size: mbarrierBytes, Write: write}
	c.cur = current{a: a, e: w.event(e.ID, cls, mbarrierBytes, write), v: w.view(l), lanes: e.Mask, write: write, size: mbarrierBytes, undef: true}
	if write {
		c.noteWrites(w, a)
	}
	for i := range 2 {
		at := c.descend(c.shared[e.Block].at(e.Offset), e.Offset+4*i, 4)
		f := at.flags
		at.flags &^= isBarrier
		c.cur.off = e.Offset + 4*i
		c.accessUnit(at, 4)
		at.flags |= f & isBarrier
	}
}

// checkBytes reports mbarriers that wait for bytes which never come.
func (c *orderWatch) checkBytes() {
	for _, b := range c.barList {
		if b.bytes == 0 || b.expect == nil {
			continue
		}
		a := c.mbarrierAccess(b.expect)
		more := fmt.Sprintf("%d bytes too many", b.bytes)
		if b.bytes < 0 {
			more = fmt.Sprintf("%d bytes too few", -b.bytes)
		}
		c.report(finding.Finding{
			Kind: MbarrierMisuse, Severity: finding.Error, Place: a,
			Message: fmt.Sprintf("the mbarrier at %s expects %s: its copies do not bring the bytes that expect_tx announces", a.Address, more),
			Why:     "a phase ends when all arrivals have come and the copies have brought exactly the expected bytes",
			Fix:     "expect the sum of the sizes of the copies that name this mbarrier in the phase; a tensor copy brings its whole box, also where it is out of bounds",
		})
	}
}

// checkMbarrierInit checks that the initialisation of an mbarrier is ordered before a copy whose bytes it
// counts.
func (c *orderWatch) checkMbarrierInit(a *observe.Async, at observe.MbarrierAt) {
	b := c.bars[at]
	if b == nil || b.suspect {
		return
	}
	w := c.warp(a.Rank, a.Warp)
	v := w.view(a.Lane)
	k := b.inited
	var offsets [32]uint64
	c.cur = current{
		a: &observe.Access{Rank: a.Rank, Warp: a.Warp, ID: a.ID, Space: sharedSpace, Block: at.Block, Offsets: &offsets},
		e: &event{w: w, id: a.ID, time: w.time, size: mbarrierBytes, class: &c.o.classes[a.ID]}, v: v, lanes: 1 << a.Lane, off: at.Offset, size: mbarrierBytes, unit: mbarrierBytes,
	}
	switch there := c.there(k, b.initLanes, true); {
	case !c.before(k, b.initLanes, true):
		b.suspect = true
		here := c.here()
		here.Action, there.Action = "use", "initialisation"
		c.report(finding.Finding{
			Kind: MbarrierMisuse, Severity: finding.Error, Place: here, Other: &there,
			Message: fmt.Sprintf("the mbarrier at %s counts this copy, but its initialisation at line %d is not ordered before the copy", here.Address, there.Pos.Line),
			Why:     "a copy may complete at once; its mbarrier must be initialised by then, also in the other blocks of a cluster",
			Fix:     "fence.mbarrier_init after the initialisation, then bar.sync, or barrier.cluster.arrive and wait for a cluster",
		})
	case !b.fenced && !c.l.library(&c.l.Program[a.ID]) && !c.known(k, b.initLanes, true, false, v.shared):
		c.reportUnfencedInit(there, at.Block)
	}
}

// reportUnfencedInit reports a copy that uses an mbarrier whose initialisation no fence has made
// visible to the async proxy. It is an error if the kernel fences other mbarriers of the block: then
// this fence was forgotten. Kernels that have no such fence at all work on GPUs.
func (c *orderWatch) reportUnfencedInit(there finding.Place, block int) {
	here := c.here()
	here.Action, there.Action = "use", "initialisation"
	d := finding.Finding{
		Kind: ProxyFence, Severity: finding.Note, Place: here, Other: &there,
		Message: fmt.Sprintf("the mbarrier at %s, initialised at line %d, is used by a copy without a fence for the async proxy", here.Address, there.Pos.Line),
		Why:     "the async proxy sees an initialisation only after fence.mbarrier_init or fence.proxy.async",
		Fix:     "fence.mbarrier_init.release.cluster, or fence.proxy.async, after the initialisation and before the barrier",
	}
	if slices.ContainsFunc(c.barList, func(b *mbar) bool { return b.fenced && b.inited.w.rank == block }) {
		d.Severity = finding.Error
		d.Why += "; the kernel has the fence for other mbarriers"
	} else {
		d.Why += "; many kernels leave the fence out"
	}
	c.report(d)
}

// fenceInit handles fence.mbarrier_init: it makes the mbarriers that lanes have initialised
// visible to the async proxy.
func (c *orderWatch) fenceInit(w *warp, lanes uint32) {
	for _, b := range c.barList {
		b.fenced = b.fenced || b.inited.w == w && b.initLanes&lanes != 0
	}
}
