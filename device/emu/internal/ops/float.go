package ops

import (
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	buildIn("float", buildFloatArith, "add", "sub", "mul")
	buildIn("float", buildFloatFma, "fma", "mad")
	buildIn("float", buildFloatDiv, "div")
	buildIn("float", buildFloatSign, "abs", "neg")
	buildIn("float", buildFloatExtreme, "min", "max")
	build("copysign", buildCopysign)
	build("testp", buildTestp)
}

// floatOp2 holds the forms of an operation on two floats: rounded to nearest, in any
// rounding mode, and with .ftz. The most frequent forms also have loops over whole
// registers.
type floatOp2 struct {
	f32       func(a, b uint32) uint32
	f32R      func(r scalar.Round, a, b uint32) uint32
	ftzR      func(r scalar.Round, a, b uint32) uint32
	f64       func(a, b uint64) uint64
	f64R      func(r scalar.Round, a, b uint64) uint64
	lane, ftz lanes2
}

var sums = map[string]floatOp2{
	"add": {scalar.AddF32, scalar.AddF32R, flushed(scalar.AddF32R), scalar.AddF64, scalar.AddF64R, addF32Lanes, addFtzLanes},
	"sub": {scalar.SubF32, scalar.SubF32R, flushed(scalar.SubF32R), scalar.SubF64, scalar.SubF64R, subF32Lanes, subFtzLanes},
	"mul": {scalar.MulF32, scalar.MulF32R, scalar.MulFtzF32R, scalar.MulF64, scalar.MulF64R, mulF32Lanes, mulFtzLanes},
	"div": {scalar.DivF32, scalar.DivF32R, scalar.DivFtzF32R, scalar.DivF64, scalar.DivF64R, nil, nil},
}

// flushed returns fn, an addition or subtraction, with .ftz. It may flush the rounded
// result, because a subnormal sum is always exact.
func flushed(fn func(r scalar.Round, a, b uint32) uint32) func(r scalar.Round, a, b uint32) uint32 {
	return func(r scalar.Round, a, b uint32) uint32 {
		return scalar.FtzF32(fn(r, scalar.FtzF32(a), scalar.FtzF32(b)))
	}
}

// buildFloatArith builds add, sub and mul. Without a rounding mode they round to nearest
// even.
func buildFloatArith(d *decoder, x *inst) exec {
	s, r := sums[x.Op.Name], roundOf(x)
	switch plain := r == scalar.RN && !x.Has("sat"); {
	case x.Type("d") == ptx.F64:
		return s.build64(d, x, r)
	case plain && x.Has("ftz"):
		return hot2(d, x, s.ftz)
	case plain:
		return hot2(d, x, s.lane)
	}
	return s.build32(d, x, r)
}

// buildFloatDiv builds div. The approximate forms are in approx.go.
func buildFloatDiv(d *decoder, x *inst) exec {
	s, r := sums["div"], roundOf(x)
	switch {
	case x.Type("d") == ptx.F64:
		return s.build64(d, x, r)
	case x.Mod("mode") != "":
		return buildFastDiv(d, x)
	}
	return s.build32(d, x, r)
}

func (s floatOp2) build32(d *decoder, x *inst, r scalar.Round) exec {
	fn := s.f32
	switch {
	case x.Has("ftz"):
		fn = func(a, b uint32) uint32 { return s.ftzR(r, a, b) }
	case r != scalar.RN:
		fn = func(a, b uint32) uint32 { return s.f32R(r, a, b) }
	}
	if x.Has("sat") {
		return op2(d, x, func(a, b uint32) uint32 { return scalar.SatF32(fn(a, b)) })
	}
	return op2(d, x, fn)
}

func (s floatOp2) build64(d *decoder, x *inst, r scalar.Round) exec {
	if r == scalar.RN {
		return op2(d, x, s.f64)
	}
	return op2(d, x, func(a, b uint64) uint64 { return s.f64R(r, a, b) })
}

func buildFloatFma(d *decoder, x *inst) exec {
	r := roundOf(x)
	switch plain := r == scalar.RN && !x.Has("sat"); {
	case x.Type("d") == ptx.F64 && r == scalar.RN:
		return op3(d, x, scalar.FmaF64)
	case x.Type("d") == ptx.F64:
		return op3(d, x, func(a, b, c uint64) uint64 { return scalar.FmaF64R(r, a, b, c) })
	case plain && x.Has("ftz"):
		return hot3(d, x, fmaFtzLanes)
	case plain:
		return hot3(d, x, fmaF32Lanes)
	}
	any := scalar.FmaF32R
	if x.Has("ftz") {
		any = scalar.FmaFtzF32R
	}
	if x.Has("sat") {
		return op3(d, x, func(a, b, c uint32) uint32 { return scalar.SatF32(any(r, a, b, c)) })
	}
	return op3(d, x, func(a, b, c uint32) uint32 { return any(r, a, b, c) })
}

// flushed1 and flushed2 add .ftz to an operation that does not round.

func flushed1(x *inst, fn func(a uint32) uint32) func(a uint32) uint32 {
	if !x.Has("ftz") {
		return fn
	}
	return func(a uint32) uint32 { return scalar.FtzF32(fn(scalar.FtzF32(a))) }
}

func flushed2(x *inst, fn func(a, b uint32) uint32) func(a, b uint32) uint32 {
	if !x.Has("ftz") {
		return fn
	}
	return func(a, b uint32) uint32 { return scalar.FtzF32(fn(scalar.FtzF32(a), scalar.FtzF32(b))) }
}

func buildFloatSign(d *decoder, x *inst) exec {
	switch abs := x.Op.Name == "abs"; {
	case x.Type("d") == ptx.F64 && abs:
		return op1(d, x, scalar.AbsF64)
	case x.Type("d") == ptx.F64:
		return op1(d, x, scalar.NegF64)
	case abs:
		return op1(d, x, flushed1(x, scalar.AbsF32))
	}
	return op1(d, x, flushed1(x, scalar.NegF32))
}

func buildFloatExtreme(d *decoder, x *inst) exec {
	least := x.Op.Name == "min"
	if x.Type("d") == ptx.F64 {
		if least {
			return op2(d, x, scalar.MinF64)
		}
		return op2(d, x, scalar.MaxF64)
	}
	fn, lane, ftz := scalar.MaxF32, lanes2(maxF32Lanes), lanes2(maxFtzLanes)
	switch {
	case least && x.Has("NaN"):
		fn = scalar.MinNaNF32
	case least:
		fn, lane, ftz = scalar.MinF32, minF32Lanes, minFtzLanes
	case x.Has("NaN"):
		fn = scalar.MaxNaNF32
	}
	switch {
	case x.Has("xorsign"):
		plain := fn
		fn = func(a, b uint32) uint32 { return scalar.XorSignF32(plain(a&^negZero, b&^negZero), a, b) }
	case x.Has("NaN"):
	case x.Has("ftz"):
		return hot2(d, x, ftz)
	default:
		return hot2(d, x, lane)
	}
	return op2(d, x, flushed2(x, fn))
}

func buildCopysign(d *decoder, x *inst) exec {
	if x.Type("d") == ptx.F64 {
		return op2(d, x, scalar.CopysignF64)
	}
	return op2(d, x, scalar.CopysignF32)
}

var properties = map[string]scalar.Property{
	"finite": scalar.Finite, "infinite": scalar.Infinite, "number": scalar.Number,
	"notanumber": scalar.NotANumber, "normal": scalar.Normal, "subnormal": scalar.Subnormal,
}

func buildTestp(d *decoder, x *inst) exec {
	p, prop := d.Dst(x.Arg("p"), ptx.Pred), properties[x.Mod("op")]
	if x.Type("a") == ptx.F64 {
		a := srcOf[uint64](d, x, "a")
		return func(f *frame, m uint32) {
			f.PredOf(p, m, func(l int) bool { return scalar.TestpF64(prop, a.get(f, l)) })
		}
	}
	a := srcOf[uint32](d, x, "a")
	return func(f *frame, m uint32) {
		f.PredOf(p, m, func(l int) bool { return scalar.TestpF32(prop, a.get(f, l)) })
	}
}
