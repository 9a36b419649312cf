package layout_test

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
)

// The accumulator of mma.sync.m16n8k16: where lane 5 has its four elements.
func ExampleMMA() {
	_, _, d := layout.MMA(layout.Shape{M: 16, N: 8, K: 16}, 16)
	for i := range d.Elements {
		fmt.Print(d.At(5, i), " ")
	}
	// Output:
	// {1 2} {1 3} {9 2} {9 3}
}
