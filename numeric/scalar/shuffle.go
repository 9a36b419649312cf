package scalar

// ShfLClamp is shf.l.clamp.b32: the top half of b:a shifted left by up to 32.
func ShfLClamp(a, b, c uint32) uint32 {
	return uint32((uint64(b)<<32 | uint64(a)) << min(c, 32) >> 32)
}

// ShfLWrap is shf.l.wrap.b32: it uses only the low five bits of c.
func ShfLWrap(a, b, c uint32) uint32 { return ShfLClamp(a, b, c&31) }

// ShfRClamp is shf.r.clamp.b32: the low half of b:a shifted right by up to 32.
func ShfRClamp(a, b, c uint32) uint32 {
	return uint32((uint64(b)<<32 | uint64(a)) >> min(c, 32))
}

// ShfRWrap is shf.r.wrap.b32.
func ShfRWrap(a, b, c uint32) uint32 { return ShfRClamp(a, b, c&31) }

// PrmtMode is the mode of prmt.
type PrmtMode uint8

// The modes: none, .f4e, .b4e, .rc8, .ecl, .ecr, .rc16.
const (
	PrmtIndex PrmtMode = iota
	PrmtF4E
	PrmtB4E
	PrmtRC8
	PrmtECL
	PrmtECR
	PrmtRC16
)

// prmtSelectors holds the selectors of the plain mode that have the same effect as another
// mode. The indices are the mode (without the plain one) and the low two bits of the control.
var prmtSelectors = [...][4]uint32{
	PrmtF4E - 1:  {0x3210, 0x4321, 0x5432, 0x6543},
	PrmtB4E - 1:  {0x5670, 0x6701, 0x7012, 0x0123},
	PrmtRC8 - 1:  {0x0000, 0x1111, 0x2222, 0x3333},
	PrmtECL - 1:  {0x3210, 0x3211, 0x3222, 0x3333},
	PrmtECR - 1:  {0x0000, 0x1110, 0x2210, 0x3210},
	PrmtRC16 - 1: {0x1010, 0x3232, 0x1010, 0x3232},
}

// Prmt is prmt.b32: it selects four bytes of b:a.
func Prmt(mode PrmtMode, a, b, c uint32) uint32 {
	if mode == PrmtIndex {
		return PrmtB32(a, b, c)
	}
	return PrmtB32(a, b, prmtSelectors[mode-1][c&3])
}

// PrmtB32 is prmt.b32 without a mode. Each of the four selectors names a byte. If the top bit
// of a selector is set, the result is the byte's sign in all eight bits.
func PrmtB32(a, b, c uint32) uint32 {
	src := uint64(b)<<32 | uint64(a)
	d := uint32(uint8(src>>(c<<3&56))) | uint32(uint8(src>>(c>>1&56)))<<8 |
		uint32(uint8(src>>(c>>5&56)))<<16 | uint32(uint8(src>>(c>>9&56)))<<24
	if c&0x8888 != 0 {
		return prmtSigns(d, c)
	}
	return d
}

// prmtSigns replaces bytes of d with their sign, where c selects it.
func prmtSigns(d, c uint32) uint32 {
	for i := 0; i < 32; i += 8 {
		if c>>(i/2+3)&1 != 0 {
			d = d&^(0xff<<i) | d>>(i+7)&1*0xff<<i
		}
	}
	return d
}

// Lop3 is lop3.b32: the function of three bits with the truth table lut. a selects a half of
// the table, b a quarter and c a single bit.
func Lop3(a, b, c uint32, lut uint8) uint32 {
	k := &lop3Terms[lut]
	return k[0] ^ k[1]&c ^ b&(k[2]^k[3]&c) ^ a&(k[4]^k[5]&c^b&(k[6]^k[7]&c))
}

// lop3Terms holds, for each truth table, the coefficients of its polynomial over GF(2), each
// all ones or zero: of 1, c, b, bc, a, ac, ab and abc.
var lop3Terms = func() (terms [256][8]uint32) {
	for lut := range terms {
		p := uint8(lut)
		p ^= p & 0x55 << 1
		p ^= p & 0x33 << 2
		p ^= p & 0x0f << 4
		for i := range terms[lut] {
			terms[lut][i] = -uint32(p >> i & 1)
		}
	}
	return terms
}()

// Dp4a is dp4a: c plus the products of the four bytes of a and b. signedA and signedB say
// whether the bytes are signed.
func Dp4a(a, b, c uint32, signedA, signedB bool) uint32 {
	for i := 0; i < 32; i += 8 {
		c += lane(a, i, 8, signedA) * lane(b, i, 8, signedB)
	}
	return c
}

// Dp2aLo is dp2a.lo: c plus the products of the two halves of a with the low two
// bytes of b.
func Dp2aLo(a, b, c uint32, signedA, signedB bool) uint32 {
	c += lane(a, 0, 16, signedA) * lane(b, 0, 8, signedB)
	return c + lane(a, 16, 16, signedA)*lane(b, 8, 8, signedB)
}

// Dp2aHi is dp2a.hi, with the high two bytes of b.
func Dp2aHi(a, b, c uint32, signedA, signedB bool) uint32 {
	return Dp2aLo(a, b>>16, c, signedA, signedB)
}

// lane returns the i-th field of width bits, extended to 32 bits.
func lane(x uint32, i, width int, signed bool) uint32 {
	x = x << (32 - width - i)
	if signed {
		return uint32(int32(x) >> (32 - width))
	}
	return x >> (32 - width)
}
