package machine

import (
	"slices"
	"testing"
)

// TestByRole: the warps that start copies run ahead of the others, or behind them, as soon as there
// are both.
func TestByRole(t *testing.T) {
	warps := func(turns []turn) (list []int) {
		for _, t := range turns {
			w := t.warp
			if t.quantum == short {
				w = -w
			}
			list = append(list, w)
		}
		return list
	}
	for _, c := range []struct {
		seed     uint64
		produces []int
		want     []int // negative: a short turn
	}{
		{Producers, nil, []int{0, 1, 2, 3}},
		{Producers, []int{0, 1, 2, 3}, []int{0, 1, 2, 3}},
		{Producers, []int{2}, []int{2, 0, 2, -1, 2, -3, 2}},
		{Consumers, []int{2, 3}, []int{0, 1, -2, 0, 1, -3, 0, 1}},
		{Fine, []int{2}, []int{0, -1, -2, -3}},
	} {
		s := schedule{c.seed}
		b := &Block{turns: s.turns(0, 4)}
		for i := range 4 {
			b.Warps = append(b.Warps, &Warp{produces: slices.Contains(c.produces, i)})
		}
		if got := warps(s.byRole(b)); !slices.Equal(got, c.want) {
			t.Errorf("schedule %d, producers %v: turns %v, want %v", c.seed, c.produces, got, c.want)
		}
	}
}
