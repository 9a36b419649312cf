package scalar

import (
	"math"
	"math/bits"
)

// BfeU32 is bfe.u32. It uses only the low byte of pos and length.
func BfeU32(a, pos, length uint32) uint32 {
	return a >> (pos & 0xff) & (1<<(length&0xff) - 1)
}

// BfeU64 is bfe.u64. Unlike the 32-bit operations and the manual, the 64-bit operations use
// all bits of pos and length.
func BfeU64(a uint64, pos, length uint32) uint64 { return a >> pos & (1<<length - 1) }

// BfeS32 is bfe.s32: the field is sign-extended. If the field reaches beyond a, its sign is
// the sign of a.
func BfeS32(a int32, pos, length uint32) int32 {
	return int32(bfeS(int64(a), uint64(pos&0xff), uint64(length&0xff), 31))
}

// BfeS64 is bfe.s64.
func BfeS64(a int64, pos, length uint32) int64 {
	return bfeS(a, uint64(pos), uint64(length), 63)
}

// bfeS sign-extends the field by two shifts. a is already sign-extended to 64 bits.
func bfeS(a int64, pos, length, msb uint64) int64 {
	if length == 0 {
		return 0
	}
	end := min(pos+length-1, msb)
	start := min(pos, msb)
	return a << (63 - end) >> (63 - end + start)
}

// BfiB32 is bfi.b32: a inserted into b at pos.
func BfiB32(a, b, pos, length uint32) uint32 {
	mask := uint32(1<<(length&0xff)-1) << (pos & 0xff)
	return b&^mask | a<<(pos&0xff)&mask
}

// BfiB64 is bfi.b64.
func BfiB64(a, b uint64, pos, length uint32) uint64 {
	mask := uint64(1<<length-1) << pos
	return b&^mask | a<<pos&mask
}

// BfindU32 is bfind.u32: the position of the highest set bit, or all ones.
func BfindU32(a uint32) uint32 { return uint32(bits.Len32(a)) - 1 }

// BfindU64 is bfind.u64.
func BfindU64(a uint64) uint32 { return uint32(bits.Len64(a)) - 1 }

// BfindS32 is bfind.s32: the position of the highest bit that differs from the sign.
func BfindS32(a int32) uint32 { return BfindU32(uint32(a ^ a>>31)) }

// BfindS64 is bfind.s64.
func BfindS64(a int64) uint32 { return BfindU64(uint64(a ^ a>>63)) }

// BfindShift converts the result of bfind on width bits to the result of bfind.shiftamt: the
// shift to the left that moves the bit to the top.
func BfindShift(found uint32, width int) uint32 {
	if found == ^uint32(0) {
		return found
	}
	return uint32(width) - 1 - found
}

// Fns is fns.b32: the position of the n-th set bit of mask, counted from bit base, where n
// is the absolute value of offset. It counts upwards if offset is positive and downwards if
// it is negative. A base beyond the mask finds no bit, and the smallest int32 as offset
// finds bit 0.
func Fns(mask, base uint32, offset int32) uint32 {
	if offset == math.MinInt32 {
		return 0
	}
	if base > 31 {
		return ^uint32(0)
	}
	if offset == 0 {
		offset, mask = 1, mask&(1<<base)
	}
	if offset > 0 {
		return nthOne(mask>>base<<base, uint32(offset))
	}
	found := nthOne(bits.Reverse32(mask<<(31-base)>>(31-base)), -uint32(offset))
	if found == ^uint32(0) {
		return found
	}
	return 31 - found
}

// nthOne returns the position of the n-th set bit from the bottom, or all ones.
func nthOne(mask, n uint32) uint32 {
	for ; mask != 0; mask &= mask - 1 {
		if n--; n == 0 {
			return uint32(bits.TrailingZeros32(mask))
		}
	}
	return ^uint32(0)
}

// BmskClamp is bmsk.clamp.b32: width ones from bit pos upwards.
func BmskClamp(pos, width uint32) uint32 {
	return ^uint32(0) << pos &^ (^uint32(0) << (min(pos, 32) + min(width, 32)))
}

// BmskWrap is bmsk.wrap.b32: it uses only the low five bits of the operands.
func BmskWrap(pos, width uint32) uint32 { return BmskClamp(pos&31, width&31) }

// SzextU32 is szext.clamp.u32: the low n bits of a. For .wrap the caller passes n&31.
func SzextU32(a, n uint32) uint32 { return a &^ (^uint32(0) << n) }

// SzextS32 is szext.clamp.s32: the low n bits of a, sign-extended.
func SzextS32(a int32, n uint32) int32 {
	if n == 0 {
		return 0
	}
	n = 32 - min(n, 32)
	return a << n >> n
}
