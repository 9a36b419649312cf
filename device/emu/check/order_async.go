package check

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
)

// groups is asynchronous work of a warp's threads that a wait_group counts.
type groups struct {
	committed [32]uint32 // groups of each lane
	items     []grouped
}

// grouped is work of lanes that are in the same group.
type grouped struct {
	k     *work
	lanes uint32
	group uint32
	read  bool // its source has been waited for
	// waited are the warps of a warpgroup that have waited for a product.
	waited uint8
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

// wait has lanes wait for all but the last keep groups; with read, for what they
// read.
func (g *groups) wait(w *warp, lanes uint32, keep int, read bool) {
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
		if it.lanes != 0 {
			rest = append(rest, it)
		}
	}
	clear(g.items[len(rest):])
	g.items = rest
}

// awaited notes that the warp has waited for a copy that an instruction started.
func (w *warp) awaited(id int) {
	if w.waitedFor == nil {
		w.waitedFor = make([]bool, len(w.events))
	}
	w.waitedFor[id] = true
}

// waitProducts has a warp wait for all but the last keep groups of products. They are
// the work of its warpgroup, and whoever waits knows that all of it has ended.
func (c *ordered) waitProducts(w *warp, keep int) {
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

// start closes a piece of work whose accesses have been told.
func (c *ordered) start(a *observe.Async) {
	for _, at := range a.Bars {
		c.barUsed(a, at)
	}
	k := c.building
	if k == nil {
		return // it touches nothing
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

// copyArrives notes which copies an arrival follows.
func (c *ordered) copyArrives(w *warp, lanes uint32) {
	tells := w.tell(lanes)
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

// arrived has the oldest late arrival of a lane count.
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

// arrives reports whether nothing but mbarriers, where it arrives by itself, tells of
// the work.
func (k *work) arrives() bool {
	return !slices.ContainsFunc(k.done, func(d doer) bool { return !d.bar })
}

// leaks reports asynchronous work that nobody waited for when the threads ended.
func (c *ordered) leaks() {
	for _, w := range c.warps {
		for _, it := range w.copies.items {
			if !it.k.observed(c, it.lanes) {
				c.leak(it.k, it.lanes)
			}
		}
		for _, it := range w.bulk.items {
			if !it.read {
				c.leak(it.k, it.lanes)
			}
		}
	}
	for n := uint64(1); n <= c.lastWork; n++ {
		if k := c.works[n]; k != nil && !k.observed(c, 1<<k.lane) {
			c.leak(k, 1<<k.lane)
		}
	}
}

// observed reports whether somebody waited for the mbarriers that tell of the work.
func (k *work) observed(c *ordered, lanes uint32) bool {
	for _, d := range k.done {
		if !d.bar || c.barOf(d.agent).waited >= d.time {
			lanes &^= d.lanes
		}
	}
	return lanes == 0
}

// leak reports a copy in flight. Where a loop loads ahead without asking whether there is
// more, the last round's copies bring what nobody needs: an SM lets them come to their end.
// That is known by the earlier ones, which were waited for.
func (c *ordered) leak(k *work, lanes uint32) {
	severity, why := finding.Error, "the shared memory of a block that has ended belongs to the next one; a copy in flight still reads or writes it"
	if w := k.start.w; k.start.class.role == roleCopy && w.waitedFor != nil && w.waitedFor[k.start.id] {
		severity, why = finding.Warning, "earlier copies of this instruction were waited for; what these bring is read by nobody"
	}
	a := c.at(k.start.id, k.start.w.rank, k.start.w.index, lanes)
	from(&a, k.start.site)
	a.Action = "asynchronous copy"
	c.report(finding.Finding{
		Kind: AsyncLeak, Severity: severity, Place: a,
		Message: fmt.Sprintf("%s is still in flight when its threads end: nobody has waited for it", c.l.Program[k.start.id].Op.Text),
		Why:     why,
		Fix:     asyncFix(k.start.class) + ", before the threads end",
	})
}
