package check

import "attest/device/emu"

// event is an instruction that a warp executed at one of its times. Cells of memory
// remember events, each with the lanes that touched the cell.
type event struct {
	w      *warp
	id     int
	time   uint32
	class  *class
	work   *work // of an asynchronous access
	writes bool
}

// work is an asynchronous operation. Once somebody has waited for it, it counts as
// done by those who waited, or by the mbarrier that they waited for.
type work struct {
	start *event
	lane  int // who started it; -1 for the lanes of the warp
	done  []doer
	read  []doer // of its reads alone: cp.async.bulk.wait_group.read
	bars  bool   // mbarriers count its bytes
}

// doer is an agent at a time. It stands for what the lanes started.
type doer struct {
	agent       int
	lanes, time uint32
	bar         bool // an mbarrier; else the lanes themselves
}

// cell is what is known of four bytes of memory, or of one.
type cell struct {
	w      *event // the last write, or nil
	r      *event // a read or strong write since then, or nil
	ext    *ext
	wl, rl uint32 // their lanes
	flags  flag
}

// ext is what few cells need.
type ext struct {
	more  []read   // further reads
	sub   *[4]cell // the bytes, when they are known apart
	early []early  // reads before the first write
}

type read struct {
	e     *event
	lanes uint32
}

// wrote reports whether it is not a read but a strong write: those do not take the
// place of the last weak write, since whoever races with that may not race with them.
func (r *read) wrote() bool { return r.e.class.strong && r.e.writes }

type flag uint32

const (
	isGap     flag = 1 << iota // between variables
	isBarrier                  // part of a living mbarrier
	isWritten                  // by somebody whose event is forgotten, or strongly
	isStrong                   // a strong write is among the reads
)

// split makes the bytes of a cell known apart.
func (c *cell) split() *[4]cell {
	if c.ext == nil {
		c.ext = &ext{}
	}
	if c.ext.sub == nil {
		sub := new([4]cell)
		for i := range sub {
			sub[i] = *c
			sub[i].ext = nil
			if len(c.ext.more) > 0 || len(c.ext.early) > 0 {
				sub[i].ext = &ext{more: append([]read{}, c.ext.more...), early: append([]early{}, c.ext.early...)}
			}
		}
		c.ext.sub, c.ext.early = sub, nil
	}
	return c.ext.sub
}

// noted adds a read to a cell's, in place of one that it makes superfluous: whoever
// comes after it comes after the other.
func (c *cell) noted(e *event, lanes uint32, after func(r *event, lanes uint32) bool) {
	switch {
	case c.r == nil:
		c.r, c.rl = e, lanes
		return
	case c.r == e:
		c.rl |= lanes
		return
	case replaces(e, c.r) && after(c.r, c.rl):
		c.r, c.rl = e, lanes
		return
	}
	if c.ext == nil {
		c.ext = &ext{}
	}
	for i := range c.ext.more {
		r := &c.ext.more[i]
		if r.e == e {
			r.lanes |= lanes
			return
		}
		if replaces(e, r.e) && after(r.e, r.lanes) {
			*r = read{e, lanes}
			return
		}
	}
	if len(c.ext.more) == mostReads {
		c.ext.more = append(c.ext.more[:0], c.ext.more[1:]...)
	}
	c.ext.more = append(c.ext.more, read{e, lanes})
}

// mostReads is how many accesses a cell remembers besides the last write.
const mostReads = 64

// replaces reports whether a read can stand for another one before it: what races
// with one races with the other.
func replaces(e, old *event) bool {
	return e.work == nil && old.work == nil && e.class.strong == old.class.strong && e.writes == old.writes
}

// wrote has a cell remember a write and forget what came before it.
func (c *cell) wrote(e *event, lanes uint32) {
	c.w, c.wl, c.r, c.rl = e, lanes, nil, 0
	c.flags &^= isStrong
	if c.ext != nil {
		c.ext.more = c.ext.more[:0]
		c.ext.sub = nil
	}
}

// reads calls do for each read, or strong write, of a cell since the last write.
func (c *cell) reads(do func(r read)) {
	if c.r == nil {
		return
	}
	do(read{c.r, c.rl})
	if c.ext != nil {
		for _, r := range c.ext.more {
			do(r)
		}
	}
}

// Global memory is remembered by pages of so many cells.
const (
	pageCells = 1024
	pageBytes = 4 * pageCells
)

type page [pageCells]cell

// memory is what is known of global memory, of what was touched.
type memory struct {
	allocs map[*emu.Alloc][]*page
	last   *emu.Alloc
	pages  []*page
}

// page is the page that an offset of an allocation lies in.
func (m *memory) page(a *emu.Alloc, off int) *page {
	if m.last != a {
		if m.allocs == nil {
			m.allocs = map[*emu.Alloc][]*page{}
		}
		ps := m.allocs[a]
		if ps == nil {
			ps = make([]*page, (a.Size+pageBytes-1)/pageBytes)
			m.allocs[a] = ps
		}
		m.last, m.pages = a, ps
	}
	i := off / pageBytes
	if m.pages[i] == nil {
		m.pages[i] = new(page)
	}
	return m.pages[i]
}
