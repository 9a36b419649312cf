package emu

import "math/bits"

// un64 is an instruction on one 64-bit value.
func un64(d, a slot, fn func(a uint64) uint64) exec {
	return func(f *frame, m uint32) {
		rd, ra := &f.r64[d], &f.r64[a]
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			rd[l] = fn(ra[l])
		}
	}
}

// predOf collects a predicate from a condition on each lane.
func (f *frame) predOf(p slot, m uint32, cond func(lane int) bool) {
	var v uint32
	for rest := m; rest != 0; rest &= rest - 1 {
		if l := bits.TrailingZeros32(rest); cond(l) {
			v |= 1 << l
		}
	}
	f.setPred(p, m, v)
}
