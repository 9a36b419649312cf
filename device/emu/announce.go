package emu

import (
	"encoding/binary"

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
func (f *frame) access(m uint32, n int, write bool) *Access {
	acc := &f.w.access
	*acc = Access{Rank: f.b.rank, Warp: f.w.id, Mask: m, ID: int(f.fn.code[f.w.pc].id), Size: n, Write: write, f: f}
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
func (a *alloc) info() *Alloc {
	a.once.Do(func() { a.told = &Alloc{Addr: a.addr, Size: len(a.data), Data: a.data, Name: a.name} })
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
	a := &Async{Rank: f.b.rank, Warp: f.w.id, Lane: lane, ID: int(f.fn.code[f.w.pc].id), Work: q.works}
	for _, r := range bars {
		a.Bars = append(a.Bars, r.at())
	}
	watch.Start(a)
	return q.works
}

// completed tells the cluster's observer that the work has taken effect.
func (o origin) completed(lane int, work uint64, read bool) {
	if watch := o.f.b.watch; watch != nil {
		watch.Complete(&Completion{
			Rank: o.f.b.rank, Warp: o.f.w.id, Lane: lane, ID: int(o.f.fn.code[o.pc].id), Work: work, Read: read,
		})
	}
}

// mbarrier tells the cluster's observer of an operation on an mbarrier that had the
// value old.
func (o origin) mbarrier(r barRef, e Mbarrier, old mbarrier) {
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
		e.Ended = e.Err == nil && e.Op != MbarrierInit && e.Op != MbarrierWait && b.phase() != old.phase()
	}
	watch.Mbarrier(&e)
}

// opened tells the observer that a barrier of the block opens.
func (bar *barrier) opened(b *block) {
	if b.watch == nil {
		return
	}
	o := &Opening{Rank: b.rank, Bar: b.barIndex(bar)}
	for i := range bar.warps {
		o.Warps = append(o.Warps, bar.warps[i].counted)
	}
	b.watch.Open(o)
}

// opened tells the observer that the cluster's barrier opens.
func (c *cluster) opened() {
	if c.blocks[0].watch != nil {
		c.blocks[0].watch.Open(&Opening{Cluster: true})
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

// Stored is what a lane's st is about to write; ok is false for other instructions.
func (a *Access) Stored(in *Inst, lane int) (data []byte, ok bool) {
	if in.Op.Name != "st" || !a.Write || a.Size > 64 {
		return nil, false
	}
	x := &inst{in.Inst, in.Match, in.at}
	t := x.typ("b")
	d := &decoder{p: a.f.fn.prog, fn: a.f.fn, regs: a.f.fn.slots}
	s := &Step{Inst: in, f: a.f}
	for _, e := range d.vector(x.arg("b")) {
		var b [8]byte
		n := t.Bytes()
		if n > 8 || e.Kind == ptx.SymOperand {
			return nil, false
		}
		v := s.Value(e, lane)
		if e.Kind != ptx.RegOperand && e.Kind != ptx.SpecialOperand {
			v = constant(e, t)
		}
		binary.LittleEndian.PutUint64(b[:], v)
		data = append(data, b[:n]...)
	}
	return data, len(data) == a.Size
}

// Word is what a lane's st of up to four bytes is about to write; ok is false for
// other instructions, and for lanes whose stores do not lie in one piece.
func (a *Access) Word(lane int) (v uint32, ok bool) {
	w := a.f.w
	if a.Offsets != (*[32]uint64)(&w.offsets) || len(w.moving) != 1 || w.moving[0].width != w32 || a.Size > 4 {
		return 0, false
	}
	return a.f.r32[w.moving[0].s][lane] & (1<<(8*a.Size) - 1), true
}

// Callers are the source lines of the calls that led to the access, the innermost
// first.
func (a *Access) Callers() []string { return a.f.callers() }

func (f *frame) callers() (lines []string) {
	for ; f != nil && f.parent != nil; f = f.parent {
		at := f.parent.fn.sourceLine(f.ret - 1)
		lines = append(append(lines, at.line), at.callers...)
	}
	return lines
}
