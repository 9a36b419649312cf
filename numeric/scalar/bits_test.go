package scalar

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// The tests in this file implement the definitions of the PTX manual bit by bit.

func bit(x uint64, i int) uint64 {
	if i < 0 || i > 63 {
		return 0
	}
	return x >> i & 1
}

// counts are shift amounts, positions and lengths, inside and outside the valid range.
var counts = []uint32{0, 1, 2, 5, 8, 15, 16, 17, 24, 30, 31, 32, 33, 40, 62, 63, 64, 65, 127, 128, 200, 254, 255, 256, 257, 260, 288, 0xffffffe0, 0xffffffff}

// reach returns the effective position or length: 32-bit operations use only the low byte.
// The manual says the same of 64-bit operations, but the hardware uses all bits.
func reach(n uint32, msb int) int {
	if msb == 31 {
		return int(n & 0xff)
	}
	return int(n)
}

func TestBitFields(t *testing.T) {
	bfe := func(a uint64, pos, length uint32, msb int, signed bool) (d uint64) {
		p, n := reach(pos, msb), reach(length, msb)
		var sbit uint64
		if signed && n > 0 {
			sbit = bit(a, min(p+n-1, msb))
		}
		for i := 0; i <= msb; i++ {
			if i < n && p+i <= msb {
				d |= bit(a, p+i) << i
			} else {
				d |= sbit << i
			}
		}
		return d
	}
	bfi := func(a, b uint64, pos, length uint32, msb int) uint64 {
		p, n := reach(pos, msb), reach(length, msb)
		for i := 0; i < n && p+i <= msb; i++ {
			b = b&^(1<<(p+i)) | bit(a, i)<<(p+i)
		}
		return b
	}
	for range 20 {
		a, b := rand.Uint64(), rand.Uint64()
		a32, b32 := uint32(a), uint32(b)
		for _, pos := range counts {
			for _, n := range counts {
				for _, c := range []struct {
					name      string
					got, want uint64
				}{
					{"bfe.u32", uint64(BfeU32(a32, pos, n)), bfe(uint64(a32), pos, n, 31, false)},
					{"bfe.s32", uint64(uint32(BfeS32(int32(a32), pos, n))), bfe(uint64(a32), pos, n, 31, true)},
					{"bfe.u64", BfeU64(a, pos, n), bfe(a, pos, n, 63, false)},
					{"bfe.s64", uint64(BfeS64(int64(a), pos, n)), bfe(a, pos, n, 63, true)},
					{"bfi.b32", uint64(BfiB32(a32, b32, pos, n)), bfi(uint64(a32), uint64(b32), pos, n, 31)},
					{"bfi.b64", BfiB64(a, b, pos, n), bfi(a, b, pos, n, 63)},
				} {
					if c.got != c.want {
						t.Fatalf("%s(%#x, %#x, %d, %d) = %#x, want %#x", c.name, a, b, pos, n, c.got, c.want)
					}
				}
			}
		}
	}
}

func TestMasksAndExtension(t *testing.T) {
	bmsk := func(a, b uint32, clamp bool) uint32 {
		a1, b1 := a&31, b&31
		mask0, sum := ^uint32(0)<<a1, a1+b1
		mask1 := ^uint32(0) << sum
		over := sum >= 32
		if clamp {
			if a >= 32 {
				over, mask0 = true, 0
			}
			over = over || b >= 32
		}
		if over {
			mask1 = 0
		} else if b1 == 0 {
			mask1 = ^uint32(0)
		}
		return mask0 &^ mask1
	}
	szext := func(a, b uint32, clamp, signed bool) uint32 {
		b1, large := b&31, b >= 32 && clamp
		mask := ^uint32(0) << b1
		if large {
			mask = 0
		}
		if b1 == 0 || large || !signed || a>>((b1-1)&31)&1 == 0 {
			return a &^ mask
		}
		return a | mask
	}
	for _, a := range append(counts, rand.Uint32(), rand.Uint32()) {
		for _, b := range counts {
			if got, want := BmskWrap(a, b), bmsk(a, b, false); got != want {
				t.Errorf("bmsk.wrap(%d, %d) = %#x, want %#x", a, b, got, want)
			}
			if got, want := BmskClamp(a, b), bmsk(a, b, true); got != want {
				t.Errorf("bmsk.clamp(%d, %d) = %#x, want %#x", a, b, got, want)
			}
			for _, x := range []uint32{a, ^a, rand.Uint32()} {
				for _, c := range []struct {
					name      string
					got, want uint32
				}{
					{"clamp.u32", SzextU32(x, b), szext(x, b, true, false)},
					{"wrap.u32", SzextU32(x, b&31), szext(x, b, false, false)},
					{"clamp.s32", uint32(SzextS32(int32(x), b)), szext(x, b, true, true)},
					{"wrap.s32", uint32(SzextS32(int32(x), b&31)), szext(x, b, false, true)},
				} {
					if c.got != c.want {
						t.Errorf("szext.%s(%#x, %d) = %#x, want %#x", c.name, x, b, c.got, c.want)
					}
				}
			}
		}
	}
}

func TestFinds(t *testing.T) {
	bfind := func(a uint64, msb int, signed bool) uint32 {
		flip := uint64(0)
		if signed && bit(a, msb) == 1 {
			flip = 1
		}
		for i := msb; i >= 0; i-- {
			if bit(a, i) != flip {
				return uint32(i)
			}
		}
		return ^uint32(0)
	}
	fns := func(mask, base uint32, offset int32) uint32 {
		if offset == 0 {
			if bit(uint64(mask), int(base)) == 1 {
				return base
			}
			return ^uint32(0)
		}
		inc, count := 1, int64(offset)-1
		if offset < 0 {
			inc, count = -1, -int64(offset)-1
		}
		for pos := int(base); pos >= 0 && pos < 32; pos += inc {
			if bit(uint64(mask), pos) == 0 {
				continue
			}
			if count == 0 {
				return uint32(pos)
			}
			count--
		}
		return ^uint32(0)
	}
	for _, a := range someInts() {
		a32 := uint32(a)
		for _, c := range []struct {
			name      string
			got, want uint32
		}{
			{"u32", BfindU32(a32), bfind(uint64(a32), 31, false)}, {"s32", BfindS32(int32(a32)), bfind(uint64(a32), 31, true)},
			{"u64", BfindU64(a), bfind(a, 63, false)}, {"s64", BfindS64(int64(a)), bfind(a, 63, true)},
		} {
			if c.got != c.want {
				t.Errorf("bfind.%s(%#x) = %d, want %d", c.name, a, c.got, c.want)
			}
		}
		if d := BfindShift(BfindU32(a32), 32); a32 != 0 && a32<<d>>31 != 1 || a32 == 0 && d != ^uint32(0) {
			t.Errorf("bfind.shiftamt.u32(%#x) = %d", a32, d)
		}
		for base := range uint32(32) {
			for _, offset := range []int32{0, 1, -1, 2, -2, 7, -7, 16, -32, 33, -1<<31 + 1, 1<<31 - 1} {
				if got, want := Fns(a32, base, offset), fns(a32, base, offset); got != want {
					t.Fatalf("fns(%#x, %d, %d) = %d, want %d", a32, base, offset, got, want)
				}
			}
		}
	}
	if got := Fns(5, 9, -1<<31); got != 0 {
		t.Errorf("fns of the smallest offset = %d, want the hardware's 0", got)
	}
	if got := Fns(^uint32(0), 32, 1); got != ^uint32(0) {
		t.Errorf("fns from beyond the mask = %d", got)
	}
}

func TestFunnelShift(t *testing.T) {
	for range 50 {
		a, b := rand.Uint32(), rand.Uint32()
		both := new(big.Int).SetUint64(uint64(b)<<32 | uint64(a))
		for _, c := range counts {
			left := func(n uint32) uint32 {
				return uint32(new(big.Int).Rsh(new(big.Int).Lsh(both, uint(n)), 32).Uint64())
			}
			right := func(n uint32) uint32 { return uint32(new(big.Int).Rsh(both, uint(n)).Uint64()) }
			for _, k := range []struct {
				name      string
				got, want uint32
			}{
				{"l.clamp", ShfLClamp(a, b, c), left(min(c, 32))}, {"l.wrap", ShfLWrap(a, b, c), left(c & 31)},
				{"r.clamp", ShfRClamp(a, b, c), right(min(c, 32))}, {"r.wrap", ShfRWrap(a, b, c), right(c & 31)},
			} {
				if k.got != k.want {
					t.Errorf("shf.%s(%#x, %#x, %d) = %#x, want %#x", k.name, a, b, c, k.got, k.want)
				}
			}
		}
	}
}

func TestPrmt(t *testing.T) {
	const a, b = 0x83828180, 0x07868504
	for _, c := range []struct {
		mode       PrmtMode
		ctl, bytes uint32
	}{
		{PrmtIndex, 0x3210, a}, {PrmtIndex, 0x7654, b}, {PrmtIndex, 0xffff3210, a},
		{PrmtIndex, 0x7f8c, 0x0700ff00}, {PrmtIndex, 0xdddd, 0xffffffff}, {PrmtIndex, 0x0d07, 0x80ff8007},
		{PrmtF4E, 0, a}, {PrmtF4E, 1, 0x04838281}, {PrmtF4E, 2, 0x85048382}, {PrmtF4E, 7, 0x86850483},
		{PrmtB4E, 0, 0x85860780}, {PrmtB4E, 1, 0x86078081}, {PrmtB4E, 2, 0x07808182}, {PrmtB4E, 3, 0x80818283},
		{PrmtRC8, 0, 0x80808080}, {PrmtRC8, 6, 0x82828282},
		{PrmtECL, 0, a}, {PrmtECL, 1, 0x83828181}, {PrmtECL, 2, 0x83828282}, {PrmtECL, 3, 0x83838383},
		{PrmtECR, 0, 0x80808080}, {PrmtECR, 1, 0x81818180}, {PrmtECR, 2, 0x82828180}, {PrmtECR, 3, a},
		{PrmtRC16, 0, 0x81808180}, {PrmtRC16, 1, 0x83828382}, {PrmtRC16, 2, 0x81808180}, {PrmtRC16, 3, 0x83828382},
	} {
		if got := Prmt(c.mode, a, b, c.ctl); got != c.bytes {
			t.Errorf("prmt mode %d, control %#x: %#x, want %#x", c.mode, c.ctl, got, c.bytes)
		}
	}
}

func TestLop3(t *testing.T) {
	a, b, c := rand.Uint32(), rand.Uint32(), rand.Uint32()
	for lut := range 256 {
		var want uint32
		for i := range 32 {
			index := a>>i&1<<2 | b>>i&1<<1 | c>>i&1
			want |= uint32(lut) >> index & 1 << i
		}
		if got := Lop3(a, b, c, uint8(lut)); got != want {
			t.Errorf("lop3(%#x, %#x, %#x, %#x) = %#x, want %#x", a, b, c, lut, got, want)
		}
	}
	if got := Lop3(a, b, c, 0xf0&0xcc|0xaa); got != a&b|c {
		t.Errorf("the table of a&b|c gives %#x, want %#x", got, a&b|c)
	}
}
