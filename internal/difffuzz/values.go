package difffuzz

import "math/rand/v2"

// float is an IEEE 754 format, given by the widths of its fields.
type float struct{ exponent, fraction int }

var formats = []float{{11, 52}, {8, 23}, {5, 10}, {8, 7}, {8, 10}, {4, 3}, {5, 2}}

func (f float) width() int { return 1 + f.exponent + f.fraction }

// edgeValue returns a number at which implementations of arithmetic tend to be wrong:
// zeros, infinities, NaNs with payloads, subnormals, numbers at the ends of the range and
// around 1, ties between two roundings, small integers.
func (f float) edgeValue(r *rand.Rand) uint64 {
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
	case 3: // subnormal, sometimes the smallest or largest
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
	case 9: // numbers close to each other, so that their difference cancels
		v = at(bias) | r.Uint64()&frac>>(f.fraction/2)
	case 10: // of ordinary size
		v = at(bias-min(8, bias-1)+r.Uint64N(16)) | r.Uint64()&frac
	default:
		v = r.Uint64()
	}
	return v&(inf|frac) | r.Uint64N(2)<<(f.width()-1)
}

// edgeInt returns an integer near the limit of a type, or a small integer, which is also a
// valid shift count or bit position.
func edgeInt(r *rand.Rand) uint64 {
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
		return uint64(r.Uint32()) * 0x100000001 // both halves are equal
	}
	return r.Uint64()
}

// edgeWord returns 64 bits: as many edge values of one format as fit, or an integer.
func edgeWord(r *rand.Rand) uint64 {
	n := r.IntN(len(formats) + 4)
	if n >= len(formats) {
		return edgeInt(r)
	}
	f := formats[n]
	width := f.width()
	switch width { // a tf32 occupies a 32-bit word with arbitrary low bits
	case 19:
		return f.edgeValue(r)<<13 | r.Uint64N(1<<13) | f.edgeValue(r)<<45
	}
	var v uint64
	for at := 0; at < 64; at += width {
		v |= f.edgeValue(r) << at
	}
	return v
}

// fill returns n bytes of edge values for a seed, or zeros for seed 0.
func fill(seed uint64, n int) []byte {
	b := make([]byte, n)
	if seed == 0 {
		return b
	}
	r := rand.New(rand.NewPCG(seed, 0xf111))
	for at := 0; at < n; at += 8 {
		put(b[at:], edgeWord(r))
	}
	return b
}

// put writes as many bytes of v as fit.
func put(b []byte, v uint64) {
	for i := range min(8, len(b)) {
		b[i] = byte(v >> (8 * i))
	}
}
