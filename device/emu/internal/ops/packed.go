package ops

import (
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	buildIn("packed", buildPackedArith, "add", "sub", "mul")
	buildIn("packed", buildPackedFma, "fma")
	buildIn("packed", buildThree, "min", "max")
}

// buildPackedArith builds add, sub and mul of pairs of f32, and sums of a 16-bit number and an f32.
func buildPackedArith(d *decoder, x *inst) exec {
	s, r := sums[x.Op.Name], roundOf(x)
	fn := func(a, b uint32) uint32 { return s.f32R(r, a, b) }
	if x.Has("ftz") {
		fn = func(a, b uint32) uint32 { return s.ftzR(r, a, b) }
	}
	if x.Type("d") == ptx.F32x2 {
		return op2(d, x, func(a, b uint64) uint64 {
			return pack32(fn(uint32(a), uint32(b)), fn(uint32(a>>32), uint32(b>>32)))
		})
	}
	widen, sat := widened(x), saturated(x)
	return op2(d, x, func(a uint16, b uint32) uint32 { return sat(fn(widen(a), b)) })
}

// buildPackedFma builds fma of pairs of f32, and of two 16-bit numbers and an f32.
func buildPackedFma(d *decoder, x *inst) exec {
	r, fma := roundOf(x), scalar.FmaF32R
	if x.Has("ftz") {
		fma = scalar.FmaFtzF32R
	}
	if x.Type("d") == ptx.F32x2 {
		return op3(d, x, func(a, b, c uint64) uint64 {
			return pack32(fma(r, uint32(a), uint32(b), uint32(c)), fma(r, uint32(a>>32), uint32(b>>32), uint32(c>>32)))
		})
	}
	widen, sat := widened(x), saturated(x)
	return op3(d, x, func(a, b uint16, c uint32) uint32 { return sat(fma(r, widen(a), widen(b), c)) })
}

// buildThree builds min and max of three f32.
func buildThree(d *decoder, x *inst) exec {
	fn := flushed2(x, extremeF32(x, x.Op.Name))
	return op3(d, x, func(a, b, c uint32) uint32 { return fn(fn(a, b), c) })
}

// extremeF32 returns min or max of two f32, of their absolute values with .abs. With .NaN the result is
// a NaN if an operand is one.
func extremeF32(x *inst, op string) func(a, b uint32) uint32 {
	fn := scalar.MaxF32
	switch {
	case op == "min" && x.Has("NaN"):
		fn = scalar.MinNaNF32
	case op == "min":
		fn = scalar.MinF32
	case x.Has("NaN"):
		fn = scalar.MaxNaNF32
	}
	if !x.Has("abs") {
		return fn
	}
	return func(a, b uint32) uint32 { return fn(a&^negZero, b&^negZero) }
}

func pack32(lo, hi uint32) uint64 { return uint64(hi)<<32 | uint64(lo) }

// widened returns the conversion of the instruction's 16-bit type to f32.
func widened(x *inst) func(uint16) uint32 {
	if x.Type("a") == ptx.BF16 {
		return scalar.CvtF32BF16
	}
	return scalar.CvtF32F16
}

// saturated returns the function that clamps a result to [0, 1], if the instruction has .sat.
func saturated(x *inst) func(uint32) uint32 {
	if x.Has("sat") {
		return scalar.SatF32
	}
	return func(v uint32) uint32 { return v }
}
