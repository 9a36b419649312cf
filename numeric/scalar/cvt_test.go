package scalar

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// table holds all finite magnitudes of a small format in order: the index of a magnitude is
// its bit pattern. Rounding is then a search, without arithmetic on significands.
type table struct {
	values []float64
	inf    uint64 // the result of an overflow
	beyond float64
}

func (f ieee) table() *table {
	t := &table{inf: f.inf()}
	for b := range f.inf() {
		x, _ := f.rat(b).Float64()
		t.values = append(t.values, x)
	}
	n := len(t.values)
	t.beyond = 2*t.values[n-1] - t.values[n-2]
	return t
}

// tableE4M3 continues where an IEEE format would have its infinity.
func tableE4M3() *table {
	t := ieee{4, 3}.table()
	t.values = append(t.values, 256, 288, 320, 352, 384, 416, 448)
	t.inf, t.beyond = 0x7f, 480
	return t
}

// round returns the bits of x without its sign.
func (t *table) round(r Round, x float64) uint64 {
	neg := math.Signbit(x)
	x = math.Abs(x)
	if math.IsInf(x, 0) {
		return t.inf
	}
	i, exact := slices.BinarySearch(t.values, x)
	if exact {
		return uint64(i)
	}
	below, above := t.values[i-1], t.beyond
	if i < len(t.values) {
		above = t.values[i]
	}
	up := r == RP && !neg || r == RM && neg
	if r == RN || r == RNA {
		d := (x - below) - (above - x)
		up = d > 0 || d == 0 && (r == RNA || i&1 == 0)
	}
	switch {
	case !up:
		return uint64(i - 1)
	case i == len(t.values):
		return t.inf
	}
	return uint64(i)
}

// eachF32 calls try with every sign and exponent, all leading bits of the fraction, and the
// low bits that give ties and their neighbours.
func eachF32(step int, try func(a uint32)) {
	for hi := 0; hi < 1<<16; hi += step {
		for _, lo := range []uint32{0, 1, 0xfff, 0x1000, 0x1001, 0x3000, 0x7fff, 0x8000, 0x8001, 0xffff} {
			try(uint32(hi)<<16 | lo)
		}
	}
}

func TestNarrowF32(t *testing.T) {
	for _, c := range []struct {
		name  string
		table *table
		width int
		nan   uint64
		fast  func(a uint32) uint64
		any   func(r Round, a uint32) uint64
		clamp bool
	}{
		{"f16", oF16.table(), 16, NaNF16, func(a uint32) uint64 { return uint64(CvtF16F32(a)) }, func(r Round, a uint32) uint64 { return uint64(CvtF16F32R(r, a)) }, false},
		{"bf16", oBF16.table(), 16, NaNBF16, func(a uint32) uint64 { return uint64(CvtBF16F32(a)) }, func(r Round, a uint32) uint64 { return uint64(CvtBF16F32R(r, a)) }, false},
		{"e4m3", tableE4M3(), 8, NaNE4M3, func(a uint32) uint64 { return uint64(CvtE4M3F32(a)) }, nil, true},
		{"e5m2", oE5M2.table(), 8, NaNE5M2, func(a uint32) uint64 { return uint64(CvtE5M2F32(a)) }, nil, true},
		{"tf32", oTF32.table(), 19, NaNTF32 >> 13, nil, func(r Round, a uint32) uint64 { return uint64(CvtTF32F32(r, a)) >> 13 }, false},
	} {
		check := func(r Round, a uint32, got uint64) {
			t.Helper()
			x := float64(math.Float32frombits(a))
			want := c.nan
			if x == x {
				want = c.table.round(r, x)
				if c.clamp {
					want = min(want, uint64(len(c.table.values)-1))
				}
				want |= uint64(a>>31) << (c.width - 1)
			}
			if got != want {
				t.Fatalf("cvt.%v.%s(%#x = %g) = %#x, want %#x", r, c.name, a, x, got, want)
			}
		}
		if c.fast != nil {
			eachF32(1, func(a uint32) { check(RN, a, c.fast(a)) })
		}
		if c.any != nil {
			for _, r := range []Round{RN, RZ, RM, RP, RNA} {
				eachF32(7, func(a uint32) { check(r, a, c.any(r, a)) })
			}
		}
	}
}

// TestRnaTF32 compares numbers with the general implementation. A NaN must lose its last
// thirteen bits.
func TestRnaTF32(t *testing.T) {
	eachF32(1, func(a uint32) {
		want := CvtTF32F32(RNA, a)
		if IsNaNF32(a) {
			want = a &^ 0x1fff
		}
		if got := CvtRnaTF32F32(a); got != want {
			t.Errorf("cvt.rna.tf32(%#x) = %#x, want %#x", a, got, want)
		}
	})
	for a, want := range map[uint32]uint32{0x7f800000: 0x7f7fe000, 0xff800000: 0xff7fe000, 0x7f7fe000: 0x7f7fe000, 0x7fffe000: 0x7fffc000} {
		if got := SatfiniteTF32(a); got != want {
			t.Errorf("satfinite of the tf32 %#x = %#x, want %#x", a, got, want)
		}
	}
}

// TestNarrowF64 compares the conversions from f64 and between the 16-bit formats with the
// exact oracle.
func TestNarrowF64(t *testing.T) {
	for _, a := range doubles(3000) {
		for _, r := range roundings {
			for _, c := range []struct {
				name string
				to   ieee
				got  uint64
			}{
				{"f32", oF32, uint64(CvtF32F64R(r, a))},
				{"f16", oF16, uint64(CvtF16F64R(r, a))},
				{"bf16", oBF16, uint64(CvtBF16F64R(r, a))},
			} {
				if want := c.to.from(r, oF64, a, c.to.narrowed(a)); c.got != want {
					t.Errorf("cvt.%v.%s.f64(%#x) = %#x, want %#x", r, c.name, a, c.got, want)
				}
			}
		}
		if got, want := CvtF32F64(a), uint32(oF32.from(RN, oF64, a, oF32.narrowed(a))); got != want {
			t.Errorf("cvt.rn.f32.f64(%#x) = %#x, want %#x", a, got, want)
		}
	}
}

// doubles returns edge values of f64, and f64 numbers near the limits of narrower formats.
func doubles(n int) []uint64 {
	list := oF64.edges()
	for _, f := range []ieee{oF32, oF16, oBF16} {
		for _, b := range f.edges() {
			if !f.isInf(b) && !f.isNaN(b) {
				x, _ := f.rat(b).Float64()
				list = append(list, math.Float64bits(x), math.Float64bits(x)+1, math.Float64bits(x)-1)
			}
		}
	}
	for range n {
		// Exponents in the range of f32, and fractions with trailing zeros.
		x := rand.Uint64()&(1<<63|1<<52-1) | (1023-160+rand.Uint64N(300))<<52
		list = append(list, x, x>>rand.IntN(44)<<44)
	}
	return list
}

// from returns the conversion of b from another format.
func (f ieee) from(r Round, src ieee, b, nan uint64) uint64 {
	var sign uint64
	if src.neg(b) {
		sign = f.sign()
	}
	switch {
	case src.isNaN(b):
		return nan
	case src.isInf(b):
		return sign | f.inf()
	case b&^src.sign() == 0:
		return sign
	}
	return f.round(r, src.rat(b))
}

// TestHalves tests all numbers of the 16-bit formats.
func TestHalves(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		if got, want := CvtF32F16(h), uint32(oF32.from(RN, oF16, uint64(h), NaNF32)); got != want {
			t.Errorf("cvt.f32.f16(%#x) = %#x, want %#x", h, got, want)
		}
		if got, want := CvtF64F16(h), oF64.from(RN, oF16, uint64(h), oF16.widened(uint64(h))); got != want {
			t.Errorf("cvt.f64.f16(%#x) = %#x, want %#x", h, got, want)
		}
		if got, want := CvtF64BF16(h), oF64.from(RN, oBF16, uint64(h), oBF16.widened(uint64(h))); got != want {
			t.Errorf("cvt.f64.bf16(%#x) = %#x, want %#x", h, got, want)
		}
		if got := CvtF32BF16(h); got != uint32(h)<<16 {
			t.Errorf("cvt.f32.bf16(%#x) = %#x", h, got)
		}
		r := roundings[i%4]
		if got, want := CvtBF16F16R(r, h), uint16(oBF16.from(r, oF16, uint64(h), NaNBF16)); got != want {
			t.Errorf("cvt.%v.bf16.f16(%#x) = %#x, want %#x", r, h, got, want)
		}
		if got, want := CvtF16BF16R(r, h), uint16(oF16.from(r, oBF16, uint64(h), NaNF16)); got != want {
			t.Errorf("cvt.%v.f16.bf16(%#x) = %#x, want %#x", r, h, got, want)
		}
		if t.Failed() {
			return
		}
	}
}

// widened and narrowed convert a NaN. The top bits of the payload are preserved.

func (f ieee) widened(b uint64) uint64 {
	return b>>(f.width()-1)<<63 | oF64.inf() | 1<<51 | b<<(52-f.frac)&(1<<52-1)
}

func (f ieee) narrowed(b uint64) uint64 {
	return b>>63<<(f.width()-1) | f.inf() | 1<<(f.frac-1) | b>>(52-f.frac)&(1<<f.frac-1)
}

func TestFP8(t *testing.T) {
	e4, e5 := tableE4M3(), oE5M2.table()
	for i := range 256 {
		b := uint8(i)
		for _, c := range []struct {
			name  string
			got   uint16
			table *table
			back  func(uint16) uint8
			nan   uint16
		}{
			{"e4m3", CvtF16E4M3(b), e4, CvtE4M3F16, NaNE4M3},
			{"e5m2", CvtF16E5M2(b), e5, CvtE5M2F16, NaNE5M2},
		} {
			x := float64(floatF16(c.got))
			mag := int(b & 0x7f)
			switch {
			case mag < len(c.table.values):
				if math.Abs(x) != c.table.values[mag] || math.Signbit(x) != (b>>7 != 0) {
					t.Errorf("cvt.f16.%s(%#x) = %g", c.name, b, x)
				}
				if back := c.back(c.got); back != b {
					t.Errorf("%s %#x comes back as %#x", c.name, b, back)
				}
			case c.name == "e5m2" && mag == 0x7c:
				if !math.IsInf(x, 0) || c.back(c.got) != b-1 {
					t.Errorf("cvt.f16.e5m2(%#x) = %g, back %#x", b, x, c.back(c.got))
				}
			default:
				if c.got != NaNF16 || c.back(c.got) != uint8(c.nan) {
					t.Errorf("cvt.f16.%s(%#x) = %#x, want the NaN", c.name, b, c.got)
				}
			}
		}
	}
}

// ratToInt returns x rounded to an integer.
func ratToInt(r Round, x *big.Rat) *big.Int {
	floor, rest := new(big.Int).DivMod(x.Num(), x.Denom(), new(big.Int))
	tie := new(big.Int).Lsh(rest, 1).Cmp(x.Denom())
	up := false
	switch r {
	case RN:
		up = tie > 0 || tie == 0 && floor.Bit(0) == 1
	case RNA:
		up = tie > 0 || tie == 0 && x.Sign() > 0
	case RZ:
		up = x.Sign() < 0 && rest.Sign() != 0
	case RP:
		up = rest.Sign() != 0
	}
	if up {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}

// clampTo returns n clamped to the range of a type, as bits extended to 64.
func clampTo(t Int, n *big.Int) uint64 {
	lo, hi := big.NewInt(0), new(big.Int).Lsh(big.NewInt(1), uint(t.Bits()))
	if t.Signed() {
		hi.Rsh(hi, 1)
		lo.Neg(hi)
	}
	hi.Sub(hi, big.NewInt(1))
	switch {
	case n.Cmp(lo) < 0:
		n = lo
	case n.Cmp(hi) > 0:
		n = hi
	}
	if n.Sign() < 0 {
		return uint64(n.Int64())
	}
	return n.Uint64()
}

func TestFloatToInt(t *testing.T) {
	check := func(name string, f ieee, b, got uint64, r Round, dst Int) {
		t.Helper()
		var want uint64
		switch {
		case f.isNaN(b):
			if f == oF64 || dst.Bits() == 64 {
				want = dst.Extend(1 << (dst.Bits() - 1))
			}
		case f.isInf(b) && f.neg(b):
			want = dst.min()
		case f.isInf(b):
			want = dst.max()
		default:
			want = clampTo(dst, ratToInt(r, f.rat(b)))
		}
		if got != want {
			t.Fatalf("cvt.%vi.%v.%s(%#x) = %#x, want %#x", r, dst, name, b, got, want)
		}
	}
	for i := range 1 << 16 {
		h, dst, r := uint16(i), allInts[i/4%8], roundings[i%4]
		check("f16", oF16, uint64(h), CvtIntF16(r, dst, h), r, dst)
		check("bf16", oBF16, uint64(h), CvtIntBF16(r, dst, h), r, dst)
	}
	singles := oF32.edges()
	for range 2000 {
		singles = append(singles, uint64(rand.Uint32()&0x807fffff|(120+rand.Uint32N(75))<<23))
	}
	for _, dst := range allInts {
		for _, r := range []Round{RN, RZ, RM, RP, RNA} {
			for _, a := range singles {
				check("f32", oF32, a, CvtIntF32(r, dst, uint32(a)), r, dst)
			}
			for _, a := range doubles(100) {
				check("f64", oF64, a, CvtIntF64(r, dst, a), r, dst)
			}
		}
	}
}

// TestRint checks the integer, and that a zero has the sign of the operand.
func TestRint(t *testing.T) {
	check := func(name string, f ieee, b, got uint64, r Round, nan uint64) {
		t.Helper()
		want := b
		switch {
		case f.isNaN(b):
			want = nan
		case !f.isInf(b) && b&^f.sign() != 0:
			n := new(big.Rat).SetInt(ratToInt(r, f.rat(b)))
			if want = b & f.sign(); n.Sign() != 0 {
				want = f.round(RN, n)
			}
		}
		if got != want {
			t.Fatalf("cvt.%vi.%s(%#x) = %#x, want %#x", r, name, b, got, want)
		}
	}
	for i := range 1 << 16 {
		r := roundings[i%4]
		check("f16", oF16, uint64(i), uint64(RintF16(r, uint16(i))), r, NaNF16)
		check("bf16", oBF16, uint64(i), uint64(RintBF16(r, uint16(i))), r, NaNBF16)
		a := uint32(i)<<16 | rand.Uint32N(1<<16)
		check("f32", oF32, uint64(a), uint64(RintF32(r, a)), r, NaNF32)
	}
	for _, a := range doubles(1000) {
		for _, r := range roundings {
			check("f64", oF64, a, RintF64(r, a), r, a|quietF64)
		}
	}
}
