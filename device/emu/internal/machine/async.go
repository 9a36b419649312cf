package machine

// Asynchronous work takes effect as late as its rules allow: a copy reads and writes when
// a wait covers it, or when no thread can continue without it. A missing wait therefore
// shows in the results. A permuted schedule completes some of the work early, which also
// exposes programs that rely on late completion.

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
	seed      uint64     // the seed of the random choices of a schedule; 0 for the natural schedule
	rounds    int        // turns since a transfer completed, while threads continue
	Matrix    *Scratch
	works     uint64 // number of the last asynchronous work that was announced
}

// Origin is the instruction and the thread that started asynchronous work.
type Origin struct {
	Frame *Frame
	PC    int32
	Lane  int
}

// Origin returns the current instruction and the lane as the origin of asynchronous work.
func (f *Frame) Origin(lane int) Origin { return Origin{f, f.Warp.PC, lane} }

// raise ends the launch with a fault of the instruction that started the work.
func (o Origin) raise(format string, args ...any) {
	o.Frame.Warp.PC = o.PC
	o.Frame.Raise(o.Lane, format, args...)
}

// Check raises err if it is not nil.
func (o Origin) Check(err error) {
	if err != nil {
		o.raise("%v", err)
	}
}

// Misuse raises err as misuse of an mbarrier if err is not nil.
func (o Origin) Misuse(err error) {
	if err != nil {
		o.Frame.Warp.PC = o.PC
		o.Frame.RaiseAs("mbarrier-misuse", o.Lane, "%v", err)
	}
}

// Early reports whether the next work completes before any thread waits for it. A permuted
// schedule completes a quarter of the work early, the natural schedule none.
func (q *asyncQueue) Early() bool {
	if q.seed == 0 {
		return false
	}
	q.seed ^= q.seed << 13
	q.seed ^= q.seed >> 7
	q.seed ^= q.seed << 17
	return q.seed&3 == 0
}

// lateness is the number of turns that a transfer may be outstanding while threads
// continue. It ends the wait of threads that poll something other than an mbarrier.
const lateness = 64

// progress completes asynchronous work, one piece at a time, when no thread can continue
// without it. It reports whether the cluster can continue.
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

// drain completes the outstanding work when all threads have ended.
func (c *cluster) drain() {
	for c.transferOne() || c.storeOne() {
	}
	for _, b := range c.Blocks {
		for _, w := range b.Warps {
			w.Async.Copies.FinishAll(FullMask)
		}
	}
}
