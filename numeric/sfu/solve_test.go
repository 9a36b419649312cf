package sfu

import (
	"errors"
	"strings"
	"testing"
)

// TestSolve gives the solver the results of the first two segments of each function, which are those of a GPU by
// TestAgainstCard. It wants the coefficients of the table, and that they satisfy every bound. Of sin, which
// reduces its arguments, the arguments from 1 on fill one segment in the middle of the table.
func TestSolve(t *testing.T) {
	for _, c := range []struct {
		name   string
		p      *poly
		fn     func(uint32, bool) uint32
		first  uint32 // the bits of the first argument
		step   uint32
		skip   int // results before the arguments that count
		count  int
		bounds func(all []uint32, segs [][]bound)
		table  []coef
		want   []int // segments
	}{
		{"ex2", &ex2Poly, Ex2, one, 1, 0, 2 << 17, ex2Bounds, ex2Table[:], []int{0, 1}},
		{"rcp", &rcpPoly, Rcp, one, 1, 0, 2 << 16, rcpBounds, rcpTable[:], []int{0, 1}},
		{"rsqrt", &rsqrtPoly, Rsqrt, one, 1, 0, 2 << 17, rsqrtBounds, rsqrtTable[:], []int{0, 1}},
		{"sqrt", &sqrtPoly, Sqrt, one, 1, 0, 2 << 17, sqrtBounds, sqrtTable[:], []int{0, 1}},
		{"lg2", &lg2Poly, Lg2, one - 1<<23, 1, 1 << 23, 2 << 17, lg2Bounds, lg2Table[:], []int{0, 1}},
		{"sin", &sinPoly, Sin, one, 1, 0, 1 << 19, sinBounds, sinTable[:], []int{42}},
		{"tanh", &tanhPoly, Tanh, uint32(127+tanhLeast) << 23, 16, 0, 1 << 20, tanhBounds, tanhTable[:], []int{0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := make([]uint32, c.skip+c.count)
			for i := c.skip; i < len(all); i++ {
				all[i] = c.fn(c.first+c.step*uint32(i), false)
			}
			segs := make([][]bound, len(c.table))
			c.bounds(all, segs)
			for _, i := range c.want {
				got, ok := c.p.solve(segs[i])
				if !ok || got != c.table[i] {
					t.Errorf("segment %d with %d bounds: %#x, %v, want %#x", i, len(segs[i]), got, ok, c.table[i])
				}
				for _, b := range segs[i] {
					if sum := c.p.eval(&got, b.x); sum < b.lo || sum >= b.hi {
						t.Fatalf("segment %d, %#x: %#x is not in [%#x, %#x)", i, b.x, sum, b.lo, b.hi)
					}
				}
			}
		})
	}
}

// TestSolveErrors wants the error of a missing file, and results that no coefficients give to be refused: between
// the first two arguments, 2^x does not grow by a half.
func TestSolveErrors(t *testing.T) {
	missing := errors.New("missing")
	if _, err := Solve(func(string) ([]uint32, error) { return nil, missing }); !errors.Is(err, missing) {
		t.Errorf("%v, want %v", err, missing)
	}
	_, err := Solve(func(string) ([]uint32, error) { return []uint32{one, one + 1<<22}, nil })
	if err == nil || !strings.Contains(err.Error(), "ex2: no coefficients satisfy the results of segment 0") {
		t.Error(err)
	}
}
