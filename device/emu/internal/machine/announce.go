package machine

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// This file tells the observers of a launch about accesses, asynchronous work, mbarriers
// and barriers. The steps of the instructions are announced in watch.go.

// AnnounceSpan announces an access that Span has found to lie in one piece of memory.
func (f *Frame) AnnounceSpan(a *Address, m uint32, n int, write bool, base uint64) {
	acc := f.access(m, n, write)
	acc.Offsets = (*[32]uint64)(&f.Warp.Offsets)
	switch {
	case a.Entry:
		return
	case a.Space == ptx.Shared || base == memory.SharedBase:
		acc.Space, acc.Block = ptx.Shared, f.Block.Rank
	default:
		acc.Space, acc.Alloc = ptx.Global, f.Warp.cache.Info()
	}
	f.Block.Watch.Access(acc)
}

// access returns the warp's announcement of an access. The caller adds the state space
// and the offsets.
func (f *Frame) access(m uint32, n int, write bool) *observe.Access {
	acc := &f.Warp.access
	*acc = observe.Access{Rank: f.Block.Rank, Warp: f.Warp.ID, Mask: m, ID: int(f.fn.Code[f.Warp.PC].id), Size: n, Write: write, State: f.state()}
	return acc
}

// AnnounceLane announces the access of one lane: to allocation c of global memory, or to the
// shared memory of block b.
func (f *Frame) AnnounceLane(lane int, space ptx.Space, b *Block, c *memory.Alloc, off uint64, n int, write bool) {
	if f.Block.Watch == nil || n == 0 {
		return
	}
	acc := f.access(1<<lane, n, write)
	acc.Space = space
	if b != nil {
		acc.Block = b.Rank
	}
	if c != nil {
		acc.Alloc = c.Info()
	}
	f.Warp.single[lane] = off
	acc.Offsets = &f.Warp.single
	f.Block.Watch.Access(acc)
}

// AnnounceUnits announces that a whole warp reads n bytes at each of the offsets in its
// block's shared memory.
func (f *Frame) AnnounceUnits(m uint32, units []int32, n int) {
	acc := f.access(m, n, false)
	acc.Space, acc.Block, acc.Units = ptx.Shared, f.Block.Rank, units
	f.Block.Watch.Access(acc)
}

// AnnounceStart announces asynchronous work and returns its number. AnnounceCompletion
// uses the same number.
func (f *Frame) AnnounceStart(lane int, bars []BarRef) (work uint64) {
	watch := f.Block.Watch
	if watch == nil {
		return 0
	}
	q := &f.Block.Cluster.Async
	q.works++
	a := &observe.Async{Rank: f.Block.Rank, Warp: f.Warp.ID, Lane: lane, ID: int(f.fn.Code[f.Warp.PC].id), Work: q.works}
	for _, r := range bars {
		a.Bars = append(a.Bars, r.at())
	}
	watch.Start(a)
	return q.works
}

// AnnounceCompletion tells the cluster's observer that the work has taken effect.
func (o Origin) AnnounceCompletion(lane int, work uint64, read bool) {
	if watch := o.Frame.Block.Watch; watch != nil {
		watch.Complete(&observe.Completion{
			Rank: o.Frame.Block.Rank, Warp: o.Frame.Warp.ID, Lane: lane, ID: int(o.Frame.fn.Code[o.PC].id), Work: work, Read: read,
		})
	}
}

// AnnounceMbarrier tells the cluster's observer about an operation on an mbarrier that had
// the value old before.
func (o Origin) AnnounceMbarrier(r BarRef, e observe.Mbarrier, old memory.Mbarrier) {
	watch := o.Frame.Block.Watch
	if watch == nil {
		return
	}
	e.MbarrierAt = r.at()
	e.Rank, e.Warp, e.ID = o.Frame.Block.Rank, o.Frame.Warp.ID, int(o.Frame.fn.Code[o.PC].id)
	if e.Mask == 0 && o.Lane >= 0 {
		e.Mask = 1 << o.Lane
	}
	if b, err := memory.LoadMbarrier(r.Word()); err == nil {
		e.Expected, e.Pending, e.Bytes = int(b.Expected()), int(b.Pending()), int(b.Bytes())
		e.Ended = e.Err == nil && e.Op != observe.MbarrierInit && e.Op != observe.MbarrierWait && b.Phase() != old.Phase()
	}
	watch.Mbarrier(&e)
}

// announceOpen tells the observer that a barrier of the block opens.
func (bar *Barrier) announceOpen(b *Block) {
	if b.Watch == nil {
		return
	}
	o := &observe.Opening{Rank: b.Rank, Bar: b.barIndex(bar)}
	for i := range bar.Warps {
		o.Warps = append(o.Warps, bar.Warps[i].counted)
	}
	b.Watch.Open(o)
}

// announceOpen tells the observer that the cluster's barrier opens.
func (c *cluster) announceOpen() {
	if c.Blocks[0].Watch != nil {
		c.Blocks[0].Watch.Open(&observe.Opening{Cluster: true})
	}
}

func (b *Block) barIndex(bar *Barrier) int {
	for i := range b.Bars {
		if &b.Bars[i] == bar {
			return i
		}
	}
	return -1
}

// mostCallers is the number of calls that callers returns. A recursion has thousands, which say
// nothing new and would be kept for every finding.
const mostCallers = 32

// callers returns the source lines of the calls that led to the frame, the innermost first.
func (f *Frame) callers() (lines []string) {
	for ; f != nil && f.parent != nil && len(lines) < mostCallers; f = f.parent {
		at := f.parent.fn.sourceLine(f.ret - 1)
		lines = append(append(lines, at.line), at.callers...)
	}
	return lines
}
