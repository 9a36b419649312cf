package ref

import "math"

// Every machine must generate the same numbers, so that hashes of results can be
// compared. Go may fuse a product and a sum into one rounding unless the product is
// converted explicitly; every product below therefore has a conversion. math.Log is
// not used because its last bits differ between architectures.

// stream is a sequence of random 64-bit words. The word at any index can be computed
// without computing the words before it.
type stream uint64

// newStream returns the stream for a seed and a number. Different pairs of seed and
// number give independent streams.
func newStream(seed uint64, number int) stream {
	return stream(mix(mix(seed) + uint64(number)))
}

// at returns word n of the stream, counted from 0. The generator is SplitMix64
// (Steele, Lea and Flood 2014); its state is a counter, so n selects the state.
func (s stream) at(n uint64) uint64 {
	return mix(uint64(s) + (n+1)*0x9e3779b97f4a7c15)
}

// mix is the output function of SplitMix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uniform returns number n of a uniform distribution over [-1, 1).
func (s stream) uniform(n uint64) float64 {
	return float64(int64(s.at(n))>>11) * 0x1p-52
}

// sign returns 1 or -1 with equal probability, from word n.
func (s stream) sign(n uint64) float64 {
	return float64(1 - 2*int(s.at(n)>>63))
}

// normals fills the row with normal deviates. The first one is deviate n of the stream.
func (s stream) normals(n uint64, row []float32) {
	for i := 0; i < len(row); {
		a, b := s.normalPair((n + uint64(i)) / 2)
		if (n+uint64(i))%2 == 0 {
			row[i] = float32(a)
			i++
		}
		if i < len(row) {
			row[i] = float32(b)
			i++
		}
	}
}

// normalPair returns pair p of normal deviates, by the polar method of Marsaglia. The
// method draws points in a square until one lies in the unit disc; about one point in
// five does not. 64 rejected points in a row have a probability of about 2e-43, so the
// result (0, 0) for that case never occurs.
func (s stream) normalPair(p uint64) (float64, float64) {
	for try := range uint64(64) {
		w := s.at(p<<6 | try)
		u, v := centred(uint32(w>>32)), centred(uint32(w))
		r := float64(u*u) + float64(v*v)
		if r < 1 {
			f := math.Sqrt(float64(-2*ln(r)) / r)
			return float64(u * f), float64(v * f)
		}
	}
	return 0, 0
}

// centred maps w to one of 2^32 evenly spaced numbers in (-1, 1). None of them is zero.
func centred(w uint32) float64 {
	return float64(2*int64(w)+1-1<<32) * 0x1p-32
}

// artanh holds the coefficients of the series of artanh, highest power first.
var artanh = [...]float64{1. / 23, 1. / 21, 1. / 19, 1. / 17, 1. / 15, 1. / 13, 1. / 11, 1. / 9, 1. / 7, 1. / 5, 1. / 3, 1}

// ln returns the natural logarithm of x, accurate to a few units in the last place. x
// must be positive and not subnormal.
func ln(x float64) float64 {
	const expMask = 0x7ff
	b := math.Float64bits(x)
	e := int(b>>52)&expMask - 1023
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	if m > math.Sqrt2 {
		m, e = m/2, e+1
	}
	// ln m = 2·artanh f. The series in f² converges fast because f² is below 0.03.
	f := (m - 1) / (m + 1)
	f2 := float64(f * f)
	sum := 0.0
	for _, c := range artanh {
		sum = float64(sum*f2) + c
	}
	return float64(float64(e)*math.Ln2) + 2*float64(f*sum)
}
