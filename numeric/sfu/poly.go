package sfu

// coef are the coefficients of one segment.
type coef [3]uint32

// poly is a function's interpolation: where the coefficients stand in the sum, and
// the bits below the result that are added before it is cut.
type poly struct {
	m      int  // bits of the significand that pick the segment
	a0, a1 int  // shifts of C0 and of C1·x
	minus1 bool // C1·x is subtracted
	minus2 bool // C2·x² is subtracted
	half   bool // the squarer gets 2x and its result is taken down two bits
	weight int  // the bit of the sum that stands for 1
	bias   uint64
}

var (
	ex2Poly   = poly{m: 6, a0: 32, a1: 19, weight: 57, bias: 0x6fc4 << 48}
	rcpPoly   = poly{m: 7, a0: 30, a1: 17, minus1: true, half: true, weight: 56, bias: 0x67e7 << 48}
	rsqrtPoly = poly{m: 6, a0: 31, a1: 17, minus1: true, weight: 57, bias: 0x7fff8 << 44}
	sqrtPoly  = poly{m: 6, a0: 33, a1: 18, minus2: true, weight: 58, bias: 0x7fff8 << 44}
	lg2Poly   = poly{m: 6, a0: 30, a1: 18, minus2: true, weight: 56, bias: 0x868b << 48}
	sinPoly   = poly{m: 6, a0: 31, a1: 19, minus2: true, weight: 56}
	tanhPoly  = poly{a0: 33, a1: 18, minus2: true, weight: 57}
)

// segment is the index of the coefficients for a 23-bit fraction, and what is left
// of it.
func (p *poly) segment(frac uint32) (index, rest uint32) {
	n := 23 - p.m
	return frac >> n, frac & (1<<n - 1)
}

// tail is the sum but for C0.
func (p *poly) tail(c1, c2 uint32, x uint32) uint64 {
	var sum uint64
	if t := uint64(c1) * uint64(x) << (p.a1 & 63); p.minus1 {
		sum -= t
	} else {
		sum += t
	}
	if t := uint64(c2) * p.square(x); p.minus2 {
		sum -= t
	} else {
		sum += t
	}
	return sum + p.bias>>(64-p.weight+23)
}

// square is x² as this function's squarer gives it.
func (p *poly) square(x uint32) uint64 {
	if p.half {
		return square(x<<1) >> 2
	}
	return square(x)
}

// eval is the sum for a 23-bit fraction.
func (p *poly) eval(c *coef, x uint32) uint64 {
	return uint64(c[0])<<(p.a0&63) + p.tail(c[1], c[2], x)
}

// squareColumns is how many low columns of partial products the squarer lacks.
const squareColumns = 19

// square is x² without the partial products in the low columns. Row i of the
// triangle holds the products of bit i with the higher bits; the products of each
// bit with itself are a diagonal.
//
// What bits 0…7 lose with those from 10 on lies in the upper eight of the low
// columns: (high·2^i mod 2^8)·2^11 for bit i. Two tables have the sums of that over
// four bits each.
func square(x uint32) uint64 {
	high := x >> squareLow & 0xff
	lost := squares[x&(1<<squareLow-1)] + uint32(crossLow[x&15][high]+crossHigh[x>>4&15][high&15])<<(squareLow+1)
	return uint64(x)*uint64(x) - uint64(lost)
}

const (
	squareRows = 9  // rows of the triangle that reach into the low columns
	squareLow  = 10 // bits whose squares lie there
)

var (
	crossLow = func() (t [16][256]uint16) {
		for low := range t {
			for high := range t[low] {
				t[low][high] = cross(low, high)
			}
		}
		return t
	}()
	crossHigh = func() (t [16][16]uint16) {
		for low := range t {
			for high := range t[low] {
				t[low][high] = cross(low<<4, high)
			}
		}
		return t
	}()
)

// cross is the sum of high·2^i mod 2^8 over the bits i of low.
func cross(low, high int) (sum uint16) {
	for i := range 8 {
		if low>>i&1 != 0 {
			sum += uint16(high << i & 0xff)
		}
	}
	return sum
}

// squares is what the products of the low bits with each other lose.
var squares = func() (t [1 << squareLow]uint32) {
	const mask = 1<<squareColumns - 1
	for x := range uint32(len(t)) {
		t[x] = uint32(spread(x)) & mask
		for i := range squareRows {
			if x>>i&1 != 0 {
				t[x] += x << (i + 1) &^ (1<<(2*i+2) - 1) & mask
			}
		}
	}
	return t
}()

// spread puts bit i of x at 2i: the products of each bit with itself.
func spread(x uint32) uint64 {
	v := uint64(x & 0xffff)
	v = (v | v<<8) & 0x00ff00ff
	v = (v | v<<4) & 0x0f0f0f0f
	v = (v | v<<2) & 0x33333333
	return (v | v<<1) & 0x55555555
}
