package ops

import (
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	buildIn("half", buildHalfArith, "add", "sub", "mul")
	buildIn("half", buildHalfFma, "fma")
	buildIn("half", buildHalfSign, "abs", "neg")
	buildIn("half", buildHalfExtreme, "min", "max")
}

// isBF16 reports whether an instruction works on bf16, alone or packed.
func isBF16(x *inst) bool {
	t := x.Type("d")
	return t == ptx.BF16 || t == ptx.BF16x2
}

// half1, half2 and half3 build an operation on one 16-bit float or on both halves
// of a packed pair.

func half1(d *decoder, x *inst, fn func(a uint16) uint16) exec {
	if x.Type("d").Bits() == 32 {
		return packed1(d, x, fn)
	}
	return op1(d, x, fn)
}

func half2(d *decoder, x *inst, fn func(a, b uint16) uint16) exec {
	if x.Type("d").Bits() == 32 {
		return packed2(d, x, fn)
	}
	return op2(d, x, fn)
}

func half3(d *decoder, x *inst, fn func(a, b, c uint16) uint16) exec {
	if x.Type("d").Bits() == 32 {
		return packed3(d, x, fn)
	}
	return op3(d, x, fn)
}

func buildHalfArith(d *decoder, x *inst) exec {
	f16, bf16 := scalar.AddF16, scalar.AddBF16
	switch x.Op.Name {
	case "sub":
		f16, bf16 = scalar.SubF16, scalar.SubBF16
	case "mul":
		f16, bf16 = scalar.MulF16, scalar.MulBF16
	}
	switch {
	case isBF16(x):
		return half2(d, x, bf16)
	case x.Has("ftz") && x.Op.Name == "mul":
		f16 = scalar.MulFtzF16
	default:
		f16 = halfFtz2(x, f16)
	}
	if x.Has("sat") {
		return half2(d, x, func(a, b uint16) uint16 { return scalar.SatF16(f16(a, b)) })
	}
	return half2(d, x, f16)
}

func halfFtz2(x *inst, fn func(a, b uint16) uint16) func(a, b uint16) uint16 {
	if !x.Has("ftz") {
		return fn
	}
	return func(a, b uint16) uint16 { return scalar.FtzF16(fn(scalar.FtzF16(a), scalar.FtzF16(b))) }
}

func buildHalfFma(d *decoder, x *inst) exec {
	fn, last := scalar.FmaF16, scalar.ReluF16
	switch oob := x.Has("oob"); {
	case isBF16(x) && oob:
		fn, last = scalar.FmaOobBF16, scalar.ReluBF16
	case isBF16(x):
		fn, last = scalar.FmaBF16, scalar.ReluBF16
	case oob:
		fn = scalar.FmaOobF16
	case x.Has("ftz"):
		fn = scalar.FmaFtzF16
	}
	switch {
	case x.Has("sat"):
		last = scalar.SatF16
	case !x.Has("relu"):
		return half3(d, x, fn)
	}
	return half3(d, x, func(a, b, c uint16) uint16 { return last(fn(a, b, c)) })
}

func buildHalfSign(d *decoder, x *inst) exec {
	abs := x.Op.Name == "abs"
	fn := scalar.NegF16
	switch {
	case isBF16(x) && abs:
		return half1(d, x, scalar.AbsBF16)
	case isBF16(x):
		return half1(d, x, scalar.NegBF16)
	case abs:
		fn = scalar.AbsF16
	}
	if x.Has("ftz") {
		return half1(d, x, func(a uint16) uint16 { return scalar.FtzF16(fn(scalar.FtzF16(a))) })
	}
	return half1(d, x, fn)
}

// extremes16 are min and max by format: without and with .NaN.
var extremes16 = map[string][2][2]func(a, b uint16) uint16{
	"min": {{scalar.MinF16, scalar.MinNaNF16}, {scalar.MinBF16, scalar.MinNaNBF16}},
	"max": {{scalar.MaxF16, scalar.MaxNaNF16}, {scalar.MaxBF16, scalar.MaxNaNBF16}},
}

func buildHalfExtreme(d *decoder, x *inst) exec {
	format, nan, sign := 0, 0, scalar.XorSignF16
	if isBF16(x) {
		format, sign = 1, scalar.XorSignBF16
	}
	if x.Has("NaN") {
		nan = 1
	}
	fn := extremes16[x.Op.Name][format][nan]
	if x.Has("xorsign") {
		plain := fn
		fn = func(a, b uint16) uint16 { return sign(plain(a&0x7fff, b&0x7fff), a, b) }
	}
	return half2(d, x, halfFtz2(x, fn))
}
