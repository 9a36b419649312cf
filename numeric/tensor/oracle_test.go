package tensor

import "math/big"

// The oracle follows the rules with integers in units of 2^-oracleUnit. It uses nothing of the
// package except the names of types.
const oracleUnit = 700

// format is the definition of a type.
type format struct {
	exp, frac, drop int  // bits of exponent and fraction, and ignored bits below them
	ieee            bool // the largest exponent is for infinity and NaN
}

var formats = map[Kind]format{
	F16:  {5, 10, 0, true},
	BF16: {8, 7, 0, true},
	TF32: {8, 10, 13, true},
	E4M3: {4, 3, 0, false},
	E5M2: {5, 2, 0, true},
	F32:  {8, 23, 0, true},
}

// number is ±sig·2^(exp-frac), an infinity or a NaN.
type number struct {
	sig, exp, frac int
	inf, nan       bool
	neg            bool
}

func (f format) decode(bits uint32) number {
	bits >>= f.drop
	n := number{frac: f.frac, neg: bits>>(f.exp+f.frac)&1 != 0}
	field := int(bits >> f.frac & (1<<f.exp - 1))
	n.sig = int(bits & (1<<f.frac - 1))
	last := field == 1<<f.exp-1
	switch {
	case f.ieee && last:
		n.inf, n.nan = n.sig == 0, n.sig != 0
		return n
	case !f.ieee && last && n.sig == 1<<f.frac-1:
		n.nan = true
		return n
	case field == 0:
		field = 1
	default:
		n.sig += 1 << f.frac
	}
	n.exp = field - (1<<(f.exp-1) - 1)
	return n
}

// units returns a finite number in units of 2^-oracleUnit.
func (n number) units() *big.Int {
	x := big.NewInt(int64(n.sig))
	x.Lsh(x, uint(oracleUnit+n.exp-n.frac))
	if n.neg {
		x.Neg(x)
	}
	return x
}

// term is a product or the accumulator.
type term struct {
	num      number
	nan, inf bool
}

func times(a, b number) term {
	p := number{sig: a.sig * b.sig, exp: a.exp + b.exp, frac: a.frac + b.frac, neg: a.neg != b.neg}
	zero := func(n number) bool { return n.sig == 0 && !n.inf && !n.nan }
	t := term{num: p, inf: a.inf || b.inf}
	t.nan = a.nan || b.nan || a.inf && zero(b) || b.inf && zero(a)
	return t
}

// oracleBlock computes one block: it aligns and adds the terms and rounds the result.
func oracleBlock(r oracleRule, terms []term) uint32 {
	var plus, minus bool
	for _, t := range terms {
		if t.nan {
			return r.nan()
		}
		plus = plus || t.inf && !t.num.neg
		minus = minus || t.inf && t.num.neg
	}
	switch {
	case plus && minus:
		return r.nan()
	case plus || minus:
		return r.inf(minus)
	}
	m := -133
	for _, t := range terms {
		if t.num.sig != 0 {
			m = max(m, t.num.exp)
		}
	}
	unit := new(big.Int).Lsh(big.NewInt(1), uint(oracleUnit+m-r.keep))
	sum := new(big.Int)
	for _, t := range terms {
		cut := t.num.units()
		cut.Quo(cut, unit) // towards zero
		sum.Add(sum, cut)
	}
	return r.round(sum.Mul(sum, unit))
}

// oracleRule defines how a target computes sums.
type oracleRule struct {
	keep, frac int
	half       bool
}

func (r oracleRule) nan() uint32 {
	if r.half {
		return 0x7fff
	}
	return 0x7fffffff
}

func (r oracleRule) inf(neg bool) uint32 {
	bits := uint32(0x7f800000)
	if r.half {
		bits = 0x7c00
	}
	return bits | r.sign(neg)
}

func (r oracleRule) sign(neg bool) uint32 {
	switch {
	case !neg:
		return 0
	case r.half:
		return 0x8000
	}
	return 0x80000000
}

// round returns the result for a sum in units: an f16 rounded to nearest even, or a truncated
// f32.
func (r oracleRule) round(sum *big.Int) uint32 {
	neg := sum.Sign() < 0
	mag := new(big.Int).Abs(sum)
	if mag.Sign() == 0 {
		return 0
	}
	frac, low, keep := 23, -126, r.frac
	if r.half {
		frac, low, keep = 10, -14, 10
	}
	exp := max(mag.BitLen()-1-oracleUnit, low)
	unit := uint(oracleUnit + exp - keep)
	q, rest := new(big.Int).Rsh(mag, unit), new(big.Int)
	rest.Sub(mag, new(big.Int).Lsh(q, unit))
	if r.half {
		half := new(big.Int).Lsh(big.NewInt(1), unit-1)
		if c := rest.Cmp(half); c > 0 || c == 0 && q.Bit(0) == 1 {
			q.Add(q, big.NewInt(1))
		}
	}
	if q.Sign() == 0 {
		return 0 // a result of zero has no sign
	}
	sig := uint32(q.Int64()) << (frac - keep)
	// The leading bit of the significand adds one to the field of the exponent.
	bits := uint32(exp-low)<<frac + sig
	if inf := r.inf(false); bits >= inf {
		bits = inf
	}
	return bits | r.sign(neg)
}
