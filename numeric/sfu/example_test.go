package sfu_test

import (
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/numeric/sfu"
)

func ExampleEx2() {
	x := math.Float32bits(0.5)
	fmt.Println(math.Float32frombits(sfu.Ex2(x, false)), float32(math.Sqrt2))
	// Output: 1.4142135 1.4142135
}
