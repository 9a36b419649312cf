package tune

import (
	"attest/kernels/attn"
	"attest/ptx"
)

// Stages are the configurations of kernels/attn for a problem.
type Stages struct {
	Problem attn.Problem
	Target  ptx.Target
}

// The values of decisions that are numbers.
var (
	tileMs    = []int{16, 32, 48, 64, 80, 96, 112, 128}
	tileNs    = []int{32, 64, 96, 128}
	stages    = []int{0, 1, 2, 3}
	producers = []int{0, 1, 2}
)

// Neighbours are the configurations that differ in one decision and can compute the
// problem on the target, in a fixed order.
func (s Stages) Neighbours(c attn.Config) (list []attn.Config) {
	for _, n := range changes(c) {
		if n != c && n.Check(s.Problem, s.Target) == nil {
			list = append(list, n)
		}
	}
	return list
}

// changes are all changes of one field, possible or not.
func changes(c attn.Config) (list []attn.Config) {
	number := func(values []int, field func(*attn.Config) *int) {
		for _, v := range values {
			n := c
			*field(&n) = v
			list = append(list, n)
		}
	}
	number(tileMs, func(c *attn.Config) *int { return &c.TileM })
	number(tileNs, func(c *attn.Config) *int { return &c.TileN })
	number(stages, func(c *attn.Config) *int { return &c.Stages })
	number(producers, func(c *attn.Config) *int { return &c.Producers })
	for _, field := range []func(*attn.Config) *bool{
		func(c *attn.Config) *bool { return &c.VectorDequant },
		func(c *attn.Config) *bool { return &c.Swizzle },
		func(c *attn.Config) *bool { return &c.LUT },
		func(c *attn.Config) *bool { return &c.TensorQK },
		func(c *attn.Config) *bool { return &c.TensorPV },
		func(c *attn.Config) *bool { return &c.ReuseScores },
		func(c *attn.Config) *bool { return &c.FusedSoftmax },
		func(c *attn.Config) *bool { return &c.Persistent },
		func(c *attn.Config) *bool { return &c.FastExp },
	} {
		n := c
		*field(&n) = !*field(&n)
		list = append(list, n)
	}
	return list
}
