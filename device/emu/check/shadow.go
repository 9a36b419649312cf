package check

import (
	"math/bits"
	"sync"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
)

// event is an instruction that a warp executed at one of its times. A cell of memory holds
// events, each with the lanes that accessed the cell.
type event struct {
	w      *warp
	id     int
	time   uint32
	size   int32 // bytes that each lane accessed
	class  *class
	work   *work // the asynchronous work that made the access, or nil
	writes bool
	used   uint32 // for a load whose value is followed: the lanes that have used the value
	site   *site  // for an access in a function that the kernel calls: the source line and the calls; otherwise nil
}

// work is an asynchronous operation. It counts as done by the threads that have waited for it,
// or by the mbarrier that counts its bytes.
type work struct {
	start *event
	lane  int    // the lane that started it, or -1 for several lanes
	all   uint32 // the lanes that started it
	done  []doer // who has completed it
	read  []doer // who has completed its reads: cp.async.bulk.wait_group.read
	bars  bool   // mbarriers count its bytes
	// source is the offset in the shared memory of its block that a bulk copy reads, or -1.
	source int
	twins  []twin
	// allBy and readBy are the last clocks that were found to have all of the work, and all of
	// its reads.
	allBy, readBy *clock
}

// doer is an agent at a time at which work of lanes is done.
type doer struct {
	agent       int
	lanes, time uint32
	bar         bool // the agent is an mbarrier, else the warp of the lanes
	any         bool // each of the lanes has waited for the work of all lanes
}

// accessCell is the state of 16 bytes of memory, the unit that copies, matrices and vectors move. If
// less is accessed, a cell is split into quarters of 4 bytes, and a quarter into bytes.
type cell struct {
	w      *event // the last write, or nil
	r      *event // a read or strong write since then, or nil
	ext    *ext
	wLanes uint32 // the lanes of w
	rLanes uint32 // the lanes of r
	val    uint32 // the value that was written, if hasVal is set
	flags  flag
}

// ext is state that few cells need.
type ext struct {
	more  []read   // further reads and strong writes
	sub   *[4]cell // the quarters of a split cell
	early []early  // reads before the first write
	seen  read     // the last strong read or atomic
	// For a split cell: the last clocks that were found to have all writes to its quarters, all
	// of these writes through a proxy fence, and all reads of the whole cell.
	writes, fenced, reads *clock
}

// read is a read or a strong write of a cell.
type read struct {
	e     *event
	lanes uint32
	row   bool // the lanes form a row: see current.row
}

// isWrite reports whether the access is a strong write. A strong write does not replace the last
// weak write: an access that races with the weak write may not race with the strong one.
func (r *read) isWrite() bool { return r.e.class.strong && r.e.writes }

type flag uint32

const (
	isGap     flag = 1 << iota // the cell lies between variables
	isBarrier                  // the cell is part of an mbarrier that is in use
	isWritten                  // the cell was written, but w does not say by which event
	isStrong                   // a strong write is among the reads
	isSplit                    // the quarters hold the state
	isRowW                     // the lanes wLanes form a row: each wrote its own part
	isRowR                     // the lanes rLanes form a row: each read its own part
	hasVal                     // val is known
)

// split splits a cell and returns its quarters. Reads of the whole cell stay with it; each lane
// of a row goes to its quarter.
func (c *cell) split() *[4]cell {
	if c.flags&isSplit != 0 {
		return c.ext.sub
	}
	if c.ext == nil {
		c.ext = &ext{}
	}
	if c.ext.sub == nil {
		c.ext.sub = new([4]cell)
	}
	for i := range c.ext.sub {
		b := &c.ext.sub[i]
		b.w, b.wLanes, b.r, b.rLanes, b.flags = c.w, c.wLanes, nil, 0, c.flags&(isGap|isBarrier|isWritten)
		if x := b.ext; x != nil {
			*x = ext{more: x.more[:0], sub: x.sub}
		}
		if c.flags&isRowW != 0 {
			b.wLanes = quarter(c.wLanes, i)
			b.row(isRowW, b.wLanes)
		}
		if len(c.ext.early) > 0 {
			b.more().early = append([]early(nil), c.ext.early...)
		}
	}
	c.reads(func(r read) {
		if r.row {
			c.pushDown(r)
		}
	})
	c.dropRows()
	c.w, c.wLanes, c.ext.early = nil, 0, nil
	c.ext.writes, c.ext.fenced, c.ext.reads = nil, nil, nil
	c.flags = c.flags&^(isRowW|isRowR|hasVal) | isSplit
	return c.ext.sub
}

// more returns the ext of the cell. It makes one if there is none.
func (c *cell) more() *ext {
	if c.ext == nil {
		c.ext = &ext{}
	}
	return c.ext
}

// pushDown adds a read to the quarters. Of a row, each quarter gets its lanes.
func (c *cell) pushDown(r read) {
	for i := range c.ext.sub {
		b, q := &c.ext.sub[i], r
		if r.row {
			q.lanes = quarter(r.lanes, i)
			q.row = q.lanes&(q.lanes-1) != 0
		}
		if r.isWrite() {
			b.flags |= isStrong
		}
		if b.r == nil {
			b.setFirstRead(q)
		} else {
			b.more().more = append(b.more().more, q)
		}
	}
}

// dropRows removes the reads by rows. The reads of the whole cell stay.
func (c *cell) dropRows() {
	if c.r == nil {
		return
	}
	more := c.ext.more
	whole := more[:0]
	for _, r := range more {
		if !r.row {
			whole = append(whole, r)
		}
	}
	if c.flags&isRowR != 0 {
		c.r, c.rLanes = nil, 0
		if len(whole) > 0 {
			c.setFirstRead(whole[0])
			whole = whole[:copy(whole, whole[1:])]
		}
	}
	c.ext.more = whole
}

// row sets the flag f if the lanes are several and form a row, else it clears f.
func (c *cell) row(f flag, lanes uint32) {
	c.flags &^= f
	if lanes&(lanes-1) != 0 {
		c.flags |= f
	}
}

// quarter returns the lanes of a row that access quarter i of the cell.
func quarter(lanes uint32, i int) uint32 {
	n, from := bits.OnesCount32(lanes), bits.TrailingZeros32(lanes)
	if n < 4 {
		return nth(lanes, i*n/4)
	}
	if run := uint32(1)<<(n/4) - 1; lanes>>from == 1<<n-1 && n%4 == 0 {
		return run << (from + i*n/4)
	}
	part := uint32(0)
	for j := i * n / 4; j < (i+1)*n/4; j++ {
		part |= nth(lanes, j)
	}
	return part
}

// nth returns the n-th lowest lane of a set, as a set.
func nth(lanes uint32, n int) uint32 {
	for ; n > 0; n-- {
		lanes &= lanes - 1
	}
	return lanes & -lanes
}

// rejoin makes a split cell whole again. It reports false unless the lanes of one event wrote the
// quarters in order and no quarter was read since.
func (c *cell) rejoin() bool {
	sub := c.ext.sub
	e, all, n := sub[0].w, uint32(0), bits.OnesCount32(sub[0].wLanes)
	for i := range sub {
		b := &sub[i]
		ordered := b.wLanes > all && bits.OnesCount32(b.wLanes) == n && (n == 1 || b.flags&isRowW != 0)
		same := b.wLanes == all && n == 1 // one lane wrote two quarters, or all
		if b.w != e || e == nil || b.r != nil || b.flags&^(isWritten|isRowW) != 0 || !ordered && !same ||
			b.ext != nil && len(b.ext.early) > 0 {
			return false
		}
		all |= b.wLanes
	}
	if k := bits.OnesCount32(all); k != 1 && k != 4*n && !(k == 2 && sub[0].wLanes == sub[1].wLanes && sub[2].wLanes == sub[3].wLanes) {
		return false
	}
	c.w, c.wLanes, c.flags = e, all, c.flags&isStrong
	c.row(isRowW, all)
	return true
}

// addRead adds a read to a cell. It replaces an earlier read that is ordered before it: an access
// that comes after the new read also comes after the earlier one.
func (c *cell) addRead(e *event, lanes uint32, row bool, after func(r read) bool) {
	n := read{e, lanes, row}
	if c.r == nil {
		c.setFirstRead(n)
		return
	}
	if old := (read{c.r, c.rLanes, c.flags&isRowR != 0}); old.merge(n) {
		c.rLanes = old.lanes
		return
	} else if replaces(e, c.r) && after(old) {
		c.setFirstRead(n)
		return
	}
	if c.ext == nil {
		c.ext = &ext{}
	}
	for i := range c.ext.more {
		r := &c.ext.more[i]
		if r.merge(n) {
			return
		}
		if replaces(e, r.e) && after(*r) {
			*r = n
			return
		}
	}
	if len(c.ext.more) == mostReads {
		c.ext.more = append(c.ext.more[:0], c.ext.more[1:]...)
	}
	c.ext.more = append(c.ext.more, n)
}

// addDeferred adds a deferred read. It was ordered after all writes when it happened.
func (c *cell) addDeferred(e *event, lanes uint32, row bool) {
	if c.flags&isSplit != 0 {
		if row {
			for i := range c.ext.sub {
				q := quarter(lanes, i)
				c.ext.sub[i].addDeferred(e, q, q&(q-1) != 0)
			}
			return
		}
		c.ext.reads = nil
	}
	c.addRead(e, lanes, row, func(r read) bool {
		return r.e.w == e.w && r.e.time <= e.time && r.lanes&^lanes == 0 && (!row || r.row && r.lanes == lanes)
	})
}

// mostReads is the number of accesses besides the last write that a cell holds.
const mostReads = 64

func (c *cell) setFirstRead(r read) {
	c.r, c.rLanes = r.e, r.lanes
	c.flags &^= isRowR
	if r.row {
		c.flags |= isRowR
	}
}

// merge adds the lanes of another access by the same event. It reports false if the two must
// be kept apart.
func (r *read) merge(n read) bool {
	if r.e != n.e || r.row != n.row || r.row && r.lanes != n.lanes {
		return false
	}
	r.lanes |= n.lanes
	return true
}

// replaces reports whether a read can stand for an earlier one: an access that races with the
// earlier read also races with the later one.
func replaces(e, old *event) bool {
	return e.work == nil && old.work == nil && e.class.strong == old.class.strong && e.class.element == old.class.element &&
		e.class.nc == old.class.nc && e.writes == old.writes
}

// setWrite records a write of the cell and removes the accesses before it.
func (c *cell) setWrite(e *event, lanes uint32, row bool) {
	c.w, c.wLanes, c.r, c.rLanes = e, lanes, nil, 0
	c.flags &^= isStrong | isSplit | isRowR | isRowW | hasVal
	if row {
		c.flags |= isRowW
	}
	if c.ext != nil {
		c.ext.more = c.ext.more[:0]
	}
}

// reads calls do for each read, or strong write, of a cell since the last write.
func (c *cell) reads(do func(r read)) {
	if c.r == nil {
		return
	}
	do(read{c.r, c.rLanes, c.flags&isRowR != 0})
	if c.ext != nil {
		for _, r := range c.ext.more {
			do(r)
		}
	}
}

// Cells are allocated in pages, and pages are listed in leaves, so that a block which works on a
// few columns of a large matrix needs little memory.
const (
	cellBytes = 16
	pageCells = 32
	pageBytes = cellBytes * pageCells
	leafPages = 128
	leafBytes = pageBytes * leafPages
)

type (
	page [pageCells]cell
	leaf [leafPages]*page
)

// pages are the cells of a piece of memory. Pages that were never accessed are nil.
type pages []*leaf

// freePages are pages of clusters that have ended, for later clusters to use.
var freePages = sync.Pool{New: func() any { return new(page) }}

// free clears the page and returns it to freePages.
func (p *page) free() {
	*p = page{}
	freePages.Put(p)
}

func newPages(size int) pages { return make(pages, (size+leafBytes-1)/leafBytes) }

// at returns the cell of an offset.
func (p pages) at(off int) *cell {
	f := p[off/leafBytes]
	if f == nil {
		f = new(leaf)
		p[off/leafBytes] = f
	}
	q := f[off/pageBytes%leafPages]
	if q == nil {
		q = freePages.Get().(*page)
		f[off/pageBytes%leafPages] = q
	}
	return &q[off/cellBytes%pageCells]
}

// free returns all pages to freePages.
func (p pages) free() {
	for _, f := range p {
		if f == nil {
			continue
		}
		for _, q := range f {
			if q != nil {
				q.free()
			}
		}
	}
}

// unitAt returns the size of the largest unit at an offset, of at most size bytes: 16, 4 or 1.
func unitAt(off, size int) int {
	n := cellBytes
	for off&(n-1) != 0 || size < n {
		n /= 4
	}
	return n
}

// part returns the cell of n bytes at an offset, where n is 16, 4 or 1.
func (p pages) part(off, n int) *cell {
	c := p.at(off)
	for size := cellBytes; size > n; {
		size /= 4
		c = &c.split()[off/size%4]
	}
	return c
}

// each calls do for each cell that was accessed and for its parts, with offset and size.
func (p pages) each(do func(c *cell, off, size int)) {
	for i, f := range p {
		if f == nil {
			continue
		}
		for j, q := range f {
			if q == nil {
				continue
			}
			for k := range q {
				q[k].leaves(i*leafBytes+j*pageBytes+k*cellBytes, cellBytes, do)
			}
		}
	}
}

func (c *cell) leaves(off, size int, do func(c *cell, off, size int)) {
	do(c, off, size)
	if c.flags&isSplit == 0 {
		return
	}
	for i := range c.ext.sub {
		c.ext.sub[i].leaves(off+i*size/4, size/4, do)
	}
}

// memory is the state of global memory.
type memory struct {
	allocs map[*observe.Alloc]pages
	last   *observe.Alloc // the allocation that of returned last
	pages  pages          // its cells
}

// of returns the cells of an allocation.
func (m *memory) of(a *observe.Alloc) pages {
	if m.last != a {
		if m.allocs == nil {
			m.allocs = map[*observe.Alloc]pages{}
		}
		ps := m.allocs[a]
		if ps == nil {
			ps = newPages(a.Size)
			m.allocs[a] = ps
		}
		m.last, m.pages = a, ps
	}
	return m.pages
}
