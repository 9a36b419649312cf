package tensor

import "math"

// Exponents are kept biased in the lanes of a 64-bit word, so that one addition
// gives the exponents of many products and a few more operations the larger of two
// for all lanes. The top bit of a lane stays free for that. The bias keeps sums
// with a zero factor below all others:
//
//	lane     types             exponent     biased     sum of two    with a zero
//	8 bits   f16, e4m3, e5m2   -14…15       32…61      64…122        0…61
//	16 bits  bf16, tf32        -126…127     512…765    1024…1530     0…765
const (
	bias8, bias16   = 32 + 14, 512 + 126
	least8, least16 = -28, -252 // of a product that is not zero
	top8, top16     = 0x8080808080808080, 0x8000800080008000
	every8, every16 = 0x0101010101010101, 0x0001000100010001
)

func (x *factor) lane(v float64, bias int) uint64 {
	u := math.Float64bits(v)
	e := int(u >> 52 & 0x7ff)
	if u<<1 == 0 || e == 0x7ff {
		return 0 // an infinity or a NaN goes the exact way
	}
	return uint64(max(e-1023, x.minExp) + bias)
}

// spread puts the exponent of each element into all lanes of its word, and makes
// the elements larger for the fast path.
func (f *Float) spread(x *factor) {
	bias, every := bias8, uint64(every8)
	if f.a.wide() {
		bias, every = bias16, every16
	}
	x.exps = resize(x.exps, len(x.val))
	x.large = resize(x.large, len(x.val))
	for i, v := range x.val {
		x.exps[i] = x.lane(v, bias) * every
		x.large[i] = v * larger
	}
}

// group puts the exponents of as many lines as there are lanes into one word:
// words of a group are consecutive in k. Lanes past the last line are zeros.
func (f *Float) group(x *factor) {
	bias, lanes := bias8, 8
	if f.b.wide() {
		bias, lanes = bias16, 4
	}
	groups := (x.lines + lanes - 1) / lanes
	x.exps = resize(x.exps, groups*x.depth)
	clear(x.exps)
	for i := range x.lines {
		words := x.exps[i/lanes*x.depth:][:x.depth]
		shift := i % lanes * (64 / lanes)
		for k, v := range x.val[i*x.depth:][:x.depth] {
			words[k] |= x.lane(v, bias) << shift
		}
	}
}

// tops are the largest exponents of the products of row i with the columns from j
// on, for a block that begins at element from. They are less than any exponent
// where all products are zero.
func (f *Float) tops(a *Rows, b *Cols, i, j, from, length int) (tops [8]int16) {
	x := a.exps[i*a.depth+from:][:length]
	if f.a.wide() {
		m := maxima16(x, b.exps[j/4*b.depth+from:][:length])
		for l := range 4 {
			tops[l] = none(int16(m>>(16*l)&0x7fff), 2*bias16, least16)
		}
		return tops
	}
	m := maxima8(x, b.exps[j/8*b.depth+from:][:length])
	for l := range tops {
		tops[l] = none(int16(m>>(8*l)&0x7f), 2*bias8, least8)
	}
	return tops
}

// none takes the bias out of the sum of two exponents.
func none(sum, bias, least int16) int16 {
	if sum-bias < least {
		return floorExp
	}
	return sum - bias
}

// maxima8 are the largest sums of exponents in lanes of 8 bits.
func maxima8(a, b []uint64) uint64 {
	var m0, m1 uint64
	for len(a) >= 4 && len(b) >= 4 {
		m0, m1 = max8(a[0]+b[0], m0), max8(a[1]+b[1], m1)
		m0, m1 = max8(a[2]+b[2], m0), max8(a[3]+b[3], m1)
		a, b = a[4:], b[4:]
	}
	return max8(m0, m1)
}

// maxima16 are those in lanes of 16 bits.
func maxima16(a, b []uint64) uint64 {
	var m0, m1 uint64
	for len(a) >= 4 && len(b) >= 4 {
		m0, m1 = max16(a[0]+b[0], m0), max16(a[1]+b[1], m1)
		m0, m1 = max16(a[2]+b[2], m0), max16(a[3]+b[3], m1)
		a, b = a[4:], b[4:]
	}
	return max16(m0, m1)
}

// max8 is the larger value in each 8-bit lane.
func max8(x, y uint64) uint64 {
	d := (x | top8) - y // the top bit of a lane stays where x ≥ y
	ge := d & top8
	return y + d&(ge-ge>>7)
}

// max16 is the larger value in each 16-bit lane.
func max16(x, y uint64) uint64 {
	d := (x | top16) - y
	ge := d & top16
	return y + d&(ge-ge>>15)
}
