package check

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
)

// groups is the asynchronous work of the threads of a warp that wait_group counts.
type groups struct {
	committed [32]uint32 // by lane: the number of groups that are committed
	items     []grouped
}

// grouped is work of lanes whose groups have the same number.
type grouped struct {
	k     *work
	lanes uint32
	group uint32
	read  bool   // its source has been waited for
	left  leftBy // the last wait that did not cover it
	// waited are the warps of a warpgroup that have waited for a product.
	waited uint8
}

// leftBy is a wait_group that left work in flight. The zero value stands for none.
type leftBy struct {
	wait  bool
	id    int // the ID of the instruction
	keep  int // the newest groups that it leaves in flight
	newer int // the groups that were newer than the group of the work; -1 before its commit
}

// add puts work of lanes into their present groups.
func (g *groups) add(k *work, lanes uint32) {
	for lanes != 0 {
		n := g.committed[bits.TrailingZeros32(lanes)]
		same := uint32(0)
		for m := lanes; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); g.committed[l] == n {
				same |= 1 << l
			}
		}
		lanes &^= same
		g.items = append(g.items, grouped{k: k, lanes: same, group: n})
	}
}

func (g *groups) commit(lanes uint32) {
	for ; lanes != 0; lanes &= lanes - 1 {
		g.committed[bits.TrailingZeros32(lanes)]++
	}
}

// wait records that the instruction id makes lanes wait for all but their last keep groups.
// With read, they have only waited until the sources were read.
func (g *groups) wait(w *warp, id int, lanes uint32, keep int, read bool) {
	rest := g.items[:0]
	for _, it := range g.items {
		due := uint32(0)
		for m := it.lanes & lanes; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); it.group+uint32(keep) < g.committed[l] {
				due |= 1 << l
			}
		}
		if due != 0 {
			d := doer{agent: w.agent, lanes: due, time: w.time}
			w.touched = true
			if read {
				it.k.read = append(it.k.read, d)
				it.read = true
			} else {
				it.k.done = append(it.k.done, d)
				it.lanes &^= due
				w.awaited(it.k.start.id)
			}
		}
		if still := it.lanes & lanes; still != 0 && !read {
			it.left = leftBy{true, id, keep, int(g.committed[bits.TrailingZeros32(still)]) - 1 - int(it.group)}
		}
		if it.lanes != 0 {
			rest = append(rest, it)
		}
	}
	clear(g.items[len(rest):])
	g.items = rest
}

// awaited records that the warp has waited for a copy of an instruction.
func (w *warp) awaited(id int) {
	if w.waitedFor == nil {
		w.waitedFor = make([]bool, len(w.events))
	}
	w.waitedFor[id] = true
}

// waitProducts records that a warp has waited for all but the last keep groups of products. A
// product is the work of the whole warpgroup: a warp that waits knows that all four parts have
// ended.
func (c *orderWatch) waitProducts(w *warp, keep int) {
	due := int(w.product.committed[bits.TrailingZeros32(w.live)]) - keep
	first := w.index &^ 3
	end := min(first+4, c.o.warps)
	me, all := uint8(1)<<(w.index-first), uint8(1)<<(end-first)-1
	for i := first; i < end; i++ {
		g := &c.warp(w.rank, i).product
		rest := g.items[:0]
		for _, it := range g.items {
			if int(it.group) < due && it.waited&me == 0 {
				it.waited |= me
				it.k.done = append(it.k.done, doer{agent: w.agent, lanes: w.live, time: w.time, any: true})
				w.touched = true
			}
			if it.waited != all {
				rest = append(rest, it)
			}
		}
		clear(g.items[len(rest):])
		g.items = rest
	}
}

// start completes the description of asynchronous work after its accesses were announced.
func (c *orderWatch) start(a *observe.Async) {
	for _, at := range a.Bars {
		c.checkMbarrierInit(a, at)
	}
	k := c.building
	if k == nil {
		return // the work accesses no memory
	}
	c.building = nil
	c.judgeTwins(k)
	w := c.warp(a.Rank, a.Warp)
	if k.lane, k.all = a.Lane, w.live; a.Lane >= 0 {
		k.all = 1 << a.Lane
	}
	switch {
	case len(a.Bars) > 0:
		k.bars = true
		c.works[a.Work] = k
		c.lastWork = a.Work
	case a.Lane < 0:
		w.product.add(k, w.live)
	default:
		w.bulk.add(k, 1<<a.Lane)
	}
}

// lateWork is a cp.async.mbarrier.arrive whose copies are outstanding.
type lateWork struct {
	lane  int
	works []*work
	tells *released
}

// copyArrives records the copies that an arrival by cp.async.mbarrier.arrive waits for.
func (c *orderWatch) copyArrives(w *warp, lanes uint32) {
	tells := w.release(lanes)
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		k := lateWork{lane: l, tells: tells}
		for _, it := range w.copies.items {
			if it.lanes>>l&1 != 0 {
				k.works = append(k.works, it.k)
			}
		}
		w.late = append(w.late, k)
	}
}

// arrived completes the oldest late arrival of a lane and returns what it passes on.
func (w *warp) arrived(lane int, bar *mbar) *released {
	for i, k := range w.late {
		if k.lane != lane {
			continue
		}
		for _, o := range k.works {
			o.done = append(o.done, doer{agent: bar.agent, lanes: 1 << lane, time: bar.phase + 1, bar: true})
		}
		w.late = append(w.late[:i], w.late[i+1:]...)
		return k.tells
	}
	return nil
}

// arrives reports whether only mbarriers tell threads that the work is done.
func (k *work) arrives() bool {
	return !slices.ContainsFunc(k.done, func(d doer) bool { return !d.bar })
}

// checkLeaks reports asynchronous work for which no thread had waited when the threads ended.
func (c *orderWatch) checkLeaks() {
	for _, w := range c.warps {
		for _, it := range w.copies.items {
			if !it.k.observed(c, it.lanes) {
				c.reportLeak(it.k, it.lanes)
			}
		}
		for _, it := range w.bulk.items {
			if !it.read {
				c.reportLeak(it.k, it.lanes)
			}
		}
	}
	for n := uint64(1); n <= c.lastWork; n++ {
		if k := c.works[n]; k != nil && !k.observed(c, 1<<k.lane) {
			c.reportLeak(k, 1<<k.lane)
		}
	}
}

// observed reports whether a thread has waited for the work of lanes, or for the mbarriers
// that count it.
func (k *work) observed(c *orderWatch, lanes uint32) bool {
	for _, d := range k.done {
		if !d.bar || c.barOf(d.agent).waited >= d.time {
			lanes &^= d.lanes
		}
	}
	return lanes == 0
}

// reportLeak reports a copy that is in flight when its threads end. It is only a warning if the
// warp has waited for earlier copies of the same instruction: a loop that prefetches without
// checking for the end starts copies that no thread needs, and the SM lets them finish.
func (c *orderWatch) reportLeak(k *work, lanes uint32) {
	severity, why := finding.Error, "the shared memory of a block that has ended belongs to the next block; a copy in flight still reads or writes it"
	if w := k.start.w; k.start.class.role == roleCopy && w.waitedFor != nil && w.waitedFor[k.start.id] {
		severity, why = finding.Warning, "the warp waited for earlier copies of this instruction; no thread reads what these copies bring"
	}
	a := c.at(k.start.id, k.start.w.rank, k.start.w.index, lanes)
	from(&a, k.start.site)
	a.Action = "asynchronous copy"
	c.report(finding.Finding{
		Kind: AsyncLeak, Severity: severity, Place: a,
		Message: fmt.Sprintf("%s is still in flight when its threads end: no thread has waited for it", c.l.Program[k.start.id].Op.Text),
		Why:     why,
		Fix:     asyncFix(k.start.class) + ", before the threads end",
	})
}
