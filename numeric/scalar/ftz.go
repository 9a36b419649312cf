package scalar

// Applying FtzF32 or FtzF16 to the operands and the result is not exactly .ftz. The hardware
// first rounds to full precision, as if the exponent had no limit, and then flushes results
// below the normal numbers. It flushes a result in the last half unit below the smallest
// normal number, although rounding as a subnormal would give the smallest normal number.
// Sums are exact there. The functions in this file are for all other operations.

// tiny reports whether a finite number, rounded to full precision, is below the normal
// numbers.
func (f *format) tiny(r Round, v value) bool {
	emin := 1 - f.bias
	if v.exp != emin-1 {
		return v.exp < emin
	}
	v.exp = emin
	return f.round(r, v) < 2<<f.frac
}

// packFtz is pack, but flushes tiny numbers to zero.
func (f *format) packFtz(r Round, v value) uint64 {
	if v.kind == finite && f.tiny(r, v) {
		v.kind = zero
	}
	return f.pack(r, v)
}

// MulFtzF32 is mul.rn.ftz.f32.
func MulFtzF32(a, b uint32) uint32 {
	d := FtzF32(MulF32(FtzF32(a), FtzF32(b)))
	if d<<1 == 1<<24 {
		return MulFtzF32R(RN, a, b)
	}
	return d
}

// FmaFtzF32 is fma.rn.ftz.f32.
func FmaFtzF32(a, b, c uint32) uint32 {
	d := FtzF32(FmaF32(FtzF32(a), FtzF32(b), FtzF32(c)))
	if d<<1 == 1<<24 {
		return FmaFtzF32R(RN, a, b, c)
	}
	return d
}

// DivFtzF32 is div.rn.ftz.f32. rcp.rn.ftz.f32 does not need such a function, because its
// results are never so close to the smallest normal number.
func DivFtzF32(a, b uint32) uint32 {
	d := FtzF32(DivF32(FtzF32(a), FtzF32(b)))
	if d<<1 == 1<<24 {
		return DivFtzF32R(RN, a, b)
	}
	return d
}

// MulFtzF32R is mul.ftz.f32 in any rounding.
func MulFtzF32R(r Round, a, b uint32) uint32 {
	a, b = FtzF32(a), FtzF32(b)
	if IsNaNF32(a) || IsNaNF32(b) {
		return NaNF32
	}
	return uint32(fmtF32.packFtz(r, mulValue(fmtF32.unpack(uint64(a)), fmtF32.unpack(uint64(b)))))
}

// FmaFtzF32R is fma.ftz.f32 in any rounding.
func FmaFtzF32R(r Round, a, b, c uint32) uint32 {
	a, b, c = FtzF32(a), FtzF32(b), FtzF32(c)
	if IsNaNF32(a) || IsNaNF32(b) || IsNaNF32(c) {
		return NaNF32
	}
	p := mulValue(fmtF32.unpack(uint64(a)), fmtF32.unpack(uint64(b)))
	if p.kind == nan {
		return NaNF32
	}
	return uint32(fmtF32.packFtz(r, addValue(r, p, fmtF32.unpack(uint64(c)))))
}

// DivFtzF32R is div.ftz.f32 in any rounding.
func DivFtzF32R(r Round, a, b uint32) uint32 {
	a, b = FtzF32(a), FtzF32(b)
	if IsNaNF32(a) || IsNaNF32(b) {
		return NaNF32
	}
	return uint32(fmtF32.packFtz(r, divValue(fmtF32.unpack(uint64(a)), fmtF32.unpack(uint64(b)))))
}

// RcpFtzF32R is rcp.ftz.f32 in any rounding.
func RcpFtzF32R(r Round, a uint32) uint32 { return DivFtzF32R(r, 0x3f800000, a) }

// CvtFtzF32F64R is cvt.ftz.f32.f64 in any rounding.
func CvtFtzF32F64R(r Round, a uint64) uint32 {
	v := fmtF64.unpack(a)
	if v.kind == nan {
		return uint32(nanNarrow(&fmtF32, a))
	}
	return uint32(fmtF32.packFtz(r, v))
}

// CvtFtzF32F32 is cvt.ftz.f32.f32. cvt.f32.f32 is a move, but with .ftz the hardware uses the
// adder, which replaces a NaN. The .ftz of cvt.f64.f32 and cvt.f32.bf16 uses it as well.
func CvtFtzF32F32(a uint32) uint32 { return FtzF32(canonicalF32(a)) }

// MulFtzF16 is mul.rn.ftz.f16.
func MulFtzF16(a, b uint16) uint16 {
	a, b = FtzF16(a), FtzF16(b)
	d := FtzF16(MulF16(a, b))
	if d<<1 == 1<<11 {
		v := mulValue(fmtF16.unpack(uint64(a)), fmtF16.unpack(uint64(b)))
		return uint16(fmtF16.packFtz(RN, v))
	}
	return d
}

// FmaFtzF16 is fma.rn.ftz.f16.
func FmaFtzF16(a, b, c uint16) uint16 {
	a, b, c = FtzF16(a), FtzF16(b), FtzF16(c)
	d := FtzF16(FmaF16(a, b, c))
	if d<<1 == 1<<11 {
		p := mulValue(fmtF16.unpack(uint64(a)), fmtF16.unpack(uint64(b)))
		return uint16(fmtF16.packFtz(RN, addValue(RN, p, fmtF16.unpack(uint64(c)))))
	}
	return d
}
