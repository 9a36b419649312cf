package hopper

import (
	"container/heap"
	"math"
	"slices"

	"github.com/GOATnote-Inc/attest/problem"
)

// Throughput is the design for problems that fill the card: three or four warpgroups a
// block, blocks that stay. Heads of 128 leave registers for three, and for 128 keys a
// tile; three with heads of 64 have 192.
func Throughput(headDim, warpgroups int) Config {
	c := Config{Sharing: Sharing{Split: 1}, Softmax: Softmax{SumsInV: true, TileMaxima: true}, Schedule: Schedule{Warpgroups: warpgroups, TileN: 128, Stages: 2, Persistent: true, PingPong: 32, BlocksPerSM: 1}}
	if headDim == 64 {
		c.Polynomial = 16
		if warpgroups == 3 {
			c.TileN = 192
		}
		c.PingPong = c.TileN
	}
	return c
}

// Pair is the design for problems of medium size: blocks of 128 rows, two warpgroups in
// ping-pong.
func Pair() Config {
	return Config{Sharing: Sharing{Split: 1}, Softmax: Softmax{SumsInV: true, TileMaxima: true}, Schedule: Schedule{Warpgroups: 2, TileN: 128, Stages: 2, PingPong: 96, BlocksPerSM: 1}}
}

// TwoPairs is Pair for heads of 64, with two pairs of warpgroups, each sharing the keys of
// 64 rows. Two warpgroups alone would leave the special function units idle half of the
// time.
func TwoPairs() Config {
	return Config{Sharing: Sharing{Split: 1, SplitInBlock: true}, Softmax: Softmax{Polynomial: 16, SumsInV: true, TileMaxima: true}, Schedule: Schedule{Warpgroups: 4, TileN: 128, Stages: 4, PingPong: 128, BlocksPerSM: 1}}
}

// Latency is a design for problems of few tiles: 64 rows a block.
func Latency(headDim int) Config {
	c := Config{Sharing: Sharing{Split: 1}, Softmax: Softmax{SumsInV: true}, Schedule: Schedule{Warpgroups: 1, TileN: 128, Stages: 2, BlocksPerSM: 2}}
	if headDim == 128 {
		c.BlocksPerSM = 1 // shared memory for no more
	}
	return c
}

// SplitKeys is the second design for problems of few tiles: 64 rows per block, whose keys
// are split over its two warpgroups, and over a cluster of split blocks. In a cluster each
// warpgroup has so few tiles that ping-pong, and what else pays off tile by tile, does not.
func SplitKeys(split int) Config {
	c := Config{Sharing: Sharing{Split: split, SplitInBlock: true}, Schedule: Schedule{Warpgroups: 2, TileN: 128, Stages: 2, BlocksPerSM: 1}}
	if split == 1 {
		c.PingPong, c.TileMaxima, c.Polynomial, c.SumsInV = c.TileN, true, 16, true
	}
	return c
}

// Choose is the configuration for a problem on a GPU of so many SMs: the one of [choices]
// that is estimated to take the least time. What decides is mostly how well the blocks'
// rows divide the problem's: a wave that a few SMs work in takes as long as a full one.
func Choose(p problem.Attention, sms int) Config {
	best, least := Throughput(p.D, 3).without(p), math.Inf(1) // which computes every problem
	for _, o := range choices(p.D) {
		c := o.without(p)
		if t := o.costs.dot(c.load(p, sms)); t < least && !c.short(p) && c.Check(p) == nil {
			best, least = c, t
		}
	}
	return best
}

// choice is a configuration that Choose may take, and what it costs.
type choice struct {
	Config
	costs terms
}

// terms are the parts of an estimate: either what each costs, in microseconds, or how
// often a launch pays it.
type terms [5]float64

const (
	perLaunch = iota // what it takes before the first item and after the last
	perItem          // an item's beginning and end
	perTile          // a tile of keys
	perBeside        // more, for a tile with another block on the SM
	perCausal        // more, for a tile of a causal problem: its kernel is another text
)

// dot is the time of a load at these costs.
func (t terms) dot(load terms) (micros float64) {
	for i, cost := range t {
		micros += cost * load[i]
	}
	return micros
}

// choices are what Choose weighs up: each was the fastest by some percent on a problem
// that was timed. The costs are least squares of the relative error over
// testdata/times.json, medians on an H200 in a replayed graph with warm caches, and come
// within a few percent of nearly all. Where sums in a column are forbidden they are taken
// to be the same.
//
// After a change of the kernels, or with a design more, time them on the card and have
// the costs fitted:
//
//	HOPPER_OUT=t.json hopper.test -test.run TestCardTimes
//	go test ./kernels/attn/hopper -run TestChooseFit -times $PWD/t.json -v
//
// The second rewrites testdata/times.json and prints the terms that belong here; without
// -times it wants these to be the ones that are here.
func choices(headDim int) []choice {
	finer := SplitKeys(2)
	finer.TileN = 64
	if headDim == 64 {
		return []choice{
			{finer, terms{0.539, 1.94, 0.324, 0, 0.029}},
			{SplitKeys(2), terms{0.764, 1.751, 0.582, 0, 0.031}},
			{SplitKeys(1), terms{0.639, 1.858, 0.521, 0, 0.033}},
			{Latency(64), terms{1.188, 0.636, 0.803, 0.208, 0.015}},
			{Pair(), terms{0.415, 1.964, 0.924, 0, 0.026}},
			{TwoPairs(), terms{0.519, 2.817, 0.757, 0, 0.027}},
			{Throughput(64, 3), terms{2.315, 1.475, 1.662, 0, 0}},
			{Throughput(64, 4), terms{2.084, 1.354, 1.458, 0, 0.344}},
		}
	}
	split := Latency(128)
	split.Split = 2
	return []choice{
		{finer, terms{0.62, 2.185, 0.47, 0, 0.059}},
		{SplitKeys(2), terms{0.64, 2.39, 0.692, 0, 0.072}},
		{SplitKeys(1), terms{0.507, 2.395, 0.683, 0, 0.034}},
		{split, terms{0.565, 2.114, 0.991, 0, 0.038}},
		{Latency(128), terms{0.396, 1.699, 1.001, 0, 0.018}},
		{Pair(), terms{0.043, 2.803, 1.166, 0, 0.04}},
		{Throughput(128, 3), terms{2.202, 1.747, 1.567, 0, 0.059}},
	}
}

// load is what the SM with the most work has to do: with one block an SM
//
//	1 launch, items, and items·tiles
//
// where all items have equally many tiles, but for causal ones. The tiles are those that
// a block brings in and transposes, also where warpgroups share them: an odd one takes
// half of the time of two.
//
// Two blocks on an SM go through their tiles side by side, a round of these taking longer
// than one block alone would but not twice as long. Their beginnings and ends do not
// overlap.
func (c Config) load(p problem.Attention, sms int) terms {
	sms = max(sms, 1)
	blocks := p.B * p.Hq * ceil(p.Sq, c.rows()) * c.Split
	items := ceil(blocks, sms)
	rounds := ceil(items, c.BlocksPerSM)
	crowded := 0 // rounds with more than one block
	if c.BlocksPerSM > 1 {
		crowded = (items + c.BlocksPerSM - 2) / c.BlocksPerSM
	}
	load := terms{perLaunch: 1, perItem: float64(items), perTile: float64(rounds * c.tiles(p, p.Sq))}
	if p.Causal {
		load[perTile] = c.causalTiles(p, blocks, rounds, sms*c.BlocksPerSM)
		load[perCausal] = load[perTile]
	}
	load[perBeside] = load[perTile] * float64(crowded) / float64(rounds)
	return load
}

// ceil is n/by, rounded up.
func ceil(n, by int) int { return (n + by - 1) / by }

// tiles are those of the keys that a block goes through for rows that end before row last.
func (c Config) tiles(p problem.Attention, last int) int {
	keys := p.Skv
	if p.Causal {
		keys = max(last+p.Skv-p.Sq, 0)
	}
	return ceil(ceil(keys, c.TileN), c.Split)
}

// walked is up to how many items the tiles of a causal problem are counted, block by
// block. Above that it is many rounds, and all blocks have about as many.
const walked = 1 << 11

// causalTiles are the tiles of the SM, or of the place on it, that has the most. Blocks
// that stay take their items as part.Work deals them out, and how even that is depends on
// the sizes. Others come, the longest first, when one before them has ended.
func (c Config) causalTiles(p problem.Attention, items, rounds, blocks int) float64 {
	perHead := ceil(p.Sq, c.rows())
	tiles := make([]int, perHead)
	for i := range tiles {
		tiles[i] = c.tiles(p, min((i+1)*c.rows(), p.Sq))
	}
	switch most := tiles[perHead-1]; {
	case items > walked:
		return max(float64(rounds*(tiles[0]+most))/2, float64(most))
	case c.Persistent:
		return float64(dealt(tiles, items, blocks))
	default:
		return float64(queued(tiles, items, blocks, c.Split))
	}
}

// dealt is the most that any of so many blocks has, as part.Work deals items out, all heads'
// longest first.
func dealt(tiles []int, items, blocks int) (most int) {
	heads := items / len(tiles)
	for b := range min(items, blocks) {
		sum := 0
		for n := 0; n*blocks < items; n++ {
			place := b
			if n%2 == 1 {
				place = blocks - 1 - b
			}
			if i := n*blocks + place; i < items {
				sum += tiles[len(tiles)-1-i/heads]
			}
		}
		most = max(most, sum)
	}
	return most
}

// queued is when the last of the items ends that so many places take one after the other,
// each when it is free, all heads' longest first. Clusters of split blocks take as many
// places at once.
func queued(tiles []int, items, places, split int) (last int) {
	free := make(times, max(places/split, 1))
	heads := items / split / len(tiles)
	for _, n := range slices.Backward(tiles) {
		for range heads {
			free[0] += n
			last = max(last, free[0])
			heap.Fix(&free, 0)
		}
	}
	return last
}

// times is a heap, the earliest first.
type times []int

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i] < t[j] }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(x any)        { *t = append(*t, x.(int)) }
func (t *times) Pop() any          { panic("nothing is taken out") }
