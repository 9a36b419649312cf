package ops

import (
	"math"
	"strings"
	"testing"
)

// TestFormat compares the formatted texts with the output of printf in C.
func TestFormat(t *testing.T) {
	f := math.Float64bits
	neg := func(n int64) uint64 { return uint64(n) }
	for _, c := range []struct {
		format string
		args   values
		want   string
	}{
		{"plain", nil, "plain"},
		{"100%%", nil, "100%"},
		{"%", nil, "%"},
		{"%y|", nil, "%y|"},
		{"%d %i", values{uint64(42), uint64(0xffffffff)}, "42 -1"},
		{"%5d|%-5d|%05d|%+d|% d", values{uint64(42), uint64(42), uint64(42), uint64(42), uint64(42)}, "   42|42   |00042|+42| 42"},
		{"%.4d|%8.4d|%-8.4d|%08.4d", values{uint64(42), uint64(42), uint64(42), uint64(42)}, "0042|    0042|0042    |    0042"},
		{"%.0d|", values{uint64(0)}, "|"},
		{"%*d|%-*d|%*d|", values{uint64(5), uint64(7), uint64(5), uint64(7), uint64(0xfffffffb), uint64(7)}, "    7|7    |7    |"},
		{"%.*d|%.*f", values{uint64(3), uint64(7), uint64(0xffffffff), f(1)}, "007|1.000000"},
		{"%u %lu %llu", values{uint64(4294967295), uint64(math.MaxUint64), uint64(1)}, "4294967295 18446744073709551615 1"},
		{"%ld %lld", values{neg(-5), neg(math.MinInt64)}, "-5 -9223372036854775808"},
		{"%hd %hhu", values{uint64(7), uint64(8)}, "7 8"},
		{"%zu", values{uint64(1 << 40)}, "1099511627776"},
		{"%x %X %#x %#X %#010x %#x", values{uint64(255), uint64(255), uint64(255), uint64(255), uint64(255), uint64(0)}, "ff FF 0xff 0XFF 0x000000ff 0"},
		{"%o %#o %#o", values{uint64(8), uint64(8), uint64(0)}, "10 010 0"},
		{"%c%c|%3c|%-3c|", values{uint64('a'), uint64('b'), uint64('c'), uint64('d')}, "ab|  c|d  |"},
		{"%s|%5s|%-5s|%.2s|%s", values{uint64(3), uint64(3), uint64(3), uint64(3), uint64(0)}, "sss|  sss|sss  |ss|(null)"},
		{"%p %p %20p|", values{uint64(0x7f001234), uint64(0), uint64(16)}, "0x7f001234 (nil)                 0x10|"},
		{"%f %.2f %8.3f|%-8.3f|%08.3f", values{f(1.5), f(2.675), f(3.14159), f(3.14159), f(-3.14159)}, "1.500000 2.67    3.142|3.142   |-003.142"},
		{"%.0f %#.0f %+f % f", values{f(2.5), f(2.5), f(1), f(1)}, "2 2. +1.000000  1.000000"},
		{"%e %.2E %.0e %#.0e", values{f(12345.678), f(0.00012), f(5), f(5)}, "1.234568e+04 1.20E-04 5e+00 5.e+00"},
		{"%g %g %g %g %g", values{f(100000), f(1e6), f(0.0001), f(0.00001), f(1.0 / 3)}, "100000 1e+06 0.0001 1e-05 0.333333"},
		{"%#g %#g %#.3g %#g %#.1g", values{f(1), f(1e7), f(0.5), f(0), f(3)}, "1.00000 1.00000e+07 0.500 0.00000 3."},
		{"%#.0g %#.3o|%#.o %.1A %#.1a", values{f(1e10), uint64(8), uint64(0), f(1.97), f(5e-324)}, "1.e+10 010|0 0X2.0P+0 0x0.0p-1022"},
		{"%G %.3g %.0g", values{f(1e-10), f(1234.5), f(25)}, "1E-10 1.23e+03 2e+01"},
		{"%f %F %5.1f %e %-6g| %06f", values{f(math.Inf(1)), f(math.Inf(-1)), f(math.NaN()), f(math.Inf(-1)), f(math.Inf(1)), f(math.Inf(1))}, "inf -INF   nan -inf inf   |    inf"},
		{"%f %g", values{f(math.Copysign(0, -1)), f(0)}, "-0.000000 0"},
		{"%a %a %A %.2a %a", values{f(1.5), f(0), f(255.5), f(1.0 / 3), f(math.SmallestNonzeroFloat64)}, "0x1.8p+0 0x0p+0 0X1.FFP+7 0x1.55p-2 0x0.0000000000001p-1022"},
	} {
		args := c.args
		if got := format(c.format, &args); got != c.want {
			t.Errorf("%q: %q, want %q", c.format, got, c.want)
		}
		if len(args) > 0 {
			t.Errorf("%q left %d arguments", c.format, len(args))
		}
	}
}

// values are the arguments of a format in a test.
type values []any

func (v *values) word(size uint64) uint64 {
	x := (*v)[0].(uint64)
	*v = (*v)[1:]
	return x
}

func (v *values) str(addr uint64) string { return strings.Repeat("s", int(addr)) }
