package check

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Most accesses of most kernels are plain reads of shared memory between two barriers:
// everything there was written before the first, and the next write comes after the
// second. To find that out for each cell costs many times the read itself. So shared
// memory is also looked at by zones. A zone knows who wrote to it last; a warp that is
// ordered after all of them may read any of it that is written. Such reads are put by,
// and if whoever writes next is ordered after all of them they need never be looked at.
// When it is not, they go to their cells, and the cells decide.

const (
	zoneBytes = 1 << 8
	zoneReads = 512 // that a zone puts by, at most
	zoneWorks = 16  // that it knows of, at most
)

// zone is a piece of a block's shared memory.
type zone struct {
	written byteSet // known to be written, and plain data
	barred  byteSet // gaps between variables and living mbarriers: never to be written
	full    bool    // everything is written
	odd     bool    // strong writes, or too much: only the cells know

	wrote []uint32 // by warp of the cluster: the time of its last write
	works []*work  // asynchronous ones that wrote
	known *clock   // a clock that has all of these

	reads []putBy
	read  []uint32 // by warp of the cluster: the time of the last of them
	free  *clock   // a clock that has all of these
}

// putBy is a read that is not yet with the cells. What there is of its event is enough
// to make it: most are never asked for.
type putBy struct {
	w     *warp
	e     *event // where it is there already, or nil
	id    int32
	size  int32
	time  uint32
	lanes uint32
	at    [32]uint8 // in the zone
}

// event is the event of a read that was put by.
func (r *putBy) event(c *ordered) *event {
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

// span is which bits of which word are n bytes from one on, which are in one word.
func span(from, n int) (i int, m uint64) { return from / 64, (1<<n - 1) << (from % 64) }

func (s *byteSet) add(from, n int)      { i, m := span(from, n); s[i] |= m }
func (s *byteSet) remove(from, n int)   { i, m := span(from, n); s[i] &^= m }
func (s *byteSet) has(from, n int) bool { i, m := span(from, n); return s[i]&m == m }

// zones are those of a block's shared memory.
type zones []zone

// newZones are those of a new block: with the gaps between its variables, and nothing
// written. They may have been another's.
func (o *order) newZones() zones {
	var zs zones
	if free, ok := o.freeZones.Get().(*zones); ok {
		zs = *free
	} else {
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

// findGaps looks for the bytes of shared memory that are no variable's.
func (o *order) findGaps() {
	o.gaps = make([]byteSet, (o.l.Bytes+zoneBytes-1)/zoneBytes)
	o.eachGap(func(from, to int) {
		for ; from < to; from++ {
			o.gaps[from/zoneBytes].add(from%zoneBytes, 1)
		}
	})
}

// bar says that bytes are those of an mbarrier, or not any more.
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

// inZone are the lanes whose accesses are in the same zone as the first one's, and its
// index.
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

// putBy puts a plain read of the block's own shared memory by. It reports false for one
// that the cells must be asked about.
func (c *ordered) putBy(w *warp, a *observe.Access, cls *class) bool {
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
	r := putBy{w: w, id: int32(a.ID), size: int32(a.Size), time: w.time}
	if c.o.called[a.ID] {
		r.e = w.event(a.ID, cls, a.Size, false)
		c.locate(r.e, a)
	}
	if cls.rows {
		c.brings(a)
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

// readable reports whether all that lanes read is written, and every write to the zone
// ordered before a clock.
func (c *ordered) readable(z *zone, by *clock, a *observe.Access, lanes uint32) bool {
	if z.odd {
		return false
	}
	if z.known != by {
		if !after(by, z.wrote) || !c.know(by, z.works) {
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

// put puts a read by, one of a cluster of so many warps.
func (z *zone) put(r *putBy, a *observe.Access, warps int) {
	if z.read == nil {
		z.read = make([]uint32, warps)
	}
	z.reads = append(z.reads, *r)
	at := &z.reads[len(z.reads)-1].at
	for l, off := range a.Offsets { // of the others it does not matter
		at[l] = uint8(off % zoneBytes)
	}
	z.read[r.w.agent], z.free = r.time, nil
}

// after reports whether a clock has warps up to their times.
func after(by *clock, times []uint32) bool {
	for i, t := range times {
		if t != 0 && (i >= len(by.own) || by.own[i].lanes != nil || by.own[i].all < t) {
			return false
		}
	}
	return true
}

// know reports whether a clock has all of the works.
func (c *ordered) know(by *clock, works []*work) bool {
	for _, k := range works {
		if !k.known(k.all, true, c, false, by) {
			return false
		}
	}
	return true
}

// everybody reports whether all threads that live have a clock that does.
func (c *ordered) everybody(does func(by *clock) bool) bool {
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

// overwrite is the current access as a write to shared memory: reads that it may not be
// ordered after go to their cells, and the zone takes note of it.
func (c *ordered) overwrite(w *warp, a *observe.Access) {
	if a.Size > cellBytes || a.Offsets == nil {
		c.overwriteEach(w, a)
		return
	}
	for rest := a.Mask; rest != 0; {
		lanes, i := inZone(a, rest)
		z := &c.zones[a.Block][i]
		c.claim(w, a.Block, i)
		if rest &^= lanes; z.full {
			continue
		}
		for m := lanes; m != 0; m &= m - 1 {
			z.written.add(int(a.Offsets[bits.TrailingZeros32(m)]%zoneBytes), a.Size)
		}
		z.filled()
	}
}

// overwriteEach is overwrite of more than a cell a lane, or of units.
func (c *ordered) overwriteEach(w *warp, a *observe.Access) {
	each := func(from, to int) {
		for from < to {
			i := from / zoneBytes
			end := min(to, (i+1)*zoneBytes)
			c.claim(w, a.Block, i)
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

// filled notices that all of a zone is written. What must not be is not.
func (z *zone) filled() {
	z.full = true
	for i := range z.written {
		z.written[i] &^= z.barred[i]
		z.full = z.full && z.written[i] == 1<<64-1
	}
}

// claim has zone i of a block take note that the current access writes to it.
func (c *ordered) claim(w *warp, block, i int) {
	z, e := &c.zones[block][i], c.cur.e
	if len(z.reads) > 0 && !c.released(z, w) {
		c.spread(block, i)
	}
	z.known = nil
	switch {
	case e.work != nil:
		c.async(z, e.work)
	case e.class.strong:
		z.odd = true
	default:
		if z.wrote == nil {
			z.wrote = make([]uint32, len(c.warps))
		}
		z.wrote[w.agent] = w.time
	}
}

// async has a zone take note of an asynchronous write.
func (c *ordered) async(z *zone, k *work) {
	if n := len(z.works); n > 0 && z.works[n-1] == k {
		return
	}
	if len(z.works) == zoneWorks {
		rest := z.works[:0]
		for _, o := range z.works {
			if !c.everybody(func(by *clock) bool { return o.known(o.all, true, c, false, by) }) {
				rest = append(rest, o)
			}
		}
		clear(z.works[len(rest):])
		z.works = rest
		z.odd = z.odd || len(rest) == zoneWorks
	}
	if !z.odd {
		z.works = append(z.works, k)
	}
}

// released reports whether the current access, a write, is ordered after all reads that
// a zone has put by. When everybody is, they are forgotten.
func (c *ordered) released(z *zone, w *warp) bool {
	if w.v == nil || w.v.c == nil {
		return false
	}
	by := w.v.c
	if c.cur.e.class.proxy && (w.v.shared == nil || !after(w.v.shared, z.read)) {
		return false
	}
	if z.free == by {
		return true
	}
	if !after(by, z.read) {
		return false
	}
	z.free = by
	if c.everybody(func(o *clock) bool { return o == by || after(o, z.read) }) {
		z.forget()
	}
	return true
}

func (z *zone) forget() {
	clear(z.reads)
	z.reads = z.reads[:0]
	clear(z.read)
}

// makeRoom forgets the reads that everybody is ordered after. Where they are few, the
// others go to their cells.
func (c *ordered) makeRoom(block, i int) {
	z := &c.zones[block][i]
	least := make([]uint32, len(c.warps))
	for i := range least {
		least[i] = 1<<32 - 1
	}
	same := c.everybody(func(by *clock) bool {
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
		c.spread(block, i)
	}
}

// spread gives the reads that a zone has put by to their cells.
func (c *ordered) spread(block, i int) {
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
				cells.at(off).readBy(e, lanes, true)
			} else {
				for size := a.Size; size > 0; {
					n := unitAt(off, size)
					cells.part(off, n).readBy(e, lanes, false)
					off += n
					size -= n
				}
			}
			m &^= lanes
		}
	}
	z.forget()
}
