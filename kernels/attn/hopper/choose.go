package hopper

import (
	"container/heap"
	"math"
	"slices"

	"github.com/GOATnote-Inc/attest/problem"
)

// Throughput returns the design for problems that fill the GPU: persistent blocks of three
// or four warpgroups. With D = 128 there are registers for three warpgroups and tiles of 128
// keys. With D = 64, three warpgroups have tiles of 192 keys.
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

// WideHeads returns the design for D = 192 and D = 256 in problems that fill the GPU:
// persistent blocks of two warpgroups. With D = 256 there are registers for the products of
// 64 columns, two at a time.
func WideHeads() Config {
	return Config{Sharing: Sharing{Split: 1}, Softmax: Softmax{TileMaxima: true}, Schedule: Schedule{Warpgroups: 2, TileN: 128, Stages: 2, Persistent: true, PingPong: 128, ProductColumns: 64, BlocksPerSM: 1}}
}

// Pair returns the design for problems of medium size: blocks of 128 rows, two warpgroups in
// ping-pong.
func Pair() Config {
	return Config{Sharing: Sharing{Split: 1}, Softmax: Softmax{SumsInV: true, TileMaxima: true}, Schedule: Schedule{Warpgroups: 2, TileN: 128, Stages: 2, PingPong: 96, BlocksPerSM: 1}}
}

// TwoPairs returns Pair for D = 64 with two pairs of warpgroups: each pair splits the keys of
// 64 rows. Two warpgroups alone leave the special function units idle half of the time.
func TwoPairs() Config {
	return Config{Sharing: Sharing{Split: 1, SplitInBlock: true}, Softmax: Softmax{Polynomial: 16, SumsInV: true, TileMaxima: true}, Schedule: Schedule{Warpgroups: 4, TileN: 128, Stages: 4, PingPong: 128, BlocksPerSM: 1}}
}

// Latency returns a design for problems of few tiles: 64 rows per block.
func Latency(headDim int) Config {
	c := Config{Sharing: Sharing{Split: 1}, Softmax: Softmax{SumsInV: true}, Schedule: Schedule{Warpgroups: 1, TileN: 128, Stages: 2, BlocksPerSM: 2}}
	if headDim > 64 {
		c.BlocksPerSM = 1 // there is not enough shared memory for two
	}
	return c
}

// SplitKeys returns the second design for problems of few tiles: 64 rows per block, with the
// keys split over its two warpgroups and over a cluster of split blocks. In a cluster, each
// warpgroup has too few tiles for ping-pong and the other options to pay off.
func SplitKeys(split int) Config {
	c := Config{Sharing: Sharing{Split: split, SplitInBlock: true}, Schedule: Schedule{Warpgroups: 2, TileN: 128, Stages: 2, BlocksPerSM: 1}}
	if split == 1 {
		c.PingPong, c.TileMaxima, c.Polynomial, c.SumsInV = c.TileN, true, 16, true
	}
	return c
}

// Choose returns the configuration for a problem on a GPU with sms SMs: the one of [choices]
// with the lowest estimated time. The estimate depends mostly on how well the rows of a
// block divide the rows of the problem, because a wave takes as long for a few SMs as for
// all of them.
func Choose(p problem.Attention, sms int) Config {
	best, least := widest(p.D).adapted(p), math.Inf(1) // this design computes every problem
	for _, o := range choices(p.D) {
		c := o.adapted(p)
		if t := o.costs.dot(c.load(p, sms)); t < least && !c.short(p) && c.Check(p) == nil {
			best, least = c, t
		}
	}
	return best
}

// choice is a configuration that Choose may return, and its costs.
type choice struct {
	Config
	costs terms
}

// terms are the terms of an estimate: either the cost of each, in microseconds, or how often
// a launch has it.
type terms [5]float64

const (
	perLaunch = iota // before the first item and after the last
	perItem          // the beginning and the end of an item
	perTile          // a KV tile
	perBeside        // added to a KV tile while another block runs on the SM
	perCausal        // added to a KV tile of a causal problem, which has its own kernel
)

// dot returns the time of a load at these costs.
func (t terms) dot(load terms) (micros float64) {
	for i, cost := range t {
		micros += cost * load[i]
	}
	return micros
}

// choices returns the configurations that Choose compares. Each was the fastest on a problem
// that was timed. The costs minimise the squared relative error over testdata/times.json:
// medians on an H200, in a replayed graph with warm caches. The estimates are within a few
// percent of nearly all of these times. A problem that forbids SumsInV has the same costs.
//
// After a change of the kernels, or to add a design, time the kernels on the GPU and fit the
// costs:
//
//	HOPPER_OUT=t.json hopper.test -test.run TestCardTimes
//	go test ./kernels/attn/hopper -run TestChooseFit -times $PWD/t.json -v
//
// The second command rewrites testdata/times.json and prints the terms for this function.
// Without -times it checks that the terms here fit the file.
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
	split := Latency(headDim)
	split.Split = 2
	if headDim > 128 {
		return []choice{
			{SplitKeys(2), terms{0.62, 2.6, 0.75, 0, 0.06}},
			{SplitKeys(1), terms{0.5, 2.8, 0.75, 0, 0.04}},
			{Latency(headDim), terms{0.4, 2.4, 1.5, 0, 0.03}},
			{Pair(), terms{0.04, 3.6, 1.8, 0, 0.04}},
			{WideHeads(), terms{2.2, 2.4, 1.75, 0, 0.06}},
		}
	}
	return []choice{
		{finer, terms{0.62, 2.185, 0.47, 0, 0.059}},
		{SplitKeys(2), terms{0.64, 2.39, 0.692, 0, 0.072}},
		{SplitKeys(1), terms{0.507, 2.395, 0.683, 0, 0.034}},
		{split, terms{0.565, 2.114, 0.991, 0, 0.038}},
		{Latency(headDim), terms{0.396, 1.699, 1.001, 0, 0.018}},
		{Pair(), terms{0.043, 2.803, 1.166, 0, 0.04}},
		{Throughput(headDim, 3), terms{2.202, 1.747, 1.567, 0, 0.059}},
	}
}

// load returns the work of the SM that has the most. With one block per SM it is
//
//	1 launch, items, and items·tiles
//
// All items have equally many tiles, except under a causal mask. Tiles are counted as a
// block loads and transposes them, also if two warpgroups split them.
//
// Two blocks on an SM compute their tiles at the same time: a round takes longer than with
// one block, but not twice as long. Their beginnings and ends do not overlap.
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

// ceil returns n/by, rounded up.
func ceil(n, by int) int { return (n + by - 1) / by }

// tiles returns the KV tiles of a block whose rows end before row last.
func (c Config) tiles(p problem.Attention, last int) int {
	keys := p.Skv
	if p.Causal {
		keys = max(last+p.Skv-p.Sq, 0)
	}
	return ceil(ceil(keys, c.TileN), c.Split)
}

// maxCounted is the number of items up to which the tiles of a causal problem are counted
// block by block. With more items there are many rounds, and all blocks have about the same
// number of tiles.
const maxCounted = 1 << 11

// causalTiles returns the most tiles that an SM, or one of its resident blocks, has. For
// persistent blocks, part.Work deals out the items, and the sizes decide how evenly. Other
// blocks start, longest first, when an earlier one has ended.
func (c Config) causalTiles(p problem.Attention, items, rounds, blocks int) float64 {
	perHead := ceil(p.Sq, c.rows())
	tiles := make([]int, perHead)
	for i := range tiles {
		tiles[i] = c.tiles(p, min((i+1)*c.rows(), p.Sq))
	}
	switch most := tiles[perHead-1]; {
	case items > maxCounted:
		return max(float64(rounds*(tiles[0]+most))/2, float64(most))
	case c.Persistent:
		return float64(dealt(tiles, items, blocks))
	default:
		return float64(queued(tiles, items, blocks, c.Split))
	}
}

// dealt returns the most tiles that any of the persistent blocks has when part.Work deals out
// the items, the longest of all heads first.
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

// queued returns the tiles after which the last item ends, if each of the places for resident
// blocks takes the next item as soon as it is free, the longest of all heads first. A
// cluster of split blocks takes split places at once.
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

// times is a heap with the earliest time first.
type times []int

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i] < t[j] }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(x any)        { *t = append(*t, x.(int)) }
func (t *times) Pop() any          { panic("hopper: the heap only changes its first element") }
