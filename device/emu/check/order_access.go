package check

import (
	"math/bits"

	"attest/device/emu"
	"attest/ptx"
)

// current is the access at hand.
type current struct {
	a     *emu.Access
	e     *event
	v     *view
	lanes uint32 // that it counts for
	row   bool   // they share the cell in order
	write bool
	off   int
	size  int // of a lane's access
	unit  int // of the part of it at hand
}

func (c *ordered) access(a *emu.Access) {
	if a.Space == ptx.Local || a.Space == ptx.Global && a.Alloc == nil {
		return
	}
	cls := &c.o.classes[a.ID]
	if cls.role == rolePrefetch {
		return
	}
	w := c.warp(a.Rank, a.Warp)
	cur := &c.cur
	*cur = current{a: a, e: c.eventOf(w, a, cls), size: a.Size, write: a.Write}
	cells := c.cells(a)
	if a.Units != nil {
		cur.v, cur.lanes = w.together(a.Mask), a.Mask
		for _, off := range a.Units {
			c.touch(cells, int(off))
		}
		return
	}
	if cls.strong && cls.role == roleNone {
		c.listen(w, a, cls)
	}
	for m := a.Mask; m != 0; {
		l := bits.TrailingZeros32(m)
		if n := rowOf(a, l); n > 1 && w.v != nil && !cls.strong {
			cur.v, cur.lanes, cur.row, cur.off = w.v, (1<<n-1)<<l, true, int(a.Offsets[l])
			c.unit(cells.at(cur.off), cellBytes)
			m &^= cur.lanes
			continue
		}
		cur.v, cur.lanes, cur.row = w.view(l), 1<<l, false
		c.touch(cells, int(a.Offsets[l]))
		m &= m - 1
	}
	if cls.strong && a.Write && cls.role == roleNone {
		c.publish(w, a, cls)
	}
}

// rowOf is how many lanes from one on share a cell in order, filling it; 1 when they
// do not.
func rowOf(a *emu.Access, lane int) int {
	n := cellBytes / a.Size
	if n < 2 || n*a.Size != cellBytes || lane+n > 32 || a.Offsets[lane]%cellBytes != 0 || a.Mask>>lane&(1<<n-1) != 1<<n-1 {
		return 1
	}
	for i := 1; i < n; i++ {
		if a.Offsets[lane+i] != a.Offsets[lane]+uint64(i*a.Size) {
			return 1
		}
	}
	return n
}

// eventOf is the event of an access; an asynchronous one is of a work of its own.
func (c *ordered) eventOf(w *warp, a *emu.Access, cls *class) *event {
	switch {
	case cls.role == roleCopy:
		return w.copying.start
	case cls.async && cls.role != roleCopy:
		if c.building == nil {
			c.building = &work{}
			c.building.start = &event{w: w, id: a.ID, time: w.time, class: cls, work: c.building}
		}
		w.touched = true
		return c.building.start
	}
	return w.event(a.ID, cls, a.Write)
}

// touch holds the current access against the cells at an offset.
func (c *ordered) touch(cells pages, off int) {
	cur := &c.cur
	for size := cur.size; size > 0; {
		cur.off = off
		n := cellBytes
		for off%n != 0 || size < n {
			n /= 4
		}
		if n == cellBytes {
			c.unit(cells.at(off), n)
		} else {
			c.unit(cells.part(off, n), n)
		}
		off += n
		size -= n
	}
}

// unit is an access to n bytes at once.
func (c *ordered) unit(at *cell, n int) {
	c.cur.unit = n
	if at.flags&isSplit == 0 || at.rejoin() && c.plain(at) {
		if !c.cur.row {
			c.cell(at)
			return
		}
		if c.rowCell(at) {
			return
		}
	}
	sub := at.split()
	lanes, row := c.cur.lanes, c.cur.row
	gap := flag(0)
	for i := range sub {
		if row {
			c.cur.lanes = quarter(lanes, i)
			c.cur.row = c.cur.lanes&(c.cur.lanes-1) != 0
		}
		c.unit(&sub[i], n/4)
		c.cur.off += n / 4
		gap |= sub[i].flags & isGap
	}
	c.cur.lanes, c.cur.row = lanes, row
	c.cur.off -= n
	c.cur.unit = n
	if c.cur.write && gap == 0 {
		flags := sub[0].flags &^ isSplit
		at.wrote(c.cur.e, c.cur.lanes, row)
		at.flags |= flags & (isBarrier | isWritten)
	}
}

// cell is an access to a cell.
func (c *ordered) cell(at *cell) {
	cur := &c.cur
	shared := cur.a.Space == ptx.Shared
	if at.flags&(isGap|isBarrier) != 0 && c.odd(at) {
		return
	}
	if shared && at.w == nil && at.flags&isWritten == 0 && (!cur.write || cur.e.class.atomic) {
		c.unwritten(at)
	}
	if w := at.w; w != nil && w != cur.e {
		if !c.plain(at) {
			c.against(w, at.wl, true)
		}
	} else if w == cur.e && cur.write && w.work == nil && at.wl&^cur.lanes != 0 && !w.class.atomic {
		c.sameStore(at.wl)
	}
	strong := cur.write && cur.e.class.strong && cur.e.work == nil
	if !cur.write || strong {
		if at.r == cur.e {
			at.rl |= cur.lanes
			return
		}
		if at.flags&isStrong != 0 || strong {
			at.reads(func(r read) {
				if r.wrote() || strong && r.e != cur.e {
					c.against(r.e, r.lanes, r.wrote())
				}
			})
		}
		if strong {
			if at.ext != nil && len(at.ext.early) > 0 && !cur.e.class.atomic {
				c.settle(at)
			}
			at.flags |= isStrong | isWritten
		}
		at.noted(cur.e, cur.lanes, false, func(r read) bool { return c.before(r.e, r.lanes, r.wrote()) })
		return
	}
	if at.ext != nil && len(at.ext.early) > 0 {
		c.settle(at)
	}
	if at.r != nil {
		at.reads(func(r read) {
			if r.e != cur.e || r.lanes&^cur.lanes != 0 {
				c.against(r.e, r.lanes, r.wrote())
			}
		})
	}
	if at.w == cur.e && cur.e.work == nil {
		at.wrote(cur.e, at.wl|cur.lanes, false)
	} else {
		at.wrote(cur.e, cur.lanes, false)
	}
	if cur.a.Space == ptx.Global && cur.e.work == nil && cur.unit == cur.size {
		if v, ok := cur.a.Word(lane(cur.lanes)); ok { // for when clusters are compared
			at.val = v
			at.flags |= hasVal
		}
	}
}

// rowCell is an access by lanes that share a cell in order. It reports whether the
// cell need not be split: everything is ordered whichever lane has which part, or was
// done by the same lanes in the same order.
func (c *ordered) rowCell(at *cell) bool {
	cur := &c.cur
	if at.flags&(isGap|isBarrier|isStrong) != 0 || at.ext != nil && len(at.ext.early) > 0 {
		return false
	}
	if w := at.w; w == nil {
		if cur.a.Space == ptx.Shared && !cur.write {
			return false
		}
	} else if !c.plain(at) && !c.rowBefore(read{w, at.wl, at.flags&isRowW != 0}, true) {
		return false
	}
	if !cur.write {
		if at.r == cur.e && at.rl == cur.lanes && at.flags&isRowR != 0 {
			return true
		}
		at.noted(cur.e, cur.lanes, true, func(r read) bool { return c.rowBefore(r, r.wrote()) })
		return true
	}
	fine := true
	at.reads(func(r read) { fine = fine && c.rowBefore(r, r.wrote()) })
	if fine {
		at.wrote(cur.e, cur.lanes, true)
	}
	return fine
}

// rowBefore reports whether an access is ordered before that of a row of lanes.
func (c *ordered) rowBefore(r read, wrote bool) bool {
	if r.e.work == nil && r.row && r.e.w == c.cur.e.w && r.lanes == c.cur.lanes {
		return true
	}
	return c.known(r.e, r.lanes, wrote, false, c.cur.v.c)
}

// plain reports whether the last write is the common case: an ordinary one, by a warp
// of the cluster whose time is known.
func (c *ordered) plain(at *cell) bool {
	w, by := at.w, c.cur.v.c
	return w.work == nil && !c.cur.e.class.proxy && w.w.cl == c && by != nil && w.w.agent < len(by.own) &&
		by.own[w.w.agent].lanes == nil && by.own[w.w.agent].all >= w.time
}

// cells are those of the memory of an access.
func (c *ordered) cells(a *emu.Access) pages {
	if a.Space == ptx.Shared {
		return c.shared[a.Block]
	}
	return c.global.of(a.Alloc)
}

// before reports whether an event of lanes is ordered before the current access.
func (c *ordered) before(e *event, lanes uint32, wrote bool) bool {
	return c.known(e, lanes, wrote, true, c.cur.v.c)
}

// known reports whether a clock has an event of lanes; with own, what the thread of
// the current access did itself counts as well.
func (c *ordered) known(e *event, lanes uint32, wrote, own bool, by *clock) bool {
	cur := &c.cur
	if e.work != nil {
		return e.work.known(lanes, wrote, c, own, by)
	}
	if own && e.w == cur.e.w {
		if lanes &^= cur.lanes; lanes == 0 {
			return true
		}
	}
	return c.entry(e.w.cl, e.w.agent, by).covers(lanes, e.time)
}

// entry is what a clock of this cluster has of an agent of any.
func (c *ordered) entry(of *ordered, agent int, by *clock) entry {
	if of == c {
		return by.at(agent)
	}
	if own := by.of(of.Index); agent < len(own) {
		return own[agent]
	}
	return entry{}
}

// known reports whether a clock has the work of lanes: all of it, or what it read.
func (k *work) known(lanes uint32, wrote bool, c *ordered, own bool, by *clock) bool {
	if by != nil && (k.allBy == by || !wrote && k.readBy == by) {
		return true
	}
	if k.covered(k.done, k.all, c, false, by) {
		k.allBy = by
		return true
	}
	if !wrote && k.covered(k.read, k.all, c, false, by) {
		k.readBy = by
		return true
	}
	return k.covered(k.done, lanes, c, own, by) || !wrote && k.covered(k.read, lanes, c, own, by)
}

// covered reports whether the clock knows of a doer for each of the lanes.
func (k *work) covered(doers []doer, lanes uint32, c *ordered, own bool, by *clock) bool {
	if k.lane >= 0 {
		lanes = 1 << k.lane
	}
	for _, d := range doers {
		e := c.entry(k.start.w.cl, d.agent, by)
		switch {
		case d.bar && e.all >= d.time:
			lanes &^= d.lanes
		case !d.bar:
			for m := lanes & d.lanes; m != 0; m &= m - 1 {
				bit := m & -m
				if own && k.start.w == c.cur.e.w && bit&c.cur.lanes != 0 || e.covers(bit, d.time) {
					lanes &^= bit
				}
			}
		}
	}
	return lanes == 0
}
