package ops

import "math/bits"

// un64 builds an instruction on one 64-bit value.
func un64(d, a slot, fn func(a uint64) uint64) exec {
	return func(f *frame, m uint32) {
		rd, ra := &f.R64[d], &f.R64[a]
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			rd[l] = fn(ra[l])
		}
	}
}
