package difffuzz

import "math/rand/v2"

// float is an IEEE 754 format by the widths of its fields.
type float struct{ exponent, fraction int }

var formats = []float{{11, 52}, {8, 23}, {5, 10}, {8, 7}, {8, 10}, {4, 3}, {5, 2}}

func (f float) width() int { return 1 + f.exponent + f.fraction }

// nasty is a number of the format at which arithmetic tends to go wrong: zeros,
// infinities, NaNs with payloads, subnormals, the ends of the range, ones and their
// neighbours, halves that are ties, small whole numbers.
func (f float) nasty(r *rand.Rand) uint64 {
	inf := (uint64(1)<<f.exponent - 1) << f.fraction
	frac := uint64(1)<<f.fraction - 1
	bias := uint64(1)<<(f.exponent-1) - 1
	at := func(e uint64) uint64 { return e & (1<<f.exponent - 1) << f.fraction }
	var v uint64
	switch r.IntN(12) {
	case 0:
		v = 0
	case 1:
		v = inf
	case 2: // NaN, quiet or signalling
		v = inf | max(r.Uint64()&frac, 1)
	case 3: // subnormal, at its ends now and then
		v = []uint64{1, frac, frac >> 1, r.Uint64() & frac}[r.IntN(4)]
	case 4: // around the smallest normal number
		v = at(1) + r.Uint64N(5) - 2
	case 5: // around the largest
		v = inf - 1 - r.Uint64N(3)
	case 6: // around 1
		v = at(bias) + r.Uint64N(5) - 2
	case 7: // a power of two
		v = at(r.Uint64N(1 << f.exponent))
	case 8: // n + a half, or close to it
		v = at(bias+r.Uint64N(uint64(min(f.fraction, int(bias)))+1)) | 1<<r.IntN(f.fraction)
	case 9: // close to each other, so that they cancel
		v = at(bias) | r.Uint64()&frac>>(f.fraction/2)
	case 10: // not far from 1
		v = at(bias-min(8, bias-1)+r.Uint64N(16)) | r.Uint64()&frac
	default:
		v = r.Uint64()
	}
	return v&(inf|frac) | r.Uint64N(2)<<(f.width()-1)
}

// nastyInt is a whole number near the border of a type, or a small one, which is also
// a shift count or a position.
func nastyInt(r *rand.Rand) uint64 {
	switch r.IntN(6) {
	case 0:
		return r.Uint64N(70)
	case 1:
		return uint64(1)<<r.IntN(64) + r.Uint64N(3) - 1
	case 2:
		return -(uint64(1)<<r.IntN(64) + r.Uint64N(3) - 1)
	case 3:
		return -r.Uint64N(70)
	case 4:
		return uint64(r.Uint32()) * 0x100000001 // both halves alike
	}
	return r.Uint64()
}

// nasty is 64 bits of one format, as many numbers as fit, or a whole number.
func nasty(r *rand.Rand) uint64 {
	n := r.IntN(len(formats) + 4)
	if n >= len(formats) {
		return nastyInt(r)
	}
	f := formats[n]
	width := f.width()
	switch width { // tf32 lies in a word, its low bits are anything
	case 19:
		return f.nasty(r)<<13 | r.Uint64N(1<<13) | f.nasty(r)<<45
	}
	var v uint64
	for at := 0; at < 64; at += width {
		v |= f.nasty(r) << at
	}
	return v
}

// fill is n bytes of nasty numbers by a seed; zeros for 0.
func fill(seed uint64, n int) []byte {
	b := make([]byte, n)
	if seed == 0 {
		return b
	}
	r := rand.New(rand.NewPCG(seed, 0xf111))
	for at := 0; at < n; at += 8 {
		put(b[at:], nasty(r))
	}
	return b
}

// put writes as many bytes of v as fit.
func put(b []byte, v uint64) {
	for i := range min(8, len(b)) {
		b[i] = byte(v >> (8 * i))
	}
}
