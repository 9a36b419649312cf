package machine

import (
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
)

// Block is a block of threads with its shared memory.
type Block struct {
	kernel  *Kernel
	Launch  *launch
	Cluster *cluster
	Rank    int // in the cluster
	index   int // in the grid
	ctaid   [3]int
	Warps   []*Warp
	Shared  []byte
	params  []byte
	Bars    [16]Barrier
	order   []int  // in which the warps run
	version uint64 // counts what may let a waiting warp go on
	Watch   observe.ClusterObserver
	Printed []byte
}

// cluster is the blocks that run together and see each other's shared memory. A
// launch without clusters has clusters of one.
type cluster struct {
	Blocks   []*Block
	index    int // in the grid
	Explicit bool
	closed   bool // counted and printed
	idles    int  // rounds without progress that the last one allows for
	Async    asyncQueue
}

func newBlock(l *launch, c *cluster, index int, ctaid [3]int) *Block {
	k := l.kernel
	b := &Block{
		kernel: k, Launch: l, Cluster: c, Rank: len(c.Blocks), index: index, ctaid: ctaid,
		Shared: memory.NewBytes(k.Entry.Statics + int64(l.Shared)),
		params: l.params,
	}
	threads := l.Block.Count()
	for t := 0; t < threads; t += 32 {
		w := &Warp{b: b, ID: t / 32, Lanes: FullMask}
		if n := threads - t; n < 32 {
			w.Lanes = 1<<n - 1
		}
		f := w.newFrame(k.Entry, nil, w.Lanes)
		w.Exited = ^w.Lanes
		w.splits = append(w.splits, split{mask: w.Lanes, f: f})
		b.Warps = append(b.Warps, w)
	}
	b.order = l.schedule.order(index, len(b.Warps))
	return b
}

// changed lets everything that waits in the cluster look again.
func (c *cluster) changed() {
	for _, b := range c.Blocks {
		b.changed()
	}
}

// changed lets everything that waits in the block look again.
func (b *Block) changed() {
	b.version++
	for _, w := range b.Warps {
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
	for _, b := range c.Blocks {
		for _, i := range b.order {
			w := b.Warps[i]
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
			if limit := b.Launch.Limit; w.steps > limit && len(w.splits) > 0 {
				w.PC = w.splits[0].pc
				w.splits[0].f.Raise(-1, "a warp has executed more than the limit of %d instructions", limit)
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
		for _, b := range c.Blocks {
			for _, w := range b.Warps {
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
		for _, blk := range c.Blocks {
			for _, w := range blk.Warps {
				all = append(all, w.waits()...)
			}
		}
	}
	return device.NewDeadlock(cs[0].Blocks[0].kernel.Name, all)
}

// waits describes what the splits of a warp wait for.
func (w *Warp) waits() (all []finding.Waiter) {
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
		o := &f.fn.Code[pc]
		if o.Inst == nil {
			continue
		}
		at := f.fn.sourceLine(pc)
		wait := finding.Waiter{Place: finding.Place{
			Func: f.fn.Decl.Sym.Name, Pos: o.Inst.Pos, Source: at.line, Callers: append(slices.Clip(at.callers), up...), Inst: o.Inst.Op.Text,
			Block: w.b.ctaid, Warp: w.ID, Lanes: finding.Lanes(s.mask),
		}}
		switch {
		case o.Why != nil:
			wait.For = o.Why(f, s.mask)
		case o.Kind == OpPoll:
			wait.For = "what it reads again and again does not change"
		}
		all = append(all, wait)
	}
	return all
}
