package scalar

import "math"

// Sums and products of two bf16 are computed in f32 and rounded again. An f32 has at least
// two bits more than twice the precision of bf16, so the second rounding gives the right
// result. A product below the range of f32 is rounded there, but it is far below half of
// the smallest bf16, so it cannot become a tie.

// AddBF16 is add.rn.bf16.
func AddBF16(a, b uint16) uint16 { return roundBF16(floatBF16(a) + floatBF16(b)) }

// SubBF16 is sub.rn.bf16.
func SubBF16(a, b uint16) uint16 { return roundBF16(floatBF16(a) - floatBF16(b)) }

// MulBF16 is mul.rn.bf16.
func MulBF16(a, b uint16) uint16 { return roundBF16(floatBF16(a) * floatBF16(b)) }

// FmaBF16 is fma.rn.bf16. As in [FmaF32], the slow path handles sums that f64 rounded to a
// tie, and results that are not normal numbers.
func FmaBF16(a, b, c uint16) uint16 {
	s := float64(floatBF16(a))*float64(floatBF16(b)) + float64(floatBF16(c))
	u := math.Float64bits(s)
	const cut = 52 - 7
	if u&(1<<cut-1) == 1<<(cut-1) || u<<1-minNormalF32<<1 >= normalsF32<<1 {
		return fmaBF16(a, b, c, s)
	}
	return uint16(u>>48)&0x8000 | uint16((u<<1>>1+1<<(cut-1)-rebiasF32)>>cut)
}

const rebiasF32 = (1023 - 127) << 52

func fmaBF16(a, b, c uint16, s float64) uint16 {
	switch {
	case s == 0:
		return roundBF16(float32(s))
	case IsNaNBF16(a) || IsNaNBF16(b) || IsNaNBF16(c):
		return NaNBF16
	}
	return uint16(fmtBF16.fma(RN, uint64(a), uint64(b), uint64(c)))
}

func floatBF16(a uint16) float32 { return math.Float32frombits(uint32(a) << 16) }

func roundBF16(x float32) uint16 { return CvtBF16F32(math.Float32bits(x)) }

// FmaOobBF16 is fma.rn.oob.bf16: see [FmaOobF16].
func FmaOobBF16(a, b, c uint16) uint16 {
	if isOob(a) || isOob(b) {
		return 0
	}
	return FmaBF16(a, b, c)
}
