package machine

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
)

// split is a set of lanes of a warp that are at the same place.
type split struct {
	pc        int32
	mask      uint32
	f         *Frame
	wait      bool   // its instruction returned Again
	ran       int    // instructions since other splits last had a turn
	polledAt  int32  // place of the last failed poll, plus one
	pollFrame *Frame // frame of the last failed poll
}

// Warp is 32 threads.
type Warp struct {
	b         *Block
	ID        int
	Lanes     uint32 // threads that exist
	Exited    uint32 // threads that have ended
	produces  bool   // it has started copies that mbarriers count
	held      bool   // a split waits at the held instruction
	mayPass   bool   // the next split at the held instruction may continue
	splits    []split
	cur       int
	PC        int32         // the program counter of the instruction that runs
	cache     *memory.Alloc // the allocation of the last global access
	local     [32][]byte
	Async     warpAsync
	steps     uint64
	laneSteps uint64 // thread instructions
	Slept     uint64 // nanoseconds
	x         Exchange
	polled    poll
	// Offsets are the offsets of the present access: see Span.
	Offsets Lanes64
	entry   *Frame     // the frame of the kernel
	spare   [][]*Frame // by function: frames to use again
	// reached has, in an observed launch, the lanes that have been announced at an
	// instruction that may wait.
	reached map[int32]uint32 // by PC
	step    observe.Step
	access  observe.Access
	Moving  []Cell     // registers that an ld or st moves
	single  [32]uint64 // offsets of an access by lanes one at a time
}

// outcome is the reason why a warp stopped running.
type outcome uint8

const (
	ranOut  outcome = iota // its quantum is used up
	blocked                // all its splits wait
	gaveWay                // it polls
	slept                  // it sleeps
	yielded                // its turn ends, although it could continue
	over
)

// run executes up to n instructions.
func (w *Warp) run(n int) outcome {
	for n > 0 {
		if !w.pick() {
			if len(w.splits) == 0 {
				return over
			}
			return blocked
		}
		o := w.runSplit(&n)
		if o != ranOut {
			return o
		}
	}
	return ranOut
}

// pick chooses the split to run and joins splits at the same place. Of the splits that do
// not wait and have not had a long turn, it chooses the split with the most nested calls.
// Among splits with equally nested calls, it chooses the split that is furthest behind in
// the function.
func (w *Warp) pick() bool {
	if len(w.splits) > 1 {
		w.join()
	}
	if len(w.splits) == 1 {
		w.cur = 0
		w.splits[0].ran = 0
		return !w.splits[0].wait
	}
	w.cur = w.furthestBehind()
	if w.cur >= 0 {
		return true
	}
	for i := range w.splits {
		w.splits[i].ran = 0
	}
	w.cur = w.furthestBehind()
	return w.cur >= 0
}

func (w *Warp) furthestBehind() int {
	best := -1
	for i := range w.splits {
		if s := &w.splits[i]; s.wait || s.ran >= fair {
			continue
		}
		if best < 0 || before(&w.splits[i], &w.splits[best]) {
			best = i
		}
	}
	return best
}

func before(s, t *split) bool {
	if s.f.depth != t.f.depth {
		return s.f.depth > t.f.depth
	}
	a, b := s.f.fn.Code[s.pc].Prio, t.f.fn.Code[t.pc].Prio
	if a != b {
		return a < b
	}
	return s.pc < t.pc
}

// join merges splits that have met.
func (w *Warp) join() {
	for i := 0; i < len(w.splits); i++ {
		for j := i + 1; j < len(w.splits); {
			s, t := &w.splits[i], &w.splits[j]
			if s.pc != t.pc || s.f != t.f {
				j++
				continue
			}
			s.mask |= t.mask
			s.wait = s.wait && t.wait
			s.ran = 0
			s.f.live--
			w.remove(j)
		}
	}
}

func (w *Warp) remove(i int) {
	last := len(w.splits) - 1
	w.splits[i] = w.splits[last]
	w.splits[last] = split{}
	w.splits = w.splits[:last]
}

// noLimit is a priority that no instruction has.
const noLimit = 1<<31 - 1

// limit returns the next place ahead of the current split where it may join another one.
func (w *Warp) limit() int32 {
	cur := &w.splits[w.cur]
	here, lim := cur.f.fn.Code[cur.pc].Prio, int32(noLimit)
	for i := range w.splits {
		s := &w.splits[i]
		if i == w.cur || s.f != cur.f {
			continue
		}
		if p := s.f.fn.Code[s.pc].Prio; p >= here {
			lim = min(lim, p)
		}
	}
	return lim
}

// fair is the number of instructions that a split runs before other splits of its warp
// get a turn, wherever they are. A lane that spins must not block the lane that it waits
// for.
const fair = 2048

// runSplit runs the current split until it does something other than straight-line
// execution. It returns ranOut if the warp must pick a split again.
func (w *Warp) runSplit(n *int) outcome {
	s := &w.splits[w.cur]
	f, pc, mask := s.f, s.pc, s.mask
	code := f.fn.Code
	alone := len(w.splits) == 1
	limit, turn := int32(noLimit), *n
	if !alone {
		limit = w.limit()
		turn = min(turn, fair-s.ran)
	}
	lanes := uint64(bits.OnesCount32(mask))
	start := turn
	for turn > 0 {
		o := &code[pc]
		if o.Prio >= limit && turn != start {
			break
		}
		turn--
		m := mask
		if o.Guard >= 0 {
			g := f.Pred[o.Guard]
			if o.Neg {
				g = ^g
			}
			m &= g
		}
		kind := o.Kind
		if kind == opWatched {
			s.pc, w.PC = pc, pc
			kind = o.announceStep(f, m)
		}
		switch kind {
		case opRun:
			if m != 0 {
				w.PC = pc
				o.Run(f, m)
			}
			pc++
			continue
		case OpBra:
			if m == 0 {
				pc++
				continue
			}
			if m == mask {
				pc = o.Target
				if alone || code[pc].Prio > o.Prio {
					continue
				}
				s.pc = pc // other splits may be further behind: pick again
				w.account(n, start-turn, lanes)
				return ranOut
			}
		}
		// Other instructions are rarer. They may divide the split or stop it.
		w.PC = pc
		s.pc = pc
		w.account(n, start-turn, lanes)
		return w.special(kind, o, m)
	}
	s.pc = pc
	w.account(n, start-turn, lanes)
	return ranOut
}

// account counts instructions of the current split.
func (w *Warp) account(n *int, ran int, lanes uint64) {
	*n -= ran
	w.splits[w.cur].ran += ran
	w.steps += uint64(ran)
	w.laneSteps += uint64(ran) * lanes
}

// special executes an instruction of a kind that does more than step to the next one. m is the set
// of lanes of the current split whose guard holds.
func (w *Warp) special(kind opKind, o *Op, m uint32) outcome {
	switch kind {
	case OpBra:
		w.SplitOff(m, o.Target)
		w.splits[w.cur].pc++
	case OpBrx:
		w.branchTable(o, m)
	case OpTry:
		return w.attempt(o, m)
	case OpPoll:
		return w.poll(o, m)
	case OpSync:
		return w.sync(o, m)
	case OpCall:
		w.call(o, m)
	case OpRet:
		w.ret(m)
	case OpExit:
		w.exit(m)
	case opHeld:
		return w.heldAt(o, m)
	}
	return ranOut
}

// SplitOff makes the lanes m of the current split a separate split at pc.
func (w *Warp) SplitOff(m uint32, pc int32) { w.splitOffFrom(w.cur, m, pc) }

func (w *Warp) splitOffFrom(i int, m uint32, pc int32) {
	s := &w.splits[i]
	s.mask &^= m
	s.f.live++
	w.splits = append(w.splits, split{pc: pc, mask: m, f: s.f, ran: s.ran})
}

// isolate leaves only the lanes m in the current split. The other lanes, whose guard fails,
// continue at the next instruction.
func (w *Warp) isolate(m uint32) {
	if s := &w.splits[w.cur]; m != s.mask {
		rest := s.mask &^ m
		w.SplitOff(rest, s.pc+1)
	}
}

// attempt runs an instruction that may have to wait.
func (w *Warp) attempt(o *Op, m uint32) outcome {
	s := &w.splits[w.cur]
	if m == 0 {
		s.pc++
		return ranOut
	}
	w.isolate(m)
	s = &w.splits[w.cur]
	switch o.Try(s.f, m) {
	case Again:
		s = &w.splits[w.cur]
		s.wait = true
	case Yield:
		s = &w.splits[w.cur]
		s.polledAt, s.pollFrame = s.pc+1, s.f
		w.giveWay()
		return gaveWay
	case Sleep:
		w.giveWay()
		return slept
	default:
		s = &w.splits[w.cur]
		s.pc++
	}
	return ranOut
}

// giveWay continues the current split with less of its turn left, so that a polling split
// soon makes room for other lanes.
func (w *Warp) giveWay() {
	s := &w.splits[w.cur]
	s.pc++
	s.ran += fair / 8
}

// wake makes all waiting splits try again.
func (w *Warp) wake() {
	for i := range w.splits {
		w.splits[i].wait = false
	}
}

// exit ends lanes of the current split.
func (w *Warp) exit(m uint32) {
	s := &w.splits[w.cur]
	w.Exited |= m
	s.mask &^= m
	s.pc++
	if s.mask == 0 {
		w.leave(s.f)
		w.remove(w.cur)
	}
	w.wake()
	w.b.Cluster.changed()
}
