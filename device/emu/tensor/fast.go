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

// tile is one block of a row with eight columns: c + Σ a·b for each.
type tile struct {
	acc  [panel]float64
	tops [panel]int     // largest exponents of the products
	negs [panel]int64   // numbers of negative products
	unit [panel]float64 // q
	rest [panel]float64 // what the sum of floors lacks
}

// add puts block t of row i and of panel p into the accumulators.
func (f *Float) add(w *tile, a *Rows, b *Cols, i, p, t int) {
	length, row, col := a.length, i*a.blocks+t, p*b.blocks+t
	exps := a.exps[row*length:][:length]
	if f.a.wide() {
		w.maxima16(exps, b.exps[2*col*length:][:2*length])
	} else {
		w.maxima8(exps, b.exps[col*length:][:length])
	}
	w.negatives(a.signs[row], (*[panel]uint64)(b.signs[col*panel:]))
	x, y := a.large[row*length:][:length], b.val[col*panel*length:][:panel*length]
	if w.prepare(&f.rule, int(a.low[row]), (*[panel]int32)(b.low[col*panel:])) {
		switch length {
		case 4:
			w.sums4((*[4]float64)(x), y)
		case 8:
			w.sums8((*[8]float64)(x), y)
		default:
			for ; len(x) >= 16; x, y = x[16:], y[16:] {
				w.sums16((*[16]float64)(x), y, length)
			}
		}
		w.settle(&f.rule)
		return
	}
	x = a.val[row*length:][:length]
	for l, c := range &w.acc {
		w.acc[l] = f.rule.round(f.rule.exact(c, x, y[l*length:][:length], a.minExp, b.minExp))
	}
}

// negatives counts the negative products.
func (w *tile) negatives(row uint64, cols *[panel]uint64) {
	for l := range cols {
		w.negs[l] = int64(bits.OnesCount64(row & cols[l]))
	}
}

// prepare finds the units and what is to be added to the sums of floors: the
// accumulator, cut, and one for each negative product. It reports whether the fast
// path can serve all columns.
//
// Exponents are those of float64 here, biased by 1023.
func (w *tile) prepare(r *rule, low int, lows *[panel]int32) bool {
	ok, keep, half := true, r.keep, r.half
	low += 1023 - faintest
	_, _ = w.acc[0], lows[0]
	for l := range panel {
		c := w.acc[l]
		u := math.Float64bits(c) << 1
		e := int(u >> 53)
		if half && u != 0 {
			e = max(e, 1023-14) // a subnormal f16 has the exponent of a normal one
		}
		m := max(w.tops[l]+1023, e) - keep
		if low+int(lows[l]) < m {
			ok = false
		}
		unit := math.Float64frombits(uint64(m) << 52)
		perUnit := math.Float64frombits(uint64(2*1023-m) << 52)
		w.unit[l] = unit
		w.rest[l] = float64(int64(c*perUnit)+w.negs[l]) * unit
	}
	return ok
}

// settle rounds the results.
func (w *tile) settle(r *rule) {
	cut := uint64(1)<<(52-r.frac) - 1
	for l, x := range &w.rest {
		u := math.Float64bits(x)
		if e := u>>52&0x7ff - (1023 - 126); r.half || e > 2*126+1 {
			w.acc[l] = r.round(x)
			continue
		}
		w.acc[l] = math.Float64frombits(u &^ cut) // an f32 of the normal range
	}
}

// The sums of floors, by the length of a block. They have two parts, of which one
// starts with the rest and below zero, which takes the start out of the whole. Two
// columns at a time save loads of x; walking along ys leaves plain pointers, which
// make short instructions, and that is worth a tenth.

func (w *tile) sums4(x *[4]float64, ys []float64) {
	for l := 0; l < panel; l += 2 {
		y, z := (*[4]float64)(ys), (*[4]float64)(ys[4:])
		half, zero := almostHalf*w.unit[l], start*w.unit[l]
		other, otherZero := almostHalf*w.unit[l+1], start*w.unit[l+1]
		a, b, c, d := zero, w.rest[l]-zero, otherZero, w.rest[l+1]-otherZero
		a, c = a+(x[0]*y[0]-half), c+(x[0]*z[0]-other)
		b, d = b+(x[1]*y[1]-half), d+(x[1]*z[1]-other)
		a, c = a+(x[2]*y[2]-half), c+(x[2]*z[2]-other)
		b, d = b+(x[3]*y[3]-half), d+(x[3]*z[3]-other)
		w.rest[l], w.rest[l+1] = a+b, c+d
		ys = ys[min(8, len(ys)):]
	}
}

func (w *tile) sums8(x *[8]float64, ys []float64) {
	for l := 0; l < panel; l += 2 {
		y, z := (*[8]float64)(ys), (*[8]float64)(ys[8:])
		half, zero := almostHalf*w.unit[l], start*w.unit[l]
		other, otherZero := almostHalf*w.unit[l+1], start*w.unit[l+1]
		a, b, c, d := zero, w.rest[l]-zero, otherZero, w.rest[l+1]-otherZero
		a, c = a+(x[0]*y[0]-half), c+(x[0]*z[0]-other)
		b, d = b+(x[1]*y[1]-half), d+(x[1]*z[1]-other)
		a, c = a+(x[2]*y[2]-half), c+(x[2]*z[2]-other)
		b, d = b+(x[3]*y[3]-half), d+(x[3]*z[3]-other)
		a, c = a+(x[4]*y[4]-half), c+(x[4]*z[4]-other)
		b, d = b+(x[5]*y[5]-half), d+(x[5]*z[5]-other)
		a, c = a+(x[6]*y[6]-half), c+(x[6]*z[6]-other)
		b, d = b+(x[7]*y[7]-half), d+(x[7]*z[7]-other)
		w.rest[l], w.rest[l+1] = a+b, c+d
		ys = ys[min(16, len(ys)):]
	}
}

// sums16 is for blocks of 16 and, called twice, of 32.
func (w *tile) sums16(x *[16]float64, ys []float64, length int) {
	for l := 0; l < panel; l += 2 {
		y, z := (*[16]float64)(ys), (*[16]float64)(ys[length:])
		half, zero := almostHalf*w.unit[l], start*w.unit[l]
		other, otherZero := almostHalf*w.unit[l+1], start*w.unit[l+1]
		a, b, c, d := zero, w.rest[l]-zero, otherZero, w.rest[l+1]-otherZero
		a, c = a+(x[0]*y[0]-half), c+(x[0]*z[0]-other)
		b, d = b+(x[1]*y[1]-half), d+(x[1]*z[1]-other)
		a, c = a+(x[2]*y[2]-half), c+(x[2]*z[2]-other)
		b, d = b+(x[3]*y[3]-half), d+(x[3]*z[3]-other)
		a, c = a+(x[4]*y[4]-half), c+(x[4]*z[4]-other)
		b, d = b+(x[5]*y[5]-half), d+(x[5]*z[5]-other)
		a, c = a+(x[6]*y[6]-half), c+(x[6]*z[6]-other)
		b, d = b+(x[7]*y[7]-half), d+(x[7]*z[7]-other)
		a, c = a+(x[8]*y[8]-half), c+(x[8]*z[8]-other)
		b, d = b+(x[9]*y[9]-half), d+(x[9]*z[9]-other)
		a, c = a+(x[10]*y[10]-half), c+(x[10]*z[10]-other)
		b, d = b+(x[11]*y[11]-half), d+(x[11]*z[11]-other)
		a, c = a+(x[12]*y[12]-half), c+(x[12]*z[12]-other)
		b, d = b+(x[13]*y[13]-half), d+(x[13]*z[13]-other)
		a, c = a+(x[14]*y[14]-half), c+(x[14]*z[14]-other)
		b, d = b+(x[15]*y[15]-half), d+(x[15]*z[15]-other)
		w.rest[l], w.rest[l+1] = a+b, c+d
		ys = ys[min(2*length, len(ys)):]
	}
}
