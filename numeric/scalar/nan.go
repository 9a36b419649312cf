package scalar

// The NaNs that invalid operations return. Except in f64, an operation on a NaN returns them
// as well.
const (
	NaNF64  = 0xfff8000000000000
	NaNF32  = 0x7fffffff
	NaNTF32 = 0x7fffe000
	NaNF16  = 0x7fff
	NaNBF16 = 0x7fff
	NaNE5M2 = 0x7f
	NaNE4M3 = 0x7f
)

// quietF64 is the bit that makes an f64 NaN quiet.
const quietF64 = 1 << 51

// IsNaNF64 reports whether the bits are a NaN.
func IsNaNF64(a uint64) bool { return a<<1 > 0x7ff<<53 }

// IsNaNF32 reports whether the bits are a NaN.
func IsNaNF32(a uint32) bool { return a<<1 > 0xff<<24 }

// IsNaNF16 reports whether the bits are a NaN.
func IsNaNF16(a uint16) bool { return a<<1 > 0x1f<<11 }

// IsNaNBF16 reports whether the bits are a NaN.
func IsNaNBF16(a uint16) bool { return a<<1 > 0xff<<8 }

// nanF64 returns the NaN of an f64 operation: its first operand that is a NaN, made quiet, or
// else the NaN of an invalid operation. Callers pass the operands in the order in which the
// hardware checks them: the second factor, the addend, the first factor. For a division, the
// dividend is first. A caller with fewer operands repeats one. nanF64 is not inlined, so that
// its callers are small enough to be inlined.
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

// nanNarrow converts an f64 NaN to a narrower format: the result is quiet, with the same sign
// and the upper bits of the payload. A conversion from f32 returns the canonical NaN instead.
func nanNarrow(f *format, a uint64) uint64 {
	payload := (a | quietF64) & (1<<52 - 1) >> (52 - f.frac)
	return a>>63<<(f.width-1) | f.inf | payload
}

// nanWiden converts a NaN of a narrower format to f64: the result is quiet, with the same
// sign and payload.
func nanWiden(f *format, a uint64) uint64 {
	payload := a & (1<<f.frac - 1) << (52 - f.frac)
	return a>>(f.width-1)<<63 | fmtF64.inf | quietF64 | payload
}
