package sfu

import "github.com/GOATnote-Inc/attest/numeric/scalar"

// The 16-bit functions are the f32 functions with a truncated result.

// Ex2F16 is ex2.approx.f16.
func Ex2F16(a uint16) uint16 { return cutF16(Ex2(scalar.CvtF32F16(a), false)) }

// TanhF16 is tanh.approx.f16.
func TanhF16(a uint16) uint16 { return cutF16(Tanh(scalar.CvtF32F16(a), false)) }

// Ex2BF16 is ex2.approx.ftz.bf16.
func Ex2BF16(a uint16) uint16 { return cutBF16(flush(Ex2(flush(uint32(a)<<16), true))) }

// TanhBF16 is tanh.approx.bf16.
func TanhBF16(a uint16) uint16 { return cutBF16(Tanh(uint32(a)<<16, false)) }

// cutF16 rounds to f16 towards zero, but a number that is too large becomes infinite.
func cutF16(x uint32) uint16 {
	const tooLarge = (127 + 16) << 23
	switch {
	case isNaN(x):
		return 0x7fff
	case x&^sign >= tooLarge:
		return uint16(x>>16)&0x8000 | 0x7c00
	}
	return scalar.CvtF16F32R(scalar.RZ, x)
}

func cutBF16(x uint32) uint16 {
	if isNaN(x) {
		return 0x7fff
	}
	return uint16(x >> 16)
}
