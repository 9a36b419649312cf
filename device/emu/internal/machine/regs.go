package machine

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/ptx"
)

// PredOf sets a predicate from a condition on each lane.
func (f *Frame) PredOf(p Slot, m uint32, cond func(lane int) bool) {
	var v uint32
	for rest := m; rest != 0; rest &= rest - 1 {
		if l := bits.TrailingZeros32(rest); cond(l) {
			v |= 1 << l
		}
	}
	f.SetPred(p, m, v)
}

// FirstLane returns the lowest lane of a mask.
func FirstLane(m uint32) int { return bits.TrailingZeros32(m) }

// SameLanes returns the lanes of m whose value is v.
func SameLanes(r *Lanes32, m, v uint32) (same uint32) {
	for l, x := range r {
		if x == v {
			same |= 1 << l
		}
	}
	return same & m
}

// EachLane calls do for the lanes of a mask, in order.
func EachLane(m uint32, do func(lane int)) {
	for ; m != 0; m &= m - 1 {
		do(bits.TrailingZeros32(m))
	}
}

// Result32 returns the lanes into which an instruction computes its whole result: the
// register d itself if all lanes execute, else a buffer. Commit32 must follow: it copies
// the lanes m from the buffer to the register.
func (f *Frame) Result32(d Slot, m uint32) *Lanes32 {
	if m == FullMask {
		return &f.R32[d]
	}
	return &f.buffer32
}

// Commit32 completes Result32.
func (f *Frame) Commit32(d Slot, m uint32) {
	if m != FullMask {
		MoveLanes(&f.R32[d], &f.buffer32, m)
	}
}

// Result64 is Result32 for 64-bit registers.
func (f *Frame) Result64(d Slot, m uint32) *Lanes64 {
	if m == FullMask {
		return &f.R64[d]
	}
	return &f.buffer64
}

// Commit64 completes Result64.
func (f *Frame) Commit64(d Slot, m uint32) {
	if m != FullMask {
		MoveLanes(&f.R64[d], &f.buffer64, m)
	}
}

// Cell is a register that a load writes or a store reads.
type Cell struct {
	Slot   Slot
	Width  width
	Signed int // bits of a signed value that is narrower than the register, or 0
}

// Set writes the low bits of v to a lane of the cell. The register has reg bits.
func (c Cell) Set(f *Frame, lane int, v uint64, reg int) {
	if c.Signed > 0 {
		v = uint64(int64(v<<(64-c.Signed)) >> (64 - c.Signed))
	}
	if c.Width == W32 {
		if reg < 32 {
			v &= 1<<reg - 1
		}
		f.R32[c.Slot][lane] = uint32(v)
	} else {
		f.R64[c.Slot][lane] = v
	}
}

// Get returns a lane of the cell.
func (c Cell) Get(f *Frame, lane int) uint64 {
	if c.Width == W32 {
		return uint64(f.R32[c.Slot][lane])
	}
	return f.R64[c.Slot][lane]
}

// MoveLanes copies the lanes of m.
func MoveLanes[E any](to, from *[32]E, m uint32) {
	if m == FullMask {
		*to = *from
		return
	}
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		to[l] = from[l]
	}
}

// SetPred sets the lanes m of a predicate to the bits of v.
func (f *Frame) SetPred(p Slot, m, v uint32) { f.Pred[p] = f.Pred[p]&^m | v&m }

// Lanes32 and Lanes64 are one register of a warp. Values narrower than the lane are
// extended by zeros.
type (
	Lanes32 = [32]uint32
	Lanes64 = [32]uint64
)

const FullMask = 1<<32 - 1

// Frame is an activation of a function by some lanes of a warp.
type Frame struct {
	Warp   *Warp
	Block  *Block
	fn     *Function
	R32    []Lanes32 // values of up to 32 bits
	R64    []Lanes64 // 64 bits; a 128-bit value has two, the low one first
	Pred   []uint32  // predicates: one bit per lane
	Carry  uint32    // the carry flag CC.CF: one bit per lane
	params []byte    // the .param variables of a device function and its calls: ParamSize bytes per lane
	local  uint64    // where the frame's .local variables start in each thread's local memory
	stack  *Lanes64  // where each lane's stack ends after alloca; 0 where alloca has not moved it
	parent *Frame
	site   *CallSite // the call in the parent that this frame returns to
	ret    int32     // where the parent continues
	depth  int
	live   int // splits in this frame, and frames that it has called
	// buffer32 and buffer64 are the buffers of Result32 and Result64.
	buffer32 Lanes32
	buffer64 Lanes64
}

// Slot is an index into the registers of a frame. The type of the value says into which:
// R32, R64 or Pred.
type Slot int32

// width selects the register file that holds values of a type.
type width uint8

const (
	W32 width = iota
	W64
	W128
	wPred
)

// WidthOf returns the width of the register that holds values of a type.
func WidthOf(t ptx.Type) width {
	switch {
	case t == ptx.Pred:
		return wPred
	case t.Bits() <= 32:
		return W32
	case t.Bits() <= 64:
		return W64
	}
	return W128
}

// SameLanes64 is SameLanes for a 64-bit register.
func SameLanes64(r *Lanes64, m uint32, v uint64) (same uint32) {
	for l, x := range r {
		if x == v {
			same |= 1 << l
		}
	}
	return same & m
}
