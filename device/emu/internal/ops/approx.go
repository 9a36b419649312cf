package ops

import (
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/numeric/sfu"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	buildIn("approx", buildRcp, "rcp")
	buildIn("approx", buildSqrt, "sqrt")
	buildIn("approx", buildRsqrt, "rsqrt")
	buildIn("approx", unary(sfu.FuncSin), "sin")
	buildIn("approx", unary(sfu.FuncCos), "cos")
	buildIn("approx", unary(sfu.FuncLg2), "lg2")
	buildIn("approx", unary(sfu.FuncEx2), "ex2")
	buildIn("approx", unary(sfu.FuncTanh), "tanh")
	buildIn("half", halfElementary(sfu.Ex2F16, sfu.Ex2BF16), "ex2")
	buildIn("half", halfElementary(sfu.TanhF16, sfu.TanhBF16), "tanh")
}

// unary builds an approximate function of f32.
func unary(fn sfu.Func) builder {
	return func(d *decoder, x *inst) exec {
		ftz := x.Has("ftz")
		rd, ra := dstOf[uint32](d, x, "d").s, srcOf[uint32](d, x, "a").s
		return func(f *frame, m uint32) {
			fn.Lanes(f.Result32(rd, m), &f.R32[ra], ftz)
			f.Commit32(rd, m)
		}
	}
}

func buildRcp(d *decoder, x *inst) exec {
	r := roundOf(x)
	switch wide, approx := x.Type("d") == ptx.F64, x.Has("approx"); {
	case wide && approx:
		return op1(d, x, rcpHigh)
	case wide && r == scalar.RN:
		return op1(d, x, scalar.RcpF64)
	case wide:
		return op1(d, x, func(a uint64) uint64 { return scalar.RcpF64R(r, a) })
	case approx:
		return unary(sfu.FuncRcp)(d, x)
	case x.Has("ftz"):
		return op1(d, x, func(a uint32) uint32 { return scalar.RcpFtzF32R(r, a) })
	case r == scalar.RN:
		return op1(d, x, scalar.RcpF32)
	}
	return op1(d, x, func(a uint32) uint32 { return scalar.RcpF32R(r, a) })
}

func buildSqrt(d *decoder, x *inst) exec {
	r := roundOf(x)
	switch wide := x.Type("d") == ptx.F64; {
	case wide && r == scalar.RN:
		return op1(d, x, scalar.SqrtF64)
	case wide:
		return op1(d, x, func(a uint64) uint64 { return scalar.SqrtF64R(r, a) })
	case x.Has("approx"):
		return unary(sfu.FuncSqrt)(d, x)
	case r == scalar.RN:
		return op1(d, x, flushed1(x, scalar.SqrtF32))
	}
	return op1(d, x, flushed1(x, func(a uint32) uint32 { return scalar.SqrtF32R(r, a) }))
}

func buildRsqrt(d *decoder, x *inst) exec {
	switch {
	case x.Type("d") != ptx.F64:
		return unary(sfu.FuncRsqrt)(d, x)
	case x.Has("ftz"):
		return op1(d, x, rsqrtHigh)
	}
	return op1(d, x, rsqrtF64)
}

// halfElementary builds an approximate function of 16-bit floats.
func halfElementary(f16, bf16 func(a uint16) uint16) builder {
	return func(d *decoder, x *inst) exec {
		if isBF16(x) {
			return half1(d, x, bf16)
		}
		return half1(d, x, f16)
	}
}

// buildFastDiv builds div.full and div.approx as ptxas compiles them: it multiplies by the
// reciprocal, after it has scaled the operands out of the range where the reciprocal is
// subnormal. div.full also scales large divisors.
func buildFastDiv(d *decoder, x *inst) exec {
	full, ftz := x.Has("full"), x.Has("ftz")
	mul := scalar.MulF32
	if ftz {
		mul = scalar.MulFtzF32
	}
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
