// Package tensor is the arithmetic of matrix products on tensor cores, exact to
// the bit: d = c + a·b for the operand types, targets and instructions that PTX
// has from sm_80 to sm_90a. It knows numbers only; where in a warp's registers an
// element lives is the business of package layout.
//
// Hardware adds the products of a row and a column in blocks. One block is up to
// L products and the accumulator c:
//
//  1. Factors are decoded to a significand and an exponent; a subnormal keeps the
//     smallest exponent and a significand below one. Products are exact and not
//     normalised: their exponent is the sum of the factors' exponents.
//  2. M is the largest exponent of the terms that are not zero, c included, and
//     not below -133. Each term is cut towards zero to a multiple of 2^(M-F).
//  3. The sum of those is exact. It becomes an f32, cut towards zero (for fp8
//     factors to 13 bits of fraction), or an f16, rounded to nearest even.
//  4. That result is c of the next block.
//
// L and F depend on target, instruction and type; [NewFloat] has the table. A NaN,
// 0·∞ and ∞-∞ give the canonical NaN; overflow gives infinity although rounding is
// towards zero; a sum of zero is positive.
//
// A factor is decoded once, into [Rows] or [Cols], and then takes part in many
// sums. Sums take a fast path that needs neither shifts nor branches (fast.go);
// what it cannot serve (infinities, NaN, magnitudes too far apart, results below
// the normal range) goes through the rules above as they are written (exact.go).
package tensor
