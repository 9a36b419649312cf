package check

import (
	"errors"
	"math/bits"
	"sync"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

const sharedSpace = ptx.Shared

func lane(m uint32) int { return bits.TrailingZeros32(m) }

// end checks what remains when a cluster has ended: reads of unwritten memory, mbarriers that
// wait for bytes, copies in flight.
func (c *orderWatch) end() {
	c.checkNeverWritten()
	ended := true
	for _, w := range c.warps {
		ended = ended && w.live == 0
	}
	if ended {
		c.checkBytes()
		c.checkLeaks()
		c.checkEndedBlocks()
	} else {
		c.o.stop(c)
	}
	if !c.l.Serial {
		c.o.merge.take(c)
	}
}

// stop records a cluster in which some threads have not ended. endLaunch checks it.
func (o *order) stop(c *orderWatch) {
	o.merge.mu.Lock()
	defer o.merge.mu.Unlock()
	o.stopped = append(o.stopped, c)
}

// endLaunch checks the mbarriers of clusters that were stopped. After a fault it does not: the
// copies that the mbarriers wait for might have come later.
func (o *order) endLaunch(_ *cluster, err error) {
	o.endLoads()
	o.recordWritten()
	var f *device.Fault
	if errors.As(err, &f) {
		return
	}
	for _, c := range o.stopped {
		c.checkBytes()
	}
}

// checkEndedBlocks reports accesses by other blocks of the cluster to the shared memory of a block
// that may have ended before.
func (c *orderWatch) checkEndedBlocks() {
	if len(c.Blocks) == 1 {
		return
	}
	for rank := range c.Blocks {
		by := c.ends[rank].c
		c.shared[rank].each(func(at *cell, off, size int) {
			late := func(e *event, lanes uint32, wrote bool) {
				if e.w.rank != rank && !c.known(e, lanes, wrote, false, by) {
					c.reportEndedBlock(e, lanes, wrote, off, size)
				}
			}
			if at.w != nil {
				late(at.w, at.wLanes, true)
			}
			at.reads(func(r read) { late(r.e, r.lanes, r.isWrite()) })
		})
	}
}

func (c *orderWatch) reportEndedBlock(e *event, lanes uint32, wrote bool, off, size int) {
	a := e.w.cl.at(e.id, e.w.rank, e.w.index, lanes)
	c.cur.off, c.cur.unit = off, size
	off, size = c.extent(e)
	c.l.touchShared(&a, off, size, "")
	a.Action = action(e, wrote)
	kind := SharedRace
	if e.work != nil {
		kind = AsyncLeak
	}
	c.report(finding.Finding{
		Kind: kind, Severity: finding.Error, Place: a,
		Message: a.Action + " of " + a.Address + " of another block of the cluster, which may have ended",
		Why:     "the shared memory of a block is gone when its threads have ended, and nothing makes the block wait for this access",
		Fix:     "end the kernel with barrier.cluster.arrive and wait (cluster.sync()) in all blocks",
	})
}

// merger compares the accesses of the clusters of a launch to global memory. It adds the
// clusters in the order of their indices, so that every run finds the same races.
type merger struct {
	o       *order
	mu      sync.Mutex
	all     memory
	next    int
	waiting map[int]*orderWatch // by index: clusters that ended before an earlier one
}

// take adds a cluster that has ended, as soon as all clusters before it are added.
func (m *merger) take(c *orderWatch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting == nil {
		m.waiting = map[int]*orderWatch{}
	}
	m.waiting[c.Index] = c
	for m.waiting[m.next] != nil {
		c := m.waiting[m.next]
		delete(m.waiting, m.next)
		m.next++
		m.add(c)
	}
}

// add merges the memory of one cluster and frees what the cluster no longer needs.
func (m *merger) add(c *orderWatch) {
	for a, pages := range c.global.allocs {
		all := m.all.of(a)
		for i, f := range pages {
			switch {
			case f == nil:
			case all[i] == nil:
				all[i] = f
			default:
				c.mergeLeaf(all[i], f, a, i*leafBytes)
			}
		}
	}
	for _, cells := range c.shared {
		cells.free()
	}
	for _, zs := range c.zones {
		m.o.freeZones.put(zs)
	}
	c.global, c.shared, c.zones = nil, nil, nil
	for _, w := range c.warps { // events in global memory keep the warps
		w.events = nil
	}
}

func (c *orderWatch) mergeLeaf(into, f *leaf, a *observe.Alloc, off int) {
	for i, p := range f {
		switch {
		case p == nil:
		case into[i] == nil:
			into[i] = p
		default:
			c.mergePage(into[i], p, a, off+i*pageBytes)
			p.free()
		}
	}
}

func (c *orderWatch) mergePage(into, p *page, a *observe.Alloc, off int) {
	c.cur = current{a: &observe.Access{Space: ptx.Global, Alloc: a}, v: start}
	for i := range p {
		c.mergeUnit(&into[i], &p[i], off+cellBytes*i, cellBytes)
	}
}

func (c *orderWatch) mergeUnit(to, from *cell, off, n int) {
	if from.w == nil && from.r == nil && from.flags&isSplit == 0 {
		return
	}
	if (from.flags|to.flags)&isSplit != 0 {
		f, t := from.splitAll(), to.splitAll()
		for i := range f {
			c.mergeUnit(&t[i], &f[i], off+i*n/4, n/4)
		}
		return
	}
	c.cur.off, c.cur.size, c.cur.unit = off, n, n
	c.mergeCell(to, from)
}

// mergeCell compares the accesses of a cluster to a cell with those of earlier clusters.
func (c *orderWatch) mergeCell(to, from *cell) {
	same := from.flags&to.flags&hasVal != 0 && from.val == to.val
	meet := func(e *event, lanes uint32, wrote bool, f *event, flanes uint32, fwrote bool) {
		if e.w.cl == f.w.cl || mayOverlap(e, f) {
			return
		}
		c.cur.e, c.cur.lanes, c.cur.write = e, lanes, wrote
		c.cur.a.ID, c.cur.a.Rank, c.cur.a.Warp = e.id, e.w.rank, e.w.index
		c.reportRace(f, flanes, fwrote, same && e == from.w && f == to.w)
	}
	if from.w != nil {
		if to.w != nil {
			meet(from.w, from.wLanes, true, to.w, to.wLanes, true)
		}
		to.reads(func(r read) { meet(from.w, from.wLanes, true, r.e, r.lanes, r.isWrite()) })
	}
	from.reads(func(f read) {
		if to.w != nil {
			meet(f.e, f.lanes, f.isWrite(), to.w, to.wLanes, true)
		}
		if to.flags&isStrong != 0 || f.isWrite() {
			to.reads(func(r read) {
				if f.isWrite() || r.isWrite() {
					meet(f.e, f.lanes, f.isWrite(), r.e, r.lanes, r.isWrite())
				}
			})
		}
		to.keep(f)
	})
	to.flags |= from.flags & (isStrong | isWritten)
	if from.ext != nil && len(from.ext.early) > 0 {
		to.more().early = append(to.more().early, from.ext.early...)
	}
	if from.w != nil && to.w == nil {
		to.w, to.wLanes = from.w, from.wLanes
		to.val = from.val
		to.flags |= from.flags & (isRowW | hasVal)
	}
}

// keep adds a read or strong write of a cluster to those of earlier clusters. Of each kind it
// keeps the accesses of two clusters: a later access is from another cluster than at least one
// of them.
func (c *cell) keep(f read) {
	if c.r == nil {
		c.setFirstRead(f)
		return
	}
	same, mine := 0, false
	c.reads(func(r read) {
		if r.isWrite() == f.isWrite() && r.e.class.strong == f.e.class.strong {
			same++
			mine = mine || r.e.w.cl == f.e.w.cl
		}
	})
	if same < 2 && !mine {
		if c.ext == nil {
			c.ext = &ext{}
		}
		c.ext.more = append(c.ext.more, f)
	}
}

// splitAll splits a cell and moves all accesses to the whole cell down to its quarters.
func (c *cell) splitAll() *[4]cell {
	sub := c.split()
	c.reads(c.pushDown)
	c.r, c.rLanes, c.ext.more = nil, 0, c.ext.more[:0]
	return sub
}
