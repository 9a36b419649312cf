package fp8_test

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/fp8"
)

func Example() {
	x := []float32{1, -0.5, 0.3, 2, 100, 25, -3, 0} // two heads of two rows and columns
	t, err := fp8.Quantise(fp8.E4M3, fp8.PerHead, fp8.Dims{B: 1, H: 2, S: 2, D: 2}, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("% x\n", t.Data)
	fmt.Println(t.Scales)
	fmt.Println(t.Dequantise())
	// Output:
	// 76 ee 68 7e 7e 6e d5 00
	// [0.004464286 0.22321428]
	// [1 -0.5 0.2857143 2 100 25 -2.9017856 0]
}

func ExampleFormat_Encode() {
	for _, x := range []float64{0.1, 464, 465, -1e6} {
		fmt.Printf("%v: %#02x or %#02x\n", x, fp8.E4M3.Encode(x), fp8.E4M3.EncodeSatfinite(x))
	}
	// Output:
	// 0.1: 0x1d or 0x1d
	// 464: 0x7e or 0x7e
	// 465: 0x7f or 0x7e
	// -1e+06: 0xff or 0xfe
}
