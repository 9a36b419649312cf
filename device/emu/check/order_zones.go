package check

import (
	"math/bits"
	"sync"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Most accesses of most kernels are plain reads of shared memory between two barriers: the bytes
// were written before the first barrier, and the next write comes after the second. To check
// that for each cell costs many times as much as the read itself. So shared memory is also
// divided into zones. A zone records which warps wrote to it last. A warp that is ordered after
// all these writes may read any byte that is written. Such a read is deferred: the zone keeps
// it, and no cell records it. If the next write is ordered after all deferred reads, they are
// never looked at. Otherwise they go to their cells, and the cells decide.

const (
	zoneBytes = 1 << 8
	zoneReads = 512 // the most reads that a zone defers
	zoneWorks = 16  // the most asynchronous writes that a zone records
)

// zone is a piece of a block's shared memory.
type zone struct {
	written      byteSet // bytes that are written and hold plain data
	barred       byteSet // gaps between variables and mbarriers: they never count as written
	full         bool    // all bytes are written
	undeferrable bool    // no read can be deferred, after strong writes or too many works

	wrote []uint32 // by warp of the cluster: the time of its last write
	works []*work  // asynchronous writes
	known *clock   // a clock that has all of these writes, or nil

	reads      []deferredRead
	read       []uint32 // by warp of the cluster: the time of its last deferred read
	readsKnown *clock   // a clock that has all deferred reads, or nil
}

// deferredRead is a deferred read. It keeps what is needed to make its event later, because most
// events are never needed.
type deferredRead struct {
	w     *warp
	e     *event // the event if it exists already, or nil
	id    int32
	size  int32
	time  uint32
	lanes uint32
	at    [32]uint8 // by lane: the offset in the zone
}

// event returns the event of a deferred read.
func (r *deferredRead) event(c *orderWatch) *event {
	if r.e != nil {
		return r.e
	}
	if e := r.w.events[r.id]; e != nil && e.time == r.time {
		return e
	}
	return &event{w: r.w, id: int(r.id), time: r.time, size: r.size, class: &c.o.classes[r.id]}
}

// byteSet is a set of the bytes of a zone.
type byteSet [zoneBytes / 64]uint64

// span returns the word and the bits in it of n bytes, which must lie in one word.
func span(from, n int) (i int, m uint64) { return from / 64, (1<<n - 1) << (from % 64) }

func (s *byteSet) add(from, n int)      { i, m := span(from, n); s[i] |= m }
func (s *byteSet) remove(from, n int)   { i, m := span(from, n); s[i] &^= m }
func (s *byteSet) has(from, n int) bool { i, m := span(from, n); return s[i]&m == m }

// zones are the zones of a block's shared memory.
type zones []zone

// zonesList holds zones of blocks that have ended, for later blocks of the launch. It is not a
// sync.Pool, because a pool keeps its contents for two garbage collections, and zones keep whole
// clusters.
type zonesList struct {
	mu   sync.Mutex
	free []zones
}

func (l *zonesList) put(zs zones) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, zs)
}

// take returns zones, or nil if the list is empty.
func (l *zonesList) take() (zs zones) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.free); n > 0 {
		zs, l.free = l.free[n-1], l.free[:n-1]
	}
	return zs
}

// newZones returns the zones of a new block, in which no byte is written. It reuses the zones of
// blocks that have ended.
func (o *order) newZones() zones {
	zs := o.freeZones.take()
	if zs == nil {
		zs = make(zones, len(o.gaps))
	}
	for i := range zs {
		z := &zs[i]
		clear(z.wrote)
		clear(z.works)
		z.forget()
		*z = zone{barred: o.gaps[i], wrote: z.wrote, works: z.works[:0], reads: z.reads, read: z.read}
	}
	return zs
}

// findGaps finds the bytes of shared memory that belong to no variable.
func (o *order) findGaps() {
	o.gaps = make([]byteSet, (o.l.Bytes+zoneBytes-1)/zoneBytes)
	o.eachGap(func(from, to int) {
		for ; from < to; from++ {
			o.gaps[from/zoneBytes].add(from%zoneBytes, 1)
		}
	})
}

// bar records that bytes belong to an mbarrier, or no longer do.
func (zs zones) bar(from, to int, barred bool) {
	for ; from < to; from++ {
		z := &zs[from/zoneBytes]
		z.written.remove(from%zoneBytes, 1)
		z.full = false
		if z.barred.remove(from%zoneBytes, 1); barred {
			z.barred.add(from%zoneBytes, 1)
		}
	}
}

// inZone returns the lanes that access the same zone as the first lane, and the index of this
// zone.
func inZone(a *observe.Access, lanes uint32) (in uint32, index int) {
	i := a.Offsets[bits.TrailingZeros32(lanes)] / zoneBytes
	if lanes == 1<<32-1 {
		apart := uint64(0)
		for _, off := range a.Offsets {
			apart |= off ^ i*zoneBytes
		}
		if apart < zoneBytes {
			return lanes, int(i)
		}
	}
	for m := lanes; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m); a.Offsets[l]/zoneBytes == i {
			in |= 1 << l
		}
	}
	return in, int(i)
}

// deferRead defers a plain read of the block's own shared memory. It returns false if the read must
// be checked cell by cell.
func (c *orderWatch) deferRead(w *warp, a *observe.Access, cls *class) bool {
	if c.o.cellsOnly || a.Write || a.Space != ptx.Shared || a.Offsets == nil || a.Size > cellBytes || a.Rank != a.Block ||
		cls.role != roleNone || cls.strong || w.v == nil || w.v.c == nil {
		return false
	}
	var groups [16]struct {
		lanes uint32
		index int
	}
	n := 0
	for rest := a.Mask; rest != 0; n++ {
		if n == len(groups) {
			return false
		}
		g := &groups[n]
		g.lanes, g.index = inZone(a, rest)
		if !c.readable(&c.zones[a.Block][g.index], w.v.c, a, g.lanes) {
			return false
		}
		rest &^= g.lanes
	}
	w.touched = true
	r := deferredRead{w: w, id: int32(a.ID), size: int32(a.Size), time: w.time}
	if c.o.called[a.ID] || c.l.follows[a.ID] {
		r.e = w.event(a.ID, cls, a.Size, false)
		c.locate(r.e, a)
	}
	if cls.rows {
		c.noteRows(a)
	}
	for _, g := range groups[:n] {
		z := &c.zones[a.Block][g.index]
		if len(z.reads) == zoneReads {
			c.makeRoom(a.Block, g.index)
		}
		r.lanes = g.lanes
		z.put(&r, a, len(c.warps))
	}
	return true
}

// readable reports whether all bytes that lanes read are written, and whether a clock has every
// write to the zone.
func (c *orderWatch) readable(z *zone, by *clock, a *observe.Access, lanes uint32) bool {
	if z.undeferrable {
		return false
	}
	if z.known != by {
		if !after(by, z.wrote) || !c.hasWorks(by, z.works) {
			return false
		}
		z.known = by
	}
	if z.full {
		return true
	}
	for m := lanes; m != 0; m &= m - 1 {
		if !z.written.has(int(a.Offsets[bits.TrailingZeros32(m)]%zoneBytes), a.Size) {
			return false
		}
	}
	return true
}

// put adds a deferred read. warps is the number of warps of the cluster.
func (z *zone) put(r *deferredRead, a *observe.Access, warps int) {
	if z.read == nil {
		z.read = make([]uint32, warps)
	}
	z.reads = append(z.reads, *r)
	at := &z.reads[len(z.reads)-1].at
	for l, off := range a.Offsets { // lanes that do not read have any value
		at[l] = uint8(off % zoneBytes)
	}
	z.read[r.w.agent], z.readsKnown = r.time, nil
}

// after reports whether a clock has each warp up to its time.
func after(by *clock, times []uint32) bool {
	for i, t := range times {
		if t != 0 && (i >= len(by.own) || by.own[i].lanes != nil || by.own[i].all < t) {
			return false
		}
	}
	return true
}

// hasWorks reports whether a clock has all works.
func (c *orderWatch) hasWorks(by *clock, works []*work) bool {
	for _, k := range works {
		if !k.known(k.all, true, c, false, by) {
			return false
		}
	}
	return true
}

// allThreads reports whether does holds for the clocks of all threads that have not ended.
func (c *orderWatch) allThreads(does func(by *clock) bool) bool {
	var last *clock
	for _, w := range c.warps {
		if w.live == 0 || w.v != nil && w.v.c == last && last != nil {
			continue
		}
		if w.v == nil || w.v.c == nil || !does(w.v.c) {
			return false
		}
		last = w.v.c
	}
	return true
}

// noteWrites records the current access, a write, in its zones. Deferred reads that it may not
// be ordered after go to their cells.
func (c *orderWatch) noteWrites(w *warp, a *observe.Access) {
	if a.Size > cellBytes || a.Offsets == nil {
		c.noteLargeWrites(w, a)
		return
	}
	for rest := a.Mask; rest != 0; {
		lanes, i := inZone(a, rest)
		z := &c.zones[a.Block][i]
		c.noteWrite(w, a.Block, i)
		if rest &^= lanes; z.full {
			continue
		}
		for m := lanes; m != 0; m &= m - 1 {
			z.written.add(int(a.Offsets[bits.TrailingZeros32(m)]%zoneBytes), a.Size)
		}
		z.filled()
	}
}

// noteLargeWrites is noteWrites for accesses of more than one cell per lane, and for units.
func (c *orderWatch) noteLargeWrites(w *warp, a *observe.Access) {
	each := func(from, to int) {
		for from < to {
			i := from / zoneBytes
			end := min(to, (i+1)*zoneBytes)
			c.noteWrite(w, a.Block, i)
			z := &c.zones[a.Block][i]
			for ; from < end && !z.full; from++ {
				z.written.add(from%zoneBytes, 1)
			}
			z.filled()
			from = end
		}
	}
	for _, off := range a.Units {
		each(int(off), int(off)+a.Size)
	}
	if a.Offsets != nil {
		for m := a.Mask; m != 0; m &= m - 1 {
			off := int(a.Offsets[bits.TrailingZeros32(m)])
			each(off, off+a.Size)
		}
	}
}

// filled sets full if all bytes of the zone are written. Barred bytes do not count as written.
func (z *zone) filled() {
	z.full = true
	for i := range z.written {
		z.written[i] &^= z.barred[i]
		z.full = z.full && z.written[i] == 1<<64-1
	}
}

// noteWrite records in zone i of a block that the current access writes to it.
func (c *orderWatch) noteWrite(w *warp, block, i int) {
	z, e := &c.zones[block][i], c.cur.e
	if len(z.reads) > 0 && !c.afterReads(z, w) {
		c.flushReads(block, i)
	}
	z.known = nil
	switch {
	case e.work != nil:
		c.noteAsync(z, e.work)
	case e.class.strong:
		z.undeferrable = true
	default:
		if z.wrote == nil {
			z.wrote = make([]uint32, len(c.warps))
		}
		z.wrote[w.agent] = w.time
	}
}

// noteAsync records an asynchronous write in a zone.
func (c *orderWatch) noteAsync(z *zone, k *work) {
	if n := len(z.works); n > 0 && z.works[n-1] == k {
		return
	}
	if len(z.works) == zoneWorks {
		rest := z.works[:0]
		for _, o := range z.works {
			if !c.allThreads(func(by *clock) bool { return o.known(o.all, true, c, false, by) }) {
				rest = append(rest, o)
			}
		}
		clear(z.works[len(rest):])
		z.works = rest
		z.undeferrable = z.undeferrable || len(rest) == zoneWorks
	}
	if !z.undeferrable {
		z.works = append(z.works, k)
	}
}

// afterReads reports whether the current access, a write, is ordered after all deferred reads of a
// zone. If all threads are ordered after them, it removes the reads.
func (c *orderWatch) afterReads(z *zone, w *warp) bool {
	if w.v == nil || w.v.c == nil {
		return false
	}
	by := w.v.c
	if c.cur.e.class.proxy && (w.v.shared == nil || !after(w.v.shared, z.read)) {
		return false
	}
	if z.readsKnown == by {
		return true
	}
	if !after(by, z.read) {
		return false
	}
	z.readsKnown = by
	if c.allThreads(func(o *clock) bool { return o == by || after(o, z.read) }) {
		z.forget()
	}
	return true
}

func (z *zone) forget() {
	clear(z.reads)
	z.reads = z.reads[:0]
	clear(z.read)
}

// makeRoom removes the deferred reads that all threads are ordered after. If most reads remain,
// they go to their cells.
func (c *orderWatch) makeRoom(block, i int) {
	z := &c.zones[block][i]
	least := make([]uint32, len(c.warps))
	for i := range least {
		least[i] = 1<<32 - 1
	}
	same := c.allThreads(func(by *clock) bool {
		for i := range least {
			e := by.at(i)
			if e.lanes != nil {
				e.all = 0
			}
			least[i] = min(least[i], e.all)
		}
		return true
	})
	rest := z.reads[:0]
	for _, r := range z.reads {
		if !same || r.time > least[r.w.agent] {
			rest = append(rest, r)
		}
	}
	clear(z.reads[len(rest):])
	if z.reads = rest; len(rest) > zoneReads/2 {
		c.flushReads(block, i)
	}
}

// flushReads records the deferred reads of a zone in their cells.
func (c *orderWatch) flushReads(block, i int) {
	z, cells := &c.zones[block][i], c.shared[block]
	var offsets [32]uint64
	a := &observe.Access{Offsets: &offsets}
	for j := range z.reads {
		r := &z.reads[j]
		e := r.event(c)
		a.Mask, a.Size = r.lanes, int(r.size)
		for l, at := range r.at {
			offsets[l] = uint64(i*zoneBytes) + uint64(at)
		}
		for m := r.lanes; m != 0; {
			l := bits.TrailingZeros32(m)
			off, lanes := int(offsets[l]), uint32(1)<<l
			if n := rowOf(a, l); n > 1 {
				lanes = (1<<n - 1) << l
				cells.at(off).addDeferred(e, lanes, true)
			} else {
				for size := a.Size; size > 0; {
					n := unitAt(off, size)
					cells.part(off, n).addDeferred(e, lanes, false)
					off += n
					size -= n
				}
			}
			m &^= lanes
		}
	}
	z.forget()
}
