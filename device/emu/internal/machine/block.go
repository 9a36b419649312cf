package machine

import (
	"fmt"
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
	Rank    int // the rank in the cluster
	index   int // the index in the grid
	ctaid   [3]int
	Warps   []*Warp
	Shared  []byte
	params  []byte
	Bars    [16]Barrier
	turns   []turn // the turns of the warps in a round
	starved int    // rounds in which a starved warp did not run
	version uint64 // counts the events that may end the wait of a warp
	Watch   observe.ClusterObserver
	Printed []byte
}

// cluster is a group of blocks that run together and can access each other's shared
// memory. A launch without clusters has clusters of one block.
type cluster struct {
	Blocks    []*Block
	index     int // the index in the grid
	Explicit  bool
	closed    bool // close has counted it and written its output
	idleLimit int  // rounds without progress after which the cluster is in a deadlock
	Async     asyncQueue
	limit     uint64  // instructions that a warp may execute
	held      []*Warp // warps that wait at the held instruction, in the order of their arrival
	// heldRounds counts the rounds since a held warp continued.
	heldRounds int
	voids      int // faulty accesses after which the cluster continued
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
		w.entry = w.newFrame(k.Entry, nil, w.Lanes)
		w.Exited = ^w.Lanes
		w.splits = append(w.splits, split{mask: w.Lanes, f: w.entry})
		b.Warps = append(b.Warps, w)
	}
	b.turns = l.schedule.turns(index, len(b.Warps))
	return b
}

// changed makes all waiting splits of the cluster try again.
func (c *cluster) changed() {
	for _, b := range c.Blocks {
		b.changed()
	}
}

// changed makes all waiting splits of the block try again.
func (b *Block) changed() {
	b.version++
	for _, w := range b.Warps {
		w.wake()
	}
}

// run gives every warp of the cluster a turn. moved reports whether a warp did more than
// poll or sleep. ended reports whether all warps have ended.
func (c *cluster) run() (moved, ended bool) {
	ended = true
	c.idleLimit = 0
	if c.heldRounds++; c.heldRounds > patience {
		c.passHeld()
	}
	for _, b := range c.Blocks {
		for _, t := range b.Launch.schedule.byRole(b) {
			w := b.Warps[t.warp]
			if len(w.splits) == 0 {
				continue
			}
			if t.starved && moved && b.starved < patience {
				b.starved++
				ended = false
				continue
			}
			b.starved = 0
			moved = c.runWarp(b, w, t.quantum) || moved
			ended = ended && len(w.splits) == 0
		}
	}
	return moved, ended
}

// runWarp gives a warp a turn of up to n instructions. It reports whether the warp did more than
// poll or sleep.
func (c *cluster) runWarp(b *Block, w *Warp, n int) (moved bool) {
	before := b.version
	switch w.run(n) {
	case ranOut, yielded, over:
		moved = true
	case gaveWay:
		c.idleLimit = max(c.idleLimit, pollRounds)
	case slept:
		c.idleLimit = max(c.idleLimit, sleepRounds)
	}
	if w.steps > c.limit && len(w.splits) > 0 {
		w.PC = w.splits[0].pc
		flt := w.fault(w.splits[0].f, -1, fmt.Sprintf("a warp has executed more than the limit of %d instructions", c.limit))
		flt.Endless = true
		b.faulted(flt)
		panic(flt)
	}
	return moved || b.version != before
}

// A deadlock is declared after this many rounds in which all warps only poll, or only poll
// and sleep. If all warps wait without polling, it is declared at once.
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
		if c.progress(moved) || l.Hold > 0 && c.passHeld() {
			idle = idleness{}
			continue
		}
		if idle.over(c.idleLimit, c) {
			return deadlock(c)
		}
	}
}

// idleness measures for how long all warps have only polled.
type idleness struct {
	rounds int
	since  uint64 // instructions that the warps had executed when it began
}

// A polling loop of many instructions is recognised after fewer rounds: after each
// longRounds rounds, the clusters are in a deadlock if they executed more than longSteps
// instructions since they became idle.
const (
	longRounds = 1 << 10
	longSteps  = 1 << 20
)

// over adds a round. It reports whether the clusters have been idle for so many rounds, or
// so many instructions, that they are in a deadlock.
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

// executed returns the number of instructions that the warps of the clusters have executed.
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
		if !s.wait && s.polledAt > 0 {
			f, pc = s.pollFrame, s.polledAt-1
			if f != s.f { // the split is between two calls of the function that polls
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
			wait.For = "it polls memory that does not change"
		}
		all = append(all, wait)
	}
	return all
}
