package shapes

import (
	"math"
	"math/rand/v2"

	"github.com/GOATnote-Inc/attest/problem"
)

// The limits of a sweep. The work keeps a launch below about a third of a second on an H200, and the
// elements keep all operands below 4 GiB.
const (
	mostHeads    = 512
	leastKeys    = 64
	mostKeys     = 131072
	mostWork     = 2e14
	mostElements = 1 << 29
)

// Draw returns n different random shapes of self-attention: heads and lengths spread evenly over their
// powers of two, half of the lengths odd, a third of the shapes with grouped heads. h is the head
// dimension; zero draws 64, 128 and 256 in turn. The same seed gives the same shapes.
func Draw(n int, seed uint64, h problem.HeadDim) (list List) {
	r := rand.New(rand.NewPCG(seed, 0x5eed))
	seen := map[problem.Shape]bool{}
	for len(list) < n {
		heads := h
		if h.D == 0 {
			heads.D = []int{64, 128, 256}[len(list)%3]
		}
		if s := draw(r).WithHeadDim(heads); fits(s) && !seen[s] {
			seen[s] = true
			list = append(list, problem.Named{Shape: s})
		}
	}
	return list
}

func draw(r *rand.Rand) problem.Shape {
	spread := func(low, high float64) int { return int(math.Exp2(math.Log2(low) + r.Float64()*math.Log2(high/low))) }
	total := spread(1, mostHeads+1)
	heads := min(total, []int{1, 4, 8, 16, 24, 32, 40, 64}[r.IntN(8)])
	keys := spread(leastKeys, mostKeys+1)
	if r.IntN(2) == 0 {
		keys = max(keys/64*64, leastKeys)
	}
	group := 1
	if r.IntN(3) == 0 {
		group = []int{2, 4, 8, 16}[r.IntN(4)]
	}
	if heads%group != 0 {
		group = 1
	}
	return problem.Shape{B: max(total/heads, 1), Hq: heads, Hkv: heads / group, Sq: keys, Skv: keys}
}

func fits(s problem.Shape) bool { return s.FLOP() <= mostWork && s.Q().Len() <= mostElements }
