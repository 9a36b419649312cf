package tensor

import (
	"math"
	"math/bits"
)

// The fast path truncates products towards zero to multiples of the unit q = 2^(M-F) and adds
// each with one addition, without a shift. Let t be a product in units of q.
//
//   - The sum starts at 1.5·2^52. There the last bit of a float64 has the value one, so that
//     an addition rounds to an integer. If ½ is subtracted before, rounding to nearest gives
//     the floor, except for ties.
//   - The first factor is multiplied by 1+ε in advance. Therefore a nonzero t is never a tie.
//     The floor of a positive t does not change. The floor of a negative t is one less than t
//     truncated towards zero, even if t is an integer. At the end, the number of negative
//     products, which is a count of bits, is added.
//   - Instead of ½, the largest number below ½ is subtracted. It does not change the sum if t
//     is zero.
//
// ε = 2^-30 changes a product by less than the value of its last bit and, with at most 27
// bits before the point, by less than one. The product with the larger factor is still exact
// in a float64. The magnitude of a negative t must not be smaller than 2^-53, because it
// would be lost when ½ is subtracted. The exponents of the smallest factors are checked for a
// whole block.
const (
	larger     = 1 + 0x1p-30
	almostHalf = 0x1.fffffffffffffp-2
	faintest   = -53
	start      = 0x1.8p52
)

// tile computes one block of a row with eight columns: c + Σ a·b for each column.
type tile struct {
	acc  [panel]float64
	tops [panel]int     // largest exponents of the products
	negs [panel]int64   // numbers of negative products
	unit [panel]float64 // q
	rest [panel]float64 // the correction of the sum of floors
}

// add adds block t of row i and panel p to the accumulators.
func (f *Float) add(w *tile, a *Rows, b *Cols, i, p, t int) {
	length, row, col := a.length, i*a.blocks+t, p*b.blocks+t
	exps := a.exps[row*length:][:length]
	if f.a.wide() {
		w.maxima16(exps, b.exps[2*col*length:][:2*length])
	} else {
		w.maxima8(exps, b.exps[col*length:][:length])
	}
	w.negatives(a.signs[row], (*[panel]uint64)(b.signs[col*panel:]))
	y := b.val[col*panel*length:][:panel*length]
	if w.prepare(&f.rule, int(a.low[row]), (*[panel]int32)(b.low[col*panel:])) {
		w.sums(a.large[row*length:][:length], y)
		w.settle(&f.rule)
		return
	}
	x := a.val[row*length:][:length]
	var column [maxLength]float64
	for l, c := range &w.acc {
		for e := range x {
			column[e] = y[e*panel+l]
		}
		w.acc[l] = f.rule.round(f.rule.exact(c, x, column[:length], a.minExp, b.minExp))
	}
}

// negatives counts the negative products.
func (w *tile) negatives(row uint64, cols *[panel]uint64) {
	for l := range cols {
		w.negs[l] = int64(bits.OnesCount64(row & cols[l]))
	}
}

// prepare computes the units and the corrections of the sums of floors: the truncated
// accumulator, plus one for each negative product. It reports whether the fast path can
// compute all columns.
//
// Exponents are exponents of a float64 here, biased by 1023.
func (w *tile) prepare(r *rule, low int, lows *[panel]int32) bool {
	ok, keep, least := true, r.keep, 1023+r.minExpC()
	low += 1023 - faintest
	_, _ = w.acc[0], lows[0]
	for l := range panel {
		c := w.acc[l]
		u := math.Float64bits(c) << 1
		e := int(u >> 53)
		if u != 0 {
			e = max(e, least) // a subnormal number has the exponent of the smallest normal number
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
		w.acc[l] = math.Float64frombits(u &^ cut) // an f32 in the normal range
	}
}

// sums adds the sums of floors to rest. It computes four columns at a time, because their
// values fit in the registers of most processors. The length of a block is a multiple of
// four.
func (w *tile) sums(x, ys []float64) {
	for h := 0; h < panel; h += 4 {
		unit, rest, y := (*[4]float64)(w.unit[h:]), (*[4]float64)(w.rest[h:]), ys[h:]
		half0, half1, half2, half3 := almostHalf*unit[0], almostHalf*unit[1], almostHalf*unit[2], almostHalf*unit[3]
		a, b, c, d := start*unit[0], start*unit[1], start*unit[2], start*unit[3]
		for xs := x; len(xs) >= 4; xs = xs[4:] {
			q := (*[3*panel + 4]float64)(y)
			v0, v1, v2, v3 := xs[0], xs[1], xs[2], xs[3]
			a, b, c, d = a+(v0*q[0]-half0), b+(v0*q[1]-half1), c+(v0*q[2]-half2), d+(v0*q[3]-half3)
			a, b, c, d = a+(v1*q[8]-half0), b+(v1*q[9]-half1), c+(v1*q[10]-half2), d+(v1*q[11]-half3)
			a, b, c, d = a+(v2*q[16]-half0), b+(v2*q[17]-half1), c+(v2*q[18]-half2), d+(v2*q[19]-half3)
			a, b, c, d = a+(v3*q[24]-half0), b+(v3*q[25]-half1), c+(v3*q[26]-half2), d+(v3*q[27]-half3)
			y = y[min(4*panel, len(y)):]
		}
		rest[0] += a - start*unit[0]
		rest[1] += b - start*unit[1]
		rest[2] += c - start*unit[2]
		rest[3] += d - start*unit[3]
	}
}
