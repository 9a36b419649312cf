package layout_test

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
)

// This prints the places of the four elements of lane 5 in the accumulator of
// mma.sync.m16n8k16.
func ExampleMMA() {
	_, _, d := layout.MMA(layout.Shape{M: 16, N: 8, K: 16}, 16)
	for i := range d.Elements {
		fmt.Print(d.At(5, i), " ")
	}
	// Output:
	// {1 2} {1 3} {9 2} {9 3}
}
