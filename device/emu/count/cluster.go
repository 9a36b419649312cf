package count

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// cluster counts the instructions of a cluster's blocks.
type cluster struct {
	l       *launch
	tallies []tally
	banks   banks
	sectors sectors
	// pieces are the accesses of the present instruction that are announced lane by lane, by
	// space and direction.
	pieces [2][2][]piece
	id     int // the instruction of pieces
	told   int // accesses since the last step
}

// piece is bytes that a lane accesses.
type piece struct {
	lane int
	addr uint64
	size int
}

func (c *cluster) Step(s *observe.Step) {
	c.flush()
	c.told = 0
	t, f := &c.tallies[s.ID], &c.l.facts[s.ID]
	t.executions++
	t.active += uint64(bits.OnesCount32(s.Active))
	t.lanes += uint64(bits.OnesCount32(s.Mask))
	if f.branch && parts(s, f) {
		t.divergent++
	}
}

// parts reports whether a branch sends lanes to different places.
func parts(s *observe.Step, f *fact) bool {
	if s.Mask == 0 {
		return false
	}
	if s.Mask != s.Active {
		return true
	}
	if f.index == nil {
		return false
	}
	first := s.Value(f.index, bits.TrailingZeros32(s.Mask))
	differ := false
	s.Lanes(func(lane int) { differ = differ || s.Value(f.index, lane) != first })
	return differ
}

func (c *cluster) Access(a *observe.Access) {
	if a.ID < 0 {
		return
	}
	t, f := &c.tallies[a.ID], &c.l.facts[a.ID]
	n := bits.OnesCount32(a.Mask)
	if a.Offsets == nil {
		n = len(a.Units)
		second := c.told > 0 || !f.first
		if c.told++; second && a.Warp%4 != 0 {
			return // the four warps share the second factor
		}
	}
	write := 0
	if a.Write {
		write = 1
	}
	space := inLocal
	switch a.Space {
	case ptx.Global:
		space = inGlobal
	case ptx.Shared:
		space = inShared
	}
	t.bytes[space][write] += uint64(n) * uint64(a.Size)
	switch {
	case space == inLocal || a.Offsets == nil || space == inShared && f.engine:
		return
	case n == 1:
		c.hold(a, space, write)
	case space == inShared:
		t.shared.add(c.banks.request(a.Mask, a.Offsets, a.Size))
	default:
		c.sectors.reset()
		for m := a.Mask; m != 0; m &= m - 1 {
			c.sectors.touch(a.Alloc.Addr+a.Offsets[bits.TrailingZeros32(m)], a.Size)
		}
		t.global.add(c.sectors.use())
	}
}

// hold keeps the access of a lane until all lanes of the instruction are announced.
func (c *cluster) hold(a *observe.Access, space, write int) {
	if a.ID != c.id {
		c.flush()
		c.id = a.ID
	}
	lane := bits.TrailingZeros32(a.Mask)
	addr := a.Offsets[lane]
	if space == inGlobal {
		addr += a.Alloc.Addr
	}
	held := &c.pieces[space][write]
	// Adjacent bytes of a lane, such as the two halves of a register of a fragment, are one
	// piece of up to 16 bytes.
	if n := len(*held); n > 0 && space == inShared {
		if p := &(*held)[n-1]; p.lane == lane && p.addr+uint64(p.size) == addr && p.size+a.Size <= 16 {
			p.size += a.Size
			return
		}
	}
	*held = append(*held, piece{lane, addr, a.Size})
}

// flush counts the pieces.
func (c *cluster) flush() {
	for write := range 2 {
		if held := c.pieces[inShared][write]; len(held) > 0 {
			c.tallies[c.id].shared.add(c.banks.pieces(held))
			c.pieces[inShared][write] = held[:0]
		}
		if held := c.pieces[inGlobal][write]; len(held) > 0 {
			c.tallies[c.id].global.add(c.sectors.pieces(held, c.l.facts[c.id].engine))
			c.pieces[inGlobal][write] = held[:0]
		}
	}
}

func (c *cluster) Mbarrier(e *observe.Mbarrier) {
	if e.Op == observe.MbarrierWait && e.ID >= 0 {
		c.tallies[e.ID].passed += uint64(bits.OnesCount32(e.Mask))
	}
}

func (c *cluster) Pass(*observe.Step)           { c.flush() }
func (c *cluster) Start(*observe.Async)         {}
func (c *cluster) Complete(*observe.Completion) {}
func (c *cluster) Open(*observe.Opening)        {}

func (c *cluster) End() {
	c.flush()
	c.l.close(c)
}
