package tensor

import "math"

// floorExp is the least exponent that terms are aligned to, however small they are.
// An H200 keeps bits down to 2^-158 and no further, which is this with the 25 bits
// it keeps.
const floorExp = -133

// exact is one block, by the rules: c + Σ a·b for factors whose subnormals have
// the exponents minA and minB, before the result is rounded.
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

// minExpC is the exponent of a subnormal accumulator.
func (r *rule) minExpC() int {
	if r.half {
		return kindInfo[F16].minExp
	}
	return kindInfo[F32].minExp
}

// round is the result of a block.
func (r *rule) round(x float64) float64 {
	if r.half {
		return valueF16(bitsF16(x))
	}
	return cutF32(x, r.frac)
}

// pow2 is 2^e for the exponents of normal float64.
func pow2(e int) float64 { return math.Float64frombits(uint64(e+1023) << 52) }
