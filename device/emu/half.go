package emu

import (
	"attest/device/emu/num"
	"attest/ptx"
)

func init() {
	buildIn("half", buildHalfSum, "add", "sub", "mul")
	buildIn("half", buildHalfFma, "fma")
	buildIn("half", buildHalfSign, "abs", "neg")
	buildIn("half", buildHalfExtreme, "min", "max")
}

// isBF16 reports whether an instruction works on bf16, alone or packed.
func isBF16(x *inst) bool {
	t := x.typ("d")
	return t == ptx.BF16 || t == ptx.BF16x2
}

// half1, half2 and half3 build an operation on one 16-bit float or on both halves
// of a packed pair.

func half1(d *decoder, x *inst, fn func(a uint16) uint16) exec {
	if x.typ("d").Bits() == 32 {
		return packed1(d, x, fn)
	}
	return op1(d, x, fn)
}

func half2(d *decoder, x *inst, fn func(a, b uint16) uint16) exec {
	if x.typ("d").Bits() == 32 {
		return packed2(d, x, fn)
	}
	return op2(d, x, fn)
}

func half3(d *decoder, x *inst, fn func(a, b, c uint16) uint16) exec {
	if x.typ("d").Bits() == 32 {
		return packed3(d, x, fn)
	}
	return op3(d, x, fn)
}

func buildHalfSum(d *decoder, x *inst) exec {
	f16, bf16 := num.AddF16, num.AddBF16
	switch x.in.Op.Name {
	case "sub":
		f16, bf16 = num.SubF16, num.SubBF16
	case "mul":
		f16, bf16 = num.MulF16, num.MulBF16
	}
	switch {
	case isBF16(x):
		return half2(d, x, bf16)
	case x.has("ftz") && x.in.Op.Name == "mul":
		f16 = num.MulFtzF16
	default:
		f16 = halfFtz2(x, f16)
	}
	if x.has("sat") {
		return half2(d, x, func(a, b uint16) uint16 { return num.SatF16(f16(a, b)) })
	}
	return half2(d, x, f16)
}

func halfFtz2(x *inst, fn func(a, b uint16) uint16) func(a, b uint16) uint16 {
	if !x.has("ftz") {
		return fn
	}
	return func(a, b uint16) uint16 { return num.FtzF16(fn(num.FtzF16(a), num.FtzF16(b))) }
}

func buildHalfFma(d *decoder, x *inst) exec {
	fn, last := num.FmaF16, num.ReluF16
	switch oob := x.has("oob"); {
	case isBF16(x) && oob:
		fn, last = num.FmaOobBF16, num.ReluBF16
	case isBF16(x):
		fn, last = num.FmaBF16, num.ReluBF16
	case oob:
		fn = num.FmaOobF16
	case x.has("ftz"):
		fn = num.FmaFtzF16
	}
	switch {
	case x.has("sat"):
		last = num.SatF16
	case !x.has("relu"):
		return half3(d, x, fn)
	}
	return half3(d, x, func(a, b, c uint16) uint16 { return last(fn(a, b, c)) })
}

func buildHalfSign(d *decoder, x *inst) exec {
	abs := x.in.Op.Name == "abs"
	fn := num.NegF16
	switch {
	case isBF16(x) && abs:
		return half1(d, x, num.AbsBF16)
	case isBF16(x):
		return half1(d, x, num.NegBF16)
	case abs:
		fn = num.AbsF16
	}
	if x.has("ftz") {
		return half1(d, x, func(a uint16) uint16 { return num.FtzF16(fn(num.FtzF16(a))) })
	}
	return half1(d, x, fn)
}

// extremes16 are min and max by format: without and with .NaN.
var extremes16 = map[string][2][2]func(a, b uint16) uint16{
	"min": {{num.MinF16, num.MinNaNF16}, {num.MinBF16, num.MinNaNBF16}},
	"max": {{num.MaxF16, num.MaxNaNF16}, {num.MaxBF16, num.MaxNaNBF16}},
}

func buildHalfExtreme(d *decoder, x *inst) exec {
	format, nan, sign := 0, 0, num.XorSignF16
	if isBF16(x) {
		format, sign = 1, num.XorSignBF16
	}
	if x.has("NaN") {
		nan = 1
	}
	fn := extremes16[x.in.Op.Name][format][nan]
	if x.has("xorsign") {
		plain := fn
		fn = func(a, b uint16) uint16 { return sign(plain(a&0x7fff, b&0x7fff), a, b) }
	}
	return half2(d, x, halfFtz2(x, fn))
}
