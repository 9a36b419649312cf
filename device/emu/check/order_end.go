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

// end judges what is left when the threads of a cluster have ended.
func (c *ordered) end() {
	c.neverWritten()
	ended := true
	for _, w := range c.warps {
		ended = ended && w.live == 0
	}
	if ended {
		c.unbalanced()
		c.leaks()
		c.afterlife()
	} else {
		c.o.stop(c)
	}
	if !c.l.Serial {
		c.o.merge.take(c)
	}
}

// stop keeps a cluster whose threads have not all ended for the end of the launch.
func (o *order) stop(c *ordered) {
	o.merge.mu.Lock()
	defer o.merge.mu.Unlock()
	o.stopped = append(o.stopped, c)
}

// endLaunch judges the mbarriers of clusters that have stopped: where a fault stopped
// them, the copies that they await might have come.
func (o *order) endLaunch(_ *cluster, err error) {
	var f *device.Fault
	if errors.As(err, &f) {
		return
	}
	for _, c := range o.stopped {
		c.unbalanced()
	}
}

// afterlife reports accesses to the shared memory of a block by others of its
// cluster that may come after it has ended.
func (c *ordered) afterlife() {
	if len(c.Blocks) == 1 {
		return
	}
	for rank := range c.Blocks {
		by := c.ends[rank].c
		c.shared[rank].each(func(at *cell, off, size int) {
			late := func(e *event, lanes uint32, wrote bool) {
				if e.w.rank != rank && !c.known(e, lanes, wrote, false, by) {
					c.tooLate(e, lanes, wrote, off, size)
				}
			}
			if at.w != nil {
				late(at.w, at.wl, true)
			}
			at.reads(func(r read) { late(r.e, r.lanes, r.wrote()) })
		})
	}
}

func (c *ordered) tooLate(e *event, lanes uint32, wrote bool, off, size int) {
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
		Why:     "the shared memory of a block is gone when its threads have ended; nothing makes it wait for this access",
		Fix:     "end the kernel with barrier.cluster.arrive and wait (cluster.sync()) in all blocks",
	})
}

// merger compares what the clusters of a launch did to global memory. They come in
// the order of their numbers, whichever goroutine ran them, so that every run finds
// the same.
type merger struct {
	o       *order
	mu      sync.Mutex
	all     memory
	next    int
	waiting map[int]*ordered
}

func (m *merger) take(c *ordered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting == nil {
		m.waiting = map[int]*ordered{}
	}
	m.waiting[c.Index] = c
	for m.waiting[m.next] != nil {
		c := m.waiting[m.next]
		delete(m.waiting, m.next)
		m.next++
		m.add(c)
	}
}

// add merges one cluster's memory. The cluster's own is not needed any more.
func (m *merger) add(c *ordered) {
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
	for i := range c.zones {
		m.o.freeZones.Put(&c.zones[i])
	}
	c.global, c.shared, c.zones, c.warps[0].events = nil, nil, nil, nil
}

func (c *ordered) mergeLeaf(into, f *leaf, a *observe.Alloc, off int) {
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

func (c *ordered) mergePage(into, p *page, a *observe.Alloc, off int) {
	c.cur = current{a: &observe.Access{Space: ptx.Global, Alloc: a}, v: start}
	for i := range p {
		c.mergeUnit(&into[i], &p[i], off+cellBytes*i, cellBytes)
	}
}

func (c *ordered) mergeUnit(to, from *cell, off, n int) {
	if from.w == nil && from.r == nil && from.flags&isSplit == 0 {
		return
	}
	if (from.flags|to.flags)&isSplit != 0 {
		f, t := from.apart(), to.apart()
		for i := range f {
			c.mergeUnit(&t[i], &f[i], off+i*n/4, n/4)
		}
		return
	}
	c.cur.off, c.cur.size, c.cur.unit = off, n, n
	c.mergeCell(to, from)
}

// mergeCell holds what a cluster did to a cell against what others did.
func (c *ordered) mergeCell(to, from *cell) {
	same := from.flags&to.flags&hasVal != 0 && from.val == to.val
	meet := func(e *event, lanes uint32, wrote bool, f *event, flanes uint32, fwrote bool) {
		if e.w.cl == f.w.cl || strongBoth(e, f) {
			return
		}
		c.cur.e, c.cur.lanes, c.cur.write = e, lanes, wrote
		c.cur.a.ID, c.cur.a.Rank, c.cur.a.Warp = e.id, e.w.rank, e.w.index
		c.race(f, flanes, fwrote, same && e == from.w && f == to.w)
	}
	if from.w != nil {
		if to.w != nil {
			meet(from.w, from.wl, true, to.w, to.wl, true)
		}
		to.reads(func(r read) { meet(from.w, from.wl, true, r.e, r.lanes, r.wrote()) })
	}
	from.reads(func(f read) {
		if to.w != nil {
			meet(f.e, f.lanes, f.wrote(), to.w, to.wl, true)
		}
		if to.flags&isStrong != 0 || f.wrote() {
			to.reads(func(r read) {
				if f.wrote() || r.wrote() {
					meet(f.e, f.lanes, f.wrote(), r.e, r.lanes, r.wrote())
				}
			})
		}
		to.keep(f)
	})
	to.flags |= from.flags & isStrong
	if from.w != nil && to.w == nil {
		to.w, to.wl = from.w, from.wl
		to.val = from.val
		to.flags |= from.flags & (isRowW | hasVal)
	}
}

// keep adds a read or strong write of a cluster to those of others. Two clusters'
// are enough of each kind: whoever comes then is another than one of them.
func (c *cell) keep(f read) {
	if c.r == nil {
		c.first(f)
		return
	}
	same, mine := 0, false
	c.reads(func(r read) {
		if r.wrote() == f.wrote() && r.e.class.strong == f.e.class.strong {
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

// apart are the quarters of a cell, with everything that is known of the whole.
func (c *cell) apart() *[4]cell {
	sub := c.split()
	c.reads(c.giveDown)
	c.r, c.rl, c.ext.more = nil, 0, c.ext.more[:0]
	return sub
}
