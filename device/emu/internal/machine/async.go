package machine

// Asynchronous work takes effect as late as its rules allow: a copy reads and
// writes when a wait covers it, or when no thread can go on without it. What a
// program forgets to wait for then shows in its results. A schedule other than
// the natural one completes some of the work early, so that a program may not
// count on lateness either.

// warpAsync is the asynchronous work of the threads of a warp.
type warpAsync struct {
	Copies   copyQueue
	Bulk     bulkQueue
	Products productQueue
	Cluster  clusterLanes
}

// asyncQueue is the asynchronous work of a cluster that mbarriers count.
type asyncQueue struct {
	transfers []Transfer // oldest first
	seed      uint64     // of the choices that a schedule makes; 0 for none
	rounds    int        // since a transfer completed, with threads going on
	Matrix    Scratch
	works     uint64 // started, as observers count
}

// Origin is the instruction and the thread that started asynchronous work.
type Origin struct {
	Frame *Frame
	PC    int32
	Lane  int
}

func (f *Frame) Origin(lane int) Origin { return Origin{f, f.Warp.PC, lane} }

// raise ends the launch with a fault of the instruction that started the work.
func (o Origin) raise(format string, args ...any) {
	o.Frame.Warp.PC = o.PC
	o.Frame.Raise(o.Lane, format, args...)
}

// Check raises err, if it is one.
func (o Origin) Check(err error) {
	if err != nil {
		o.raise("%v", err)
	}
}

// Misuse raises err, if it is one, as misuse of an mbarrier.
func (o Origin) Misuse(err error) {
	if err != nil {
		o.Frame.Warp.PC = o.PC
		o.Frame.RaiseAs("mbarrier-misuse", o.Lane, "%v", err)
	}
}

// Early decides whether work may complete before anything waits for it.
func (q *asyncQueue) Early() bool {
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
	q := &c.Async
	if moved {
		q.rounds++
		if q.rounds < lateness && !q.Early() {
			return true
		}
	}
	q.rounds = 0
	return c.transferOne() || c.arriveOne() || c.storeOne() || moved
}

// arriveOne completes the copies of a warp that an mbarrier awaits.
func (c *cluster) arriveOne() bool {
	for _, b := range c.Blocks {
		for _, w := range b.Warps {
			if w.Async.Copies.Arrivals > 0 {
				w.Async.Copies.FinishAll(FullMask)
				return true
			}
		}
	}
	return false
}

// storeOne completes the oldest bulk store of a warp.
func (c *cluster) storeOne() bool {
	for _, b := range c.Blocks {
		for _, w := range b.Warps {
			if w.Async.Bulk.finishOne() {
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
	for _, b := range c.Blocks {
		for _, w := range b.Warps {
			w.Async.Copies.FinishAll(FullMask)
		}
	}
}
