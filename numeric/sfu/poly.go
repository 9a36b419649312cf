package sfu

// coef holds the coefficients of one segment.
type coef [3]uint32

// poly describes the interpolation of a function: the positions of the coefficients in the
// sum, and the rounding constant that is added before the sum is truncated.
type poly struct {
	m      int  // number of bits of the significand that select the segment
	a0, a1 int  // shifts of C0 and of C1·x
	minus1 bool // C1·x is subtracted
	minus2 bool // C2·x² is subtracted
	half   bool // the squarer computes (2x)², and the result is shifted right by two bits
	weight int  // the bit of the sum with the value 1
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

// segment returns the index of the coefficients for a 23-bit fraction, and the remaining
// bits of the fraction.
func (p *poly) segment(frac uint32) (index, rest uint32) {
	n := 23 - p.m
	return frac >> n, frac & (1<<n - 1)
}

// tail returns the sum without C0.
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

// square returns x² as the squarer of this function computes it.
func (p *poly) square(x uint32) uint64 {
	if p.half {
		return square(x<<1) >> 2
	}
	return square(x)
}

// eval returns the sum for a 23-bit fraction.
func (p *poly) eval(c *coef, x uint32) uint64 {
	return uint64(c[0])<<(p.a0&63) + p.tail(c[1], c[2], x)
}

// squareColumns is the number of low columns of partial products that the squarer omits.
const squareColumns = 19

// square returns x² without the partial products in the low columns. The partial products
// form a triangle: row i holds the products of bit i with the higher bits, and the products
// of each bit with itself are the diagonal.
//
// The omitted products of bits 0…7 with the bits from 10 on are in the upper eight of the low
// columns: (high·2^i mod 2^8)·2^11 for bit i. Two tables hold the sums of these products for
// four bits each.
func square(x uint32) uint64 {
	high := x >> squareLow & 0xff
	lost := squares[x&(1<<squareLow-1)] + uint32(crossLow[x&15][high]+crossHigh[x>>4&15][high&15])<<(squareLow+1)
	return uint64(x)*uint64(x) - uint64(lost)
}

const (
	squareRows = 9  // number of rows of the triangle that reach into the low columns
	squareLow  = 10 // number of bits whose squares are in the low columns
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

// cross returns the sum of high·2^i mod 2^8 over the bits i of low.
func cross(low, high int) (sum uint16) {
	for i := range 8 {
		if low>>i&1 != 0 {
			sum += uint16(high << i & 0xff)
		}
	}
	return sum
}

// squares holds the sums of the omitted products of the low bits with each other.
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

// spread moves bit i of x to bit 2i. This gives the products of each bit with itself.
func spread(x uint32) uint64 {
	v := uint64(x & 0xffff)
	v = (v | v<<8) & 0x00ff00ff
	v = (v | v<<4) & 0x0f0f0f0f
	v = (v | v<<2) & 0x33333333
	return (v | v<<1) & 0x55555555
}
