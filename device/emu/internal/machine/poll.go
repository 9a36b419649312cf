package machine

import "math/bits"

// A thread that polls memory would use up its turn for nothing. Loads and atomics that
// programs poll with end the turn of the warp if they find the same value again within a
// few instructions.

// poll is the last poll of a warp and what it found.
type poll struct {
	o     *Op
	f     *Frame
	mask  uint32
	found uint64
	at    uint64 // instructions that the warp had executed
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
	now := poll{o: o, f: s.f, mask: m, found: found(s.f, o.Cells, m), at: w.steps}
	last := w.polled
	w.polled = now
	if now.at-last.at > pollTight {
		last.o = nil
	}
	last.at = now.at
	if last != now {
		s.pc++
		return ranOut
	}
	w.Slept += pollTime
	s.poll, s.in = s.pc+1, s.f
	w.giveWay()
	return slept
}

// found mixes the values of registers into one number.
func found(f *Frame, cells []Cell, m uint32) uint64 {
	h := uint64(0)
	for _, c := range cells {
		for rest := m; rest != 0; rest &= rest - 1 {
			h = (h ^ c.Get(f, bits.TrailingZeros32(rest))) * 0x9e3779b97f4a7c15
			h ^= h >> 29
		}
	}
	return h
}
