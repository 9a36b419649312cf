package scalar

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func hiOf(a, b int64, width uint) int64 {
	p := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	return p.Rsh(p, width).Int64()
}

func hiOfU(a, b uint64, width uint) uint64 {
	p := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
	return p.Rsh(p, width).Uint64()
}

func TestMultiply(t *testing.T) {
	list := someInts()
	for _, a := range list {
		b, c := list[rand.IntN(len(list))], list[rand.IntN(len(list))]
		sa, sb := int32(a), int32(b)
		a24, b24 := int64(sa<<8>>8), int64(sb<<8>>8)
		u24a, u24b := a&0xffffff, b&0xffffff
		madHi := clampTo(S32, big.NewInt(hiOf(int64(sa), int64(sb), 32)+int64(int32(c))))
		mad24 := clampTo(S32, big.NewInt(int64(int32(hiOf(a24, b24, 16)))+int64(int32(c))))
		for _, k := range []struct {
			name      string
			got, want int64
		}{
			{"mul.hi.u16", int64(MulHiU16(uint16(a), uint16(b))), int64(hiOfU(a&0xffff, b&0xffff, 16))},
			{"mul.hi.s16", int64(MulHiS16(int16(a), int16(b))), hiOf(int64(int16(a)), int64(int16(b)), 16)},
			{"mul.hi.u32", int64(MulHiU32(uint32(a), uint32(b))), int64(hiOfU(a&math.MaxUint32, b&math.MaxUint32, 32))},
			{"mul.hi.s32", int64(MulHiS32(sa, sb)), hiOf(int64(sa), int64(sb), 32)},
			{"mul.hi.u64", int64(MulHiU64(a, b)), int64(hiOfU(a, b, 64))},
			{"mul.hi.s64", MulHiS64(int64(a), int64(b)), hiOf(int64(a), int64(b), 64)},
			{"mul24.lo.u32", int64(Mul24LoU32(uint32(a), uint32(b))), int64(uint32(u24a * u24b))},
			{"mul24.hi.u32", int64(Mul24HiU32(uint32(a), uint32(b))), int64(uint32(hiOfU(u24a, u24b, 16)))},
			{"mul24.lo.s32", int64(Mul24LoS32(sa, sb)), int64(int32(a24 * b24))},
			{"mul24.hi.s32", int64(Mul24HiS32(sa, sb)), int64(int32(hiOf(a24, b24, 16)))},
			{"mad.hi.sat.s32", int64(MadHiSatS32(sa, sb, int32(c))), int64(madHi)},
			{"mad24.hi.sat.s32", int64(Mad24HiSatS32(sa, sb, int32(c))), int64(mad24)},
			{"add.sat.s32", int64(AddSatS32(sa, sb)), int64(clampTo(S32, big.NewInt(int64(sa)+int64(sb))))},
			{"sub.sat.s32", int64(SubSatS32(sa, sb)), int64(clampTo(S32, big.NewInt(int64(sa)-int64(sb))))},
		} {
			if k.got != k.want {
				t.Errorf("%s(%#x, %#x, %#x) = %#x, want %#x", k.name, a, b, c, k.got, k.want)
			}
		}
	}
}

func TestDivide(t *testing.T) {
	for _, c := range []struct{ a, b, div, rem int32 }{
		{7, 2, 3, 1}, {-7, 2, -3, -1}, {7, -2, -3, 1}, {-7, -2, 3, -1},
		{math.MinInt32, -1, math.MinInt32, 0}, {5, 0, -1, -1}, {-5, 0, -1, -1}, {0, 0, -1, -1},
	} {
		if d, r := Div(c.a, c.b), Rem(c.a, c.b); d != c.div || r != c.rem {
			t.Errorf("%d by %d = %d rest %d, want %d rest %d", c.a, c.b, d, r, c.div, c.rem)
		}
	}
	if d, r := Div(uint64(9), 0), Rem(uint64(9), 0); d != math.MaxUint64 || r != math.MaxUint64 {
		t.Errorf("9 by 0 = %#x rest %d", d, r)
	}
}

func TestSad(t *testing.T) {
	if got := Sad[int16](math.MinInt16, math.MaxInt16, 3); got != 2 {
		t.Errorf("sad.s16 of the extremes = %d, want the wrapped 2", got)
	}
	if got := Sad[uint32](3, 10, math.MaxUint32); got != 6 {
		t.Errorf("sad.u32 = %d, want the wrapped 6", got)
	}
	if got := Sad[int64](-4, -9, 1); got != 6 {
		t.Errorf("sad.s64 = %d, want 6", got)
	}
}

func TestDotProducts(t *testing.T) {
	part := func(x uint32, i, width int, signed bool) int64 {
		v := int64(x >> i & (1<<width - 1))
		if signed && v>>(width-1) == 1 {
			v -= 1 << width
		}
		return v
	}
	for range 500 {
		a, b, c := rand.Uint32(), rand.Uint32(), rand.Uint32()
		for s := range 4 {
			sa, sb := s&1 != 0, s&2 != 0
			four, lo, hi := int64(c), int64(c), int64(c)
			for i := range 4 {
				four += part(a, 8*i, 8, sa) * part(b, 8*i, 8, sb)
			}
			for i := range 2 {
				lo += part(a, 16*i, 16, sa) * part(b, 8*i, 8, sb)
				hi += part(a, 16*i, 16, sa) * part(b, 16+8*i, 8, sb)
			}
			if got := Dp4a(a, b, c, sa, sb); got != uint32(four) {
				t.Errorf("dp4a(%#x, %#x, %#x, %t, %t) = %#x, want %#x", a, b, c, sa, sb, got, uint32(four))
			}
			if got := Dp2aLo(a, b, c, sa, sb); got != uint32(lo) {
				t.Errorf("dp2a.lo(%#x, %#x, %#x, %t, %t) = %#x, want %#x", a, b, c, sa, sb, got, uint32(lo))
			}
			if got := Dp2aHi(a, b, c, sa, sb); got != uint32(hi) {
				t.Errorf("dp2a.hi(%#x, %#x, %#x, %t, %t) = %#x, want %#x", a, b, c, sa, sb, got, uint32(hi))
			}
		}
	}
}

// TestCarryChain adds and subtracts 128-bit numbers in steps of 32 and of 64 bits.
func TestCarryChain(t *testing.T) {
	mod := new(big.Int).Lsh(big.NewInt(1), 128)
	list := edgeInts()
	for range 2000 {
		x := [2]uint64{list[rand.IntN(len(list))], rand.Uint64()}
		y := [2]uint64{list[rand.IntN(len(list))], ^x[1] + rand.Uint64N(3)}
		num := func(v [2]uint64) *big.Int {
			n := new(big.Int).SetUint64(v[1])
			return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(v[0]))
		}
		sum := new(big.Int).Add(num(x), num(y))
		diff := new(big.Int).Sub(num(x), num(y))
		var s, d [2]uint64
		var cs, cd uint32
		for i := range 2 {
			s[i], cs = AddC64(x[i], y[i], cs)
			d[i], cd = SubC64(x[i], y[i], cd)
		}
		if num(s).Cmp(new(big.Int).Mod(sum, mod)) != 0 || uint(cs) != sum.Bit(128) {
			t.Errorf("%x + %x = %x carry %d", x, y, s, cs)
		}
		if num(d).Cmp(new(big.Int).Mod(diff, mod)) != 0 || (cd == 1) != (diff.Sign() < 0) {
			t.Errorf("%x - %x = %x borrow %d", x, y, d, cd)
		}
		lo, c := AddC32(uint32(x[0]), uint32(y[0]), 0)
		hi, _ := AddC32(uint32(x[0]>>32), uint32(y[0]>>32), c)
		if got := uint64(hi)<<32 | uint64(lo); got != x[0]+y[0] {
			t.Errorf("%#x + %#x in halves = %#x", x[0], y[0], got)
		}
		lo, c = SubC32(uint32(x[0]), uint32(y[0]), 0)
		hi, _ = SubC32(uint32(x[0]>>32), uint32(y[0]>>32), c)
		if got := uint64(hi)<<32 | uint64(lo); got != x[0]-y[0] {
			t.Errorf("%#x - %#x in halves = %#x", x[0], y[0], got)
		}
	}
}
