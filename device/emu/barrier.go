package emu

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// barrier is one of the sixteen named barriers of a block. A warp arrives when
// all its threads that have not ended are at it, whichever instruction brought
// them, and then counts as 32 threads.
type barrier struct {
	count  int // threads that have arrived
	need   int // threads it waits for; 0 for all of the block
	active bool
	warps  []arrival
	trues  int // bar.red: threads that came with a true predicate,
	falses int // and with a false one
}

// arrival is what a barrier knows of one warp.
type arrival struct {
	came     int    // times the warp has arrived
	waiting  uint32 // lanes that wait
	counted  uint32 // those of them that came with an arrival of the warp
	passed   uint32 // lanes that went on without waiting and are not counted yet
	released uint32 // lanes that may go on
	trues    int    // what bar.red found, for the released ones
	falses   int
}

// barrierOp is a decoded bar or barrier instruction.
type barrierOp struct {
	id, need  slot
	all       bool // no count given
	wait      bool
	in        slot // bar.red: the predicate that goes in, or -1
	neg       bool
	out32     slot // bar.red.popc
	out       slot // bar.red.and, .or
	op        string
	reduction bool
}

func init() {
	control("bar", buildBarrier)
	control("barrier", func(d *decoder, x *inst, o *op) {
		if x.Has("cluster") {
			buildClusterBarrier(d, x, o)
			return
		}
		buildBarrier(d, x, o)
	})
}

func buildBarrier(d *decoder, x *inst, o *op) {
	if x.Has("warp") {
		buildWarpBarrier(d, x, o)
		return
	}
	b := &barrierOp{id: d.src32(x.Arg("bar"), ptx.U32), all: true, wait: !x.Has("arrive"), in: -1}
	if n := x.Arg("threads"); n != nil {
		b.need, b.all = d.src32(n, ptx.U32), false
	}
	if x.Has("red") {
		b.reduction, b.op = true, x.Mod("op")
		b.in, b.neg = d.pred(x.Arg("c"))
		if x.Has("popc") {
			b.op, b.out32 = "popc", d.dst(x.Arg("d"), ptx.U32)
		} else {
			b.out = d.dst(x.Arg("p"), ptx.Pred)
		}
	}
	o.kind, o.try, o.why = opTry, b.try, b.why
}

// try brings lanes to the barrier and lets them go when it is complete.
func (o *barrierOp) try(f *frame, m uint32) status {
	lead := bits.TrailingZeros32(m)
	id := f.r32[o.id][lead]
	same := sameLanes(&f.r32[o.id], m, id)
	if same != m {
		f.w.part(m&^same, f.w.pc) // they are at another barrier
		m = same
	}
	if id > 15 {
		f.raise(lead, "barrier %d; a block has 0 to 15", id)
	}
	bar := &f.b.bars[id]
	if bar.warps == nil {
		bar.warps = make([]arrival, len(f.b.warps))
	}
	a := &bar.warps[f.w.id]
	if free := m & a.released; free != 0 {
		o.leave(f, a, free)
		if free == m {
			return done
		}
		f.w.part(free, f.w.pc+1)
		m &^= free
	}
	bar.expect(f, lead, o)
	o.arrive(f, bar, a, m)
	f.b.settle(bar, f.w)
	if !o.wait {
		return done
	}
	if m&a.released == m {
		o.leave(f, a, m)
		return done
	}
	return again
}

// arrive adds lanes to those at the barrier. They may be there already: an
// instruction that waits runs again and again.
func (o *barrierOp) arrive(f *frame, bar *barrier, a *arrival, m uint32) {
	bar.active = true
	if !o.wait {
		a.passed |= m
		return
	}
	fresh := m &^ a.waiting
	a.waiting |= fresh
	if o.reduction && fresh != 0 {
		p := f.p[o.in]
		if o.neg {
			p = ^p
		}
		bar.trues += bits.OnesCount32(fresh & p)
		bar.falses += bits.OnesCount32(fresh &^ p)
	}
}

// expect takes note of how many threads the barrier waits for.
func (bar *barrier) expect(f *frame, lane int, o *barrierOp) {
	need := 0
	if !o.all {
		need = int(f.r32[o.need][lane])
		if need == 0 || need%32 != 0 {
			f.raiseAs("barrier-divergence", lane, "a barrier of %d threads; the count is a multiple of 32", need)
		}
		if need > 32*len(f.b.warps) {
			f.raiseAs("barrier-divergence", lane, "a barrier of %d threads in a block of %d", need, f.b.launch.Block.Count())
		}
	}
	switch full := 32 * len(f.b.warps); {
	case !bar.active:
		bar.need = need
	case bar.need != need && max(bar.need, need) != full:
		f.raiseAs("barrier-divergence", lane, "barrier %d awaits %s, and others came for %s", f.r32[o.id][lane], threads(need), threads(bar.need))
	case bar.need != need && min(bar.need, need) != 0:
		f.raiseAs("barrier-divergence", lane, "barrier %d awaits %s, and others came for %s", f.r32[o.id][lane], threads(need), threads(bar.need))
	}
}

func threads(n int) string {
	if n == 0 {
		return "all threads"
	}
	return fmt.Sprintf("%d threads", n)
}

// settle counts the warp if it has arrived, and opens the barrier if that
// completes it.
func (b *block) settle(bar *barrier, w *warp) {
	a := &bar.warps[w.id]
	live := w.lanes &^ w.exited
	here := a.waiting&^a.counted | a.passed&live
	came := a.waiting&^a.counted | a.passed
	if came != 0 && live&^(here|a.counted) == 0 {
		bar.count += 32
		a.came++
		a.counted = a.waiting
		a.passed = 0
	}
	if bar.active && bar.count > 0 && bar.count >= bar.needed(b) {
		bar.open(b)
	}
}

// needed is how many threads complete the barrier. Warps that have ended are not
// waited for.
func (bar *barrier) needed(b *block) int {
	if bar.need != 0 {
		return bar.need
	}
	n := 0
	for i, w := range b.warps {
		if w.lanes&^w.exited != 0 || bar.warps[i].came > 0 {
			n += 32
		}
	}
	return n
}

// open lets all waiting threads go and makes the barrier ready for its next use.
func (bar *barrier) open(b *block) {
	bar.opened(b)
	for i := range bar.warps {
		a := &bar.warps[i]
		a.released |= a.counted
		a.waiting &^= a.counted
		a.trues, a.falses = bar.trues, bar.falses
		a.counted, a.came = 0, 0
	}
	bar.count, bar.need, bar.active = 0, 0, false
	bar.trues, bar.falses = 0, 0
	for i := range bar.warps { // lanes whose warp had not come yet
		if a := &bar.warps[i]; a.waiting|a.passed != 0 {
			bar.active = true
		}
	}
	b.changed()
}

// leave takes released lanes from the barrier with what it found.
func (o *barrierOp) leave(f *frame, a *arrival, m uint32) {
	a.released &^= m
	switch o.op {
	case "popc":
		eachLane(m, func(l int) { f.r32[o.out32][l] = uint32(a.trues) })
	case "and":
		f.setPred(o.out, m, allOrNone(a.falses == 0))
	case "or":
		f.setPred(o.out, m, allOrNone(a.trues > 0))
	}
}

// why says what lanes wait for at a barrier.
func (o *barrierOp) why(f *frame, m uint32) string {
	id := f.r32[o.id][bits.TrailingZeros32(m)]
	if id > 15 || f.b.bars[id].warps == nil {
		return ""
	}
	bar := &f.b.bars[id]
	var missing []string
	for i, w := range f.b.warps {
		if w.lanes&^w.exited != 0 && bar.warps[i].came == 0 {
			missing = append(missing, fmt.Sprint(i))
		}
	}
	s := fmt.Sprintf("barrier %d has %d of %d threads", id, bar.count, bar.needed(f.b))
	if len(missing) > 0 {
		s += ", not warps " + strings.Join(missing, " ")
	}
	return s
}

// allOrNone is a predicate that all lanes share.
func allOrNone(v bool) uint32 {
	if v {
		return fullMask
	}
	return 0
}

// sameLanes are the lanes of m that have the value.
func sameLanes(r *lanes32, m, v uint32) (same uint32) {
	for l, x := range r {
		if x == v {
			same |= 1 << l
		}
	}
	return same & m
}
