package scalar

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

var roundings = []Round{RN, RZ, RM, RP}

// arith holds the functions of a format under test, on 64-bit words.
type arith struct {
	name string
	ieee
	nan  uint64 // the NaN; 0 if it is not compared
	fast map[string]func(a, b, c uint64) uint64
	any  map[string]func(r Round, a, b, c uint64) uint64
}

func w32(f func(a, b uint32) uint32) func(a, b, c uint64) uint64 {
	return func(a, b, _ uint64) uint64 { return uint64(f(uint32(a), uint32(b))) }
}

func w32r(f func(r Round, a, b uint32) uint32) func(r Round, a, b, c uint64) uint64 {
	return func(r Round, a, b, _ uint64) uint64 { return uint64(f(r, uint32(a), uint32(b))) }
}

func w64(f func(a, b uint64) uint64) func(a, b, c uint64) uint64 {
	return func(a, b, _ uint64) uint64 { return f(a, b) }
}

func w64r(f func(r Round, a, b uint64) uint64) func(r Round, a, b, c uint64) uint64 {
	return func(r Round, a, b, _ uint64) uint64 { return f(r, a, b) }
}

func w16(f func(a, b uint16) uint16) func(a, b, c uint64) uint64 {
	return func(a, b, _ uint64) uint64 { return uint64(f(uint16(a), uint16(b))) }
}

type (
	fastOps = map[string]func(a, b, c uint64) uint64
	anyOps  = map[string]func(r Round, a, b, c uint64) uint64
)

var formats = []arith{
	{"f32", oF32, NaNF32, fastOps{
		"add": w32(AddF32), "sub": w32(SubF32), "mul": w32(MulF32), "div": w32(DivF32),
		"fma":  func(a, b, c uint64) uint64 { return uint64(FmaF32(uint32(a), uint32(b), uint32(c))) },
		"rcp":  func(a, _, _ uint64) uint64 { return uint64(RcpF32(uint32(a))) },
		"sqrt": func(a, _, _ uint64) uint64 { return uint64(SqrtF32(uint32(a))) },
	}, anyOps{
		"add": w32r(AddF32R), "sub": w32r(SubF32R), "mul": w32r(MulF32R), "div": w32r(DivF32R),
		"fma":  func(r Round, a, b, c uint64) uint64 { return uint64(FmaF32R(r, uint32(a), uint32(b), uint32(c))) },
		"rcp":  func(r Round, a, _, _ uint64) uint64 { return uint64(RcpF32R(r, uint32(a))) },
		"sqrt": func(r Round, a, _, _ uint64) uint64 { return uint64(SqrtF32R(r, uint32(a))) },
	}},
	{"f64", oF64, 0, fastOps{
		"add": w64(AddF64), "sub": w64(SubF64), "mul": w64(MulF64), "div": w64(DivF64), "fma": FmaF64,
		"rcp":  func(a, _, _ uint64) uint64 { return RcpF64(a) },
		"sqrt": func(a, _, _ uint64) uint64 { return SqrtF64(a) },
	}, anyOps{
		"add": w64r(AddF64R), "sub": w64r(SubF64R), "mul": w64r(MulF64R), "div": w64r(DivF64R), "fma": FmaF64R,
		"rcp":  func(r Round, a, _, _ uint64) uint64 { return RcpF64R(r, a) },
		"sqrt": func(r Round, a, _, _ uint64) uint64 { return SqrtF64R(r, a) },
	}},
	{"f16", oF16, NaNF16, fastOps{
		"add": w16(AddF16), "sub": w16(SubF16), "mul": w16(MulF16),
		"fma": func(a, b, c uint64) uint64 { return uint64(FmaF16(uint16(a), uint16(b), uint16(c))) },
	}, nil},
	{"bf16", oBF16, NaNBF16, fastOps{
		"add": w16(AddBF16), "sub": w16(SubBF16), "mul": w16(MulBF16),
		"fma": func(a, b, c uint64) uint64 { return uint64(FmaBF16(uint16(a), uint16(b), uint16(c))) },
	}, nil},
}

// want returns the result of the oracle.
func (f *arith) want(op string, r Round, a, b, c uint64) (uint64, bool) {
	switch op {
	case "add":
		return f.ieee.add(r, a, b)
	case "sub":
		return f.ieee.add(r, a, b^f.sign())
	case "mul":
		return f.ieee.mul(r, a, b)
	case "div":
		return f.ieee.div(r, a, b)
	case "rcp":
		return f.ieee.div(r, f.one(), a)
	case "sqrt":
		return f.ieee.sqrt(r, a)
	}
	return f.ieee.fma(r, a, b, c)
}

func (f *arith) check(t *testing.T, op string, r Round, a, b, c, got uint64) {
	t.Helper()
	want, ok := f.want(op, r, a, b, c)
	if !ok {
		if !f.isNaN(got) || f.nan != 0 && got != f.nan {
			t.Errorf("%s.%v.%s(%#x, %#x, %#x) = %#x, want a NaN (%#x)", op, r, f.name, a, b, c, got, f.nan)
		}
		return
	}
	if got != want {
		t.Errorf("%s.%v.%s(%#x, %#x, %#x) = %#x, want %#x", op, r, f.name, a, b, c, got, want)
	}
}

// TestArithmetic compares every operation in every rounding mode with the oracle.
func TestArithmetic(t *testing.T) {
	for i := range formats {
		f := &formats[i]
		for op, fn := range f.fast {
			t.Run(op+"."+f.name, func(t *testing.T) {
				t.Parallel()
				f.sweep(op, func(a, b, c uint64) { f.check(t, op, RN, a, b, c, fn(a, b, c)) })
			})
		}
		for op, fn := range f.any {
			t.Run(op+".R."+f.name, func(t *testing.T) {
				t.Parallel()
				f.sweep(op, func(a, b, c uint64) {
					for _, r := range roundings {
						f.check(t, op, r, a, b, c, fn(r, a, b, c))
					}
				})
			})
		}
	}
}

// sweep calls try with edge values and random operands.
func (f *arith) sweep(op string, try func(a, b, c uint64)) {
	list := f.edges()
	n := 1000
	if f.name == "f64" {
		n = 200
	}
	for _, a := range list {
		if op == "sqrt" || op == "rcp" {
			try(a, 0, 0)
			continue
		}
		for _, b := range list {
			if f.name == "f64" && rand.IntN(3) > 0 {
				continue // the oracle's fractions would have thousands of digits
			}
			try(a, b, list[rand.IntN(len(list))])
			if op == "fma" && f.name != "f64" {
				// An addend that nearly cancels the product.
				p, _ := f.ieee.mul(RN, a, b)
				try(a, b, p^f.sign())
				try(a, b, p^f.sign()^1)
			}
		}
	}
	for range n {
		a := f.random()
		b := f.near(a)
		try(a, b, f.near(b))
		try(f.random(), f.random(), f.random())
		x, y := f.near(f.one()), f.near(f.one())
		p, _ := f.ieee.mul(RZ, x, y)
		try(x, y, f.near(p))
		// Products around the smallest normal number.
		x = f.near(uint64(f.bias()/2) << f.frac)
		try(x, f.near(uint64(f.bias()-f.bias()/2)<<f.frac), f.near(1<<f.frac))
	}
}

// TestFmaTies tests the case that a sum in f64 rounds incorrectly: a product next to the
// middle between two f32.
func TestFmaTies(t *testing.T) {
	f := &formats[0]
	for range 4000 {
		c := uint64(127+rand.IntN(20))<<23 | uint64(rand.Uint32N(1<<23))
		// a·b is slightly more or less than half a unit of c: (1+x)(1-x) = 1-x².
		d := uint64(1) << rand.IntN(12)
		e := int(c>>23) - 24 - rand.IntN(2)
		a := uint64(127)<<23 + d
		b := uint64(e)<<23 + uint64(rand.IntN(3)) - d
		for _, s := range []uint64{0, 1 << 31} {
			f.check(t, "fma", RN, a, b|s, c, uint64(FmaF32(uint32(a), uint32(b|s), uint32(c))))
		}
	}
}

// TestLastBit adds a product with one bit far below its other bits to numbers of all sizes:
// only this bit determines the rounding of a tie or a directed rounding.
func TestLastBit(t *testing.T) {
	f := &formats[1]
	// A product that is 1 modulo 2^75.
	a, b := math.Float64bits(0x1f92ae61a0c23f), math.Float64bits(0xcdce46a962dbf)
	for e := uint64(1023 + 60); e < 1023+240; e++ {
		for _, c := range []uint64{e << 52, e<<52 | 1, e<<52 | 1<<52 - 1, e<<52 | 1<<52 - 2} {
			for _, r := range roundings {
				f.check(t, "fma", r, a, b, c, FmaF64R(r, a, b, c))
				f.check(t, "fma", r, a, b, c|1<<63, FmaF64R(r, a, b, c|1<<63))
			}
		}
	}
}

// TestSingleRounding tests a case that two roundings compute incorrectly.
func TestSingleRounding(t *testing.T) {
	// The product is 2^-24 + 2^-70, so the sum is slightly above the tie between 1 and the
	// next number. In f64 it is exactly the tie.
	if got := FmaF32(0x33801001, 0x3f7fe002, 0x3f800000); got != 0x3f800001 {
		t.Errorf("fma = %#x, want 0x3f800001", got)
	}
	// (1+2^-12)² - 1 keeps the 2^-24 that a rounded product loses.
	x := uint32(0x3f800800)
	if got := FmaF32(x, x, 0xbf800000); got != 0x3a000400 {
		t.Errorf("fma = %#x, want 0x3a000400", got)
	}
	if got := SubF32(MulF32(x, x), 0x3f800000); got != 0x3a000000 {
		t.Errorf("mul then sub = %#x, want 0x3a000000: the operations may have been fused", got)
	}
}

func FuzzFma(fz *testing.F) {
	fz.Add(uint32(0x3f800001), uint32(0x3f800001), uint32(0x33800000))
	fz.Add(uint32(0x00800000), uint32(0x3f000001), uint32(0x80000001))
	fz.Add(uint32(0x7f7fffff), uint32(0x40000000), uint32(0xff7fffff))
	fz.Fuzz(func(t *testing.T, a, b, c uint32) {
		f32, f16, bf16 := &formats[0], &formats[2], &formats[3]
		x, y, z := uint64(a), uint64(b), uint64(c)
		f32.check(t, "fma", RN, x, y, z, uint64(FmaF32(a, b, c)))
		for _, r := range roundings {
			f32.check(t, "fma", r, x, y, z, uint64(FmaF32R(r, a, b, c)))
		}
		h := [3]uint16{uint16(a >> 16), uint16(b >> 16), uint16(c >> 16)}
		x, y, z = x>>16, y>>16, z>>16
		f16.check(t, "fma", RN, x, y, z, uint64(FmaF16(h[0], h[1], h[2])))
		bf16.check(t, "fma", RN, x, y, z, uint64(FmaBF16(h[0], h[1], h[2])))
	})
}

func TestRoundString(t *testing.T) {
	if got := fmt.Sprint(RN, RZ, RM, RP, RNA, Round(9)); got != "rn rz rm rp rna Round(?)" {
		t.Error(got)
	}
}
