package tensor_test

import (
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/numeric/tensor"
)

// With wgmma, a sum of fp8 products keeps 13 bits below its largest term: in a sum with 1, the
// term 2^-14 is lost. mma.sync multiplies the same numbers as f16 and keeps the term.
func ExampleFloat() {
	const one, small = 0x38, 0x04 // 1 and 2^-7 in e4m3
	a := make([]uint32, 8)        // a row of 32 elements
	a[0] = one | small<<8
	for _, inst := range []tensor.Inst{tensor.WGMMA, tensor.MMA} {
		f, err := tensor.NewFloat(tensor.Hopper, inst, tensor.E4M3, tensor.E4M3, tensor.F32)
		if err != nil {
			fmt.Println(err)
			return
		}
		var rows tensor.Rows
		var cols tensor.Cols
		f.LoadA(&rows, 1, 32, a)
		f.LoadB(&cols, 1, 32, a)
		d := make([]uint32, 1)
		f.MulAdd(d, &rows, &cols, nil)
		fmt.Println(inst, math.Float32frombits(d[0]))
	}
	// Output:
	// wgmma 1
	// mma 1.000061
}
