package tune

import (
	"slices"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
)

// Space is the configurations of a family for a problem on a chip.
type Space struct {
	Family  attn.Family
	Problem problem.Attention
	Chip    kernel.Chip
}

// Neighbours returns the configurations that differ in one field and can compute the problem on
// the chip, in a fixed order, and then the named variants, which several changes at once would
// be needed to reach.
func (s Space) Neighbours(c attn.Config) (list []attn.Config) {
	add := func(n attn.Config, err error) {
		if err == nil && n != c && !slices.Contains(list, n) && s.Family.Check(s.Problem, s.Chip, n) == nil {
			list = append(list, n)
		}
	}
	for _, axis := range s.Family.Axes() {
		for _, v := range axis.Values {
			add(c.With(axis.Path, v))
		}
	}
	for _, v := range s.Family.Variants() {
		add(s.Family.Configure(v.Name, s.Problem, s.Chip))
	}
	return list
}
