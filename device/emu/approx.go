package emu

import (
	"math"

	"attest/device/emu/num"
	"attest/device/emu/sfu"
	"attest/ptx"
)

func init() {
	buildIn("approx", buildRcp, "rcp")
	buildIn("approx", buildSqrt, "sqrt")
	buildIn("approx", buildRsqrt, "rsqrt")
	buildIn("approx", unary(sfu.Sin), "sin")
	buildIn("approx", unary(sfu.Cos), "cos")
	buildIn("approx", unary(sfu.Lg2), "lg2")
	buildIn("approx", unary(sfu.Ex2), "ex2")
	buildIn("approx", func(d *decoder, x *inst) exec { return op1(d, x, tanhF32) }, "tanh")
	buildIn("half", halfElementary(exp2F32), "ex2")
	buildIn("half", halfElementary(tanhF32), "tanh")
}

// unary is an approximate function of f32.
func unary(fn func(a uint32, ftz bool) uint32) builder {
	return func(d *decoder, x *inst) exec {
		ftz := x.has("ftz")
		return op1(d, x, func(a uint32) uint32 { return fn(a, ftz) })
	}
}

func buildRcp(d *decoder, x *inst) exec {
	r := roundOf(x)
	switch wide, approx := x.typ("d") == ptx.F64, x.has("approx"); {
	case wide && approx:
		return op1(d, x, func(a uint64) uint64 { return highWord(a, func(x float64) float64 { return 1 / x }) })
	case wide && r == num.RN:
		return op1(d, x, num.RcpF64)
	case wide:
		return op1(d, x, func(a uint64) uint64 { return num.RcpF64R(r, a) })
	case approx:
		return unary(sfu.Rcp)(d, x)
	case r == num.RN:
		return op1(d, x, modified1(x, num.RcpF32))
	}
	return op1(d, x, modified1(x, func(a uint32) uint32 { return num.RcpF32R(r, a) }))
}

func buildSqrt(d *decoder, x *inst) exec {
	r := roundOf(x)
	switch wide := x.typ("d") == ptx.F64; {
	case wide && r == num.RN:
		return op1(d, x, num.SqrtF64)
	case wide:
		return op1(d, x, func(a uint64) uint64 { return num.SqrtF64R(r, a) })
	case x.has("approx"):
		return unary(sfu.Sqrt)(d, x)
	case r == num.RN:
		return op1(d, x, modified1(x, num.SqrtF32))
	}
	return op1(d, x, modified1(x, func(a uint32) uint32 { return num.SqrtF32R(r, a) }))
}

func buildRsqrt(d *decoder, x *inst) exec {
	root := func(x float64) float64 { return 1 / math.Sqrt(x) }
	switch {
	case x.typ("d") != ptx.F64:
		return unary(sfu.Rsqrt)(d, x)
	case x.has("ftz"):
		return op1(d, x, func(a uint64) uint64 { return highWord(a, root) })
	}
	return op1(d, x, func(a uint64) uint64 {
		if num.IsNaNF64(a) {
			return num.AddF64(a, a)
		}
		return canonF64(root(math.Float64frombits(a)))
	})
}

// highWord is an approximate function of f64 that looks at the high word of its
// operand and gives the high word of its result.
func highWord(a uint64, fn func(x float64) float64) uint64 {
	const high = 0xffffffff << 32
	a &= high
	if a>>52&0x7ff == 0 {
		a &= 1 << 63 // subnormal
	}
	d := canonF64(fn(math.Float64frombits(a))) & high
	if d>>52&0x7ff == 0 {
		d &= 1 << 63
	}
	return d
}

// canonF64 gives the bits of a number, and one NaN for all.
func canonF64(x float64) uint64 {
	if x != x {
		return num.NaNF64
	}
	return math.Float64bits(x)
}

// tanhF32 is tanh.approx.f32, rounded correctly.
func tanhF32(a uint32) uint32 {
	if num.IsNaNF32(a) {
		return num.NaNF32
	}
	return math.Float32bits(float32(math.Tanh(float64(math.Float32frombits(a)))))
}

// exp2F32 is 2 to the power of a, rounded correctly.
func exp2F32(a uint32) uint32 {
	if num.IsNaNF32(a) {
		return num.NaNF32
	}
	return math.Float32bits(float32(math.Exp2(float64(math.Float32frombits(a)))))
}

// halfElementary is an approximate function of 16-bit floats by way of f32.
func halfElementary(fn func(a uint32) uint32) builder {
	f16 := func(a uint16) uint16 { return num.CvtF16F32(fn(num.CvtF32F16(a))) }
	bf16 := func(a uint16) uint16 { return num.CvtBF16F32(fn(num.CvtF32BF16(a))) }
	return func(d *decoder, x *inst) exec {
		switch {
		case isBF16(x) && x.has("ftz"):
			return half1(d, x, func(a uint16) uint16 { return flushBF16(bf16(flushBF16(a))) })
		case isBF16(x):
			return half1(d, x, bf16)
		}
		return half1(d, x, f16)
	}
}

// flushBF16 makes a subnormal zero: a bf16 is the high half of an f32.
func flushBF16(a uint16) uint16 { return uint16(num.FtzF32(uint32(a)<<16) >> 16) }

// buildFastDiv is div.full and div.approx as the assembler lowers them: a product
// with the reciprocal, the operands scaled out of the range where the reciprocal
// is subnormal. div.full scales large divisors too.
func buildFastDiv(d *decoder, x *inst) exec {
	full, ftz := x.has("full"), x.has("ftz")
	mul := modified2(x, num.MulF32)
	return op2(d, x, func(a, b uint32) uint32 {
		const (
			least = 0x00800000 // 2^-126
			large = 0x7e800000 // 2^126
		)
		mag := b &^ negZero
		switch {
		case full && mag > large && mag <= 0x7f800000:
			a, b = mul(a, 0x3e800000), mul(b, 0x3e800000) // by 2^-2
		case !ftz && mag < least:
			a, b = mul(a, 0x4b800000), mul(b, 0x4b800000) // by 2^24
		}
		return mul(sfu.Rcp(b, true), a)
	})
}
