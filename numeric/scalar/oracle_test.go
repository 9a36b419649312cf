package scalar

import (
	"math/big"
	"math/rand/v2"
)

// The oracle computes with exact fractions and rounds by the definition. It uses nothing of
// the package except the names of the rounding modes.

// ieee is a format, given only by the widths of its fields.
type ieee struct{ exp, frac int }

var (
	oF64  = ieee{11, 52}
	oF32  = ieee{8, 23}
	oTF32 = ieee{8, 10}
	oBF16 = ieee{8, 7}
	oF16  = ieee{5, 10}
	oE5M2 = ieee{5, 2}
)

func (f ieee) width() int     { return 1 + f.exp + f.frac }
func (f ieee) bias() int      { return 1<<(f.exp-1) - 1 }
func (f ieee) inf() uint64    { return (1<<f.exp - 1) << f.frac }
func (f ieee) sign() uint64   { return 1 << (f.width() - 1) }
func (f ieee) minExp() int    { return 1 - f.bias() - f.frac } // of the last bit of a subnormal
func (f ieee) random() uint64 { return rand.Uint64() & (f.sign()<<1 - 1) }

func (f ieee) isNaN(b uint64) bool { return b&^f.sign() > f.inf() }
func (f ieee) isInf(b uint64) bool { return b&^f.sign() == f.inf() }
func (f ieee) neg(b uint64) bool   { return b&f.sign() != 0 }

func pow2(e int) *big.Rat {
	one := big.NewInt(1)
	if e >= 0 {
		return new(big.Rat).SetInt(one.Lsh(one, uint(e)))
	}
	return new(big.Rat).SetFrac(big.NewInt(1), one.Lsh(one, uint(-e)))
}

// rat returns the exact value of a finite number.
func (f ieee) rat(b uint64) *big.Rat {
	frac, e := b&(1<<f.frac-1), int(b&^f.sign()>>f.frac)
	if e > 0 {
		frac |= 1 << f.frac
		e--
	}
	x := new(big.Rat).SetInt(new(big.Int).SetUint64(frac))
	x.Mul(x, pow2(e+f.minExp()))
	if f.neg(b) {
		x.Neg(x)
	}
	return x
}

// exponent returns the e with 2^e ≤ |x| < 2^(e+1).
func exponent(x *big.Rat) int {
	x = new(big.Rat).Abs(x)
	e := x.Num().BitLen() - x.Denom().BitLen()
	for x.Cmp(pow2(e)) < 0 {
		e--
	}
	return e
}

// unit returns the exponent of the last bit of numbers with exponent e.
func (f ieee) unit(e int) int { return max(e-f.frac, f.minExp()) }

// round returns x, which must not be zero, rounded to the format.
func (f ieee) round(r Round, x *big.Rat) uint64 {
	e := exponent(x)
	q := new(big.Rat).Abs(x)
	q.Mul(q, pow2(-f.unit(e)))
	n, rest := new(big.Int).QuoRem(q.Num(), q.Denom(), new(big.Int))
	tie := new(big.Int).Lsh(rest, 1).Cmp(q.Denom())
	return f.finish(r, x.Sign() < 0, f.unit(e), n, tie, rest.Sign() != 0)
}

// finish rounds n units plus a rest. tie is the result of comparing the rest with half a
// unit.
func (f ieee) finish(r Round, neg bool, unit int, n *big.Int, tie int, inexact bool) uint64 {
	grow := false
	switch r {
	case RN:
		grow = tie > 0 || tie == 0 && n.Bit(0) == 1
	case RNA:
		grow = tie >= 0
	case RM:
		grow = inexact && neg
	case RP:
		grow = inexact && !neg
	}
	if grow {
		n.Add(n, big.NewInt(1))
	}
	var sign uint64
	if neg {
		sign = f.sign()
	}
	largest := new(big.Rat).Mul(new(big.Rat).SetInt64(1<<(f.frac+1)-1), pow2(f.bias()-f.frac))
	got := new(big.Rat).Mul(new(big.Rat).SetInt(n), pow2(unit))
	if got.Cmp(largest) > 0 {
		if r == RZ || r == RM && !neg || r == RP && neg {
			return sign | (f.inf() - 1)
		}
		return sign | f.inf()
	}
	mag := n.Uint64()
	if mag>>f.frac == 0 {
		return sign | mag
	}
	for mag>>f.frac > 1 {
		mag >>= 1
		unit++
	}
	return sign | (mag + uint64(unit-f.minExp())<<f.frac)
}

// The operations return the results of IEEE 754. ok is false if the result is a NaN.

func (f ieee) fma(r Round, a, b, c uint64) (d uint64, ok bool) {
	pneg := f.neg(a) != f.neg(b)
	zeroA, zeroB := a&^f.sign() == 0, b&^f.sign() == 0
	var psign uint64
	if pneg {
		psign = f.sign()
	}
	switch {
	case f.isNaN(a) || f.isNaN(b) || f.isNaN(c):
		return 0, false
	case f.isInf(a) && zeroB || f.isInf(b) && zeroA:
		return 0, false
	case f.isInf(a) || f.isInf(b):
		if f.isInf(c) && f.neg(c) != pneg {
			return 0, false
		}
		return psign | f.inf(), true
	case f.isInf(c):
		return c, true
	}
	x := new(big.Rat).Mul(f.rat(a), f.rat(b))
	exactZero := x.Sign() == 0
	x.Add(x, f.rat(c))
	if x.Sign() != 0 {
		return f.round(r, x), true
	}
	if exactZero && c&^f.sign() == 0 && f.neg(c) == pneg {
		return c, true
	}
	if r == RM {
		return f.sign(), true
	}
	return 0, true
}

// one returns 1 in the format.
func (f ieee) one() uint64 { return uint64(f.bias()) << f.frac }

func (f ieee) add(r Round, a, b uint64) (uint64, bool) { return f.fma(r, a, f.one(), b) }

func (f ieee) mul(r Round, a, b uint64) (uint64, bool) {
	// A zero with the sign of the product does not change the result.
	return f.fma(r, a, b, (a^b)&f.sign())
}

func (f ieee) div(r Round, a, b uint64) (uint64, bool) {
	sign := (a ^ b) & f.sign()
	zeroA, zeroB := a&^f.sign() == 0, b&^f.sign() == 0
	switch {
	case f.isNaN(a) || f.isNaN(b) || f.isInf(a) && f.isInf(b) || zeroA && zeroB:
		return 0, false
	case f.isInf(a) || zeroB:
		return sign | f.inf(), true
	case zeroA || f.isInf(b):
		return sign, true
	}
	return f.round(r, new(big.Rat).Quo(f.rat(a), f.rat(b))), true
}

func (f ieee) sqrt(r Round, a uint64) (uint64, bool) {
	switch {
	case f.isNaN(a):
		return 0, false
	case a&^f.sign() == 0:
		return a, true
	case f.neg(a):
		return 0, false
	case f.isInf(a):
		return a, true
	}
	x := f.rat(a)
	half := exponent(x) >> 1
	unit := f.unit(half)
	// One bit more than the result has, to decide on which side of the tie x is.
	q := new(big.Rat).Mul(x, pow2(-2*unit+2))
	n, rest := new(big.Int).QuoRem(q.Num(), q.Denom(), new(big.Int))
	root := new(big.Int).Sqrt(n)
	exact := rest.Sign() == 0 && new(big.Int).Mul(root, root).Cmp(n) == 0
	tie := -1
	if root.Bit(0) == 1 {
		tie = 1
		if exact {
			tie = 0
		}
	}
	inexact := !exact || root.Bit(0) == 1
	return f.finish(r, false, unit, root.Rsh(root, 1), tie, inexact), true
}

// edges returns the numbers at which implementations of arithmetic tend to be wrong, with
// both signs.
func (f ieee) edges() (list []uint64) {
	mags := []uint64{
		0, 1, 2, 3, 1<<f.frac - 1, 1 << f.frac, 1<<f.frac + 1, 2<<f.frac - 1, 2 << f.frac,
		f.one() - 1, f.one(), f.one() + 1, f.one() + 1<<(f.frac-1), f.one() + 1<<f.frac, f.one() + 3<<(f.frac-1),
		f.inf() - 1, f.inf() - 2, f.inf() - 1<<f.frac, f.inf(), f.inf() + 1, f.inf() | 1<<(f.frac-1), f.sign() - 1,
	}
	// Powers of two whose products and quotients are at the limits, and their neighbours.
	for _, e := range []int{f.bias() / 2, f.frac, f.frac + 1, 2 * f.frac, f.bias() - f.frac} {
		for _, e := range []int{f.bias() + e, f.bias() - e} {
			if e > 0 && e < 2*f.bias() {
				mags = append(mags, uint64(e)<<f.frac-1, uint64(e)<<f.frac, uint64(e)<<f.frac+1)
			}
		}
	}
	for _, m := range mags {
		list = append(list, m, m|f.sign())
	}
	return list
}

// near returns a random number whose exponent is close to the exponent of x, so that sums
// cancel or are ties.
func (f ieee) near(x uint64) uint64 {
	e := int(x&^f.sign()>>f.frac) + rand.IntN(2*f.frac+4) - f.frac - 2
	e = min(max(e, 0), 2*f.bias())
	y := f.random()&^f.inf() | uint64(e)<<f.frac
	if rand.IntN(2) == 0 {
		y &^= 1<<rand.IntN(f.frac) - 1 // trailing zeros give ties
	}
	return y
}
