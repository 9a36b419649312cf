package ref_test

import (
	"context"
	"fmt"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// This example measures how much accuracy attention loses when its inputs are quantised
// to each format.
func Example() {
	in, err := ref.Generate("normal", 0, problem.Square(1, 2, 128, 64))
	if err != nil {
		fmt.Println(err)
		return
	}
	want, err := ref.Attention(context.Background(), in.Q, in.K, in.V, ref.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range fp8.Formats() {
		x, err := in.Quantise(f, fp8.PerHead)
		if err != nil {
			fmt.Println(err)
			return
		}
		got, err := ref.Attention(context.Background(), x.Q, x.K, x.V, ref.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		e, err := want.Compare(got, ref.CompareOptions{Tol: 0.06})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-9s max %.3f, mean %.4f, %d of %d above %v\n", f, e.Max, e.Mean, e.Bad, e.Elements, e.Tol)
	}
	// Output:
	// e4m3      max 0.049, mean 0.0052, 0 of 16384 above 0.06
	// e5m2      max 0.103, mean 0.0102, 22 of 16384 above 0.06
	// u8        max 0.015, mean 0.0017, 0 of 16384 above 0.06
	// u8-legacy max 0.036, mean 0.0152, 0 of 16384 above 0.06
}
