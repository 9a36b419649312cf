package tensor

import "math"

// MulAddQuarter computes one of the four products of mma.sync.m8n8k4 with f16 factors: a has
// 8 rows and b has 8 columns of 4 elements, one element per word. d and c are 8×8 matrices of
// f32, or of f16 if half is set. For an instruction with f32 results and c in f16, the caller
// must convert c first.
//
// From sm_80 on, tensor cores do not support this instruction. It is a subroutine of ordinary
// f32 arithmetic, and each step is rounded to nearest. Products of f16 are exact in f32, so
// the multiply-adds are additions:
//
//	f32: d = c + (((0 + p₀) + p₁) + p₂) + p₃
//	f16: d = f16((c + (p₀ + p₁)) + (p₂ + p₃))
func MulAddQuarter(d, a, b, c []uint32, half bool) {
	for i := range 8 {
		for j := range 8 {
			x, y := (*[4]uint32)(a[4*i:]), (*[4]uint32)(b[4*j:])
			var p [4]float32
			for k := range p {
				p[k] = float32(valueF16(x[k]) * valueF16(y[k]))
			}
			at := 8*i + j
			if half {
				sum := float32(valueF16(c[at])) + (p[0] + p[1])
				d[at] = signedF16(sum + (p[2] + p[3]))
				continue
			}
			sum := float32(0) + p[0]
			sum = ((sum + p[1]) + p[2]) + p[3]
			d[at] = bitsF32(float64(math.Float32frombits(c[at]) + sum))
		}
	}
}

// signedF16 is bitsF16, but preserves the sign of a zero. A zero sum of a tensor core has no
// sign.
func signedF16(x float32) uint32 {
	h := bitsF16(float64(x))
	if h == 0 && math.Signbit(float64(x)) {
		return 0x8000
	}
	return h
}
