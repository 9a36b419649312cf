package count

import (
	"math/rand/v2"
	"testing"
)

// byLane are the offsets that a function of the lane gives.
func byLane(at func(lane uint64) uint64) *[32]uint64 {
	var o [32]uint64
	for l := range o {
		o[l] = at(uint64(l))
	}
	return &o
}

const all = 1<<32 - 1

func TestBankConflicts(t *testing.T) {
	for _, c := range []struct {
		name      string
		mask      uint32
		size      int
		at        func(lane uint64) uint64
		waves     uint64
		conflicts uint64
	}{
		{"a row of words", all, 4, func(l uint64) uint64 { return 4 * l }, 1, 0},
		{"one word for all", all, 4, func(l uint64) uint64 { return 64 }, 1, 0},
		{"every second word", all, 4, func(l uint64) uint64 { return 8 * l }, 2, 1},
		{"a column of 32 words a row", all, 4, func(l uint64) uint64 { return 128 * l }, 32, 31},
		{"a column of 33 words a row", all, 4, func(l uint64) uint64 { return 132 * l }, 1, 0},
		{"half of such a column", 0xffff, 4, func(l uint64) uint64 { return 128 * l }, 16, 15},
		{"bytes of the same words", all, 1, func(l uint64) uint64 { return l }, 1, 0},
		{"halves, two a word", all, 2, func(l uint64) uint64 { return 2 * l }, 1, 0},
		{"a row of 8 bytes a lane", all, 8, func(l uint64) uint64 { return 8 * l }, 2, 0},
		{"8 bytes in every second place", all, 8, func(l uint64) uint64 { return 16 * l }, 4, 2},
		{"a row of 16 bytes a lane", all, 16, func(l uint64) uint64 { return 16 * l }, 4, 0},
		{"16 bytes, rows of 128", all, 16, func(l uint64) uint64 { return 128 * l }, 32, 28},
		{"16 bytes, rows of 144", all, 16, func(l uint64) uint64 { return 144 * l }, 4, 0},
		{"16 bytes of eight lanes", 0xff, 16, func(l uint64) uint64 { return 16 * l }, 1, 0},
	} {
		var b banks
		u := *b.request(c.mask, byLane(c.at), c.size)
		if u.Wavefronts != c.waves || u.Conflicts != c.conflicts || u.Requests != 1 {
			t.Errorf("%s: %+v, want %d wavefronts and %d conflicts", c.name, u, c.waves, c.conflicts)
		}
		var held []piece
		offsets := byLane(c.at)
		for l := range 32 {
			if c.mask>>l&1 != 0 {
				held = append(held, piece{l, offsets[l], c.size})
			}
		}
		if one := *b.pieces(held); one != u {
			t.Errorf("%s: told one lane at a time %+v, else %+v", c.name, one, u)
		}
	}
}

// TestSectors compares with the definition, byte by byte.
func TestSectors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s sectors
	for range 500 {
		size := 1 << r.IntN(5)
		spread := uint64(1 + r.IntN(400))
		seen := map[uint64]map[uint64]bool{}
		used := uint64(0)
		var held []piece
		s.reset()
		for lane := range 32 {
			addr := 1<<40 + uint64(r.IntN(int(spread)))*uint64(size)
			held = append(held, piece{lane, addr, size})
			s.touch(addr, size)
			for b := addr; b < addr+uint64(size); b++ {
				if seen[b/32] == nil {
					seen[b/32] = map[uint64]bool{}
				}
				if !seen[b/32][b] {
					seen[b/32][b] = true
					used++
				}
			}
		}
		want := GlobalUse{1, uint64(len(seen)), used}
		if got := *s.use(); got != want {
			t.Fatalf("%d bytes a lane: %+v, want %+v", size, got, want)
		}
		if got := *s.pieces(held, false); got != want {
			t.Fatalf("told one lane at a time: %+v, want %+v", got, want)
		}
	}
	if got, want := *s.pieces([]piece{{0, 48, 100}, {0, 320, 32}}, true), (GlobalUse{3, 5, 132}); got != want {
		t.Errorf("rows of a copy: %+v, want %+v", got, want)
	}
	if share, ok := (&GlobalUse{1, 4, 64}).Efficiency(); !ok || share != 0.5 {
		t.Errorf("efficiency %v, %v", share, ok)
	}
}
