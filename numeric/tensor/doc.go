// Package tensor implements the arithmetic of matrix products on tensor cores, exact to the
// bit: d = c + a·b for the operand types, targets and instructions of PTX from sm_80 to
// sm_90a. Package layout defines where the elements are in the registers of a warp.
//
// Hardware adds the products of a row and a column in blocks. A block has up to L products
// and the accumulator c:
//
//  1. Factors are decoded to a significand and an exponent. A subnormal has the smallest
//     exponent and a significand below one. Products are exact and not normalised: their
//     exponent is the sum of the exponents of the factors.
//  2. M is the largest exponent of the nonzero terms, including c, but at least -133. Each
//     term is truncated towards zero to a multiple of 2^(M-F).
//  3. The sum of these terms is exact. It becomes an f32, truncated towards zero (for fp8
//     factors to 13 bits of fraction), or an f16, rounded to nearest even.
//  4. This result is the accumulator c of the next block.
//
// L and F depend on the target, the instruction and the type: see [NewFloat]. A NaN, 0·∞ and
// ∞-∞ give the canonical NaN. An overflow gives infinity although rounding is towards zero. A
// sum of zero is positive.
//
// A factor is decoded once, into [Rows] or [Cols], and then used in many sums. Sums use a
// fast path without shifts and branches (fast.go). Infinities, NaNs, magnitudes that are too
// far apart, and results below the normal range need the rules above, which exact.go
// implements directly.
package tensor
