package scalar

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

// bigOf returns the value of the low bits of x in a type.
func bigOf(t Int, x uint64) *big.Int {
	n := new(big.Int).SetUint64(x)
	n.Mod(n, new(big.Int).Lsh(big.NewInt(1), uint(t.Bits())))
	if t.Signed() && n.Bit(t.Bits()-1) == 1 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(t.Bits())))
	}
	return n
}

func someInts() []uint64 {
	list := edgeInts()
	for range 300 {
		list = append(list, rand.Uint64(), rand.Uint64()>>rand.IntN(64))
	}
	return list
}

func TestIntToInt(t *testing.T) {
	for _, src := range allInts {
		for _, dst := range allInts {
			for _, x := range someInts() {
				n := bigOf(src, x)
				if got, want := CvtIntSat(dst, src, x), clampTo(dst, n); got != want {
					t.Fatalf("cvt.sat.%v.%v(%#x) = %#x, want %#x", dst, src, x, got, want)
				}
				wrapped := new(big.Int).And(n, new(big.Int).SetUint64(^uint64(0))).Uint64()
				if got, want := CvtInt(dst, src, x), clampTo(dst, bigOf(dst, wrapped)); got != want {
					t.Fatalf("cvt.%v.%v(%#x) = %#x, want %#x", dst, src, x, got, want)
				}
			}
		}
	}
}

func TestIntToFloat(t *testing.T) {
	for _, src := range allInts {
		for _, x := range someInts() {
			n := new(big.Rat).SetInt(bigOf(src, x))
			want := func(f ieee, r Round) uint64 {
				if n.Sign() == 0 {
					return 0
				}
				return f.round(r, n)
			}
			for _, r := range roundings {
				for _, c := range []struct {
					name      string
					got, want uint64
				}{
					{"f64", CvtF64IntR(r, src, x), want(oF64, r)},
					{"f32", uint64(CvtF32IntR(r, src, x)), want(oF32, r)},
					{"f16", uint64(CvtF16IntR(r, src, x)), want(oF16, r)},
					{"bf16", uint64(CvtBF16IntR(r, src, x)), want(oBF16, r)},
				} {
					if c.got != c.want {
						t.Errorf("cvt.%v.%s.%v(%#x) = %#x, want %#x", r, c.name, src, x, c.got, c.want)
					}
				}
			}
			if got := uint64(CvtF32Int(src, x)); got != want(oF32, RN) {
				t.Errorf("cvt.rn.f32.%v(%#x) = %#x, want %#x", src, x, got, want(oF32, RN))
			}
			if got := CvtF64Int(src, x); got != want(oF64, RN) {
				t.Errorf("cvt.rn.f64.%v(%#x) = %#x, want %#x", src, x, got, want(oF64, RN))
			}
		}
	}
}

func TestIntString(t *testing.T) {
	if got := fmt.Sprint(U8, U16, U32, U64, S8, S16, S32, S64, Int(8)); got != "u8 u16 u32 u64 s8 s16 s32 s64 Int(?)" {
		t.Error(got)
	}
}
