package check

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
)

// barriers finds barriers that not all of the threads reach that they count.
type barriers struct {
	l      *launch
	rounds *rounds
}

// BarrierDivergence is a barrier that not all threads reach together.
const BarrierDivergence finding.Kind = "barrier-divergence"

func init() {
	register(checker{kinds: []kind{{
		Rule: finding.Rule{
			Kind:  BarrierDivergence,
			Short: "a barrier that not all of the threads reach that it counts",
			Full:  "bar.sync and the other .aligned instructions must be executed by all lanes of a warp together, and by as many threads as the barrier waits for. The result is undefined when a condition that differs between lanes guards the barrier.",
			Help:  "Move the barrier out of the condition, or give it the number of threads that take part.",
		},
		why: alignedRule,
		fix: "move the barrier out of the divergent branch, or use a named barrier that counts only the warps that reach it",
	}}, start: newBarriers})
}

const (
	barrierRule = "a barrier without a count waits for all threads of the block"
	alignedRule = "bar.sync is .aligned: all threads of a warp execute the same one, and all threads that the barrier counts reach it"
)

func newBarriers(l *launch) part {
	if !slices.ContainsFunc(l.Program, func(in observe.Inst) bool { return isBlockBarrier(in.Op.Text) }) {
		return nil
	}
	return &barriers{l: l, rounds: newRounds(l)}
}

func isEnd(in *observe.Inst) bool { return in.Op.Name == "ret" || in.Op.Name == "exit" }

func (b *barriers) wants(in *observe.Inst) bool {
	return isBlockBarrier(in.Op.Text) || isEnd(in) || b.rounds.counts[in.ID] != nil
}

func (b *barriers) cluster(c *cluster) any {
	w := &barrierWatch{cluster: c, p: b, at: map[warpBar][]arrival{}}
	for _, blk := range c.Blocks {
		w.ends = append(w.ends, make([][]ending, (blk.Threads+31)/32))
		w.rounds = append(w.rounds, make([][][32]uint32, (blk.Threads+31)/32))
		w.worked = append(w.worked, make([]uint32, (blk.Threads+31)/32))
	}
	return w
}

// barrierWatch watches the barriers of a cluster.
type barrierWatch struct {
	*cluster
	p    *barriers
	at   map[warpBar][]arrival // lanes that wait at a barrier
	ends [][][]ending          // by rank and warp: lanes that have ended
	// rounds is the number of rounds that each lane has completed, by rank, warp and loop.
	rounds [][][][32]uint32
	worked [][]uint32 // by rank and warp: the lanes that have accessed global or shared memory
}

type warpBar struct{ rank, warp, bar int }

type arrival struct {
	id      int
	lanes   uint32
	all     bool // the barrier counts all threads of the block, because it has no count
	block   bool // the count of the barrier is the number of threads of the block
	aligned bool // the lanes of a warp must reach the barrier together
	serial  int  // number of findings of the cluster so far: later findings may follow from this one
}

type ending struct {
	id    int
	lanes uint32
	early bool // the lanes returned before they accessed memory
}

// access records which lanes have worked.
func (b *barrierWatch) access(a *observe.Access) { b.worked[a.Rank][a.Warp] |= a.Mask }

func (b *barrierWatch) step(s *observe.Step) {
	if loops := b.p.rounds.counts[s.ID]; loops != nil {
		b.count(s, loops)
		if !isBlockBarrier(s.Op.Text) && !isEnd(s.Inst) {
			return
		}
	}
	if isEnd(s.Inst) {
		if s.Depth() == 0 {
			b.end(s)
		}
		return
	}
	bar, threads := s.Arg("bar"), s.Arg("threads")
	for m := s.Mask; m != 0; {
		l := bits.TrailingZeros32(m)
		v, lanes := s.Value(bar, l), uint32(1)<<l
		for m &= m - 1; m != 0 && s.Value(bar, bits.TrailingZeros32(m)) == v; m &= m - 1 {
			lanes |= m & -m
		}
		block := threads != nil && int(s.Value(threads, l)) == b.l.Launch.Block.Count()
		b.arrive(warpBar{s.Rank, s.Warp, int(v)}, arrival{s.ID, lanes, threads == nil, block, isAlignedBarrier(s.Op.Text), b.serial})
	}
}

// end records lanes that end.
func (b *barrierWatch) end(s *observe.Step) {
	ends := &b.ends[s.Rank][s.Warp]
	idle := s.Mask &^ b.worked[s.Rank][s.Warp]
	if s.Op.Name != "ret" {
		idle = 0
	}
	for _, e := range []ending{{s.ID, idle, true}, {s.ID, s.Mask &^ idle, false}} {
		if e.lanes != 0 {
			*ends = append(*ends, e)
		}
	}
}

func (b *barrierWatch) arrive(at warpBar, a arrival) {
	as := b.at[at]
	if n := len(as); n > 0 && as[n-1].id == a.id {
		if a.aligned && !b.inRound(at, &as[n-1], &a) {
			b.reportRounds(at, &as[n-1], &a)
		}
		as[n-1].lanes |= a.lanes
		return
	}
	if a.aligned && !b.inRound(at, &a, &a) {
		b.reportRounds(at, &a, &a)
	}
	b.at[at] = append(as, a)
}

// open checks which lanes arrived at a barrier that opens.
func (b *barrierWatch) open(o *observe.Opening) {
	if o.Cluster {
		return
	}
	var one *arrival
	for warp := range o.Warps {
		k := warpBar{o.Rank, warp, o.Bar}
		as := b.at[k]
		if len(as) == 0 {
			continue
		}
		for i := 1; i < len(as); i++ {
			// A warp may arrive and then wait at the same barrier, where it counts twice.
			if as[0].aligned && as[i].aligned && (as[0].lanes^as[i].lanes)&^b.ended(o.Rank, warp) != 0 {
				b.reportParted(o.Rank, warp, &as[0], &as[i])
				break
			}
		}
		switch {
		case as[0].all:
			one = &as[0]
			b.reportAbsent(o.Rank, warp, warp, &as[0])
		case as[0].block && arrived(as)&b.ended(o.Rank, warp) == 0: // none ended after a bar.arrive
			b.reportAbsent(o.Rank, warp, warp, &as[0])
		}
		delete(b.at, k)
	}
	if one == nil {
		return
	}
	for warp, lanes := range o.Warps {
		if lanes == 0 {
			b.reportAbsent(o.Rank, warp, firstWarp(o.Warps), one)
		}
	}
}

// arrived returns the lanes of all arrivals.
func arrived(as []arrival) (lanes uint32) {
	for i := range as {
		lanes |= as[i].lanes
	}
	return lanes
}

func firstWarp(warps []uint32) int {
	for i, lanes := range warps {
		if lanes != 0 {
			return i
		}
	}
	return 0
}

// ended returns the lanes of a warp that have ended.
func (b *barrierWatch) ended(rank, warp int) (lanes uint32) {
	for _, e := range b.ends[rank][warp] {
		lanes |= e.lanes
	}
	return lanes
}

// reportParted reports lanes of a warp that arrive at a barrier by different instructions.
func (b *barrierWatch) reportParted(rank, warp int, x, y *arrival) {
	a, other := b.cluster.at(x.id, rank, warp, x.lanes), b.cluster.at(y.id, rank, warp, y.lanes)
	b.reportAs(x.serial, finding.Finding{
		Kind: BarrierDivergence, Severity: finding.Error, Place: a, Other: &other,
		Message: fmt.Sprintf("lanes of one warp reach this barrier separately: other lanes of the warp execute it at line %d", other.Pos.Line),
	})
}

// reportRounds reports lanes of a warp that arrive by the same instruction in different rounds of a
// loop.
func (b *barrierWatch) reportRounds(at warpBar, x, y *arrival) {
	a, other := b.cluster.at(x.id, at.rank, at.warp, x.lanes), b.cluster.at(y.id, at.rank, at.warp, y.lanes)
	b.reportAs(x.serial, finding.Finding{
		Kind: BarrierDivergence, Severity: finding.Error, Place: a, Other: &other,
		Message: "lanes of one warp reach this barrier in different rounds of the loop around it: some lanes have skipped it",
	})
}

// reportAbsent reports lanes of a warp that ended without reaching a barrier that counts them. It
// is a warning for threads that return early because they have no work: many kernels rely on that.
func (b *barrierWatch) reportAbsent(rank, warp, came int, as *arrival) {
	for _, e := range b.ends[rank][warp] {
		a, other := b.cluster.at(as.id, rank, came, 0), b.cluster.at(e.id, rank, warp, e.lanes)
		if came == warp {
			a.Lanes = finding.Lanes(as.lanes)
		}
		d := finding.Finding{
			Kind: BarrierDivergence, Severity: finding.Error, Place: a, Other: &other,
			Message: fmt.Sprintf("the barrier counts all threads of the block; %s of warp %d ended without reaching it", finding.Lanes(e.lanes), warp),
		}
		if !as.aligned {
			d.Why, d.Fix = barrierRule, "let all threads reach the barrier before they end, or give it the number of threads that take part"
		}
		if e.early {
			d.Severity = finding.Warning
			d.Why = barrierRule + "; a GPU does not wait for threads that have returned, but PTX does not promise it"
			d.Fix = "let all threads reach the barrier before they return"
		}
		b.reportAs(as.serial, d)
	}
}
