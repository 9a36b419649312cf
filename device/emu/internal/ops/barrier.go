package ops

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

// barrierOp is a decoded bar or barrier instruction.
type barrierOp struct {
	id, need  slot
	all       bool // no count given
	wait      bool
	in        slot // bar.red: the source predicate, or -1
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
	b := &barrierOp{id: d.Src32(x.Arg("bar"), ptx.U32), all: true, wait: !x.Has("arrive"), in: -1}
	if n := x.Arg("threads"); n != nil {
		b.need, b.all = d.Src32(n, ptx.U32), false
	}
	if x.Has("red") {
		b.reduction, b.op = true, x.Mod("op")
		b.in, b.neg = d.Pred(x.Arg("c"))
		if x.Has("popc") {
			b.op, b.out32 = "popc", d.Dst(x.Arg("d"), ptx.U32)
		} else {
			b.out = d.Dst(x.Arg("p"), ptx.Pred)
		}
	}
	o.Kind, o.Try, o.Why = machine.OpTry, b.try, b.why
}

// try makes the lanes m arrive at the barrier and releases them when it is complete.
func (o *barrierOp) try(f *frame, m uint32) machine.Status {
	lead := bits.TrailingZeros32(m)
	id := f.R32[o.id][lead]
	same := machine.SameLanes(&f.R32[o.id], m, id)
	if same != m {
		f.Warp.SplitOff(m&^same, f.Warp.PC) // these lanes are at a different barrier
		m = same
	}
	if id > 15 {
		f.Raise(lead, "barrier %d does not exist; a block has 0 to 15", id)
	}
	bar := &f.Block.Bars[id]
	if bar.Warps == nil {
		bar.Warps = make([]machine.Arrival, len(f.Block.Warps))
	}
	a := &bar.Warps[f.Warp.ID]
	if free := m & a.Released; free != 0 {
		o.leave(f, a, free)
		if free == m {
			return machine.Done
		}
		f.Warp.SplitOff(free, f.Warp.PC+1)
		m &^= free
	}
	expect(bar, f, lead, o)
	o.arrive(f, bar, a, m)
	f.Block.Settle(bar, f.Warp)
	if !o.wait {
		return machine.Done
	}
	if m&a.Released == m {
		o.leave(f, a, m)
		return machine.Done
	}
	return machine.Again
}

// arrive adds lanes to the lanes at the barrier. They may be there already, because an
// instruction that waits is tried several times.
func (o *barrierOp) arrive(f *frame, bar *machine.Barrier, a *machine.Arrival, m uint32) {
	bar.Active = true
	if !o.wait {
		a.Passed |= m
		return
	}
	fresh := m &^ a.Waiting
	a.Waiting |= fresh
	if o.reduction && fresh != 0 {
		p := f.Pred[o.in]
		if o.neg {
			p = ^p
		}
		bar.Trues += bits.OnesCount32(fresh & p)
		bar.Falses += bits.OnesCount32(fresh &^ p)
	}
}

// expect records how many threads the barrier waits for.
func expect(bar *machine.Barrier, f *frame, lane int, o *barrierOp) {
	need := 0
	if !o.all {
		need = int(f.R32[o.need][lane])
		if need == 0 || need%32 != 0 {
			f.RaiseAs("barrier-divergence", lane, "a barrier of %d threads: the count must be a multiple of 32", need)
		}
		if need > 32*len(f.Block.Warps) {
			f.RaiseAs("barrier-divergence", lane, "a barrier of %d threads in a block of %d threads", need, f.Block.Launch.Block.Count())
		}
	}
	switch full := 32 * len(f.Block.Warps); {
	case !bar.Active:
		bar.Need = need
	case bar.Need != need && max(bar.Need, need) != full:
		f.RaiseAs("barrier-divergence", lane, "barrier %d awaits %s here, but other threads arrived for %s", f.R32[o.id][lane], threads(need), threads(bar.Need))
	case bar.Need != need && min(bar.Need, need) != 0:
		f.RaiseAs("barrier-divergence", lane, "barrier %d awaits %s here, but other threads arrived for %s", f.R32[o.id][lane], threads(need), threads(bar.Need))
	}
}

func threads(n int) string {
	if n == 0 {
		return "all threads"
	}
	return fmt.Sprintf("%d threads", n)
}

// leave removes released lanes from the barrier and writes the result of bar.red to them.
func (o *barrierOp) leave(f *frame, a *machine.Arrival, m uint32) {
	a.Released &^= m
	switch o.op {
	case "popc":
		machine.EachLane(m, func(l int) { f.R32[o.out32][l] = uint32(a.Trues) })
	case "and":
		f.SetPred(o.out, m, allOrNone(a.Falses == 0))
	case "or":
		f.SetPred(o.out, m, allOrNone(a.Trues > 0))
	}
}

// why describes what lanes wait for at a barrier.
func (o *barrierOp) why(f *frame, m uint32) string {
	id := f.R32[o.id][bits.TrailingZeros32(m)]
	if id > 15 || f.Block.Bars[id].Warps == nil {
		return ""
	}
	bar := &f.Block.Bars[id]
	var missing []string
	for i, w := range f.Block.Warps {
		if w.Lanes&^w.Exited != 0 && bar.Warps[i].Arrivals == 0 {
			missing = append(missing, fmt.Sprint(i))
		}
	}
	s := fmt.Sprintf("barrier %d has %d of %d threads", id, bar.Count, bar.Needed(f.Block))
	if len(missing) > 0 {
		s += "; no thread of warps " + strings.Join(missing, " ") + " has arrived"
	}
	return s
}

// allOrNone returns a predicate that has the value v in all lanes.
func allOrNone(v bool) uint32 {
	if v {
		return machine.FullMask
	}
	return 0
}
