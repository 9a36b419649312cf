package emu

import "math/bits"

// Asynchronous work takes effect as late as its rules allow: a copy reads and
// writes when a wait covers it, or when no thread can go on without it. What a
// program forgets to wait for then shows in its results. A schedule other than
// the natural one completes some of the work early, so that a program may not
// count on lateness either.

// warpAsync is the asynchronous work of the threads of a warp.
type warpAsync struct {
	copies   copyQueue
	bulk     bulkQueue
	products productQueue
	cluster  clusterLanes
}

// asyncQueue is the asynchronous work of a cluster that mbarriers count.
type asyncQueue struct {
	transfers []transfer // oldest first
	seed      uint64     // of the choices that a schedule makes; 0 for none
	rounds    int        // since a transfer completed, with threads going on
	matrix    matrixScratch
	works     uint64 // started, as observers count
}

// origin is the instruction and the thread that started asynchronous work.
type origin struct {
	f    *frame
	pc   int32
	lane int
}

func (f *frame) origin(lane int) origin { return origin{f, f.w.pc, lane} }

// raise ends the launch with a fault of the instruction that started the work.
func (o origin) raise(format string, args ...any) {
	o.f.w.pc = o.pc
	o.f.raise(o.lane, format, args...)
}

// check raises err, if it is one.
func (o origin) check(err error) {
	if err != nil {
		o.raise("%v", err)
	}
}

// misuse raises err, if it is one, as misuse of an mbarrier.
func (o origin) misuse(err error) {
	if err != nil {
		o.f.w.pc = o.pc
		o.f.raiseAs("mbarrier-misuse", o.lane, "%v", err)
	}
}

// early decides whether work may complete before anything waits for it.
func (q *asyncQueue) early() bool {
	if q.seed == 0 {
		return false
	}
	q.seed ^= q.seed << 13
	q.seed ^= q.seed >> 7
	q.seed ^= q.seed << 17
	return q.seed&3 == 0
}

// lateness is how many turns of the cluster a transfer may be outstanding while
// threads go on. It ends the wait of threads that poll something other than an
// mbarrier.
const lateness = 64

// progress carries out asynchronous work when no thread can go on without it, one
// piece at a time. It reports whether the cluster may go on.
func (c *cluster) progress(moved bool) bool {
	q := &c.async
	if moved {
		q.rounds++
		if q.rounds < lateness && !q.early() {
			return true
		}
	}
	q.rounds = 0
	return c.transferOne() || c.arriveOne() || c.storeOne() || moved
}

// arriveOne completes the copies of a warp that an mbarrier awaits.
func (c *cluster) arriveOne() bool {
	for _, b := range c.blocks {
		for _, w := range b.warps {
			if w.async.copies.arrivals > 0 {
				w.async.copies.finishAll(fullMask)
				return true
			}
		}
	}
	return false
}

// storeOne completes the oldest bulk store of a warp.
func (c *cluster) storeOne() bool {
	for _, b := range c.blocks {
		for _, w := range b.warps {
			if w.async.bulk.finishOne() {
				return true
			}
		}
	}
	return false
}

// drain completes what is outstanding when all threads have ended.
func (c *cluster) drain() {
	for c.transferOne() || c.storeOne() {
	}
	for _, b := range c.blocks {
		for _, w := range b.warps {
			w.async.copies.finishAll(fullMask)
		}
	}
}

// firstLane is the lowest lane of a mask.
func firstLane(m uint32) int { return bits.TrailingZeros32(m) }
