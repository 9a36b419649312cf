package emu

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/ptx"
)

// transfer is a copy that mbarriers count: it moves its bytes and then tells each
// of them.
type transfer struct {
	from  origin
	move  func()
	bars  []barRef
	bytes int // at each mbarrier
	work  uint64
}

// start queues a transfer.
func (c *cluster) start(t transfer) {
	c.async.transfers = append(c.async.transfers, t)
	if c.async.early() {
		c.transferOne()
	}
}

// transferOne completes the oldest transfer.
func (c *cluster) transferOne() bool {
	q := &c.async
	if len(q.transfers) == 0 {
		return false
	}
	t := q.transfers[0]
	q.transfers[0] = transfer{}
	q.transfers = q.transfers[1:]
	t.move()
	t.from.completed(t.from.lane, t.work, false)
	for _, bar := range t.bars {
		t.from.misuse(t.from.expect(bar, -int64(t.bytes), t.work))
	}
	c.changed()
	return true
}

// bulkItem is a copy that a thread's bulk groups count. It reads and writes apart,
// since a thread may wait for the reading alone.
type bulkItem struct {
	from  origin
	group uint32
	load  func() []byte
	store func(data []byte)
	data  []byte // what was read, or nil
}

func (it *bulkItem) read() {
	if it.data == nil {
		it.data = it.load()
	}
}

// bulkQueue is the bulk stores of a warp's threads that have not taken effect.
type bulkQueue struct {
	items  []bulkItem
	groups [32]uint32 // how many groups each thread has committed
}

func (q *bulkQueue) commit(lanes uint32) {
	for ; lanes != 0; lanes &= lanes - 1 {
		q.groups[bits.TrailingZeros32(lanes)]++
	}
}

// finish completes the stores of the lanes but those of the last keep groups and
// of the one that is not committed; with read, they only read their source.
func (q *bulkQueue) finish(lanes, keep uint32, read bool) {
	rest := q.items[:0]
	for i := range q.items {
		it := &q.items[i]
		due := lanes>>it.from.lane&1 != 0 && it.group+keep < q.groups[it.from.lane]
		if due {
			it.read()
		}
		if due && read {
			it.from.completed(it.from.lane, 0, true)
		}
		if !due || read {
			rest = append(rest, *it)
			continue
		}
		it.store(it.data)
		it.from.completed(it.from.lane, 0, false)
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
	it.from.completed(it.from.lane, 0, false)
	return true
}

// add queues a store of a lane.
func (q *bulkQueue) add(from origin, load func() []byte, store func([]byte)) {
	q.items = append(q.items, bulkItem{from: from, group: q.groups[from.lane], load: load, store: store})
	if from.f.b.cluster.async.early() {
		q.finishOne()
	}
}

// buildBulk is cp.async.bulk and cp.reduce.async.bulk.
func buildBulk(d *decoder, x *inst) exec {
	switch {
	case x.Has("commit_group"):
		return func(f *frame, m uint32) { f.w.async.bulk.commit(m) }
	case x.Has("wait_group"):
		keep, read := uint32(x.Arg("N").Val), x.Has("read")
		return func(f *frame, m uint32) { f.w.async.bulk.finish(m, keep, read) }
	case x.Has("tensor"):
		return buildTensorCopy(d, x)
	case x.Has("prefetch"):
		src := d.bulkEnd(x, "srcMem")
		size := d.src32(x.Arg("size"), ptx.U32)
		return func(f *frame, m uint32) {
			eachLane(m, func(l int) { src.bytes(f, l, f.r32[size][l], false) })
		}
	case x.Has("bulk_group"):
		return buildBulkStore(d, x)
	}
	return buildBulkLoad(d, x)
}

// bulkEnd is the source or the destination of a bulk copy.
type bulkEnd struct{ *address }

func (d *decoder) bulkEnd(x *inst, name string) bulkEnd {
	return bulkEnd{d.addr(x.Arg(name), x.SpaceName(name))}
}

// bytes are the n bytes at the lane's address, which like n is a multiple of 16.
func (e bulkEnd) bytes(f *frame, lane int, n uint32, write bool) []byte {
	addr := e.aligned(f, lane, n)
	if n == 0 {
		return nil
	}
	return f.memory(lane, e.space, addr, int(n), write)
}

// aligned is the lane's address, which must be a multiple of 16 as n must.
func (e bulkEnd) aligned(f *frame, lane int, n uint32) uint64 {
	addr := e.at(f, lane)
	if addr%16 != 0 || n%16 != 0 {
		f.raiseAs("misaligned", lane, "a bulk copy of %d bytes at %#x: both must be multiples of 16", n, addr)
	}
	return addr
}

// buildBulkLoad is the forms that mbarriers count: to shared memory of the block,
// of another one of the cluster or of several.
func buildBulkLoad(d *decoder, x *inst) exec {
	dst, src := d.bulkEnd(x, "dstMem"), d.bulkEnd(x, "srcMem")
	size := d.src32(x.Arg("size"), ptx.U32)
	bar := d.addr(x.Arg("mbar"), x.SpaceName("mbar"))
	cast := d.multicast(x)
	put := d.placing(x)
	between := src.space == ptx.Shared
	return func(f *frame, m uint32) {
		if between {
			f.inCluster(m)
		}
		eachLane(m, func(l int) {
			n := f.r32[size][l]
			from := src.bytes(f, l, n, false)
			dst.aligned(f, l, n)
			block, off := dst.sharedAt(f, l, 16)
			barBlock, barOff := bar.sharedAt(f, l, 8)
			if block != barBlock {
				f.raise(l, "the destination is in block %d of the cluster, the mbarrier in block %d", block.rank, barBlock.rank)
			}
			var to [][]byte
			var bars []barRef
			for _, b := range cast.blocks(f, l, block) {
				to = append(to, f.within(l, b.shared, off, int(n), "shared-memory"))
				f.touched(l, ptx.Shared, b, nil, off, int(n), true)
				bars = append(bars, f.barRef(l, b, barOff))
			}
			f.b.cluster.start(transfer{from: f.origin(l), work: f.started(l, bars), bars: bars, bytes: int(n), move: func() {
				for _, t := range to {
					put(t, from, false)
				}
			}})
		})
	}
}

// buildBulkStore is the forms that bulk groups count: to global memory.
func buildBulkStore(d *decoder, x *inst) exec {
	dst, src := d.bulkEnd(x, "dstMem"), d.bulkEnd(x, "srcMem")
	size := d.src32(x.Arg("size"), ptx.U32)
	put := d.placing(x)
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			n := f.r32[size][l]
			from, to := src.bytes(f, l, n, false), dst.bytes(f, l, n, true)
			shared := f.b.launch.parallel
			f.started(l, nil)
			f.w.async.bulk.add(f.origin(l),
				func() []byte { return append([]byte{}, from...) },
				func(data []byte) { put(to, data, shared) })
		})
	}
}

// multicast is the mask of blocks that a copy goes to, or nothing.
type multicast slot

func (d *decoder) multicast(x *inst) multicast {
	if o := x.Arg("ctaMask"); o != nil {
		return multicast(d.src32(o, ptx.U16))
	}
	return -1
}

// blocks are the blocks that a lane's copy goes to: without a mask the one it
// names, with one the same place in each.
func (c multicast) blocks(f *frame, lane int, one *block) []*block {
	if c < 0 {
		return []*block{one}
	}
	mask := f.r32[c][lane] & 0xffff
	all := f.b.cluster.blocks
	if mask>>len(all) != 0 {
		f.raise(lane, "mask %#x names blocks beyond the %d of the cluster", mask, len(all))
	}
	var to []*block
	eachLane(mask, func(r int) { to = append(to, all[r]) })
	return to
}
