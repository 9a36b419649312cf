package emu_test

import "math/bits"

// ffs returns the position of the lowest set bit, counted from 1, or 0.
func ffs(x uint64) uint32 {
	if x == 0 {
		return 0
	}
	return uint32(bits.TrailingZeros64(x)) + 1
}

// bytePerm selects bytes of two words as __byte_perm does, with three bits per byte.
func bytePerm(x, y, selector uint32) (r uint32) {
	w := uint64(y)<<32 | uint64(x)
	for i := range 4 {
		s := selector >> (4 * i) & 7
		r |= uint32(w>>(8*s)) & 0xff << (8 * i)
	}
	return r
}

func absDiff(a, b int64) uint32 { return uint32(max(a, b) - min(a, b)) }

// dot returns sum plus the products of the bytes of x and y.
func dot(x, y uint32, isSigned bool, sum uint32) uint32 {
	for i := range 4 {
		a, b := x>>(8*i)&0xff, y>>(8*i)&0xff
		if isSigned {
			a, b = uint32(int8(a)), uint32(int8(b))
		}
		sum += a * b
	}
	return sum
}

func refBits(in nvccInputs) []byte {
	return bytesOf(columns(300, 17, func(i int) []uint32 {
		x, y := in.words[i], in.others[i]
		sx, sy, s := int64(int32(x)), int64(int32(y)), y&63
		w := uint64(x)<<32 | uint64(y)
		high, _ := bits.Mul64(w, w*3)
		return []uint32{
			uint32(bits.OnesCount32(x)), uint32(bits.LeadingZeros32(x >> (y & 31))), ffs(uint64(x & y)),
			bits.Reverse32(x), bytePerm(x, y, x>>7), uint32(uint64(x) * uint64(y) >> 32), uint32(sx * sy >> 32), uint32(high >> 7),
			uint32((uint64(y)<<32 | uint64(x)) << (s & 31) >> 32), uint32((uint64(y)<<32 | uint64(x)) >> min(s, 32)),
			uint32(w<<s) + uint32(int64(w)>>s),
			uint32(bits.OnesCount64(w)) + 100*uint32(bits.LeadingZeros64(w>>s)) + 10000*ffs(w&(w<<7)),
			uint32(bits.Reverse64(w) >> 5), absDiff(sx, sy) + 7 + absDiff(int64(x), int64(y)) + 9,
			uint32((sx+sy)>>1) ^ uint32((sx+sy+1)>>1) ^ uint32((uint64(x)+uint64(y))>>1),
			dot(x, y, true, 11) + dot(x, y, false, 12),
			uint32(int32(x<<8)>>8*(int32(y<<8)>>8)) + x&0xffffff*(y&0xffffff),
		}
	})...)
}

// lanesOf applies f to the sign-extended parts of two words and packs the low bits of the
// results.
func lanesOf(width int, x, y uint32, f func(a, b int32) int32) (r uint32) {
	for at := 0; at < 32; at += width {
		up := 32 - width
		a, b := int32(x>>at<<up)>>up, int32(y>>at<<up)>>up
		r |= uint32(f(a, b)) << up >> up << at
	}
	return r
}

// sumOfDiffs returns the sum of the absolute differences of the parts of two words.
func sumOfDiffs(width int, x, y uint32) (sum uint32) {
	for at := 0; at < 32; at += width {
		part := uint32(1)<<width - 1
		sum += absDiff(int64(x>>at&part), int64(y>>at&part))
	}
	return sum
}

func refPacked(in nvccInputs) []byte {
	const b = 0xff
	return bytesOf(columns(300, 14, func(i int) []uint32 {
		x, y := in.words[i], in.others[i]
		return []uint32{
			lanesOf(8, x, y, func(p, q int32) int32 { return p + q }),
			lanesOf(8, x, y, func(p, q int32) int32 { return p - q }),
			lanesOf(8, x, y, func(p, q int32) int32 { return min(p&b+q&b, b) }),
			lanesOf(8, x, y, func(p, q int32) int32 { return max(min(p-q, 127), -128) }),
			lanesOf(8, x, y, func(p, q int32) int32 { return max(p, q) }),
			lanesOf(8, x, y, func(p, q int32) int32 { return min(p&b, q&b) }),
			lanesOf(8, x, y, func(p, q int32) int32 { return max(p&b, q&b) }),
			lanesOf(8, x, y, func(p, q int32) int32 { return (p&b + q&b + 1) >> 1 }),
			lanesOf(8, x, y, func(p, q int32) int32 { return -int32(truth(p > q)) }),
			lanesOf(16, x, y, func(p, q int32) int32 { return p + q }),
			lanesOf(16, x, y, func(p, _ int32) int32 { return min(max(p, -p), 32767) }),
			lanesOf(16, x, y, func(p, q int32) int32 { return max(p&0xffff, q&0xffff) }),
			lanesOf(8, x, y, func(p, q int32) int32 { return max(p&b, q&b) - min(p&b, q&b) }),
			sumOfDiffs(8, x, y) + sumOfDiffs(16, x, y),
		}
	})...)
}
