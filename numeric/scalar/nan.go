package scalar

// The NaN that an invalid operation gives. Except in f64 it is also what any
// operation gives that meets a NaN.
const (
	NaNF64  = 0xfff8000000000000
	NaNF32  = 0x7fffffff
	NaNTF32 = 0x7fffe000
	NaNF16  = 0x7fff
	NaNBF16 = 0x7fff
	NaNE5M2 = 0x7f
	NaNE4M3 = 0x7f
)

// quietF64 is the bit that makes a NaN of f64 a quiet one.
const quietF64 = 1 << 51

// IsNaNF64 reports whether the bits are a NaN.
func IsNaNF64(a uint64) bool { return a<<1 > 0x7ff<<53 }

// IsNaNF32 reports whether the bits are a NaN.
func IsNaNF32(a uint32) bool { return a<<1 > 0xff<<24 }

// IsNaNF16 reports whether the bits are a NaN.
func IsNaNF16(a uint16) bool { return a<<1 > 0x1f<<11 }

// IsNaNBF16 reports whether the bits are a NaN.
func IsNaNBF16(a uint16) bool { return a<<1 > 0xff<<8 }

// nanF64 is the NaN of an f64 operation that gave one: the first of its operands
// that is a NaN, made quiet, else the NaN of an invalid operation. Callers pass the
// operands in the order in which the hardware looks: the second factor, the addend,
// the first factor; a division looks at the dividend first. One with fewer operands
// repeats one. It stays out of its callers, so that they are small.
//
//go:noinline
func nanF64(a, b, c uint64) uint64 {
	switch {
	case IsNaNF64(a):
		return a | quietF64
	case IsNaNF64(b):
		return b | quietF64
	case IsNaNF64(c):
		return c | quietF64
	}
	return NaNF64
}

// nanNarrow is a NaN of f64 converted to a narrower format: quiet, with its sign and
// what fits of its payload. From f32 a conversion gives the canonical NaN instead.
func nanNarrow(f *format, a uint64) uint64 {
	payload := (a | quietF64) & (1<<52 - 1) >> (52 - f.frac)
	return a>>63<<(f.width-1) | f.inf | payload
}

// nanWiden is a NaN of a narrower format converted to f64: quiet, with its sign and
// payload.
func nanWiden(f *format, a uint64) uint64 {
	payload := a & (1<<f.frac - 1) << (52 - f.frac)
	return a>>(f.width-1)<<63 | fmtF64.inf | quietF64 | payload
}
