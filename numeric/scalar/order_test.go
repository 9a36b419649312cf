package scalar

import (
	"math"
	"math/rand/v2"
	"testing"
)

// order holds the minimum and maximum functions of one format, on 64-bit words.
type order struct {
	name                   string
	ieee                   ieee
	nan                    uint64 // the NaN; 0 accepts any NaN
	min, max               func(a, b uint64) uint64
	minNaN, maxNaN, minXor func(a, b uint64) uint64
}

func pair(f func(a, b uint16) uint16) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 { return uint64(f(uint16(a), uint16(b))) }
}

var orders = []order{
	{"f32", oF32, NaNF32,
		func(a, b uint64) uint64 { return uint64(MinF32(uint32(a), uint32(b))) },
		func(a, b uint64) uint64 { return uint64(MaxF32(uint32(a), uint32(b))) },
		func(a, b uint64) uint64 { return uint64(MinNaNF32(uint32(a), uint32(b))) },
		func(a, b uint64) uint64 { return uint64(MaxNaNF32(uint32(a), uint32(b))) },
		func(a, b uint64) uint64 {
			x, y := uint32(a), uint32(b)
			return uint64(XorSignF32(MinF32(AbsF32(x), AbsF32(y)), x, y))
		}},
	{"f64", oF64, 0, MinF64, MaxF64, nil, nil, nil},
	{"f16", oF16, NaNF16, pair(MinF16), pair(MaxF16), pair(MinNaNF16), pair(MaxNaNF16),
		pair(func(a, b uint16) uint16 { return XorSignF16(MinF16(AbsF16(a), AbsF16(b)), a, b) })},
	{"bf16", oBF16, NaNBF16, pair(MinBF16), pair(MaxBF16), pair(MinNaNBF16), pair(MaxNaNBF16),
		pair(func(a, b uint16) uint16 { return XorSignBF16(MinBF16(AbsBF16(a), AbsBF16(b)), a, b) })},
}

// below reports whether a < b. Negative zero is below positive zero.
func (f ieee) below(a, b uint64) bool {
	if f.neg(a) != f.neg(b) {
		return f.neg(a)
	}
	return a != b && (a < b) != f.neg(a)
}

func (o *order) check(t *testing.T, what string, got, want uint64, a, b uint64) {
	t.Helper()
	if o.ieee.isNaN(want) && o.nan == 0 && o.ieee.isNaN(got) {
		return
	}
	if got != want {
		t.Errorf("%s.%s(%#x, %#x) = %#x, want %#x", what, o.name, a, b, got, want)
	}
}

func TestMinMax(t *testing.T) {
	for i := range orders {
		o := &orders[i]
		f := o.ieee
		canon := max(o.nan, f.inf()+1)
		list := f.edges()
		for range 60 {
			list = append(list, f.random())
		}
		for _, a := range list {
			for _, b := range list {
				small, large, small1, large1 := a, b, canon, canon
				switch {
				case f.isNaN(a) && f.isNaN(b):
					small, large = canon, canon
				case f.isNaN(a):
					small, large = b, b
				case f.isNaN(b):
					small, large = a, a
				default:
					if f.below(b, a) {
						small, large = b, a
					}
					small1, large1 = small, large
				}
				o.check(t, "min", o.min(a, b), small, a, b)
				o.check(t, "max", o.max(a, b), large, a, b)
				if o.minNaN == nil {
					continue
				}
				o.check(t, "min.NaN", o.minNaN(a, b), small1, a, b)
				o.check(t, "max.NaN", o.maxNaN(a, b), large1, a, b)
				product := min(a&^f.sign(), b&^f.sign()) | (a^b)&f.sign()
				if f.isNaN(a) || f.isNaN(b) {
					continue
				}
				o.check(t, "min.xorsign.abs", o.minXor(a, b), product, a, b)
			}
		}
	}
	if got := XorSignF32(NaNF32, 0x80000000, 0); got != NaNF32 {
		t.Errorf("a NaN got the sign of the product: %#x", got)
	}
	if XorSignF16(NaNF16, 0x8000, 0) != NaNF16 || XorSignBF16(NaNBF16, 0x8000, 0) != NaNBF16 {
		t.Error("a 16-bit NaN got the sign of the product")
	}
}

func TestCompare(t *testing.T) {
	for _, a := range oF32.edges() {
		for _, b := range oF32.edges() {
			x, y := math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b))
			un := x != x || y != y
			for _, c := range []struct {
				op   Cmp
				want bool
			}{
				{EQ, x == y}, {NE, !un && x != y}, {LT, x < y}, {LE, x <= y}, {GT, x > y}, {GE, x >= y},
				{EQU, un || x == y}, {NEU, un || x != y}, {LTU, un || x < y}, {LEU, un || x <= y},
				{GTU, un || x > y}, {GEU, un || x >= y}, {NUM, !un}, {NAN, un},
			} {
				if got := CmpF32(c.op, uint32(a), uint32(b)); got != c.want {
					t.Errorf("setp %04b f32 (%g, %g) = %t", c.op, x, y, got)
				}
				if got := CmpF64(c.op, math.Float64bits(float64(x)), math.Float64bits(float64(y))); got != c.want {
					t.Errorf("setp %04b f64 (%g, %g) = %t", c.op, x, y, got)
				}
			}
		}
	}
	for _, c := range []struct {
		name string
		got  bool
	}{
		{"1 < 2 in f16", CmpF16(LT, 0x3c00, 0x4000)}, {"-0 = 0 in f16", CmpF16(EQ, 0x8000, 0)},
		{"NaN in f16", CmpF16(NAN, 0x7c01, 0)}, {"-2 < -1 in bf16", CmpBF16(LT, 0xc000, 0xbf80)},
		{"NaN in bf16", CmpBF16(GEU, 0x7f81, 0)},
		{"-1 < 1", CmpInt[int32](LT, -1, 1)}, {"0xffffffff above 1", CmpInt[uint32](HI, math.MaxUint32, 1)},
		{"5 ≥ 5", CmpInt[int64](GE, 5, 5)}, {"1 ≠ 2", CmpInt[uint16](NE, 1, 2)}, {"1 lower or same 2", CmpInt[uint64](LS, 1, 2)},
		{"not 2 < 2", !CmpInt[int16](LO, 2, 2)}, {"not 2 = 3", !CmpInt[int32](EQ, 2, 3)},
	} {
		if !c.got {
			t.Errorf("%s does not hold", c.name)
		}
	}
}

func TestSigns(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		for _, c := range []struct {
			name     string
			f        ieee
			neg, abs uint16
		}{{"f16", oF16, NegF16(h), AbsF16(h)}, {"bf16", oBF16, NegBF16(h), AbsBF16(h)}} {
			neg, abs := h^0x8000, h&0x7fff
			if c.f.isNaN(uint64(h)) {
				neg, abs = 0x7fff, 0x7fff
			}
			if c.neg != neg || c.abs != abs {
				t.Fatalf("%s %#x: neg %#x, abs %#x", c.name, h, c.neg, c.abs)
			}
		}
		a := uint32(i)<<16 | rand.Uint32N(1<<16)
		neg, abs := a^0x80000000, a&0x7fffffff
		if oF32.isNaN(uint64(a)) {
			neg, abs = NaNF32, NaNF32
		}
		if NegF32(a) != neg || AbsF32(a) != abs {
			t.Fatalf("f32 %#x: neg %#x, abs %#x", a, NegF32(a), AbsF32(a))
		}
		if got := CopysignF32(a, 0x12345678); got != a&0x80000000|0x12345678 {
			t.Fatalf("copysign.f32(%#x, 0x12345678) = %#x", a, got)
		}
	}
	for _, a := range oF64.edges() {
		if !oF64.isNaN(a) && (NegF64(a) != a^1<<63 || AbsF64(a) != a&^(1<<63)) {
			t.Errorf("f64 %#x: neg %#x, abs %#x", a, NegF64(a), AbsF64(a))
		}
		if oF64.isNaN(a) && !oF64.isNaN(NegF64(a)) {
			t.Errorf("neg.f64(%#x) = %#x is not a NaN", a, NegF64(a))
		}
		if got := CopysignF64(a, 5); got != a&(1<<63)|5 {
			t.Errorf("copysign.f64(%#x, 5) = %#x", a, got)
		}
	}
}

func TestProperties(t *testing.T) {
	for _, c := range []struct {
		f32  uint32
		f64  uint64
		want string // the expected results in the order of the properties
	}{
		{0, 0, "y-y-y-"}, {0x80000000, 1 << 63, "y-y-y-"}, {1, 1, "y-y--y"}, {0x807fffff, 0x800fffffffffffff, "y-y--y"},
		{0x00800000, 1 << 52, "y-y-y-"}, {0x7f7fffff, 0x7fefffffffffffff, "y-y-y-"},
		{0x7f800000, 0x7ff << 52, "-yy---"}, {0xff800000, 0xfff << 52, "-yy---"}, {0x7f800001, 0x7ff<<52 + 1, "---y--"},
	} {
		for p := Finite; p <= Subnormal; p++ {
			want := c.want[p] == 'y'
			if TestpF32(p, c.f32) != want || TestpF64(p, c.f64) != want {
				t.Errorf("testp %d of %#x and %#x is not %t", p, c.f32, c.f64, want)
			}
		}
	}
}

func TestModifiers(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		for _, c := range []struct {
			name            string
			f               ieee
			sat, relu, satf uint16
		}{
			{"f16", oF16, SatF16(h), ReluF16(h), SatfiniteF16(h)},
			{"bf16", oBF16, SatBF16(h), ReluBF16(h), SatfiniteBF16(h)},
		} {
			one := uint16(c.f.one())
			sat, relu, satf := min(h, one), h, h
			switch {
			case c.f.isNaN(uint64(h)):
				sat, relu = 0, 0x7fff
			case h>>15 != 0:
				sat, relu = 0, 0
			}
			if c.f.isInf(uint64(h)) {
				satf = h - 1
			}
			if c.sat != sat || c.relu != relu || c.satf != satf {
				t.Fatalf("%s %#x: sat %#x, relu %#x, satfinite %#x; want %#x, %#x, %#x", c.name, h, c.sat, c.relu, c.satf, sat, relu, satf)
			}
		}
		ftz := h
		if h&0x7fff < 0x400 {
			ftz = h & 0x8000
		}
		if FtzF16(h) != ftz {
			t.Fatalf("ftz.f16(%#x) = %#x", h, FtzF16(h))
		}
	}
	for _, c := range []struct{ a, ftz, sat, relu uint32 }{
		{0, 0, 0, 0}, {0x80000000, 0x80000000, 0, 0}, {1, 0, 1, 1}, {0x807fffff, 0x80000000, 0, 0},
		{0x00800000, 0x00800000, 0x00800000, 0x00800000}, {0x3f800001, 0x3f800001, 0x3f800000, 0x3f800001},
		{0x7f800000, 0x7f800000, 0x3f800000, 0x7f800000}, {0x7fc00001, 0x7fc00001, 0, NaNTF32}, {0xbf800000, 0xbf800000, 0, 0},
	} {
		if FtzF32(c.a) != c.ftz || SatF32(c.a) != c.sat || ReluTF32(c.a) != c.relu {
			t.Errorf("%#x: ftz %#x, sat %#x, relu %#x", c.a, FtzF32(c.a), SatF32(c.a), ReluTF32(c.a))
		}
		if c.a != 1 { // a subnormal f32 is a normal f64
			if x := SatF64(CvtF64F32(c.a)); CvtF32F64(x) != FtzF32(c.sat) {
				t.Errorf("sat.f64 of %#x = %#x", c.a, x)
			}
		}
	}
	for i := range 256 {
		b := uint8(i)
		e4, e5 := b, b
		if b>>7 != 0 {
			e4, e5 = 0, 0
		}
		if b&0x7f == 0x7f {
			e4 = 0x7f
		}
		if b&0x7f > 0x7c {
			e5 = 0x7f
		}
		if ReluE4M3(b) != e4 || ReluE5M2(b) != e5 {
			t.Errorf("%#x: relu.e4m3 %#x, relu.e5m2 %#x", b, ReluE4M3(b), ReluE5M2(b))
		}
	}
}

func TestOutOfBounds(t *testing.T) {
	const one, oob = 0x3c00, 0xfff7
	if FmaOobF16(oob, one, one) != 0 || FmaOobF16(one, oob, one) != 0 || FmaOobF16(one, one, one) != 0x4000 {
		t.Error("fma.oob.f16: only a factor out of bounds must give zero")
	}
	if FmaOobF16(one, one, oob) != NaNF16 || FmaOobBF16(0xffff, 0, 0) != NaNBF16 {
		t.Error("fma.oob: another NaN must give a NaN")
	}
	if FmaOobBF16(oob, 0x3f80, 0x3f80) != 0 || FmaOobBF16(0x3f80, 0x3f80, 0x3f80) != 0x4000 {
		t.Error("fma.oob.bf16: only a factor out of bounds must give zero")
	}
}

// TestNaNF64 checks the rule for payloads of NaNs, which was measured on hardware.
func TestNaNF64(t *testing.T) {
	const signalling, other, inf, one = 0x7ff0000000000123, 0xfff8000000000456, 0x7ff << 52, 0x3ff << 52
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"NaN + 1", AddF64(signalling, one), 0x7ff8000000000123}, {"1 · NaN", MulF64(one, other), other},
		{"fma(1, 1, NaN)", FmaF64(one, one, signalling), 0x7ff8000000000123}, {"∞ - ∞", SubF64(inf, inf), NaNF64},
		{"0 · ∞", MulF64R(RZ, 0, inf), NaNF64}, {"NaN / 1", DivF64R(RP, other, one), other}, {"√-1", SqrtF64(one | 1<<63), NaNF64},
		{"NaN + NaN", AddF64(signalling, other), other}, {"NaN / NaN", DivF64(signalling, other), 0x7ff8000000000123},
		{"fma of NaN, 1, NaN", FmaF64(other, one, signalling), 0x7ff8000000000123}, {"fma of 1, NaN, NaN", FmaF64R(RZ, one, signalling, other), 0x7ff8000000000123},
		{"min of NaNs", MinF64(signalling, other), other}, {"-NaN", NegF64(other), other}, {"|NaN|", AbsF64(other), other},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.name, c.got, c.want)
		}
	}
}
