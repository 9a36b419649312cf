package tensor

import "fmt"

// Float multiplies matrices of floating-point numbers as one instruction of one
// target does.
type Float struct {
	a, b, d Kind
	rule    rule
}

// rule is how an instruction sums.
type rule struct {
	length int // L: products of a block
	keep   int // F: bits that are kept below the largest exponent
	frac   int // bits of fraction of an f32 result
	half   bool
	// twoPass says that fp8 factors are multiplied as f16: first the elements k with
	// k mod 4 < 2, then the others, without c, which is then added as by add.rn. A
	// subnormal e4m3 is a normal f16.
	twoPass bool
}

// NewFloat is the product of a and b into d (F16 or F32) on a target. It is an
// error if the instruction has no such types there.
//
// The number of products in a block and the bits kept:
//
//	                 f16, bf16    tf32      e4m3, e5m2
//	Ampere mma       8, 24        4, 24     -
//	Ada mma          8, 24        4, 24     16, 13
//	Hopper mma       16, 25       8, 25     16, 25, in two passes over f16
//	Hopper wgmma     16, 25       8, 25     32, 13
//
// wmma is as mma, but has blocks of 4 for tf32 everywhere. Where c and d of wmma are
// of different types, the product is that with an f32 result: c in f16 is converted
// before, d in f16 after, as by cvt.rn.
func NewFloat(arch Arch, inst Inst, a, b, d Kind) (*Float, error) {
	if why := refuse(arch, inst, a, b, d); why != "" {
		return nil, fmt.Errorf("%v.%v.%v.%v on %v: %s", inst, d, a, b, arch, why)
	}
	return &Float{a: a, b: b, d: d, rule: ruleOf(arch, inst, a, d)}, nil
}

func refuse(arch Arch, inst Inst, a, b, d Kind) string {
	switch {
	case d != F16 && d != F32:
		return "the result is f16 or f32"
	case inst == WGMMA && arch != Hopper:
		return "wgmma needs sm_90a"
	case a.fp8() && b.fp8():
		if inst == WMMA {
			return "wmma has no fp8, use mma"
		}
		if arch == Ampere {
			return "fp8 needs sm_89 or later"
		}
	case a != b:
		return "both factors have the same type unless they are fp8"
	case a != F16 && a != BF16 && a != TF32:
		return "a factor is f16, bf16, tf32, e4m3 or e5m2"
	case a != F16 && d == F16:
		return "the result is f32"
	}
	return ""
}

func ruleOf(arch Arch, inst Inst, a, d Kind) rule {
	r := rule{length: 8, keep: 24, frac: 23, half: d == F16}
	if arch == Hopper {
		r.length, r.keep = 16, 25
	}
	switch {
	case a == TF32 && inst == WMMA:
		r.length = 4
	case a == TF32:
		r.length /= 2
	case a.fp8() && inst == WGMMA:
		r.length, r.keep, r.frac = 32, 13, 13
	case a.fp8() && arch == Ada:
		r.length, r.keep, r.frac = 16, 13, 13
	case a.fp8():
		r.twoPass = true
	}
	return r
}
