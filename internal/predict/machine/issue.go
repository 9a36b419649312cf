package machine

import "github.com/GOATnote-Inc/attest/internal/predict/warptrace"

// advance moves a warp to its next operation and computes when the operation can issue.
func (s *sim) advance(w *warp) {
	for {
		if len(w.order) == 0 && !s.nextBlock(w) {
			s.finish(w)
			return
		}
		w.event = &w.path[w.order[0]]
		w.order = w.order[1:]
		w.op = &s.code.ops[w.event.ID]
		if !w.op.free() {
			break
		}
		s.pass(w)
	}
	for _, r := range w.op.reads {
		if w.ready[r] > w.at {
			w.at, w.reason = w.ready[r], w.why[r]
		}
	}
	if c := &w.op.cost; c.visible && c.kind != fences && !w.event.Off { // the assembler puts a fence before the access
		s.publish(w, w.at, s.rates.fenceGPU)
	}
	s.fetch(w)
}

// nextBlock finds the operations of the warp's next basic block, in the order in which they issue.
func (s *sim) nextBlock(w *warp) bool {
	if w.next >= len(w.path) {
		return false
	}
	b, last := s.code.block[w.path[w.next].ID], int32(-1)
	clear(w.seen)
	for ; w.next < len(w.path); w.next++ {
		id := w.path[w.next].ID
		if s.code.block[id] != b || id <= last {
			break
		}
		last = id
		w.seen[id] = int32(w.next)
	}
	order := make([]int32, 0, len(w.seen))
	for _, id := range s.code.blocks[b] {
		if at, ok := w.seen[id]; ok {
			order = append(order, at)
		}
	}
	w.order = order
	return true
}

// pass executes an operation that takes no time: its results are ready when its operands are.
func (s *sim) pass(w *warp) {
	at, why := 0.0, Dependence
	for _, r := range w.op.reads {
		if w.ready[r] > at {
			at, why = w.ready[r], w.why[r]
		}
	}
	if w.op.param >= 0 {
		if there := s.parameter(w); there > at {
			at, why = there, MemoryWait
		}
	}
	for _, r := range w.op.writes {
		w.ready[r], w.why[r] = at, why
	}
	if w.op.cost.kind == productCommit {
		w.products = append(w.products, w.productEnd)
	}
}

// constantLine is the size in bytes of a line of the constant cache.
const constantLine = 256

// parameter returns when a parameter is there. A launch has its own parameters, so the first use of
// a line by an SM misses in all constant caches.
func (s *sim) parameter(w *warp) float64 {
	line := w.op.param / constantLine
	there, ok := w.sm.params[line]
	if !ok {
		there = w.at + s.rates.param
		w.sm.params[line] = there
	}
	return there
}

// prefetched is the number of lines that are loaded ahead of a warp.
const prefetched = 8

// fetch delays an operation until its line of machine code is there. Caches stay warm between
// launches, so the first use of a line costs little: more after a jump than for the next line, which
// is prefetched. A line that the code of a long loop has displaced costs most.
func (s *sim) fetch(w *warp) {
	if s.edit.Fetched {
		return
	}
	line, before := w.op.line, w.line
	w.line = line
	hit, known := w.sm.code.use(line, s.rates.nearLines)
	if hit {
		return
	}
	delay := s.rates.fetchLine
	switch {
	case known:
		delay = s.rates.fetchMiss
	case line > before && line <= before+prefetched:
		delay = s.rates.fetchNext
	}
	w.at, w.reason = w.at+delay, Fetch
}

// lines is the instruction cache of an SM: the lines that were loaded last.
type lines struct {
	has  map[int32]bool // false for a line that was displaced
	ring []int32
	next int
}

// use reports whether a line is in the cache and whether it was there before, and puts it there.
func (l *lines) use(line int32, capacity int) (hit, known bool) {
	if hit, known = l.has[line]; hit {
		return true, true
	}
	if l.has == nil {
		l.has = map[int32]bool{}
	}
	l.has[line] = true
	if len(l.ring) < capacity {
		l.ring = append(l.ring, line)
		return false, known
	}
	l.has[l.ring[l.next]] = false
	l.ring[l.next] = line
	l.next = (l.next + 1) % capacity
	return false, known
}

// finish ends a warp, and its cluster if it is the last one.
func (s *sim) finish(w *warp) {
	w.done = true
	w.core.stale = true
	s.ended = max(s.ended, w.since)
	s.end = max(s.end, s.ended)
	w.g.left--
	for i, o := range w.core.warps {
		if o == w {
			w.core.warps = append(w.core.warps[:i], w.core.warps[i+1:]...)
			break
		}
	}
	if w.core.last == w {
		w.core.last = nil
	}
	if w.g.left == 0 {
		if s.plan.Watch != nil {
			for b := range w.g.trace.Blocks {
				s.plan.Watch.Block(b, w.g.number*len(s.sms)+b, w.g.from, w.since)
			}
		}
		s.start(w.since)
	}
}

// issue executes the next operation of a warp.
func (s *sim) issue(c *core, w *warp) {
	t, o := c.at, w.op
	s.account(c, w, t)
	s.stall(c, w, t)
	c.last = w
	s.readRegisters(c, w, t)
	slots := float64(o.cost.slots)
	c.free = t + slots
	w.since = t + slots
	w.at, w.reason = t+slots, Issue
	s.ops += o.cost.slots
	c.stale = true
	if !w.event.Off {
		hold := s.rates.hold(o)
		c.pipes[pipeOf[o.cost.unit]] = t + hold
		s.busy[o.cost.unit] += hold
		s.execute(w, c, o, t)
	}
	if !w.blocked {
		s.advance(w)
	}
}

// account books the time since the sub-core issued last.
func (s *sim) account(c *core, w *warp, t float64) {
	why := w.reason
	if t > w.at && c.pipes[pipeOf[w.op.cost.unit]] >= t && c.free < t {
		why = UnitBusy
		if r := waitFor(w.op.cost.unit); r != Dependence {
			why = r
		}
	}
	if why == Issue {
		why = Dependence
	}
	if t > c.free {
		s.spent[Spender{w.op.ID, why}] += t - c.free
	}
	s.spent[Spender{w.op.ID, Issue}] += float64(w.op.cost.slots)
	if s.plan.Watch != nil {
		s.plan.Watch.Issue(w.sm.index, w.g.number*len(s.sms)+w.block, w.num, w.op.ID, w.since, t, why)
	}
}

// stall books the time since the warp issued last, as a profiler that samples warps does.
func (s *sim) stall(c *core, w *warp, t float64) {
	s.warps[Issue] += float64(w.op.cost.slots)
	ready := max(w.at, w.since)
	why := w.reason
	if why == Issue {
		why = Dependence
	}
	s.warps[why] += ready - w.since
	if t <= ready {
		return
	}
	switch p := pipeOf[w.op.cost.unit]; {
	case c.free >= t:
		s.notSelected += t - ready
	case p == memoryPipe && c.pipes[p] < t:
		s.warps[SharedWait] += t - ready // the queue of memory operations is full
	case waitFor(w.op.cost.unit) != Dependence:
		s.warps[waitFor(w.op.cost.unit)] += t - ready
	default:
		s.warps[UnitBusy] += t - ready
	}
}

// execute computes when the results of an operation are ready, and what else it does.
func (s *sim) execute(w *warp, c *core, o *Op, t float64) {
	var f *warptrace.Fact
	if w.event.Fact >= 0 {
		f = s.edit.fact(o.ID, &w.g.trace.Facts[w.event.Fact])
	}
	at, why := t+s.rates.latencyOf(o), waitFor(o.cost.unit)
	switch o.cost.kind {
	case loads, stores, atomics:
		at, why = s.access(w, o, f, t, at)
		if o.cost.fresh {
			clear(w.sm.l1)
		}
	case copies:
		s.asyncCopy(w, o, f, t)
	case copyCommit:
		w.copyGroups = append(w.copyGroups, w.copyEnd)
	case copyWait:
		s.waitGroups(w, w.copyGroups, o.groups, MemoryWait)
	case bulk, sends:
		s.transfer(w, o, f, t)
	case bulkCommit:
		w.bulkGroups = append(w.bulkGroups, w.bulkEnd)
	case bulkWait:
		s.waitGroups(w, w.bulkGroups, o.groups, MemoryWait)
	case startsProduct:
		s.product(w, c, o, t)
	case productWait:
		s.waitGroups(w, w.products, o.groups, Products)
		at = w.at
	case barriers:
		s.synchronise(w, o, f, t)
		at = w.at
	case fences, stops:
		w.at, w.reason = max(w.at, t+o.cost.latency), Barrier
		if o.cost.visible {
			s.publish(w, t, o.cost.latency)
		}
	case jumps:
		w.at, w.reason = max(w.at, t+s.rates.latency[Branch]), Dependence
	}
	for _, r := range o.writes {
		w.ready[r], w.why[r] = at, why
	}
}

// publish lets a warp wait for a fence from time t on, and until the L2 has acknowledged what the SM has stored. The latency
// of a fence includes that of a store right before it.
func (s *sim) publish(w *warp, t, latency float64) {
	w.at, w.reason = max(w.at, t+latency), Barrier
	if w.sm.taken > t {
		w.at, w.reason = max(w.at, w.sm.taken+s.rates.l2), MemoryWait
	}
}

// factorBytes is the number of bytes of a row of the factors of a wgmma: its K is 32 bytes for all types.
const factorBytes = 32

// product starts a wgmma. Each warp of the warpgroup computes a quarter on its own tensor core.
func (s *sim) product(w *warp, c *core, o *Op, t float64) {
	cycles := o.flops / (s.rates.tensorF16 / subCores)
	start := max(c.tensor, t)
	// The four warps share the factors in shared memory.
	factors := float64(o.n) * factorBytes
	if o.fromA {
		factors += 64 * factorBytes
	}
	factors /= sharedBytes
	s.sharedBusy += factors / subCores
	c.tensor = max(start+cycles, w.sm.banks.reserve(start, factors/subCores))
	if o.fromA {
		c.tensor = max(c.tensor, start+factors)
	}
	s.busy[Tensor] += cycles
	w.productEnd = max(w.productEnd, c.tensor+s.rates.wgmma)
	s.watchWork(w, o, t, c.tensor)
}

// watchWork announces asynchronous work.
func (s *sim) watchWork(w *warp, o *Op, from, to float64) {
	if s.plan.Watch != nil {
		s.plan.Watch.Work(w.g.number*len(s.sms)+w.block, w.num, o.ID, from, to)
	}
}

// waitGroups lets a warp wait until at most n of the committed groups are unfinished.
func (s *sim) waitGroups(w *warp, groups []float64, n int, why Reason) {
	for i := 0; i < len(groups)-n; i++ {
		if groups[i] > w.at {
			w.at, w.reason = groups[i], why
		}
	}
}

// synchronise executes arrivals and waits.
func (s *sim) synchronise(w *warp, o *Op, f *warptrace.Fact, t float64) {
	w.at = max(w.at, t+1)
	if o.cost.polls && (f == nil || f.Waits < 0) { // no phase had to be complete
		w.at, w.reason = max(w.at, t+s.rates.try), Barrier
	}
	if f == nil {
		return
	}
	for _, a := range f.Arrivals {
		at := t + s.rates.arrive
		if p := &w.g.trace.Phases[a.Phase]; !p.Mbarrier {
			// Barriers count the warps of an SM one after the other.
			w.sm.barrier = max(w.sm.barrier, t) + s.rates.barrierWarp
			at = w.sm.barrier
			if p.Cluster {
				at = t + o.cost.latency
			}
		}
		if a.Late {
			at = max(at, w.copyEnd)
		}
		s.contribute(w.g, a.Phase, a.Count, at, false)
	}
	if f.Waits < 0 || s.edit.NoWait[o.ID] {
		return
	}
	p := &w.g.phases[f.Waits]
	if p.need > 0 {
		w.blocked = true
		w.since = t + 1
		p.waiters = append(p.waiters, w)
		return
	}
	s.release(w, f.Waits, t)
}

// contribute counts contributions to a phase, and completes it with the last one.
func (s *sim) contribute(g *group, phase int32, n int, at float64, copied bool) {
	p := &g.phases[phase]
	p.need -= n
	if at >= p.time {
		p.time, p.copied = at, copied
	}
	if p.need > 0 {
		return
	}
	t := &g.trace.Phases[phase]
	if s.plan.Watch != nil {
		s.plan.Watch.Phase(g.number*len(s.sms)+t.Rank, t, p.time)
	}
	for _, w := range p.waiters {
		w.blocked = false
		s.release(w, phase, w.since-1)
		w.core.stale = true
		s.advance(w)
	}
	p.waiters = nil
}

// release lets a warp continue that has waited since time t for a phase that is now complete.
func (s *sim) release(w *warp, phase int32, t float64) {
	p, kind := &w.g.phases[phase], &w.g.trace.Phases[phase]
	at, why := p.time+s.rates.barrier, Barrier
	switch {
	case kind.Cluster:
		at = p.time + s.rates.cluster
	case kind.Mbarrier && p.time <= t+s.rates.arrive: // complete when the wait reaches the barrier
		at = t + s.rates.try
	case kind.Mbarrier:
		at = max(p.time+s.rates.wake, t+s.rates.try)
	}
	if p.copied {
		why = MemoryWait
	}
	if at > w.at {
		w.at, w.reason = at, why
	}
}
