package ref

import "math"

// The numbers here are the same on every machine. Integers are; of floating point,
// the four operations and the square root are, if nothing is fused: Go may make one
// rounding of a product and a sum, unless the product is converted explicitly. So
// each product below is, and there is no math.Log, which differs between
// architectures.

// stream is a sequence of random bits that can be entered anywhere.
type stream uint64

// newStream is a stream of its own for each seed and each number within it.
func newStream(seed uint64, number int) stream {
	return stream(mix(mix(seed) + uint64(number)))
}

// at is the nth word of the stream: SplitMix64 (Steele, Lea and Flood 2014), whose
// state is a counter.
func (s stream) at(n uint64) uint64 {
	return mix(uint64(s) + (n+1)*0x9e3779b97f4a7c15)
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uniform is the nth number of those in [-1, 1).
func (s stream) uniform(n uint64) float64 {
	return float64(int64(s.at(n))>>11) * 0x1p-52
}

// sign is the nth of a row of coin tosses, 1 or -1.
func (s stream) sign(n uint64) float64 {
	return float64(1 - 2*int(s.at(n)>>63))
}

// normals fills a row with normal deviates, those from the nth on.
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

// normalPair is the pth pair of normal deviates, by the polar method of Marsaglia: a
// point in the unit disc, moved outwards. Points outside the disc are rejected, a
// fifth of them; 64 in a row do not happen.
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

// centred is one of 2^32 numbers in (-1, 1), evenly apart and none of them zero.
func centred(w uint32) float64 {
	return float64(2*int64(w)+1-1<<32) * 0x1p-32
}

// artanh is the coefficients of its series, the last first.
var artanh = [...]float64{1. / 23, 1. / 21, 1. / 19, 1. / 17, 1. / 15, 1. / 13, 1. / 11, 1. / 9, 1. / 7, 1. / 5, 1. / 3, 1}

// ln is the natural logarithm of a normal positive number, to a few units in the
// last place.
func ln(x float64) float64 {
	const expMask = 0x7ff
	b := math.Float64bits(x)
	e := int(b>>52)&expMask - 1023
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	if m > math.Sqrt2 {
		m, e = m/2, e+1
	}
	// ln m = 2·artanh f, whose series in f² converges fast: f² is below 0.03.
	f := (m - 1) / (m + 1)
	f2 := float64(f * f)
	sum := 0.0
	for _, c := range artanh {
		sum = float64(sum*f2) + c
	}
	return float64(float64(e)*math.Ln2) + 2*float64(f*sum)
}
