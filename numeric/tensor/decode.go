package tensor

import "math"

// unpack decodes the elements of words, the lowest bits of a word first.
func (k Kind) unpack(dst []float64, words []uint32) {
	switch k {
	case F16:
		for i, w := range words {
			pair := dst[2*i : 2*i+2]
			pair[0], pair[1] = valueF16(w&0xffff), valueF16(w>>16)
		}
	case BF16:
		for i, w := range words {
			pair := dst[2*i : 2*i+2]
			pair[0], pair[1] = valueF32(w<<16), valueF32(w&0xffff0000)
		}
	case TF32:
		const dropped = 1<<13 - 1 // a tf32 in a register is an f32 whose low bits are ignored
		for i, w := range words {
			dst[i] = valueF32(w &^ dropped)
		}
	case E4M3:
		unpackBytes(dst, words, &valuesE4M3)
	case E5M2:
		unpackBytes(dst, words, &valuesE5M2)
	default:
		panic("tensor: " + k.String() + " is not the type of a floating-point factor")
	}
}

func unpackBytes(dst []float64, words []uint32, values *[256]float64) {
	for i, w := range words {
		quad := dst[4*i : 4*i+4]
		quad[0], quad[1] = values[w&0xff], values[w>>8&0xff]
		quad[2], quad[3] = values[w>>16&0xff], values[w>>24]
	}
}

func valueF32(bits uint32) float64 { return float64(math.Float32frombits(bits)) }

// valueF16 returns the value of the f16 in the low 16 bits.
func valueF16(h uint32) float64 {
	if e := h & 0x7c00; e-0x400 < 0x7800 {
		const rebias = (1023 - 15) << 52
		return math.Float64frombits(uint64(h&0x8000)<<48 | (uint64(h&0x7fff)<<42 + rebias))
	}
	return oddF16(h)
}

// oddF16 returns the value of an f16 that is not a normal number.
func oddF16(h uint32) float64 {
	sign, frac := uint64(h&0x8000)<<48, h&0x3ff
	if h&0x7c00 != 0 {
		return math.Float64frombits(sign | 0x7ff<<52 | uint64(frac)<<42)
	}
	return math.Float64frombits(sign | math.Float64bits(float64(frac)*0x1p-24))
}

var valuesE4M3, valuesE5M2 = tableE4M3(), tableE5M2()

// tableE5M2 returns the values of all e5m2. An e5m2 is the upper half of an f16.
func tableE5M2() (t [256]float64) {
	for i := range t {
		t[i] = valueF16(uint32(i) << 8)
	}
	return t
}

// tableE4M3 returns the values of all e4m3. The format has no infinity: the largest exponent
// is an ordinary exponent, except for one pattern that is the NaN.
func tableE4M3() (t [256]float64) {
	for i := range t {
		exp, sig := i>>3&0xf, float64(i&7)
		switch {
		case i&0x7f == 0x7f:
			t[i] = math.NaN()
			continue
		case exp == 0:
			exp = 1
		default:
			sig += 8
		}
		t[i] = math.Copysign(math.Ldexp(sig, exp-7-3), float64(1-i>>7*2))
	}
	return t
}

// exponent returns the exponent of a finite nonzero number, in a type whose subnormals have
// the exponent min.
func exponent(x float64, min int) int {
	return max(int(math.Float64bits(x)>>52&0x7ff)-1023, min)
}

func special(x float64) bool { return math.Float64bits(x)>>52&0x7ff == 0x7ff }
