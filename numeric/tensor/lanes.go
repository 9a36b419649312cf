package tensor

// Biased exponents are stored in the lanes of a 64-bit word. One addition then gives the
// exponents of several products, and a few more operations give the larger of two exponents
// in all lanes. These operations need the top bit of each lane. The bias is chosen so that a
// sum with a zero factor is smaller than all other sums, and that all other sums have one
// common bit set:
//
//	lane     types             exponent     biased     sum of two    with a zero
//	8 bits   f16, e4m3, e5m2   -14…15       32…61      64…122        0…61
//	16 bits  bf16, tf32        -126…127     512…765    1024…1530     0…765
//
// The exponents of infinities and NaNs are arbitrary here and may change the neighbouring
// lanes. This has no effect, because a tile with an infinity or a NaN is computed by exact as
// a whole.
//
// For a row, a word holds the exponent of one element in all lanes, with the top bits set.
// For a tile of eight columns, one word holds the exponents of all columns for one element. If
// the lanes have 16 bits there are two words: first all words of columns 0…3, then all words
// of columns 4…7.
const (
	bias8, bias16   = 32 + 14, 512 + 126
	top8, top16     = 0x8080808080808080, 0x8000800080008000
	every8, every16 = 0x0101010101010101, 0x0001000100010001
	some8           = 0x40 * every8 // the common bit
)

func (k Kind) bias() int {
	if k.wide() {
		return bias16
	}
	return bias8
}

// maxima8 computes the largest exponents of the products of a row with eight columns. It is
// floorExp for a column where all products are zero.
func (w *tile) maxima8(a, b []uint64) {
	var m0, m1, m2, m3 uint64
	for ; len(a) >= 8 && len(b) >= 8; a, b = a[8:], b[8:] {
		m0, m1 = max8(a[0]+b[0], m0), max8(a[1]+b[1], m1)
		m2, m3 = max8(a[2]+b[2], m2), max8(a[3]+b[3], m3)
		m0, m1 = max8(a[4]+b[4], m0), max8(a[5]+b[5], m1)
		m2, m3 = max8(a[6]+b[6], m2), max8(a[7]+b[7], m3)
	}
	m := max8(max8(m0|top8, m1)|top8, max8(m2|top8, m3))
	w.tops[0], w.tops[1] = int(m&0x7f)-2*bias8, int(m>>8&0x7f)-2*bias8
	w.tops[2], w.tops[3] = int(m>>16&0x7f)-2*bias8, int(m>>24&0x7f)-2*bias8
	w.tops[4], w.tops[5] = int(m>>32&0x7f)-2*bias8, int(m>>40&0x7f)-2*bias8
	w.tops[6], w.tops[7] = int(m>>48&0x7f)-2*bias8, int(m>>56&0x7f)-2*bias8
	if m&some8 != some8 {
		for l := range panel {
			if m>>(8*l)&0x40 == 0 {
				w.tops[l] = floorExp
			}
		}
	}
}

// maxima16 is maxima8 for lanes of 16 bits: b holds the words of the first four columns and
// then those of the last four. Here exponents may be smaller than floorExp.
func (w *tile) maxima16(a, b []uint64) {
	for h := range 2 {
		m := max16s(a, b[h*len(a):][:len(a)])
		for l := range panel / 2 {
			w.tops[h*panel/2+l] = floorExp
			if m&0x400 != 0 {
				w.tops[h*panel/2+l] = max(int(m&0x7fff)-2*bias16, floorExp)
			}
			m >>= 16
		}
	}
}

func max16s(a, b []uint64) uint64 {
	var m0, m1, m2, m3 uint64
	for ; len(a) >= 4 && len(b) >= 4; a, b = a[4:], b[4:] {
		m0, m1 = max16(a[0]+b[0], m0), max16(a[1]+b[1], m1)
		m2, m3 = max16(a[2]+b[2], m2), max16(a[3]+b[3], m3)
	}
	return max16(max16(m0|top16, m1)|top16, max16(m2|top16, m3))
}

// max8 returns the larger value in each 8-bit lane of x and y. The top bits of the lanes are
// set in x and clear in y. After a subtraction, the top bit of a lane is still set if x ≥ y.
func max8(x, y uint64) uint64 {
	d := x - y
	ge := d & top8
	return y + d&(ge-ge>>7)
}

// max16 is max8 for 16-bit lanes.
func max16(x, y uint64) uint64 {
	d := x - y
	ge := d & top16
	return y + d&(ge-ge>>15)
}
