package tensor

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestInteger compares each element with a sum of big integers.
func TestInteger(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, pair := range [][2]Kind{{S8, S8}, {S8, U8}, {U8, S8}, {U8, U8}, {S4, S4}, {S4, U4}, {U4, S4}, {U4, U4}, {B1, B1}} {
		for _, sat := range []bool{false, true} {
			for _, op := range []BitOp{XOR, AND} {
				x, err := NewInteger(pair[0], pair[1], op, sat)
				if sat && pair[0] == B1 {
					if err == nil {
						t.Error("single bits with .satfinite are accepted")
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				checkInteger(t, rng, x, pair[0], pair[1], op, sat, 3, 5)
				checkInteger(t, rng, x, pair[0], pair[1], op, sat, 16, 24)
				withoutSIMD(func() { checkInteger(t, rng, x, pair[0], pair[1], op, sat, 16, 24) })
			}
		}
	}
}

// withoutSIMD calls do with the loops in Go.
func withoutSIMD(do func()) {
	defer func(v bool) { vector = v }(vector)
	vector = false
	do()
}

func checkInteger(t *testing.T, rng *rand.Rand, x *Integer, a, b Kind, op BitOp, sat bool, m, n int) {
	for range 20 {
		k := 256 / a.Bits()
		ac, bc := anyBits(rng, a, m*k), anyBits(rng, b, n*k)
		c := draw(m*n, func(i int) uint32 {
			return []uint32{rng.Uint32(), 0x7fffffff - rng.Uint32N(99), 0x80000000 + rng.Uint32N(99)}[i%3]
		})
		got := make([]uint32, m*n)
		x.MulAdd(got, m, n, k, pack(a, ac), pack(b, bc), c)
		for e := range got {
			sum := big.NewInt(int64(int32(c[e])))
			for i := range k {
				u, v := ac[e/n*k+i], bc[e%n*k+i]
				p := number8(a, u) * number8(b, v)
				if a == B1 && op == XOR {
					p = int64(u ^ v)
				}
				sum.Add(sum, big.NewInt(p))
			}
			if sat && sum.Cmp(big.NewInt(math.MaxInt32)) > 0 {
				sum.SetInt64(math.MaxInt32)
			}
			if sat && sum.Cmp(big.NewInt(math.MinInt32)) < 0 {
				sum.SetInt64(math.MinInt32)
			}
			if want := uint32(sum.Int64()); got[e] != want {
				t.Fatalf("%v %v %v sat %v, element %d: got %#x, want %#x", a, b, op, sat, e, got[e], want)
			}
		}
	}
}

// number8 returns the value of an integer from its bits.
func number8(k Kind, bits uint32) int64 {
	v := int64(bits)
	if (k == S8 || k == S4) && bits>>(k.Bits()-1) != 0 {
		v -= 1 << k.Bits()
	}
	return v
}

// TestIntegerRefusals checks that pairs of types that no instruction has are refused.
func TestIntegerRefusals(t *testing.T) {
	for _, pair := range [][2]Kind{{S8, S4}, {B1, U4}, {F16, F16}, {S8, F16}, {kinds, kinds}} {
		if _, err := NewInteger(pair[0], pair[1], AND, false); err == nil {
			t.Errorf("%v: no error", pair)
		}
	}
}

// TestIntegerWithoutC tests a nil accumulator.
func TestIntegerWithoutC(t *testing.T) {
	x, err := NewInteger(S8, U8, XOR, true)
	if err != nil {
		t.Fatal(err)
	}
	d := make([]uint32, 1)
	x.MulAdd(d, 1, 1, 4, []uint32{0xff020180}, []uint32{0x01ff0203}, nil)
	if want := int32(-128*3 + 1*2 + 2*255 - 1); int32(d[0]) != want {
		t.Errorf("got %d, want %d", int32(d[0]), want)
	}
}
