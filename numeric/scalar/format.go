package scalar

import "math/bits"

// format describes a binary floating-point format. Bit patterns are without the sign bit,
// unless stated otherwise.
type format struct {
	width  int    // total number of bits
	frac   int    // bits of fraction
	bias   int    // the bias of the exponent
	maxExp int    // the largest exponent of a finite number
	max    uint64 // largest finite number
	inf    uint64 // the result of an overflow; e4m3 has no infinity, so it is the NaN there
	nan    uint64 // the NaN of an invalid operation, with its sign
}

var (
	fmtF64  = format{width: 64, frac: 52, bias: 1023, maxExp: 1023, max: 0x7fefffffffffffff, inf: 0x7ff0000000000000, nan: NaNF64}
	fmtF32  = format{width: 32, frac: 23, bias: 127, maxExp: 127, max: 0x7f7fffff, inf: 0x7f800000, nan: NaNF32}
	fmtTF32 = format{width: 19, frac: 10, bias: 127, maxExp: 127, max: 0x3fbff, inf: 0x3fc00, nan: NaNTF32 >> tf32Drop}
	fmtBF16 = format{width: 16, frac: 7, bias: 127, maxExp: 127, max: 0x7f7f, inf: 0x7f80, nan: NaNBF16}
	fmtF16  = format{width: 16, frac: 10, bias: 15, maxExp: 15, max: 0x7bff, inf: 0x7c00, nan: NaNF16}
	fmtE4M3 = format{width: 8, frac: 3, bias: 7, maxExp: 8, max: 0x7e, inf: 0x7f, nan: NaNE4M3}
)

// kind is the class of a number.
type kind uint8

const (
	finite kind = iota // not zero
	zero
	infinite
	nan
)

// value is an unpacked number: ±(hi:lo)·2^(exp-127) with the top bit of hi set. 128 bits
// hold any product exactly. If a result has more bits, the last bit of lo is set if any of
// the lost bits is set.
type value struct {
	kind   kind
	neg    bool
	exp    int
	hi, lo uint64
}

// unpack returns the number that the bits represent.
func (f *format) unpack(b uint64) value {
	mag := b & (1<<(f.width-1) - 1)
	v := value{neg: b>>(f.width-1)&1 != 0}
	switch {
	case mag == 0:
		v.kind = zero
		return v
	case mag == f.inf && f != &fmtE4M3:
		v.kind = infinite
		return v
	case mag > f.max:
		v.kind = nan
		return v
	}
	sig, e := mag&(1<<f.frac-1), int(mag>>f.frac)
	if e == 0 {
		e = 1
	} else {
		sig |= 1 << f.frac
	}
	lead := bits.LeadingZeros64(sig)
	v.hi = sig << lead
	v.exp = e - f.bias + 63 - f.frac - lead
	return v
}

// pack rounds a number into the format.
func (f *format) pack(r Round, v value) uint64 {
	sign := uint64(0)
	if v.neg {
		sign = 1 << (f.width - 1)
	}
	switch v.kind {
	case zero:
		return sign
	case infinite:
		return sign | f.inf
	case nan:
		return f.nan
	}
	if v.exp <= f.maxExp {
		if mag := f.round(r, v); mag <= f.max {
			return sign | mag
		}
	}
	if r.overflows(v.neg) {
		return sign | f.inf
	}
	return sign | f.max
}

// round returns the magnitude of a finite number, which may be larger than max. A carry out
// of the fraction correctly increments the exponent.
func (f *format) round(r Round, v value) uint64 {
	emin := 1 - f.bias
	keep, base := f.frac+1, uint64(0)
	if v.exp < emin {
		keep -= emin - v.exp
	} else {
		base = uint64(v.exp-emin) << f.frac
	}
	var sig uint64
	var half, rest bool
	if keep < 0 {
		rest = true
	} else {
		sig = v.hi >> (64 - keep)
		cut := v.hi << keep
		half = cut>>63 != 0
		rest = cut<<1|v.lo != 0
	}
	if r.up(v.neg, sig&1 != 0, half, rest) {
		sig++
	}
	return base + sig
}

// convert rounds a number of one format into another.
func convert(r Round, to, from *format, b uint64) uint64 {
	return to.pack(r, from.unpack(b))
}
