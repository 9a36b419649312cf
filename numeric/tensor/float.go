package tensor

import "fmt"

// Float multiplies matrices of floating-point numbers like one instruction on one target.
type Float struct {
	a, b, d Kind
	rule    rule
}

// rule defines how an instruction computes sums.
type rule struct {
	length int // L: products of a block
	keep   int // F: bits below the largest exponent that are kept
	frac   int // bits of fraction of an f32 result
	half   bool
	// twoPass is set if fp8 factors are multiplied as f16 in two passes: first the elements k
	// with k mod 4 < 2, then the others, both without c. c is added afterwards as by add.rn. A
	// subnormal e4m3 is a normal f16.
	twoPass bool
}

// NewFloat returns the product of factors a and b with the result d (F16 or F32) on a target.
// It returns an error if the instruction does not have these types on the target.
//
// The number of products in a block and the bits kept:
//
//	                 f16, bf16    tf32      e4m3, e5m2
//	Ampere mma       8, 24        4, 24     -
//	Ada mma          8, 24        4, 24     16, 13
//	Hopper mma       16, 25       8, 25     16, 25, in two passes over f16
//	Hopper wgmma     16, 25       8, 25     32, 13
//
// wmma is like mma, but has blocks of 4 for tf32 on all targets. If c and d of wmma have
// different types, use the product with an f32 result: convert a c in f16 before and a d in
// f16 after the product, as by cvt.rn.
func NewFloat(arch Arch, inst Inst, a, b, d Kind) (*Float, error) {
	if why := refuse(arch, inst, a, b, d); why != "" {
		return nil, fmt.Errorf("%v.%v.%v.%v on %v: %s", inst, d, a, b, arch, why)
	}
	return &Float{a: a, b: b, d: d, rule: ruleOf(arch, inst, a, d)}, nil
}

func refuse(arch Arch, inst Inst, a, b, d Kind) string {
	switch {
	case d != F16 && d != F32:
		return "the result must be f16 or f32"
	case inst == WGMMA && arch != Hopper:
		return "wgmma needs sm_90a"
	case a.fp8() && b.fp8():
		if inst == WMMA {
			return "wmma does not support fp8: use mma"
		}
		if arch == Ampere {
			return "fp8 needs sm_89 or later"
		}
	case a != b:
		return "both factors must have the same type unless they are fp8"
	case a != F16 && a != BF16 && a != TF32:
		return "a factor must be f16, bf16, tf32, e4m3 or e5m2"
	case a != F16 && d == F16:
		return "the result must be f32"
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
