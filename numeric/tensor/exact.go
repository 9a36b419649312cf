package tensor

import "math"

// floorExp is the smallest exponent to which terms are aligned, even if all terms are
// smaller. An H200 keeps bits down to 2^-158, which is floorExp minus the 25 bits that it
// keeps below the largest exponent.
const floorExp = -133

// exact returns the sum of one block by the rules: c + Σ a·b before the result is rounded.
// The subnormals of the factors have the exponents minA and minB.
func (r *rule) exact(c float64, a, b []float64, minA, minB int) float64 {
	b = b[:len(a)]
	any := c
	for k, x := range a {
		any += x * b[k]
	}
	if special(any) {
		return any // finite terms cannot overflow a float64
	}
	m := floorExp
	if c != 0 {
		m = max(m, exponent(c, r.minExpC()))
	}
	for k, x := range a {
		if x != 0 && b[k] != 0 {
			m = max(m, exponent(x, minA)+exponent(b[k], minB))
		}
	}
	scale := pow2(r.keep - m)
	sum := int64(c * scale)
	for k, x := range a {
		sum += int64(x * b[k] * scale)
	}
	return float64(sum) * pow2(m-r.keep)
}

// minExpC returns the exponent of a subnormal accumulator.
func (r *rule) minExpC() int {
	if r.half {
		return kindInfo[F16].minExp
	}
	return kindInfo[F32].minExp
}

// round returns the result of a block.
func (r *rule) round(x float64) float64 {
	if r.half {
		return valueF16(bitsF16(x))
	}
	return cutF32(x, r.frac)
}

// pow2 returns 2^e. e must be the exponent of a normal float64.
func pow2(e int) float64 { return math.Float64frombits(uint64(e+1023) << 52) }
