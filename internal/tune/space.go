package tune

import (
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Stages are the configurations of kernels/attn for a problem.
type Stages struct {
	Problem stages.Problem
	Target  ptx.Target
}

// The values of decisions that are numbers.
var (
	tileMs      = []int{16, 32, 48, 64, 80, 96, 112, 128}
	tileNs      = []int{32, 64, 96, 128}
	stageCounts = []int{0, 1, 2, 3}
	producers   = []int{0, 1, 2}
)

// Neighbours are the configurations that differ in one decision and can compute the
// problem on the target, in a fixed order.
func (s Stages) Neighbours(c stages.Config) (list []stages.Config) {
	for _, n := range changes(c) {
		if n != c && n.Check(s.Problem, s.Target) == nil {
			list = append(list, n)
		}
	}
	return list
}

// changes are all changes of one field, possible or not.
func changes(c stages.Config) (list []stages.Config) {
	number := func(values []int, field func(*stages.Config) *int) {
		for _, v := range values {
			n := c
			*field(&n) = v
			list = append(list, n)
		}
	}
	number(tileMs, func(c *stages.Config) *int { return &c.TileM })
	number(tileNs, func(c *stages.Config) *int { return &c.TileN })
	number(stageCounts, func(c *stages.Config) *int { return &c.Stages })
	number(producers, func(c *stages.Config) *int { return &c.Producers })
	for _, field := range []func(*stages.Config) *bool{
		func(c *stages.Config) *bool { return &c.VectorDequant },
		func(c *stages.Config) *bool { return &c.Swizzle },
		func(c *stages.Config) *bool { return &c.LUT },
		func(c *stages.Config) *bool { return &c.TensorQK },
		func(c *stages.Config) *bool { return &c.TensorPV },
		func(c *stages.Config) *bool { return &c.ReuseScores },
		func(c *stages.Config) *bool { return &c.FusedSoftmax },
		func(c *stages.Config) *bool { return &c.Persistent },
		func(c *stages.Config) *bool { return &c.FastExp },
	} {
		n := c
		*field(&n) = !*field(&n)
		list = append(list, n)
	}
	return list
}
