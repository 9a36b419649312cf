package shapes

import (
	"math"
	"math/rand/v2"

	"github.com/GOATnote-Inc/attest/problem"
)

// The limits of a sweep. A shape is timed in about two seconds with its rivals, so long sequences have
// few heads: at most mostWork operations, about 3 ms on an H200, unless a single head has more.
const (
	mostHeads    = 512
	leastKeys    = 64
	mostKeys     = 131072
	mostWork     = 2e12
	mostElements = 1 << 25 // of Q
)

// Draw returns n different random shapes of self-attention: heads and lengths spread evenly over their
// powers of two, half of the lengths odd, a third of the shapes with grouped heads. h is the head
// dimension; zero draws 64, 128 and 256 in turn. The same seed gives the same shapes.
func Draw(n int, seed uint64, h problem.HeadDim) List { return different(n, seed, h, draw) }

// DrawDecode is Draw for kernels that support few queries: 1 to 4 queries, up to 256 sequences of 512 to
// 131072 keys, and up to 16 query heads that share a head of K and V.
func DrawDecode(n int, seed uint64, h problem.HeadDim) List { return different(n, seed, h, drawDecode) }

// different draws until there are n different shapes.
func different(n int, seed uint64, h problem.HeadDim, draw func(r *rand.Rand, h problem.HeadDim) problem.Shape) (list List) {
	r := rand.New(rand.NewPCG(seed, 0x5eed))
	seen := map[problem.Shape]bool{}
	for len(list) < n {
		heads := h
		if h.D == 0 {
			heads.D = []int{64, 128, 256}[len(list)%3]
		}
		if s := draw(r, heads).WithHeadDim(heads); !seen[s] {
			seen[s] = true
			list = append(list, problem.Named{Shape: s})
		}
	}
	return list
}

// spread returns a number from low to high, each power of two with the same probability.
func spread(r *rand.Rand, low, high int) int {
	return int(math.Exp2(math.Log2(float64(low)) + r.Float64()*math.Log2(float64(high+1)/float64(low))))
}

// length returns a number of keys, half of the time a multiple of 64.
func length(r *rand.Rand, low, high int) int {
	keys := spread(r, low, high)
	if r.IntN(2) == 0 {
		keys = max(keys/64*64, low)
	}
	return keys
}

func draw(r *rand.Rand, h problem.HeadDim) problem.Shape {
	keys := length(r, leastKeys, mostKeys)
	one := problem.Square(1, 1, keys, 0).WithHeadDim(h)
	most := max(min(mostHeads, mostElements/one.Q().Len(), int(mostWork/one.FLOP())), 1)
	total := spread(r, 1, most)
	heads := min(total, []int{1, 4, 8, 16, 24, 32, 40, 64}[r.IntN(8)])
	group := 1
	if r.IntN(3) == 0 {
		group = []int{2, 4, 8, 16}[r.IntN(4)]
	}
	if heads%group != 0 {
		group = 1
	}
	return problem.Shape{B: min((total+heads-1)/heads, most/heads), Hq: heads, Hkv: heads / group, Sq: keys, Skv: keys}
}

const (
	mostSequences  = 256
	leastCached    = 512
	mostCachedSize = 1 << 26 // the elements of K
)

func drawDecode(r *rand.Rand, h problem.HeadDim) problem.Shape {
	keys := length(r, leastCached, mostKeys)
	heads := []int{1, 2, 4, 8, 8, 16, 32}[r.IntN(7)]
	group := []int{1, 2, 4, 4, 8, 16}[r.IntN(6)]
	most := mostCachedSize / (keys * h.D * heads)
	for most == 0 {
		heads /= 2
		most = mostCachedSize / (keys * h.D * heads)
	}
	return problem.Shape{B: spread(r, 1, min(most, mostSequences)), Hq: heads * group, Hkv: heads, Sq: []int{1, 1, 1, 2, 4}[r.IntN(5)], Skv: keys}
}
