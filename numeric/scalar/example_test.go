package scalar_test

import (
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/numeric/scalar"
)

// fma.rn.ftz.sat.f32 is FmaF32 with the functions of the modifiers.
func Example() {
	fma := func(a, b, c uint32) uint32 {
		return scalar.SatF32(scalar.FmaFtzF32(a, b, c))
	}
	x := fma(math.Float32bits(0.5), math.Float32bits(0.75), math.Float32bits(-0.125))
	fmt.Println(math.Float32frombits(x))
	fmt.Printf("%#08x\n", fma(0x7f800000, 0, 0)) // ∞·0 is NaN, and .sat makes that zero
	// Output:
	// 0.25
	// 0x00000000
}

func ExampleFmaF32R() {
	third := scalar.DivF32(math.Float32bits(1), math.Float32bits(3))
	for _, r := range []scalar.Round{scalar.RN, scalar.RZ, scalar.RM, scalar.RP} {
		fmt.Printf("%v %#08x\n", r, scalar.FmaF32R(r, third, third, third))
	}
	// Output:
	// rn 0x3ee38e39
	// rz 0x3ee38e39
	// rm 0x3ee38e39
	// rp 0x3ee38e3a
}

func ExampleCvtE4M3F32() {
	for _, x := range []float32{1, 0.1, 1000, float32(math.Inf(-1)), float32(math.NaN())} {
		fmt.Printf("%#02x ", scalar.CvtE4M3F32(math.Float32bits(x)))
	}
	// Output: 0x38 0x1d 0x7e 0xfe 0x7f
}
