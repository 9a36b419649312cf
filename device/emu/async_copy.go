package emu

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// copyItem is one thread's cp.async, or its arrival at an mbarrier.
type copyItem struct {
	from  origin
	group uint32 // which of the thread's groups it belongs to
	dst   []byte
	src   []byte  // the bytes of dst that it does not reach become zero
	bar   *barRef // of an arrival: the mbarrier; nothing is copied
}

// copyQueue is the cp.async instructions of a warp's threads that have not taken
// effect.
type copyQueue struct {
	items    []copyItem
	groups   [32]uint32 // how many groups each thread has committed
	arrivals int
}

// commit ends the present group of the lanes.
func (q *copyQueue) commit(lanes uint32) {
	for ; lanes != 0; lanes &= lanes - 1 {
		q.groups[bits.TrailingZeros32(lanes)]++
	}
}

// finish completes the copies of the lanes but those of the last keep groups and
// of the one that is not committed.
func (q *copyQueue) finish(lanes, keep uint32) {
	q.sweep(lanes, func(it *copyItem) bool { return it.group+keep < q.groups[it.from.lane] })
}

// finishAll completes all copies of the lanes.
func (q *copyQueue) finishAll(lanes uint32) {
	q.sweep(lanes, func(*copyItem) bool { return true })
}

// sweep completes the copies of the lanes that are due. An arrival follows as soon
// as nothing of its thread that came before it is outstanding.
func (q *copyQueue) sweep(lanes uint32, due func(*copyItem) bool) {
	rest := q.items[:0]
	var behind uint32 // lanes with outstanding copies
	for i := range q.items {
		it := &q.items[i]
		bit := uint32(1) << it.from.lane
		if lanes&bit == 0 || behind&bit != 0 && it.bar != nil || it.bar == nil && !due(it) {
			behind |= bit
			rest = append(rest, *it)
			continue
		}
		q.complete(it)
	}
	clear(q.items[len(rest):])
	q.items = rest
}

func (q *copyQueue) complete(it *copyItem) {
	if it.bar != nil {
		q.arrivals--
		it.from.misuse(it.from.arrive(*it.bar, 1, observe.Mbarrier{Op: observe.MbarrierArrive, Late: true}))
		return
	}
	clear(it.dst[copy(it.dst, it.src):])
	it.from.completed(it.from.lane, 0, false)
}

// buildCopyAsync is cp.async of 4, 8 or 16 bytes a thread.
func buildCopyAsync(d *decoder, x *inst) exec {
	dst, src := d.addr(x.Arg("dst"), x.SpaceName("dst")), d.addr(x.Arg("src"), x.SpaceName("src"))
	n := int(x.Arg("cpSize").Val)
	size := d.const32(uint32(n))
	if o := x.Arg("srcSize"); o != nil {
		size = d.src32(o, ptx.U32)
	}
	ignore, not := slot(-1), false
	if o := x.Arg("ignoreSrc"); o != nil {
		ignore, not = d.pred(o)
	}
	return func(f *frame, m uint32) {
		zero := uint32(0)
		if ignore >= 0 {
			if zero = f.p[ignore]; not {
				zero = ^zero
			}
		}
		q := &f.w.async.copies
		eachLane(m, func(l int) {
			it := copyItem{from: f.origin(l), group: q.groups[l], dst: dst.view(f, l, n, true)}
			read := int(f.r32[size][l])
			switch {
			case read > n:
				f.raise(l, "source size %d is more than the %d bytes of the copy", read, n)
			case read > 0 && zero>>l&1 == 0:
				it.src = src.view(f, l, n, false)[:read]
			}
			q.items = append(q.items, it)
		})
		if f.b.cluster.async.early() {
			q.finishAll(m)
		}
	}
}

// buildCopyArrive is cp.async.mbarrier.arrive: an arrival that follows the
// thread's copies. Without .noinc the barrier awaits it in addition to others.
func buildCopyArrive(d *decoder, x *inst) exec {
	a := d.addr(x.Arg("addr"), x.SpaceName("addr"))
	inc := !x.Has("noinc")
	return func(f *frame, m uint32) {
		q := &f.w.async.copies
		eachLane(m, func(l int) {
			bar := a.barrier(f, l)
			from := f.origin(l)
			if inc {
				from.misuse(awaitOneMore(bar.word()))
			}
			q.items = append(q.items, copyItem{from: from, group: q.groups[l], bar: &bar})
			q.arrivals++
		})
		if f.b.cluster.async.early() {
			q.finishAll(m)
		}
	}
}

func init() {
	control("cp", func(d *decoder, x *inst, o *op) {
		switch {
		case x.Has("bulk"):
			o.run = buildBulk(d, x)
		case x.Has("mbarrier"):
			o.run = buildCopyArrive(d, x)
		case x.Has("commit_group"):
			o.run = func(f *frame, m uint32) { f.w.async.copies.commit(m) }
		case x.Has("wait_all"):
			o.run = func(f *frame, m uint32) {
				f.w.async.copies.commit(m)
				f.w.async.copies.finish(m, 0)
			}
		case x.Has("wait_group"):
			keep := uint32(x.Arg("N").Val)
			o.run = func(f *frame, m uint32) { f.w.async.copies.finish(m, keep) }
		default:
			o.run = buildCopyAsync(d, x)
		}
	})
}
