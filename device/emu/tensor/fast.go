package tensor

import (
	"math"
	"math/bits"
)

// The fast path cuts products towards zero to multiples of the unit q = 2^(M-F)
// and adds them up in one addition each, without a shift. With t for a product in
// units:
//
//   - The sum starts at 1.5·2^52, where the unit of a float64 is one, so that adding
//     rounds to a whole number. With ½ subtracted before, rounding to nearest is the
//     floor, but for ties.
//   - The first factor is made larger by a factor of 1+ε beforehand. So a t that is
//     not zero is no tie; the floor of a positive t stays what it was; that of a
//     negative t is one less than t cut towards zero, also where t is whole. The
//     number of negative products, a count of bits, is added at the end.
//   - The ½ is the largest number below, which leaves the sum as it is if t is zero.
//
// ε = 2^-30 moves a product by less than the unit of its own last bit and, with at
// most 27 bits before the point, by less than one; and the larger product still has
// an exact float64. A negative t may not be smaller than 2^-53, as it would be lost
// beside ½: the exponents of the smallest factors decide that for a whole block.
const (
	larger     = 1 + 0x1p-30
	almostHalf = 0x1.fffffffffffffp-2
	faintest   = -53
	start      = 0x1.8p52
)

// sumOf is the sum of floors of a block. Half of the partial sums start below zero,
// which takes the start out of the whole.
func sumOf(x, y []float64, unit float64) (s float64) {
	half, zero := almostHalf*unit, start*unit
	for ; len(x) >= 16 && len(y) >= 16; x, y = x[16:], y[16:] {
		s += sum16((*[16]float64)(x), (*[16]float64)(y), half, zero)
	}
	for ; len(x) >= 4 && len(y) >= 4; x, y = x[4:], y[4:] {
		s += (zero + (x[0]*y[0] - half) + (x[1]*y[1] - half)) + (-zero + (x[2]*y[2] - half) + (x[3]*y[3] - half))
	}
	return s
}

func sum16(x, y *[16]float64, half, zero float64) float64 {
	a, b, c, d := zero, -zero, zero, -zero
	a += x[0]*y[0] - half
	b += x[1]*y[1] - half
	c += x[2]*y[2] - half
	d += x[3]*y[3] - half
	a += x[4]*y[4] - half
	b += x[5]*y[5] - half
	c += x[6]*y[6] - half
	d += x[7]*y[7] - half
	a += x[8]*y[8] - half
	b += x[9]*y[9] - half
	c += x[10]*y[10] - half
	d += x[11]*y[11] - half
	a += x[12]*y[12] - half
	b += x[13]*y[13] - half
	c += x[14]*y[14] - half
	d += x[15]*y[15] - half
	return (a + b) + (c + d)
}

// block adds one block to the neighbouring elements of row i from column j on.
func (f *Float) block(acc []float64, a *Rows, b *Cols, i, j, block int) {
	depth, length := a.depth, a.depth/a.blocks
	from := block * length
	x, row := a.large[i*depth+from:][:length], i*a.blocks+block
	low, signs := int(a.low[row]), a.signs[row]
	tops := f.tops(a, b, i, j, from, length)
	for l := range acc {
		c, col := acc[l], (j+l)*b.blocks+block
		y := b.val[(j+l)*depth+from:][:length]
		m := f.rule.align(int(tops[l]), c)
		if low+int(b.low[col]) < m-f.rule.keep+faintest {
			acc[l] = f.rule.round(f.rule.exact(c, a.val[i*depth+from:][:length], y, a.minExp, b.minExp))
			continue
		}
		unit := pow2(m - f.rule.keep)
		rest := int64(c*pow2(f.rule.keep-m)) + int64(bits.OnesCount64(signs&b.signs[col]))
		acc[l] = f.rule.round(sumOf(x, y, unit) + float64(rest)*unit)
	}
}

// align is the exponent M, from the largest of the products.
func (r *rule) align(m int, c float64) int {
	e := int(math.Float64bits(c)>>52&0x7ff) - 1023
	if r.half && c != 0 {
		e = max(e, kindInfo[F16].minExp)
	}
	return max(m, e, floorExp)
}
