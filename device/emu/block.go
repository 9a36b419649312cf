package emu

import (
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
)

// block is a block of threads with its shared memory.
type block struct {
	kernel  *kernel
	launch  *launch
	cluster *cluster
	rank    int // in the cluster
	index   int // in the grid
	ctaid   [3]int
	warps   []*warp
	shared  []byte
	params  []byte
	bars    [16]barrier
	order   []int  // in which the warps run
	version uint64 // counts what may let a waiting warp go on
	watch   observe.ClusterObserver
	printed []byte
}

// cluster is the blocks that run together and see each other's shared memory. A
// launch without clusters has clusters of one.
type cluster struct {
	blocks   []*block
	index    int // in the grid
	explicit bool
	closed   bool // counted and printed
	idles    int  // rounds without progress that the last one allows for
	async    asyncQueue
}

func newBlock(l *launch, c *cluster, index int, ctaid [3]int) *block {
	k := l.kernel
	b := &block{
		kernel: k, launch: l, cluster: c, rank: len(c.blocks), index: index, ctaid: ctaid,
		shared: newBytes(k.entry.statics + int64(l.Shared)),
		params: l.params,
	}
	threads := l.Block.Count()
	for t := 0; t < threads; t += 32 {
		w := &warp{b: b, id: t / 32, lanes: fullMask}
		if n := threads - t; n < 32 {
			w.lanes = 1<<n - 1
		}
		f := w.newFrame(k.entry, nil, w.lanes)
		w.exited = ^w.lanes
		w.splits = append(w.splits, split{mask: w.lanes, f: f})
		b.warps = append(b.warps, w)
	}
	b.order = l.schedule.order(index, len(b.warps))
	return b
}

// changed lets everything that waits in the cluster look again.
func (c *cluster) changed() {
	for _, b := range c.blocks {
		b.changed()
	}
}

// changed lets everything that waits in the block look again.
func (b *block) changed() {
	b.version++
	for _, w := range b.warps {
		w.wake()
	}
}

// quantum is how many instructions a warp runs before the next one's turn. Small
// enough that a producer and its consumers alternate, large enough to be cheap.
const quantum = 4096

// run gives every warp of the cluster a turn. It reports whether any of them got
// on: moved by more than polling or sleeping.
func (c *cluster) run() (moved, ended bool) {
	ended = true
	c.idles = 0
	for _, b := range c.blocks {
		for _, i := range b.order {
			w := b.warps[i]
			if len(w.splits) == 0 {
				continue
			}
			before := b.version
			switch w.run(quantum) {
			case ranOut, over:
				moved = true
			case gaveWay:
				c.idles = max(c.idles, pollRounds)
			case slept:
				c.idles = max(c.idles, sleepRounds)
			}
			if limit := b.launch.limit; w.steps > limit && len(w.splits) > 0 {
				w.pc = w.splits[0].pc
				w.splits[0].f.raise(-1, "a warp has executed more than the limit of %d instructions", limit)
			}
			moved = moved || b.version != before
			ended = ended && len(w.splits) == 0
		}
	}
	return moved, ended
}

// How many rounds of nothing but polling, or of nothing but polling and sleeping,
// make a deadlock. Threads that do neither and cannot go on are one at once.
const (
	pollRounds  = 1 << 16
	sleepRounds = 1 << 17
)

// finish runs the cluster to its end.
func (c *cluster) finish(l *launch) error {
	var idle idleness
	for {
		moved, ended := c.run()
		if ended {
			c.drain()
			return nil
		}
		if err := l.stop(); err != nil {
			return err
		}
		if c.progress(moved) {
			idle = idleness{}
			continue
		}
		if idle.over(c.idles, c) {
			return deadlock(c)
		}
	}
}

// idleness is how long nothing but polling has gone on.
type idleness struct {
	rounds int
	since  uint64 // what warps had executed when it began
}

// Polls that take many instructions need fewer rounds to be found in vain.
const (
	longRounds = 1 << 10
	longSteps  = 1 << 20
)

// over adds a round, and reports whether there have been enough: all that are asked
// for, or many instructions' worth.
func (i *idleness) over(rounds int, cs ...*cluster) bool {
	if i.rounds++; i.rounds > rounds {
		return true
	}
	switch {
	case i.rounds == 1:
		i.since = executed(cs)
	case i.rounds%longRounds == 0:
		return executed(cs)-i.since > longSteps
	}
	return false
}

// executed is the instructions that the warps of clusters have executed.
func executed(cs []*cluster) (n uint64) {
	for _, c := range cs {
		for _, b := range c.blocks {
			for _, w := range b.warps {
				n += w.steps
			}
		}
	}
	return n
}

// deadlock describes which threads wait, and what they wait for.
func deadlock(cs ...*cluster) error {
	var all []finding.Waiter
	for _, c := range cs {
		for _, blk := range c.blocks {
			for _, w := range blk.warps {
				all = append(all, w.waits()...)
			}
		}
	}
	return device.NewDeadlock(cs[0].blocks[0].kernel.name, all)
}

// waits describes what the splits of a warp wait for.
func (w *warp) waits() (all []finding.Waiter) {
	for i := range w.splits {
		s := &w.splits[i]
		f, pc, up := s.f, s.pc, s.f.callers()
		if !s.wait && s.poll > 0 {
			f, pc = s.in, s.poll-1
			if f != s.f { // it is between two calls of the function that polls
				at := s.f.fn.sourceLine(s.pc)
				up = append(append([]string{at.line}, at.callers...), up...)
			}
		}
		o := &f.fn.code[pc]
		if o.in == nil {
			continue
		}
		at := f.fn.sourceLine(pc)
		wait := finding.Waiter{Place: finding.Place{
			Func: f.fn.f.Sym.Name, Pos: o.in.Pos, Source: at.line, Callers: append(slices.Clip(at.callers), up...), Inst: o.in.Op.Text,
			Block: w.b.ctaid, Warp: w.id, Lanes: finding.Lanes(s.mask),
		}}
		switch {
		case o.why != nil:
			wait.For = o.why(f, s.mask)
		case o.in.Op.Name == "ld" || o.in.Op.Name == "atom":
			wait.For = "what it reads again and again does not change"
		}
		all = append(all, wait)
	}
	return all
}
