package machine

import "math/bits"

// A thread that polls memory would waste its turn. A load or an atomic of a kind that
// programs poll with ends the turn of the warp if it finds the same value again within a
// few instructions. With short turns, each of them ends the turn: a store that follows may overwrite what
// another thread has stored in between, as in a counter that is not atomic.

// poll is the last poll of a warp and a hash of the values that it found.
type poll struct {
	o     *Op
	f     *Frame
	mask  uint32
	found uint64
	at    uint64 // instructions that the warp had executed before the poll
}

const (
	pollTight = 64  // at most this many instructions lie between two polls of a loop
	pollTime  = 500 // nanoseconds that a failed poll takes
)

// poll executes a load or an atomic for the lanes m of the current split.
func (w *Warp) poll(o *Op, m uint32) outcome {
	s := &w.splits[w.cur]
	if m == 0 {
		s.pc++
		return ranOut
	}
	o.Run(s.f, m)
	now := poll{o: o, f: s.f, mask: m, found: hashCells(s.f, o.Cells, m), at: w.steps}
	last := w.polled
	w.polled = now
	if now.at-last.at > pollTight {
		last.o = nil
	}
	last.at = now.at
	if last != now {
		s.pc++
		if w.b.Launch.schedule.fine() {
			return yielded
		}
		return ranOut
	}
	w.Slept += pollTime
	s.polledAt, s.pollFrame = s.pc+1, s.f
	w.giveWay()
	return slept
}

// hashCells returns a hash of the values of registers in the lanes m.
func hashCells(f *Frame, cells []Cell, m uint32) uint64 {
	h := uint64(0)
	for _, c := range cells {
		for rest := m; rest != 0; rest &= rest - 1 {
			h = (h ^ c.Get(f, bits.TrailingZeros32(rest))) * 0x9e3779b97f4a7c15
			h ^= h >> 29
		}
	}
	return h
}
