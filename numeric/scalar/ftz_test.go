package scalar

import (
	"math/big"
	"testing"
)

// flushed returns x rounded as .ftz does: first to the precision of the format with an
// unlimited exponent, then to zero if the result is below the normal numbers. The sign of a
// zero depends on the operands and is not compared.
func (f ieee) flushed(r Round, x *big.Rat) (bits uint64) {
	if x.Sign() == 0 {
		return 0
	}
	wide := ieee{f.exp + 3, f.frac}
	w := wide.rat(wide.round(r, x))
	if w.Abs(w).Cmp(pow2(1-f.bias())) < 0 {
		return 0
	}
	return f.round(r, x)
}

// input returns a finite operand as .ftz reads it. ok is false if the operand is not finite.
func (f ieee) input(b uint64) (*big.Rat, bool) {
	b &= f.sign()<<1 - 1
	switch {
	case f.isInf(b) || f.isNaN(b):
		return nil, false
	case b&f.inf() == 0:
		return new(big.Rat), true
	}
	return f.rat(b), true
}

func TestFlushF32(t *testing.T) {
	tiny := 0
	for _, x := range edgeRecords()[:1024] {
		a, ok1 := oF32.input(uint64(x.r(0)))
		b, ok2 := oF32.input(uint64(x.r(1)))
		c, ok3 := oF32.input(uint64(x.r(2)))
		if !ok1 || !ok2 || !ok3 {
			continue
		}
		product := new(big.Rat).Mul(a, b)
		sum := new(big.Rat).Add(product, c)
		check := func(name string, r Round, got uint32, exact *big.Rat) {
			t.Helper()
			want := uint32(oF32.flushed(r, exact))
			if got != want && (got|want)<<1 != 0 {
				t.Errorf("%s.%v.ftz(%#x, %#x, %#x) = %#x, want %#x", name, r, x.r(0), x.r(1), x.r(2), got, want)
			}
			if want == 0 && exact.Sign() != 0 {
				tiny++
			}
		}
		check("mul", RN, MulFtzF32(x.r(0), x.r(1)), product)
		check("fma", RN, FmaFtzF32(x.r(0), x.r(1), x.r(2)), sum)
		for _, r := range roundings {
			check("mul", r, MulFtzF32R(r, x.r(0), x.r(1)), product)
			check("fma", r, FmaFtzF32R(r, x.r(0), x.r(1), x.r(2)), sum)
			if b.Sign() != 0 {
				check("div", r, DivFtzF32R(r, x.r(0), x.r(1)), new(big.Rat).Quo(a, b))
			}
			if a.Sign() != 0 {
				check("rcp", r, RcpFtzF32R(r, x.r(0)), new(big.Rat).Inv(a))
			}
			if !oF64.isInf(x[0]) && !oF64.isNaN(x[0]) {
				check("cvt.f32.f64", r, CvtFtzF32F64R(r, x[0]), oF64.rat(x[0]))
			}
		}
		if b.Sign() != 0 {
			check("div", RN, DivFtzF32(x.r(0), x.r(1)), new(big.Rat).Quo(a, b))
		}
		// For a sum of two numbers, and for a reciprocal to nearest, FtzF32 is enough.
		check("add", RN, FtzF32(AddF32(FtzF32(x.r(0)), FtzF32(x.r(2)))), new(big.Rat).Add(a, c))
		if a.Sign() != 0 {
			check("rcp", RN, FtzF32(RcpF32(FtzF32(x.r(0)))), new(big.Rat).Inv(a))
		}
	}
	if tiny < 1000 {
		t.Errorf("only %d results were flushed: the operands are not close enough to the limit", tiny)
	}
}

func TestFlushF16(t *testing.T) {
	for _, x := range edgeRecords()[1024:2048] {
		a, ok1 := oF16.input(uint64(x.h(0)))
		b, ok2 := oF16.input(uint64(x.h(1)))
		c, ok3 := oF16.input(uint64(x.h(2)))
		if !ok1 || !ok2 || !ok3 {
			continue
		}
		product := new(big.Rat).Mul(a, b)
		for _, k := range []struct {
			name  string
			got   uint16
			exact *big.Rat
		}{
			{"mul", MulFtzF16(x.h(0), x.h(1)), product},
			{"fma", FmaFtzF16(x.h(0), x.h(1), x.h(2)), new(big.Rat).Add(product, c)},
		} {
			want := uint16(oF16.flushed(RN, k.exact))
			if k.got != want && (k.got|want)<<1 != 0 {
				t.Errorf("%s.rn.ftz.f16(%#x, %#x, %#x) = %#x, want %#x", k.name, x.h(0), x.h(1), x.h(2), k.got, want)
			}
		}
	}
}

// TestFlushSpecial tests operands that are not finite, and the sign of zero.
func TestFlushSpecial(t *testing.T) {
	const inf, one, sub = 0x7f800000, 0x3f800000, 0x80000001
	for _, c := range []struct {
		name      string
		got, want uint32
	}{
		{"a subnormal factor", MulFtzF32(sub, one), 0x80000000}, {"0 · ∞", MulFtzF32R(RZ, 1, inf), NaNF32},
		{"NaN · 1", MulFtzF32R(RP, 0x7f800001, one), NaNF32}, {"fma with NaN", FmaFtzF32R(RM, one, one, 0xffc00000), NaNF32},
		{"fma of 0 · ∞", FmaFtzF32R(RN, 1, inf, one), NaNF32}, {"fma of subnormals", FmaFtzF32(sub, one, sub), 0x80000000},
		{"1 / subnormal", RcpFtzF32R(RN, sub), 0xff800000}, {"NaN / 1", DivFtzF32R(RN, 0x7fc00000, one), NaNF32},
		{"NaN of f64", CvtFtzF32F64R(RN, 0xfff4000000000000), 0xffe00000}, {"f64 below f32", CvtFtzF32F64R(RP, 1), 0},
		{"cvt of NaN", CvtFtzF32F32(0xff800001), NaNF32}, {"cvt of a subnormal", CvtFtzF32F32(sub), 0x80000000},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.name, c.got, c.want)
		}
	}
}
