package launchfile

import (
	"math"
	"strconv"
	"testing"
)

// TestParseFloat compares f32 and f64 with strconv, which rounds once, and the small types
// with values that were computed by hand.
func TestParseFloat(t *testing.T) {
	for _, s := range []string{"0", "-0", "1", "0.1", "-2.5e-3", "3.4028234e38", "1e-45", "7e-46", "1.1754943e-38", "16777217", "0x1p-149", "1.00000005960464477539062500001"} {
		f32, _ := strconv.ParseFloat(s, 32)
		if got, err := elemNamed("f32").parse(s); err != nil || got != uint64(math.Float32bits(float32(f32))) {
			t.Errorf("f32 %s is %#x (%v), want %#x", s, got, err, math.Float32bits(float32(f32)))
		}
		f64, _ := strconv.ParseFloat(s, 64)
		if got, err := elemNamed("f64").parse(s); err != nil || got != math.Float64bits(f64) {
			t.Errorf("f64 %s is %#x (%v), want %#x", s, got, err, math.Float64bits(f64))
		}
	}
	for _, c := range []struct {
		elem, text string
		bits       uint64
	}{
		{"f16", "1", 0x3c00}, {"f16", "65504", 0x7bff}, {"f16", "65519", 0x7bff}, {"f16", "-0.1", 0xae66},
		{"f16", "5.9604645e-8", 1}, {"f16", "2.9802322e-8", 0}, {"f16", "nan", 0x7e00}, {"f16", "-inf", 0xfc00},
		{"f16", "2049", 0x6800}, {"f16", "2051", 0x6802}, {"f16", "0.99999", 0x3c00},
		{"bf16", "1", 0x3f80}, {"bf16", "3.14", 0x4049}, {"bf16", "0xffff", 0xffff},
		{"e4m3", "448", 0x7e}, {"e4m3", "0.001953125", 1}, {"e4m3", "nan", 0x7f}, {"e5m2", "57344", 0x7b}, {"e5m2", "inf", 0x7c},
		{"i8", "-128", 0x80}, {"u64", "18446744073709551615", math.MaxUint64}, {"i64", "-1", math.MaxUint64}, {"u16", "0xBEEF", 0xbeef},
	} {
		if got, err := elemNamed(c.elem).parse(c.text); err != nil || got != c.bits {
			t.Errorf("%s %s is %#x (%v), want %#x", c.elem, c.text, got, err, c.bits)
		}
	}
	for _, c := range []struct{ elem, text string }{
		{"f16", "65520"}, {"f32", "1e39"}, {"e4m3", "480"}, {"e4m3", "inf"}, {"i8", "128"}, {"u8", "-1"}, {"u8", "256"},
		{"u8", "0x100"}, {"f32", "one"}, {"u32", "1.5"}, {"f32", ""}, {"f64", "1e400"}, {"f32", "0x"},
	} {
		if got, err := elemNamed(c.elem).parse(c.text); err == nil {
			t.Errorf("%s parses %q as %#x", c.elem, c.text, got)
		}
	}
}

// TestValuesReadBack formats and parses every value of the small types.
func TestValuesReadBack(t *testing.T) {
	for _, name := range []string{"f16", "bf16", "e4m3", "e5m2", "i8", "u16"} {
		e := elemNamed(name)
		for bits := range uint64(1) << (8 * e.size) {
			if e.float() && math.IsNaN(e.value(bits)) {
				continue
			}
			if got, err := e.parse(e.format(bits)); err != nil || got != bits {
				t.Fatalf("%s %#x is formatted as %s, which is parsed as %#x (%v)", name, bits, e.format(bits), got, err)
			}
		}
	}
}

func TestULPs(t *testing.T) {
	for _, c := range []struct {
		elem string
		a, b uint64
		want uint64
	}{
		{"f32", 0x3f800000, 0x3f800001, 1}, {"f32", 0x80000000, 0, 0}, {"f32", 0x80000001, 1, 2},
		{"f16", 0x7bff, 0x7c00, 1}, {"bf16", 0x3f80, 0x3f00, 128}, {"i32", 0xffffffff, 1, 2}, {"u8", 3, 250, 247},
		{"f64", 0x8000000000000001, 0x0000000000000001, 2}, {"i64", 1 << 63, 1<<63 - 1, math.MaxUint64},
	} {
		if got := elemNamed(c.elem).ulps(c.a, c.b); got != c.want {
			t.Errorf("%s: %#x and %#x are %d ulp apart, want %d", c.elem, c.a, c.b, got, c.want)
		}
	}
}

func TestCompare(t *testing.T) {
	e := elemNamed("f32")
	words := func(v ...uint64) (b []byte) {
		for _, x := range v {
			b = e.append(b, x)
		}
		return b
	}
	const one, nan, inf, zero, minus = 0x3f800000, 0x7fc00000, 0x7f800000, 0, 0x80000000
	for _, c := range []struct {
		name      string
		got, want uint64
		tol       *tolerance
		ok        bool
	}{
		{"equal", one, one, nil, true},
		{"other bits", one, one + 1, nil, false},
		{"zeros, exactly", zero, minus, nil, false},
		{"zeros, nearly", zero, minus, &tolerance{}, true},
		{"same NaN", nan, nan, nil, true},
		{"NaNs, exactly", nan, nan + 1, nil, false},
		{"NaNs, nearly", nan, nan + 1, &tolerance{}, true},
		{"NaN and number", nan, one, &tolerance{abs: 1e30, rel: 1e30, ulp: math.MaxInt64}, false},
		{"infinity and largest", inf, inf - 1, &tolerance{abs: math.MaxFloat64, ulp: 1}, false},
		{"infinities", inf, inf | minus, &tolerance{rel: 10}, false},
		{"one ulp", one, one + 1, &tolerance{ulp: 1}, true},
		{"two ulp", one, one + 2, &tolerance{ulp: 1}, false},
		{"abs", one, 0x3f000000, &tolerance{abs: 0.5}, true},
		{"abs, too far", one, 0x3effffff, &tolerance{abs: 0.5}, false},
		{"rel", 0x40000000, one, &tolerance{rel: 1}, true},
		{"rel, too far", 0x40000001, one, &tolerance{rel: 1}, false},
		{"abs and rel add up", 0x40200000, one, &tolerance{rel: 1, abs: 0.5}, true},
	} {
		r := e.compare(words(one, c.got), words(one, c.want), c.tol)
		if ok := r.Mismatches == 0; ok != c.ok || r.Compared != 2 {
			t.Errorf("%s: %d mismatches of %d", c.name, r.Mismatches, r.Compared)
		}
		if !c.ok && r.First[0].Index != 1 {
			t.Errorf("%s: the mismatch is at element %d, want 1", c.name, r.First[0].Index)
		}
	}
}
