package emu

import (
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// What an observed launch tells as it happens, besides the steps of its
// instructions.

// spanned announces an access that span has found to lie in one piece.
func (f *frame) spanned(a *address, m uint32, n int, write bool, base uint64) {
	acc := f.access(m, n, write)
	acc.Offsets = (*[32]uint64)(&f.w.offsets)
	switch {
	case a.entry:
		return
	case a.space == ptx.Shared || base == sharedBase:
		acc.Space, acc.Block = ptx.Shared, f.b.rank
	default:
		acc.Space, acc.Alloc = ptx.Global, f.w.cache.info()
	}
	f.b.watch.Access(acc)
}

// access is the warp's announcement, to be filled in.
func (f *frame) access(m uint32, n int, write bool) *observe.Access {
	acc := &f.w.access
	*acc = observe.Access{Rank: f.b.rank, Warp: f.w.id, Mask: m, ID: int(f.fn.code[f.w.pc].id), Size: n, Write: write, State: f.state()}
	return acc
}

// touched announces the access of one lane; alloc is for global memory, block for
// shared memory.
func (f *frame) touched(lane int, space ptx.Space, b *block, c *alloc, off uint64, n int, write bool) {
	if f.b.watch == nil || n == 0 {
		return
	}
	acc := f.access(1<<lane, n, write)
	acc.Space = space
	if b != nil {
		acc.Block = b.rank
	}
	if c != nil {
		acc.Alloc = c.info()
	}
	f.w.single[lane] = off
	acc.Offsets = &f.w.single
	f.b.watch.Access(acc)
}

// touchedUnits announces what a whole warp reads of its block's shared memory.
func (f *frame) touchedUnits(m uint32, units []int32, n int) {
	acc := f.access(m, n, false)
	acc.Space, acc.Block, acc.Units = ptx.Shared, f.b.rank, units
	f.b.watch.Access(acc)
}

// info is what observers know of an allocation.
func (a *alloc) info() *observe.Alloc {
	a.once.Do(func() { a.told = &observe.Alloc{Addr: a.addr, Size: len(a.data), Data: a.data, Name: a.name} })
	return a.told
}

// started announces asynchronous work and gives it a number, which completed tells
// again.
func (f *frame) started(lane int, bars []barRef) (work uint64) {
	watch := f.b.watch
	if watch == nil {
		return 0
	}
	q := &f.b.cluster.async
	q.works++
	a := &observe.Async{Rank: f.b.rank, Warp: f.w.id, Lane: lane, ID: int(f.fn.code[f.w.pc].id), Work: q.works}
	for _, r := range bars {
		a.Bars = append(a.Bars, r.at())
	}
	watch.Start(a)
	return q.works
}

// completed tells the cluster's observer that the work has taken effect.
func (o origin) completed(lane int, work uint64, read bool) {
	if watch := o.f.b.watch; watch != nil {
		watch.Complete(&observe.Completion{
			Rank: o.f.b.rank, Warp: o.f.w.id, Lane: lane, ID: int(o.f.fn.code[o.pc].id), Work: work, Read: read,
		})
	}
}

// mbarrier tells the cluster's observer of an operation on an mbarrier that had the
// value old.
func (o origin) mbarrier(r barRef, e observe.Mbarrier, old mbarrier) {
	watch := o.f.b.watch
	if watch == nil {
		return
	}
	e.MbarrierAt = r.at()
	e.Rank, e.Warp, e.ID = o.f.b.rank, o.f.w.id, int(o.f.fn.code[o.pc].id)
	if e.Mask == 0 && o.lane >= 0 {
		e.Mask = 1 << o.lane
	}
	if b, err := loadMbarrier(r.word()); err == nil {
		e.Expected, e.Pending, e.Bytes = int(b.expected()), int(b.pending()), int(b.bytes())
		e.Ended = e.Err == nil && e.Op != observe.MbarrierInit && e.Op != observe.MbarrierWait && b.phase() != old.phase()
	}
	watch.Mbarrier(&e)
}

// opened tells the observer that a barrier of the block opens.
func (bar *barrier) opened(b *block) {
	if b.watch == nil {
		return
	}
	o := &observe.Opening{Rank: b.rank, Bar: b.barIndex(bar)}
	for i := range bar.warps {
		o.Warps = append(o.Warps, bar.warps[i].counted)
	}
	b.watch.Open(o)
}

// opened tells the observer that the cluster's barrier opens.
func (c *cluster) opened() {
	if c.blocks[0].watch != nil {
		c.blocks[0].watch.Open(&observe.Opening{Cluster: true})
	}
}

func (b *block) barIndex(bar *barrier) int {
	for i := range b.bars {
		if &b.bars[i] == bar {
			return i
		}
	}
	return -1
}

// callers are the source lines of the calls that led to the frame, the innermost first.
func (f *frame) callers() (lines []string) {
	for ; f != nil && f.parent != nil; f = f.parent {
		at := f.parent.fn.sourceLine(f.ret - 1)
		lines = append(append(lines, at.line), at.callers...)
	}
	return lines
}
