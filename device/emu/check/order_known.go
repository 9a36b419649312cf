package check

// This file answers whether a clock has an event: whether the event is ordered before the holder
// of the clock.

// before reports whether an event of lanes is ordered before the current access.
func (c *orderWatch) before(e *event, lanes uint32, wrote bool) bool {
	return c.known(e, lanes, wrote, true, c.cur.v.c)
}

// known reports whether a clock has an event of lanes. With own, the events of the threads of
// the current access count as known.
func (c *orderWatch) known(e *event, lanes uint32, wrote, own bool, by *clock) bool {
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

// entry returns the entry of a clock of this cluster for an agent of the cluster of.
func (c *orderWatch) entry(of *orderWatch, agent int, by *clock) entry {
	if of == c {
		return by.at(agent)
	}
	if own := by.of(of.Index); agent < len(own) {
		return own[agent]
	}
	return entry{}
}

// known reports whether a clock has the asynchronous work of lanes: its writes if wrote is
// set, else its reads.
func (k *work) known(lanes uint32, wrote bool, c *orderWatch, own bool, by *clock) bool {
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

// covered reports whether the clock has a doer for each of the lanes.
func (k *work) covered(doers []doer, lanes uint32, c *orderWatch, own bool, by *clock) bool {
	if k.lane >= 0 {
		lanes = 1 << k.lane
	}
	for _, d := range doers {
		e := c.entry(k.start.w.cl, d.agent, by)
		switch {
		case d.bar && e.all >= d.time:
			lanes &^= d.lanes
		case d.any:
			if own && d.agent == c.cur.e.w.agent || e.coversAny(d.lanes, d.time) {
				return true
			}
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
