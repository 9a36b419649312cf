package scalar

import (
	"math"
	"math/bits"
)

// AddSatS32 is add.sat.s32.
func AddSatS32(a, b int32) int32 { return clampS32(int64(a) + int64(b)) }

// SubSatS32 is sub.sat.s32.
func SubSatS32(a, b int32) int32 { return clampS32(int64(a) - int64(b)) }

// MadHiSatS32 is mad.hi.sat.s32: only the addition saturates.
func MadHiSatS32(a, b, c int32) int32 { return AddSatS32(MulHiS32(a, b), c) }

func clampS32(x int64) int32 { return int32(min(max(x, math.MinInt32), math.MaxInt32)) }

// MulHiU16 is mul.hi.u16.
func MulHiU16(a, b uint16) uint16 { return uint16(uint32(a) * uint32(b) >> 16) }

// MulHiS16 is mul.hi.s16.
func MulHiS16(a, b int16) int16 { return int16(int32(a) * int32(b) >> 16) }

// MulHiU32 is mul.hi.u32.
func MulHiU32(a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) }

// MulHiS32 is mul.hi.s32.
func MulHiS32(a, b int32) int32 { return int32(int64(a) * int64(b) >> 32) }

// MulHiU64 is mul.hi.u64.
func MulHiU64(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	return hi
}

// MulHiS64 is mul.hi.s64. It corrects the unsigned product: a negative factor, read as
// unsigned, is larger by 2^64, which adds the other factor to the high half.
func MulHiS64(a, b int64) int64 {
	hi, _ := bits.Mul64(uint64(a), uint64(b))
	return int64(hi) - a>>63&b - b>>63&a
}

// Mul24LoU32 is mul24.lo.u32: it uses only the low 24 bits of the factors.
func Mul24LoU32(a, b uint32) uint32 { return uint32(mul24U(a, b)) }

// Mul24HiU32 is mul24.hi.u32: bits 47 to 16 of the product.
func Mul24HiU32(a, b uint32) uint32 { return uint32(mul24U(a, b) >> 16) }

// Mul24LoS32 is mul24.lo.s32.
func Mul24LoS32(a, b int32) int32 { return int32(mul24S(a, b)) }

// Mul24HiS32 is mul24.hi.s32.
func Mul24HiS32(a, b int32) int32 { return int32(mul24S(a, b) >> 16) }

// Mad24HiSatS32 is mad24.hi.sat.s32: only the addition saturates.
func Mad24HiSatS32(a, b, c int32) int32 { return AddSatS32(Mul24HiS32(a, b), c) }

func mul24U(a, b uint32) uint64 { return uint64(a&0xffffff) * uint64(b&0xffffff) }

func mul24S(a, b int32) int64 { return int64(a<<8>>8) * int64(b<<8>>8) }

// integer is any integer type of a register.
type integer interface {
	int16 | int32 | int64 | uint16 | uint32 | uint64
}

// Sad is sad: c + |a-b|, with wrap-around.
func Sad[T integer](a, b, c T) T {
	if a < b {
		return c + (b - a)
	}
	return c + (a - b)
}
