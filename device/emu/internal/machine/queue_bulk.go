package machine

import "math/bits"

// bulkItem is a copy that a thread's bulk groups count. Reading and writing are separate
// steps, because a thread can wait for the reading alone.
type bulkItem struct {
	from  Origin
	group uint32
	load  func() []byte
	store func(data []byte)
	data  []byte // the bytes that were read, or nil
}

func (it *bulkItem) read() {
	if it.data == nil {
		it.data = it.load()
	}
}

// bulkQueue holds the bulk stores of a warp's threads that have not taken effect.
type bulkQueue struct {
	items  []bulkItem
	groups [32]uint32 // how many groups each thread has committed
}

// Commit closes the present group of each lane.
func (q *bulkQueue) Commit(lanes uint32) {
	for ; lanes != 0; lanes &= lanes - 1 {
		q.groups[bits.TrailingZeros32(lanes)]++
	}
}

// Finish completes the stores of the lanes, except the stores in the last keep groups and
// in the group that is not committed. If read is set, the stores only read their source.
func (q *bulkQueue) Finish(lanes, keep uint32, read bool) {
	rest := q.items[:0]
	for i := range q.items {
		it := &q.items[i]
		due := lanes>>it.from.Lane&1 != 0 && it.group+keep < q.groups[it.from.Lane]
		if due {
			it.read()
		}
		if due && read {
			it.from.AnnounceCompletion(it.from.Lane, 0, true)
		}
		if !due || read {
			rest = append(rest, *it)
			continue
		}
		it.store(it.data)
		it.from.AnnounceCompletion(it.from.Lane, 0, false)
	}
	clear(q.items[len(rest):])
	q.items = rest
}

// finishOne completes the oldest store.
func (q *bulkQueue) finishOne() bool {
	if len(q.items) == 0 {
		return false
	}
	it := q.items[0]
	q.items = append(q.items[:0], q.items[1:]...)
	it.read()
	it.store(it.data)
	it.from.AnnounceCompletion(it.from.Lane, 0, false)
	return true
}

// Add queues a store of a lane.
func (q *bulkQueue) Add(from Origin, load func() []byte, store func([]byte)) {
	q.items = append(q.items, bulkItem{from: from, group: q.groups[from.Lane], load: load, store: store})
	if from.Frame.Block.Cluster.Async.Early() {
		q.finishOne()
	}
}
