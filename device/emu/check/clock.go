package check

import "math/bits"

// clock is a vector clock. For each agent it holds the time up to which the agent's events are
// ordered before something. Agents are the warps of a cluster and its mbarriers; the lanes of a
// warp may have different times. The time of a warp advances when the warp publishes what it did,
// so that later events are not included.
//
// A clock does not change once it is shared.
type clock struct {
	own []entry // by agent of the cluster
	far []far   // other clusters, by index
}

// entry is the time up to which the events of an agent are known.
type entry struct {
	all   uint32
	lanes *[32]uint32 // by lane, if the times differ; all has no meaning then
}

// far is the entries for the agents of another cluster.
type far struct {
	cluster int
	own     []entry
}

// at returns the entry of an agent.
func (c *clock) at(agent int) entry {
	if c == nil || agent >= len(c.own) {
		return entry{}
	}
	return c.own[agent]
}

// of returns the entries for the agents of another cluster.
func (c *clock) of(cluster int) []entry {
	if c == nil {
		return nil
	}
	for i := range c.far {
		if c.far[i].cluster == cluster {
			return c.far[i].own
		}
	}
	return nil
}

// covers reports whether the lanes are known up to the time.
func (e entry) covers(lanes, time uint32) bool {
	if e.lanes == nil {
		return e.all >= time
	}
	for ; lanes != 0; lanes &= lanes - 1 {
		if e.lanes[bits.TrailingZeros32(lanes)] < time {
			return false
		}
	}
	return true
}

// coversAny reports whether one of the lanes is known up to the time.
func (e entry) coversAny(lanes, time uint32) bool {
	for ; lanes != 0; lanes &= lanes - 1 {
		if e.covers(lanes&-lanes, time) {
			return true
		}
	}
	return false
}

// join sets e to the later time of e and f, for each lane.
func (e *entry) join(f entry) {
	if e.lanes == nil && f.lanes == nil {
		e.all = max(e.all, f.all)
		return
	}
	if f.lanes == nil && f.all == 0 {
		return
	}
	var t [32]uint32
	for l := range t {
		t[l] = max(e.lane(l), f.lane(l))
	}
	*e = entry{lanes: &t}
	e.simplify()
}

func (e entry) lane(l int) uint32 {
	if e.lanes == nil {
		return e.all
	}
	return e.lanes[l]
}

// simplify stores one time if the times of all lanes are equal.
func (e *entry) simplify() {
	for _, t := range e.lanes {
		if t != e.lanes[0] {
			return
		}
	}
	*e = entry{all: e.lanes[0]}
}

// set sets the time of lanes. whole says that these are all lanes of the warp.
func (e *entry) set(lanes, time uint32, whole bool) {
	if whole {
		*e = entry{all: time}
		return
	}
	var t [32]uint32
	for l := range t {
		t[l] = e.lane(l)
		if lanes>>l&1 != 0 {
			t[l] = time
		}
	}
	*e = entry{lanes: &t}
	e.simplify()
}

// copy returns a copy that may be changed, with room for n agents.
func (c *clock) copy(n int) *clock {
	d := &clock{own: make([]entry, n)}
	if c != nil {
		copy(d.own, c.own)
		d.far = c.far
	}
	return d
}

// add joins another clock of the same cluster into c.
func (c *clock) add(d *clock) {
	if d == nil || c == d {
		return
	}
	for len(c.own) < len(d.own) {
		c.own = append(c.own, entry{})
	}
	for i := range d.own {
		c.own[i].join(d.own[i])
	}
	if len(d.far) > 0 {
		c.addFar(d.far)
	}
}

// addFar joins the entries for other clusters. Entries may be shared, so they are replaced and
// never changed.
func (c *clock) addFar(fs []far) {
	all := append([]far{}, c.far...)
next:
	for _, f := range fs {
		for i := range all {
			if all[i].cluster != f.cluster {
				continue
			}
			if len(all[i].own) != len(f.own) || len(f.own) > 0 && &all[i].own[0] != &f.own[0] {
				e := clock{own: append([]entry{}, all[i].own...)}
				e.add(&clock{own: f.own})
				all[i].own = e.own
			}
			continue next
		}
		all = append(all, f)
	}
	c.far = all
}

// covered reports whether d adds nothing to c. It may return false although d adds nothing,
// where an answer would take long.
func (c *clock) covered(d *clock) bool {
	if d == nil || c == d {
		return true
	}
	if c == nil || len(d.own) > len(c.own) || len(d.far) > 0 {
		return false
	}
	for i, e := range d.own {
		if f := c.own[i]; e.lanes != nil || f.lanes != nil || e.all > f.all {
			return false
		}
	}
	return true
}

// joined returns a clock that has what c and d have.
func joined(c, d *clock) *clock {
	if c.covered(d) {
		return c
	}
	if d.covered(c) {
		return d
	}
	n := c.copy(len(c.own))
	n.add(d)
	return n
}

// view is what a thread knows and what it passes on.
type view struct {
	c *clock // what is ordered before the next instruction of the thread
	// shared and global are the part of c that fence.proxy.async has made visible to the async
	// proxy in shared and in global memory.
	shared, global *clock
	// loose and relaxed are what the thread would also know if the reads of flags on the way were
	// acquires. The next fence makes them acquires. What passed only through reads that PTX calls
	// relaxed (ld.relaxed) is in relaxed, the rest is in loose: many kernels rely on volatile
	// reads and plain atomics.
	loose, relaxed pending
	// fenced is what a strong write passes on that is not a release itself, by the distance of the
	// reader: what the thread knew at its last fence whose scope includes such readers.
	fenced [scopes]*released
}

// pending is what a thread would know if the reads of flags were acquires, by the distance of the
// threads that set the flags. A fence makes acquires of the reads whose flags were set within its scope.
type pending [scopes]*clock

// covered reports whether q adds nothing to p.
func (p *pending) covered(q *pending) bool {
	for d := range p {
		if !p[d].covered(q[d]) {
			return false
		}
	}
	return true
}

// joined returns what p and q have.
func (p pending) joined(q *pending) pending {
	for d := range p {
		p[d] = joined(p[d], q[d])
	}
	return p
}

// within returns what is pending from threads in a scope, joined with c.
func (p *pending) within(s scope, c *clock) *clock {
	for d := range s + 1 {
		c = joined(c, p[d])
	}
	return c
}

// beyond returns p without what is pending from threads in a scope.
func (p pending) beyond(s scope) pending {
	clear(p[:s+1])
	return p
}

// released is what one thread passes on to another.
type released struct {
	c, shared, global *clock
	loose, relaxed    pending
	// fenced is what fences have released on the way, by distance; those for the block are not kept.
	fenced [scopes]*released
}

// with returns the view after the thread has learnt what r passes on.
func (v *view) with(r *released) *view {
	if r == nil || v.c.covered(r.c) && v.shared.covered(r.shared) && v.global.covered(r.global) &&
		v.loose.covered(&r.loose) && v.relaxed.covered(&r.relaxed) && v.hasFences(r) {
		return v
	}
	n := *v
	n.c, n.shared, n.global = joined(v.c, r.c), joined(v.shared, r.shared), joined(v.global, r.global)
	n.loose, n.relaxed = v.loose.joined(&r.loose), v.relaxed.joined(&r.relaxed)
	for d := range n.fenced {
		n.fenced[d] = both(n.fenced[d], r.fenced[d])
	}
	return &n
}

func (v *view) hasFences(r *released) bool {
	for d, f := range r.fenced {
		if f != nil && f != v.fenced[d] {
			return false
		}
	}
	return true
}

// passes returns what a thread with this view passes on.
func (v *view) passes() *released {
	r := &released{v.c, v.shared, v.global, v.loose, v.relaxed, v.fenced}
	r.fenced[scopeBlock] = nil
	return r
}

// add joins what s passes on into r, which must not be shared.
func (r *released) add(s *released) {
	if s == nil {
		return
	}
	r.c, r.shared, r.global = joined(r.c, s.c), joined(r.shared, s.shared), joined(r.global, s.global)
	r.loose, r.relaxed = r.loose.joined(&s.loose), r.relaxed.joined(&s.relaxed)
	for d := range r.fenced {
		r.fenced[d] = both(r.fenced[d], s.fenced[d])
	}
}

// both returns what r and s pass on together.
func both(r, s *released) *released {
	switch {
	case r == nil || r == s:
		return s
	case s == nil:
		return r
	}
	n := *r
	n.add(s)
	return &n
}
