package check

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
)

// mbarrierBytes is the size of an mbarrier in shared memory.
const mbarrierBytes = 8

// mbar is an mbarrier. It is an agent whose times are its phases: what an
// asynchronous copy did counts as done by the mbarrier in the phase that counted its
// bytes.
type mbar struct {
	agent   int
	phase   uint32           // phases that are over
	pending released         // what arrivals in the present phase pass on
	over    released         // and those of phases that are over
	last    [kept]released   // over, as it was after each of the last phases
	came    map[*warp]uint32 // the phase in which a warp last arrived
	latest  arriving         // of all
	waited  uint32           // phases that somebody has seen over
	expect  *observe.Mbarrier
	bytes   int
	inited  *event
	by      uint32 // lanes that initialised it
	fenced  bool   // with fence.mbarrier_init
	suspect bool   // used by a thread that its initialisation is not ordered before
}

// barOf is the mbarrier with an agent's number.
func (c *ordered) barOf(agent int) *mbar { return c.barList[agent-len(c.warps)] }

func (c *ordered) mbarrier(e *observe.Mbarrier) {
	w := c.warp(e.Rank, e.Warp)
	b := c.bars[e.MbarrierAt]
	switch e.Op {
	case observe.MbarrierInit:
		c.initBarrier(w, e, b)
		return
	case observe.MbarrierInval:
		c.word8(w, e, true)
		delete(c.bars, e.MbarrierAt)
		c.mark(e.MbarrierAt, 0)
		return
	}
	if b == nil {
		return // the emulator says so
	}
	if e.Op != observe.MbarrierComplete && !e.Late && !b.suspect { // a late arrival was the engine's, and is ordered by its phase
		n := c.serial
		c.word8(w, e, false)
		b.suspect = c.serial > n
	}
	if e.Err != nil {
		return
	}
	b.bytes = e.Bytes
	switch e.Op {
	case observe.MbarrierArrive, observe.MbarrierDrop:
		c.inOnePhase(w, b, e)
		b.came[w] = b.phase
		if e.Late {
			b.pending.add(w.arrived(lane(e.Mask), b))
		} else if !c.l.Program[e.ID].Op.Has("relaxed") {
			b.pending.add(w.tell(e.Mask))
		}
	case observe.MbarrierExpect:
		kept := *e
		b.expect = &kept
	case observe.MbarrierComplete:
		if k := c.works[e.Work]; k != nil {
			k.done = append(k.done, doer{agent: b.agent, lanes: 1<<32 - 1, time: b.phase + 1, bar: true})
		}
	case observe.MbarrierWait:
		c.waits(w, b, e)
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

// inOnePhase demands that lanes which arrive by one instruction do so in one phase:
// those that come when it is over cannot know that.
func (c *ordered) inOnePhase(w *warp, b *mbar, e *observe.Mbarrier) {
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
		Message: fmt.Sprintf("lanes of one warp arrive at the mbarrier at %s together, more of them than are left to come in its phase", a.Address),
		Why:     "each phase takes as many arrivals as the mbarrier was initialised for; the others count for the next phase, which nobody has begun",
		Fix:     "have one lane arrive for its warp, or initialise the mbarrier for all threads that arrive",
	})
}

// end closes a phase: who waits for it learns what its arrivals passed on.
func (b *mbar) end(c *ordered) {
	b.phase++
	b.over.add(&b.pending)
	b.pending = released{}
	n := b.over.c.copy(c.agents)
	n.own[b.agent].all = b.phase
	b.over.c = n
	b.last[b.phase%kept] = b.over
}

// kept is how many phases of an mbarrier are remembered apart.
const kept = 8

// waits has lanes learn what a wait promises. One for a parity promises no more than
// the first phase of that parity after those that the thread knows to be over: if the
// last of those has it already, the wait is for nothing.
func (c *ordered) waits(w *warp, b *mbar, e *observe.Mbarrier) {
	told := &b.over
	phase := b.phase
	if e.Parity >= 0 {
		known := max(w.view(lane(e.Mask)).c.at(b.agent).all, b.came[w])
		if (known+1)&1 == uint32(e.Parity) {
			return
		}
		phase = min(known+1, b.phase)
		if b.phase-phase < kept {
			told = &b.last[phase%kept]
		}
	}
	b.waited = max(b.waited, phase)
	if !c.l.Program[e.ID].Op.Has("relaxed") {
		w.hear(e.Mask, told)
	}
}

func (c *ordered) initBarrier(w *warp, e *observe.Mbarrier, old *mbar) {
	if old != nil {
		a := c.mbarrierAccess(e)
		there := c.at(old.inited.id, old.inited.w.rank, old.inited.w.index, 1<<lane(e.Mask))
		c.l.touchShared(&there, e.Offset, mbarrierBytes, "")
		there.Action = "initialisation"
		c.report(finding.Finding{
			Kind: MbarrierMisuse, Severity: finding.Error, Place: a, Other: &there,
			Message: fmt.Sprintf("the mbarrier at %s is initialised again while it lives", a.Address),
			Why:     "mbarrier.init on a living mbarrier is undefined: threads may be waiting for it",
			Fix:     "initialise once, or invalidate it with mbarrier.inval when nobody uses it any more",
		})
	}
	c.mark(e.MbarrierAt, 0)
	c.word8(w, e, true)
	c.mark(e.MbarrierAt, isBarrier)
	b := &mbar{agent: c.agents, inited: w.event(e.ID, &c.o.classes[e.ID], mbarrierBytes, true), by: e.Mask, came: map[*warp]uint32{}}
	c.agents++
	c.barList = append(c.barList, b)
	c.bars[e.MbarrierAt] = b
}

// mark flags the cells of an mbarrier.
func (c *ordered) mark(at observe.MbarrierAt, f flag) {
	c.zones[at.Block].bar(at.Offset, at.Offset+mbarrierBytes, f != 0)
	for i := range 2 {
		x := c.shared[at.Block].part(at.Offset+4*i, 4)
		x.flags = x.flags&^isBarrier | f
	}
}

// word8 holds an operation on an mbarrier against what others did to its bytes:
// initialising and invalidating it are writes, the rest are atomic.
func (c *ordered) word8(w *warp, e *observe.Mbarrier, write bool) {
	var offsets [32]uint64
	l := lane(e.Mask)
	offsets[l] = uint64(e.Offset)
	cls := &c.o.classes[e.ID]
	a := &observe.Access{Rank: e.Rank, Warp: e.Warp, Mask: 1 << l, ID: e.ID, Space: sharedSpace, Block: e.Block, Offsets: &offsets, Size: mbarrierBytes, Write: write}
	c.cur = current{a: a, e: w.event(e.ID, cls, mbarrierBytes, write), v: w.view(l), lanes: e.Mask, write: write, size: mbarrierBytes}
	if write {
		c.overwrite(w, a)
	}
	for i := range 2 {
		at := c.down(c.shared[e.Block].at(e.Offset), e.Offset+4*i, 4)
		f := at.flags
		at.flags &^= isBarrier
		c.cur.off = e.Offset + 4*i
		c.unit(at, 4)
		at.flags |= f & isBarrier
	}
}

// unbalanced reports mbarriers that await bytes which never come.
func (c *ordered) unbalanced() {
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
			Message: fmt.Sprintf("the mbarrier at %s expects %s: its copies do not bring what expect_tx announces", a.Address, more),
			Why:     "a phase ends when all arrivals have come and the bytes that copies bring equal those expected",
			Fix:     "expect the sum of the sizes of the copies that name this mbarrier in the phase; a tensor copy brings its whole box, also where it is out of bounds",
		})
	}
}

// barUsed holds a copy that an mbarrier is to count against its initialisation.
func (c *ordered) barUsed(a *observe.Async, at observe.MbarrierAt) {
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
	switch there := c.there(k, b.by, true); {
	case !c.before(k, b.by, true):
		b.suspect = true
		here := c.here()
		here.Action, there.Action = "use", "initialisation"
		c.report(finding.Finding{
			Kind: MbarrierMisuse, Severity: finding.Error, Place: here, Other: &there,
			Message: fmt.Sprintf("the mbarrier at %s is to count this copy, but its initialisation at line %d is not ordered before", here.Address, there.Pos.Line),
			Why:     "a copy may complete at once; its mbarrier must be there by then, also in the other blocks of a cluster",
			Fix:     "fence.mbarrier_init after the initialisation, then bar.sync, or barrier.cluster.arrive and wait for a cluster",
		})
	case !b.fenced && !c.l.library(&c.l.Program[a.ID]) && !c.known(k, b.by, true, false, v.shared):
		here := c.here()
		here.Action, there.Action = "use", "initialisation"
		c.report(finding.Finding{
			Kind: ProxyFence, Severity: finding.Warning, Place: here, Other: &there,
			Message: fmt.Sprintf("the mbarrier at %s, initialised at line %d, is used by a copy without a fence for the async proxy", here.Address, there.Pos.Line),
			Why:     "the async proxy sees an initialisation only after fence.mbarrier_init or fence.proxy.async; it is widely left out",
			Fix:     "fence.mbarrier_init.release.cluster, or fence.proxy.async, after the initialisation and before the barrier",
		})
	}
}

// fenceInit is fence.mbarrier_init: it shows the async proxy the mbarriers that lanes
// have initialised.
func (c *ordered) fenceInit(w *warp, lanes uint32) {
	for _, b := range c.barList {
		b.fenced = b.fenced || b.inited.w == w && b.by&lanes != 0
	}
}
