package check

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// current is the access that is being checked.
type current struct {
	a     *observe.Access
	e     *event
	v     *view
	lanes uint32 // the lanes that access the present unit
	row   bool   // the lanes form a row: they share the cell in order, each with its own part
	write bool
	off   int   // the offset of the present unit
	size  int   // bytes that each lane accesses
	unit  int   // bytes of the present unit: 16, 4 or 1
	rows  *bool // for a matrix: whether one of its rows is written; see factorRows
	undef bool  // the memory may hold bytes that nobody has written
}

// strong reports whether the access may overlap other strong accesses without order.
func (cur *current) strong() bool { return cur.e.class.strong && cur.e.work == nil }

func (c *orderWatch) access(a *observe.Access) {
	if a.Space == ptx.Local || a.Space == ptx.Global && a.Alloc == nil {
		return
	}
	cls := &c.o.classes[a.ID]
	if cls.role == rolePrefetch {
		return
	}
	w := c.warp(a.Rank, a.Warp)
	if c.deferRead(w, a, cls) {
		return
	}
	cur := &c.cur
	first := c.building == nil
	cur.a, cur.e, cur.size, cur.write, cur.row, cur.rows = a, c.eventOf(w, a, cls), a.Size, a.Write, false, nil
	cur.e.size = max(cur.e.size, int32(a.Size)) // cp.async may read less than it writes
	c.locate(cur.e, a)
	if a.Write && a.Space == ptx.Shared {
		c.noteWrites(w, a)
	}
	if cls.role == roleBulk && a.Space == ptx.Shared && !a.Write {
		cur.e.work.source = int(a.Offsets[bits.TrailingZeros32(a.Mask)])
	}
	cur.undef = a.Space == ptx.Shared || len(a.Alloc.Undefined) > 0
	cells := c.cells(a)
	if a.Units != nil {
		cur.v, cur.lanes = w.together(a.Mask), a.Mask
		c.checkFactor(first)
		for _, off := range a.Units {
			c.accessBytes(cells, int(off))
		}
		return
	}
	if cls.strong && cls.role == roleNone {
		c.acquireFlags(w, a, cls)
	}
	if cls.rows && a.Size == cellBytes {
		c.checkRows()
	}
	for m := a.Mask; m != 0; {
		l := bits.TrailingZeros32(m)
		if n := rowOf(a, l); n > 1 && w.v != nil && !cls.strong {
			cur.v, cur.lanes, cur.row, cur.off = w.v, (1<<n-1)<<l, true, int(a.Offsets[l])
			c.accessUnit(cells.at(cur.off), cellBytes)
			m &^= cur.lanes
			continue
		}
		cur.v, cur.lanes, cur.row = w.view(l), 1<<l, false
		c.accessBytes(cells, int(a.Offsets[l]))
		m &= m - 1
	}
	if cls.strong && a.Write && cls.role == roleNone {
		c.releaseFlags(w, a, cls)
	}
}

// locate records the calls that led to an event in a function.
func (c *orderWatch) locate(e *event, a *observe.Access) {
	if c.o.called[a.ID] && e.site == nil {
		at := c.l.siteOf(a)
		e.site = &at
	}
}

// rowOf returns the number of lanes, starting with lane, that together fill a cell in order.
// It returns 1 if they do not.
func rowOf(a *observe.Access, lane int) int {
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

// eventOf returns the event of an access. An asynchronous access belongs to the event of its
// work.
func (c *orderWatch) eventOf(w *warp, a *observe.Access, cls *class) *event {
	switch {
	case cls.role == roleCopy:
		return w.copying.start
	case cls.async && cls.role != roleCopy:
		if c.building == nil {
			c.building = &work{source: -1}
			c.building.start = &event{w: w, id: a.ID, time: w.time, class: cls, work: c.building}
		}
		w.touched = true
		return c.building.start
	}
	return w.event(a.ID, cls, a.Size, a.Write)
}

// accessBytes checks the current access at an offset, cell by cell.
func (c *orderWatch) accessBytes(cells pages, off int) {
	cur := &c.cur
	for size := cur.size; size > 0; {
		cur.off = off
		n := unitAt(off, size)
		at := cells.at(off)
		if n < cellBytes {
			at = c.descend(at, off, n)
		}
		c.accessUnit(at, n)
		off += n
		size -= n
	}
}

// descend returns the part of n bytes at an offset of a cell. On the way it compares the current
// access with the accesses to the whole cell.
func (c *orderWatch) descend(at *cell, off, n int) *cell {
	for size := cellBytes; size > n; {
		sub := at.split()
		size /= 4
		c.checkWhole(at)
		at = &sub[off/size%4]
	}
	return at
}

// checkWhole compares an access to part of a split cell with the accesses to the whole cell.
func (c *orderWatch) checkWhole(at *cell) {
	cur := &c.cur
	if cur.write && at.ext.writes != nil {
		at.ext.writes, at.ext.fenced = nil, nil
	}
	if at.r == nil || !cur.write && at.flags&isStrong == 0 {
		return
	}
	by := cur.v.c
	if by != nil && at.ext.reads == by && !cur.e.class.proxy {
		return
	}
	all := true
	at.reads(func(r read) {
		all = all && c.known(r.e, r.lanes, r.isWrite(), false, by)
		if (cur.write || r.isWrite()) && (r.e != cur.e || r.lanes&^cur.lanes != 0) {
			c.compare(r.e, r.lanes, r.isWrite())
		}
	})
	if all {
		at.ext.reads = by
	}
}

// accessUnit checks the current access to n bytes: a cell, or a part of a split cell.
func (c *orderWatch) accessUnit(at *cell, n int) {
	cur := &c.cur
	cur.unit = n
	if at.flags&isSplit == 0 || at.rejoin() && c.plain(at) {
		if !cur.row {
			c.accessCell(at)
			return
		}
		if c.accessRow(at) {
			return
		}
	}
	sub := at.split()
	if !cur.write && !cur.row {
		c.checkParts(at, n)
		c.checkWhole(at)
		at.ext.reads = nil
		at.addRead(cur.e, cur.lanes, false, func(r read) bool { return c.before(r.e, r.lanes, r.isWrite()) })
		return
	}
	c.checkWhole(at)
	lanes, row := cur.lanes, cur.row
	gap := flag(0)
	for i := range sub {
		if row {
			cur.lanes = quarter(lanes, i)
			cur.row = cur.lanes&(cur.lanes-1) != 0
		}
		c.accessUnit(&sub[i], n/4)
		cur.off += n / 4
		gap |= sub[i].flags & isGap
	}
	cur.lanes, cur.row = lanes, row
	cur.off -= n
	cur.unit = n
	if cur.write && gap == 0 && !cur.strong() {
		flags := sub[0].flags
		at.setWrite(cur.e, lanes, row)
		at.flags |= flags & (isBarrier | isWritten)
	}
}

// checkParts compares a read of a whole cell with the writes to its parts. It records the clock
// that knows all of them, to save the comparison next time.
func (c *orderWatch) checkParts(at *cell, n int) {
	cur := &c.cur
	cur.unit = n
	if at.flags&isSplit == 0 {
		c.checkWrite(at)
		return
	}
	by, fenced := cur.v.c, cur.v.shared
	if by != nil && at.ext.writes == by && (!cur.e.class.proxy || fenced != nil && at.ext.fenced == fenced) {
		return
	}
	before := c.serial
	for i := range at.ext.sub {
		b := &at.ext.sub[i]
		c.checkParts(b, n/4)
		if b.flags&isSplit != 0 {
			c.checkWhole(b)
		}
		cur.off += n / 4
	}
	cur.off -= n
	cur.unit = n
	if cur.a.Space == ptx.Shared && c.serial == before && !c.ownWrite(at) {
		at.ext.writes = by
		if cur.e.class.proxy {
			at.ext.fenced = fenced
		}
	}
}

// ownWrite reports whether the warp of the current access wrote one of the parts at its present
// time. The warp knows its own writes, but other warps with the same clock do not.
func (c *orderWatch) ownWrite(at *cell) bool {
	if at.flags&isSplit == 0 {
		return at.w != nil && at.w.w == c.cur.e.w && !c.known(at.w, at.wLanes, true, false, c.cur.v.c)
	}
	for i := range at.ext.sub {
		if c.ownWrite(&at.ext.sub[i]) {
			return true
		}
	}
	return false
}

// checkWrite compares a read with the last write to a cell.
func (c *orderWatch) checkWrite(at *cell) {
	cur := &c.cur
	if at.flags&(isGap|isBarrier) != 0 && c.checkReserved(at) {
		return
	}
	if cur.undef && at.w == nil && at.flags&isWritten == 0 {
		c.noteUnwritten(at)
	}
	if at.w != nil && at.w != cur.e && !c.plain(at) {
		c.compare(at.w, at.wLanes, true)
	}
	if at.flags&isStrong != 0 {
		at.reads(func(r read) {
			if r.isWrite() {
				c.compare(r.e, r.lanes, true)
			}
		})
	}
}

// accessCell checks the current access to a cell that is not split, and records it.
func (c *orderWatch) accessCell(at *cell) {
	cur := &c.cur
	if at.flags&(isGap|isBarrier) != 0 && c.checkReserved(at) {
		return
	}
	if cur.undef && at.w == nil && at.flags&isWritten == 0 && (!cur.write || cur.e.class.atomic) {
		c.noteUnwritten(at)
	}
	if w := at.w; w != nil && w != cur.e {
		if !c.plain(at) {
			c.compare(w, at.wLanes, true)
		}
	} else if w == cur.e && cur.write && w.work == nil && at.wLanes&^cur.lanes != 0 && !w.class.atomic {
		c.sameStore(at.wLanes)
	}
	strong := cur.write && cur.strong()
	observed := at.observed(cur)
	if !cur.write || strong {
		c.readCell(at, strong, observed)
	} else {
		c.writeCell(at, observed)
	}
}

// readCell checks and records a read or a strong write of a cell.
func (c *orderWatch) readCell(at *cell, strong, observed bool) {
	cur := &c.cur
	if at.r == cur.e && at.flags&isRowR == 0 {
		at.rLanes |= cur.lanes
		return
	}
	if at.flags&isStrong != 0 || strong {
		at.reads(func(r read) {
			if r.isWrite() && !observed || strong && r.e != cur.e {
				c.compare(r.e, r.lanes, r.isWrite())
			}
		})
	}
	if strong {
		if at.ext != nil && len(at.ext.early) > 0 && !cur.e.class.atomic {
			c.reportOrderedReads(at)
		}
		at.flags |= isStrong | isWritten
	}
	at.addRead(cur.e, cur.lanes, false, func(r read) bool { return c.before(r.e, r.lanes, r.isWrite()) })
}

// writeCell checks and records a weak write of a cell.
func (c *orderWatch) writeCell(at *cell, observed bool) {
	cur := &c.cur
	if at.ext != nil && len(at.ext.early) > 0 {
		c.reportOrderedReads(at)
	}
	if at.r != nil {
		at.reads(func(r read) {
			if (r.e != cur.e || r.lanes&^cur.lanes != 0) && !(observed && r.isWrite()) {
				c.compare(r.e, r.lanes, r.isWrite())
			}
		})
	}
	if at.w == cur.e && cur.e.work == nil {
		at.setWrite(cur.e, at.wLanes|cur.lanes, false)
	} else {
		at.setWrite(cur.e, cur.lanes, false)
	}
	if cur.a.Space == ptx.Global && cur.e.work == nil && cur.unit == cur.size {
		if v, ok := cur.a.Word(lane(cur.lanes)); ok { // mergeCell compares it
			at.val = v
			at.flags |= hasVal
		}
	}
}

// observed reports whether the current access is a plain access by the thread that last read
// the cell by a strong read or an atomic. Such an access comes after the strong writes that
// the read observed, but not after what the writing threads did before. If the current access
// is itself a strong read or an atomic, observed records it.
func (c *cell) observed(cur *current) bool {
	cls := cur.e.class
	if cur.strong() {
		if !cls.blind && (cls.atomic || !cur.write) {
			if c.ext == nil {
				c.ext = &ext{}
			}
			c.ext.seen = read{e: cur.e, lanes: cur.lanes}
		} else if c.ext != nil {
			c.ext.seen = read{}
		}
		return false
	}
	if c.ext == nil || c.ext.seen.e == nil || cur.e.work != nil {
		return false
	}
	return c.ext.seen.e.w == cur.e.w && cur.lanes&^c.ext.seen.lanes == 0
}

// accessRow checks an access by a row of lanes. It returns false if the cell must be split. The
// cell stays whole if every earlier access is ordered before all lanes, or was made by the same
// lanes in the same order.
func (c *orderWatch) accessRow(at *cell) bool {
	cur := &c.cur
	if at.flags&(isGap|isBarrier|isStrong) != 0 || at.ext != nil && len(at.ext.early) > 0 {
		return false
	}
	if w := at.w; w == nil {
		if cur.undef && !cur.write {
			return false
		}
	} else if cur.e.class.nc || !c.plain(at) && !c.rowBefore(read{w, at.wLanes, at.flags&isRowW != 0}, true) {
		return false
	}
	if !cur.write {
		if at.r == cur.e && at.rLanes == cur.lanes && at.flags&isRowR != 0 {
			return true
		}
		at.addRead(cur.e, cur.lanes, true, func(r read) bool { return c.rowBefore(r, r.isWrite()) })
		return true
	}
	fine := true
	at.reads(func(r read) { fine = fine && !r.e.class.nc && c.rowBefore(r, r.isWrite()) })
	if fine {
		at.setWrite(cur.e, cur.lanes, true)
	}
	return fine
}

// rowBefore reports whether an earlier access is ordered before the current access of a row.
func (c *orderWatch) rowBefore(r read, wrote bool) bool {
	if r.e.work == nil && r.row && r.e.w == c.cur.e.w && r.lanes == c.cur.lanes {
		return true
	}
	return c.known(r.e, r.lanes, wrote, false, c.cur.v.c)
}

// plain is a quick test for the common case: the last write is an ordinary write by a warp of
// this cluster, and the clock of the current access has its time.
func (c *orderWatch) plain(at *cell) bool {
	w, by := at.w, c.cur.v.c
	return w.work == nil && !c.cur.e.class.proxy && !c.cur.e.class.nc && w.w.cl == c && by != nil && w.w.agent < len(by.own) &&
		by.own[w.w.agent].lanes == nil && by.own[w.w.agent].all >= w.time
}

// cells returns the cells of the memory of an access.
func (c *orderWatch) cells(a *observe.Access) pages {
	if a.Space == ptx.Shared {
		return c.shared[a.Block]
	}
	return c.global.of(a.Alloc)
}
