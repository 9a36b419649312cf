package check

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// step handles the instructions that order accesses.
func (c *orderWatch) step(s *observe.Step) {
	w := c.warp(s.Rank, s.Warp)
	cls := &c.o.classes[s.ID]
	if cls.role == roleBarrier {
		w.barrier = s.ID
	}
	if c.o.ignored[s.ID] {
		return
	}
	switch cls.role {
	case roleBarrierArrive:
		c.arriveBarrier(w, s)
	case roleClusterArrive:
		c.arriveCluster(w, s.Mask, cls.relaxed)
	case roleFence:
		w.fence(s.Mask, cls)
		if cls.init {
			c.fenceInit(w, s.Mask)
		}
		if cls.tensorMap {
			w.proxyFence(s.Mask, cls)
		}
	case roleProxyFence:
		w.proxyFence(s.Mask, cls)
	case roleLanes:
		w.converge(s.Together)
	case roleCopy:
		w.copying = &work{lane: -1, all: s.Mask, source: -1}
		w.copying.start = &event{w: w, id: s.ID, time: w.time, class: cls, work: w.copying}
		w.touched = true
		w.copies.add(w.copying, s.Mask)
	case roleCopyCommit:
		w.copies.commit(s.Mask)
	case roleCopyWait:
		if cls.all {
			w.copies.commit(s.Mask)
		}
		w.copies.wait(w, s.ID, s.Mask, cls.keep, false)
	case roleCopyArrive:
		c.copyArrives(w, s.Mask)
	case roleBulkCommit:
		w.bulk.commit(s.Mask)
	case roleBulkWait:
		w.bulk.wait(w, s.ID, s.Mask, cls.keep, cls.read)
	case roleProductCommit:
		w.product.commit(w.live)
	case roleEnd:
		if s.Depth() == 0 {
			c.ends[s.Rank].add(w.release(s.Mask))
			w.live &^= s.Mask
		}
	}
}

// pass handles waits that lanes have completed.
func (c *orderWatch) pass(s *observe.Step) {
	cls := &c.o.classes[s.ID]
	w := c.warp(s.Rank, s.Warp)
	switch {
	case c.o.ignored[s.ID]:
	case cls.role == roleClusterWait && !cls.relaxed:
		w.acquire(s.Mask, c.met)
	case cls.role == roleProductWait:
		c.waitProducts(w, cls.keep)
	}
}

// converge makes lanes of a warp know what each of them knows and did.
func (w *warp) converge(lanes uint32) {
	if w.v != nil && !w.touched && w.v.c.at(w.agent).covers(w.live, w.time-1) {
		return // they know it already
	}
	r := w.release(lanes)
	v := *w.together(lanes)
	v.c = r.c
	w.setView(lanes, &v)
}

// fence makes later strong writes of lanes pass on what the lanes know now, to threads in its scope. It
// makes acquires of earlier reads of flags that such threads have set.
func (w *warp) fence(lanes uint32, cls *class) {
	r := w.release(lanes)
	r.c = r.relaxed.within(cls.scope, r.loose.within(cls.scope, r.c))
	r.loose, r.relaxed, r.fenced = r.loose.beyond(cls.scope), r.relaxed.beyond(cls.scope), [scopes]*released{}
	w.change(lanes, func(v *view) {
		v.c = v.relaxed.within(cls.scope, v.loose.within(cls.scope, v.c))
		v.loose, v.relaxed = v.loose.beyond(cls.scope), v.relaxed.beyond(cls.scope)
		for d := range cls.scope + 1 {
			v.fenced[d] = r
		}
	})
}

// proxyFence makes what lanes know and did visible to the async proxy.
func (w *warp) proxyFence(lanes uint32, cls *class) {
	r := w.release(lanes)
	w.change(lanes, func(v *view) {
		if cls.shared {
			v.shared = joined(v.shared, r.c)
		}
		if cls.global {
			v.global = joined(v.global, r.c)
		}
	})
}

// change replaces the views of lanes by copies that by has changed.
func (w *warp) change(lanes uint32, by func(v *view)) {
	if w.v != nil {
		v := *w.v
		by(&v)
		w.setView(lanes, &v)
		return
	}
	for rest := lanes; rest != 0; {
		old := w.lanes[bits.TrailingZeros32(rest)]
		same := uint32(0)
		for m := rest; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); w.lanes[l] == old {
				same |= 1 << l
			}
		}
		rest &^= same
		v := *old
		by(&v)
		w.setView(same, &v)
		if w.v != nil {
			return
		}
	}
}

// arriveBarrier handles bar.arrive: what lanes pass on is kept until the barrier opens.
func (c *orderWatch) arriveBarrier(w *warp, s *observe.Step) {
	for m := s.Mask; m != 0; {
		id := s.Value(s.Arg("bar"), bits.TrailingZeros32(m))
		same := uint32(0)
		for rest := m; rest != 0; rest &= rest - 1 {
			if l := bits.TrailingZeros32(rest); s.Value(s.Arg("bar"), l) == id {
				same |= 1 << l
			}
		}
		m &^= same
		at := [2]int{s.Rank, int(id)}
		if c.named[at] == nil {
			c.named[at] = &released{}
		}
		c.named[at].add(w.release(same))
	}
}

// arriveCluster handles barrier.cluster.arrive. A relaxed arrival only passes on what the last
// fence of the lanes released: kernels publish mbarriers by fence.mbarrier_init before it.
func (c *orderWatch) arriveCluster(w *warp, lanes uint32, relaxed bool) {
	if c.meeting == nil {
		c.meeting = &released{}
	}
	if !relaxed {
		c.meeting.add(w.release(lanes))
		return
	}
	var last *released
	for m := lanes; m != 0; m &= m - 1 {
		if r := w.view(bits.TrailingZeros32(m)).fenced[scopeCluster]; r != last {
			c.meeting.add(r)
			last = r
		}
	}
}

// open handles a barrier that opens: every lane that waited learns what all lanes that arrived
// knew and did.
func (c *orderWatch) open(o *observe.Opening) {
	if o.Cluster {
		c.met, c.meeting = c.meeting, nil
		return
	}
	at := [2]int{o.Rank, o.Bar}
	all := &released{}
	all.add(c.named[at])
	delete(c.named, at)
	each := func(do func(w *warp, lanes uint32)) {
		for i, lanes := range o.Warps {
			if w := c.warp(o.Rank, i); lanes != 0 && !c.o.ignored[w.barrier] {
				do(w, lanes)
			}
		}
	}
	each(func(w *warp, lanes uint32) { all.add(w.release(lanes)) })
	each(func(w *warp, lanes uint32) { w.acquire(lanes, all) })
}

// syncVar is memory through which threads synchronise: what its strong writes have released, by the
// distance of the reader from the thread that wrote last.
type syncVar struct {
	released [scopes]released
	cl       *orderWatch // the cluster that wrote it last, and the rank of the block
	rank     int
}

// place returns the address that a lane accesses.
func (c *orderWatch) place(a *observe.Access, lane int) place {
	if a.Space == ptx.Shared {
		return place{block: a.Block, offset: int(a.Offsets[lane])}
	}
	return place{alloc: a.Alloc, offset: int(a.Offsets[lane])}
}

// flagsOf returns the syncVars in the memory of an access. If the program has no flags for other clusters,
// clusters run at the same time, and each has the flags of its blocks for itself.
func (c *orderWatch) flagsOf(a *observe.Access) map[place]*syncVar {
	if a.Space == ptx.Shared || !c.l.Serial {
		return c.flags
	}
	return c.o.flags
}

// releaseFlags handles a strong write. A release passes on all that the thread knows; another strong
// write passes on what the thread knew at its last fence.
func (c *orderWatch) releaseFlags(w *warp, a *observe.Access, cls *class) {
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		passes := w.view(l).fenced
		if cls.release {
			r := w.release(1 << l)
			for d := range cls.scope + 1 {
				passes[d] = r
			}
		}
		if passes == [scopes]*released{} {
			continue
		}
		flags, at := c.flagsOf(a), c.place(a, l)
		s := flags[at]
		if s == nil {
			s = &syncVar{}
			flags[at] = s
		}
		s.pass(c, w.rank, &passes)
	}
}

// pass adds what a thread of a block releases. What earlier writers have released counts for the readers of
// this one as far as it reached its block. Clocks of different clusters have different agents, so what a
// writer of another cluster released is converted.
func (s *syncVar) pass(c *orderWatch, rank int, passes *[scopes]*released) {
	switch {
	case s.cl == nil:
	case s.cl != c:
		r := s.released[scopeGPU].moved(s.cl, c)
		s.released = [scopes]released{*r, *r, *r}
	case s.rank != rank:
		s.released[scopeBlock] = s.released[scopeCluster]
	}
	s.cl, s.rank = c, rank
	for d, r := range passes {
		s.released[d].add(r)
	}
}

// moved converts what a cluster released for the clocks of another cluster.
func (r *released) moved(from, to *orderWatch) *released {
	move := func(k *clock) *clock {
		if k == nil {
			return nil
		}
		n := &clock{far: k.far}
		n.addFar([]far{{from.Index, k.own}})
		for i, f := range n.far {
			if f.cluster == to.Index { // it comes back to where it was known first
				n.own = f.own
				n.far = append(n.far[:i], n.far[i+1:]...)
				break
			}
		}
		return n
	}
	n := &released{c: move(r.c), shared: move(r.shared), global: move(r.global)}
	for d := range scopes {
		n.loose[d], n.relaxed[d] = move(r.loose[d]), move(r.relaxed[d])
	}
	return n
}

// acquireFlags handles a strong read: the thread learns what the flag passes on. If the read is not an
// acquire, this counts only after a fence.
func (c *orderWatch) acquireFlags(w *warp, a *observe.Access, cls *class) {
	flags := c.flagsOf(a)
	if len(flags) == 0 || cls.atomic && c.l.Program[a.ID].Op.Name == "red" || !cls.atomic && a.Write {
		return
	}
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		s := flags[c.place(a, l)]
		if s == nil {
			continue
		}
		d := s.distance(c, w.rank)
		r := s.released[d]
		if d == scopeGPU {
			r = *r.moved(s.cl, c)
		}
		switch {
		case cls.acquire && cls.scope >= d:
		case cls.relaxed || cls.acquire:
			known := r.c
			r = released{relaxed: r.relaxed.joined(&r.loose)}
			r.relaxed[d] = joined(r.relaxed[d], known)
		default:
			known := r.c
			r = released{loose: r.loose, relaxed: r.relaxed}
			r.loose[d] = joined(r.loose[d], known)
		}
		w.acquire(1<<l, &r)
	}
}

// distance returns the smallest scope that includes the last writer and a block.
func (s *syncVar) distance(c *orderWatch, rank int) scope {
	switch {
	case s.cl != c:
		return scopeGPU
	case s.rank != rank:
		return scopeCluster
	}
	return scopeBlock
}
