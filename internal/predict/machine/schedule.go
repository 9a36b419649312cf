package machine

import "slices"

// node is an operation while its block is scheduled.
type node struct {
	next   []edge
	waits  int     // predecessors that have not been scheduled
	ready  float64 // when its operands are there
	height float64 // the longest way to the end of the block, in cycles
}

type edge struct {
	to    int
	delay float64
}

// schedule returns the operations of a basic block in the order in which a compiler issues them:
// at each cycle the operation that is ready and has the longest way to the end of the block. The
// order of stores, barriers, copies and products stays as written. Loads may pass loads.
func schedule(c *code, ids []int32) []int32 {
	g := newGraph(c, ids)
	var busy [pipeCount]float64
	left := make([]int, len(ids))
	for i := range left {
		left[i] = i
	}
	order := make([]int32, 0, len(ids))
	now := 0.0
	for len(left) > 0 {
		best, at, soonest := -1, 0.0, 0.0
		for k, i := range left {
			n := &g[i]
			if n.waits > 0 {
				continue
			}
			o := &c.ops[ids[i]]
			when := max(n.ready, busy[pipeOf[o.cost.unit]])
			if o.free() {
				when = 0
			}
			switch {
			case best < 0:
			case when <= now && soonest <= now:
				if n.height <= g[left[best]].height {
					continue
				}
			case when >= soonest:
				continue
			}
			best, at, soonest = k, when, when
		}
		i := left[best]
		left = slices.Delete(left, best, best+1)
		o := &c.ops[ids[i]]
		order = append(order, ids[i])
		start := max(now, at)
		if o.free() {
			start = g[i].ready
		} else {
			now = start + float64(o.cost.slots)
			busy[pipeOf[o.cost.unit]] = start + c.rates.hold(o)
		}
		for _, e := range g[i].next {
			n := &g[e.to]
			n.waits--
			n.ready = max(n.ready, start+e.delay)
		}
	}
	return order
}

// hold returns the cycles for which an operation holds its pipe.
func (r *rates) hold(o *Op) float64 {
	if o.cost.hold > 0 {
		return o.cost.hold
	}
	return float64(o.cost.slots) * r.interval[o.cost.unit]
}

// latencyOf returns the cycles after which a result can be read, as a compiler expects them.
func (r *rates) latencyOf(o *Op) float64 {
	if o.free() {
		return 0
	}
	l := o.cost.latency
	if l == 0 {
		l = r.latency[o.cost.unit]
	}
	switch o.cost.kind {
	case loads:
		if l == 0 {
			l = r.shared
		}
	case atomics:
		l = r.atomic
	}
	return l + float64(o.cost.slots-1)
}

// newGraph returns the dependences among the operations of a block.
func newGraph(c *code, ids []int32) []node {
	g := make([]node, len(ids))
	link := func(from, to int, delay float64) {
		if from >= 0 && from != to {
			g[from].next = append(g[from].next, edge{to, delay})
			g[to].waits++
		}
	}
	wrote := map[int32]int{}  // by register: its last writer
	read := map[int32][]int{} // by register: its readers since
	ordered := -1             // the last operation whose place is fixed
	var loaded []int          // loads since then
	for i, id := range ids {
		o := &c.ops[id]
		for _, r := range o.reads {
			if w, ok := wrote[r]; ok {
				link(w, i, c.rates.latencyOf(&c.ops[ids[w]]))
			}
			read[r] = append(read[r], i)
		}
		for _, r := range o.writes {
			for _, w := range read[r] {
				link(w, i, 0)
			}
			if w, ok := wrote[r]; ok {
				link(w, i, 1)
			}
			read[r] = read[r][:0]
			wrote[r] = i
		}
		switch {
		case o.cost.kind == loads:
			link(ordered, i, 1)
			loaded = append(loaded, i)
		case o.cost.kind == jumps || o.cost.kind == ends || o.cost.kind == productWait || o.cost.kind == copyWait || o.cost.kind == bulkWait:
			// A wait does not move up, so that the operations before it overlap with the wait.
			for j := range i {
				link(j, i, 0)
			}
			ordered = i
			loaded = loaded[:0]
		case o.cost.kind != plain:
			link(ordered, i, 1)
			for _, l := range loaded {
				link(l, i, 0)
			}
			loaded = loaded[:0]
			ordered = i
		}
	}
	for i := len(ids) - 1; i >= 0; i-- {
		o := &c.ops[ids[i]]
		g[i].height = float64(o.cost.slots)
		for _, e := range g[i].next {
			g[i].height = max(g[i].height, g[e.to].height+max(e.delay, float64(o.cost.slots)))
		}
	}
	return g
}
