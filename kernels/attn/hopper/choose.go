package hopper

import (
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
	return Config{Sharing: Sharing{Split: 1}, Softmax: Softmax{TileMaxima: true}, Schedule: Schedule{Warpgroups: 2, TileN: 128, Stages: 2, Persistent: true, PingPong: 96, ProductColumns: 64, BlocksPerSM: 1}}
}

// Pair returns the design for problems of medium size: blocks of 128 rows, two warpgroups in
// ping-pong.
func Pair() Config {
	return Config{Sharing: Sharing{Split: 1}, Softmax: Softmax{SumsInV: true, TileMaxima: true}, Schedule: Schedule{Warpgroups: 2, TileN: 128, Stages: 2, PingPong: 96, BlocksPerSM: 1}}
}

// ManyItems returns the design for many short sequences: Pair with persistent blocks, whose loading
// warp describes each item.
func ManyItems() Config {
	c := Pair()
	c.Persistent, c.Descriptors = true, true
	return c
}

// balanced returns a design of persistent blocks with its work divided evenly.
func balanced(c Config) Config {
	c.Balanced, c.Descriptors = true, false
	return c
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
	best, least := widest(p.HeadDim()).adapted(p), int64(math.MaxInt64) // this design computes every problem
	for _, o := range choices(p.HeadDim()) {
		c := o.adapted(p)
		if t := o.costs.of(c, p.Causal).nanos(c.load(p, sms)); t < least && !c.short(p) && c.pays(p) && c.Check(p) == nil {
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
type terms [7]float64

const (
	perLaunch = iota // before the first item and after the last
	perItem          // the beginning and the end of an item
	perTile          // a KV tile
	perBeside        // added to a KV tile while another block runs on the SM
	perCausal        // added to a KV tile of a causal problem, which has its own kernel and whose tiles are estimated
	perPart          // a part of an item that is merged
	perRange         // added to a launch of balanced blocks with a causal mask, which has its own kernel
)

// of returns the costs for a configuration. Under a causal mask, warpgroups skip tiles that their rows do
// not see, so an item takes less time than its tiles and its beginning.
func (t terms) of(c Config, causal bool) terms {
	t[perItem] -= (t[perTile] + t[perCausal]) * c.skipped(causal)
	return t
}

// dot returns the time of a load at these costs.
func (t terms) dot(load terms) (micros float64) {
	for i, cost := range t {
		micros += cost * load[i]
	}
	return micros
}

// nanos is dot in whole nanoseconds. Choose compares these integers, because exported files must
// choose the same configuration: [Family.Candidates] states this estimate for them.
func (t terms) nanos(load terms) (sum int64) {
	for i := range t {
		sum += t.nano(i) * int64(load[i])
	}
	return sum
}

// choices returns the configurations that Choose compares. Each was the fastest on a problem
// that was timed. The costs minimise the squared relative error over testdata/times.json:
// medians on an H200, in a replayed graph with warm caches. Problems on which a configuration is among the
// fastest count most, and there the estimates are within a few percent. A problem that forbids SumsInV has the
// same costs.
//
// After a change of the kernels, or to add a design, time the kernels on the GPU and fit the
// costs:
//
//	HOPPER_OUT=t.json hopper.test -test.run TestCardTimes
//	go test ./kernels/attn/hopper -run TestChooseFit -times $PWD/t.json -v
//
// The second command rewrites testdata/times.json and prints the terms for this function.
// Without -times it checks that the terms here fit the file.
//
// If V has another head dimension than K, the costs are those for the head dimension of V, with as much
// more for a tile as its products have more operations. No such problem has been timed.
func choices(h problem.HeadDim) []choice {
	list := choicesFor(h.V())
	for i := range list {
		list[i].costs[perTile] *= float64(h.D+h.V()) / float64(2*h.V())
	}
	return list
}

// choicesFor returns the choices for one head dimension.
func choicesFor(headDim int) []choice {
	finer := SplitKeys(2)
	finer.TileN = 64
	described := Throughput(headDim, 3)
	described.Descriptors = true
	small := Latency(headDim)
	small.TileN, small.BlocksPerSM, small.Persistent, small.Descriptors = 64, 2, true, true
	if headDim == 64 {
		return []choice{
			{finer, terms{0.513, 1.978, 0.324, 0, -0.006, 0, 0}},
			{SplitKeys(2), terms{0.618, 1.93, 0.562, 0, 0.008, 0, 0}},
			{SplitKeys(1), terms{0.443, 2.104, 0.464, 0, -0.002, 0, 0}},
			{Latency(64), terms{1.058, 0.743, 0.778, 0.209, 0.021, 0, 0}},
			{small, terms{1.747, 0.397, 0.49, 0.12, 0.017, 0, 0}},
			{Pair(), terms{0.507, 2.25, 0.81, 0, 0.001, 0, 0}},
			{ManyItems(), terms{2.236, 0.794, 0.837, 0, 0.016, 0, 0}},
			{TwoPairs(), terms{0.574, 3.152, 0.645, 0, -0.003, 0, 0}},
			{Throughput(64, 3), terms{2.688, 1.759, 1.447, 0, 0.028, 0, 0}},
			{Throughput(64, 4), terms{2.326, 1.98, 1.232, 0, 0.124, 0, 0}},
			{balanced(Throughput(64, 3)), terms{5.479, 1.747, 1.447, 0, 0.089, 0.206, 3.847}},
			{balanced(Throughput(64, 4)), terms{5.039, 2.536, 1.232, 0, 0.128, 0.353, 0}},
		}
	}
	split := Latency(headDim)
	split.Split = 2
	if headDim > 128 {
		narrow := WideHeads()
		narrow.TileN, narrow.Stages, narrow.PingPong = 64, 3, 64
		two := Latency(headDim)
		two.TileN, two.BlocksPerSM = 64, 2
		twoPersistent := two
		twoPersistent.Persistent = true
		return []choice{
			{two, terms{0.272, 2.223, 0.852, 0.308, 0.045, 0, 0}},
			{twoPersistent, terms{1.169, 1.763, 0.879, 0.315, 0.058, 0, 0}},
			{SplitKeys(2), terms{0.518, 3.34, 0.768, 0, 0.006, 0, 0}},
			{SplitKeys(1), terms{0, 3.829, 0.757, 0, 0.009, 0, 0}},
			{Latency(headDim), terms{0, 2.819, 1.246, 0, -0.001, 0, 0}},
			{Pair(), terms{0, 4.767, 1.722, 0, 0.005, 0, 0}},
			{narrow, terms{1.507, 3.169, 1.147, 0, 0.011, 0, 0}},
			{WideHeads(), terms{1.113, 3.941, 1.651, 0, 0.064, 0, 0}},
			{balanced(WideHeads()), terms{8.082, 4.299, 1.651, 0, 0.336, 0.124, 0.866}},
		}
	}
	return []choice{
		{finer, terms{0.642, 2.205, 0.469, 0, 0.019, 0, 0}},
		{SplitKeys(2), terms{0.549, 2.555, 0.669, 0, 0.011, 0, 0}},
		{SplitKeys(1), terms{0.395, 2.506, 0.673, 0, 0.007, 0, 0}},
		{split, terms{0.693, 2.052, 0.943, 0, 0.022, 0, 0}},
		{Latency(headDim), terms{0.196, 1.898, 0.938, 0, 0.018, 0, 0}},
		{small, terms{1.741, 0.673, 0.611, 0.188, 0.024, 0, 0}},
		{Pair(), terms{0.171, 3.054, 1.094, 0, -0.012, 0, 0}},
		{ManyItems(), terms{2.29, 1.198, 1.093, 0, 0.018, 0, 0}},
		{Throughput(headDim, 3), terms{2.55, 2.02, 1.379, 0, 0.074, 0, 0}},
		{described, terms{3.046, 1.433, 1.386, 0, 0.054, 0, 0}},
		{balanced(Throughput(headDim, 3)), terms{6.638, 2.346, 1.379, 0, 0.149, 0.384, 2.053}},
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
//
// [Family.Candidates] states the same load as expressions, and the exported files count tiles
// as this file does: in whole tiles.
func (c Config) load(p problem.Attention, sms int) terms {
	sms = max(sms, 1)
	if c.Balanced {
		return c.balancedLoad(p, sms)
	}
	blocks := p.B * p.Hq * ceil(p.Sq, c.rows()) * c.Split
	items := ceil(blocks, sms)
	rounds := ceil(items, c.BlocksPerSM)
	crowded := 0 // rounds with more than one block
	if c.BlocksPerSM > 1 {
		crowded = (items + c.BlocksPerSM - 2) / c.BlocksPerSM
	}
	tiles := rounds * c.tiles(p, p.Sq)
	load := terms{perLaunch: 1, perItem: float64(items)}
	if p.Causal {
		tiles = c.causalTiles(p, blocks, rounds, sms*c.BlocksPerSM)
		load[perCausal] = float64(tiles)
	}
	load[perTile], load[perBeside] = float64(tiles), float64(tiles*crowded/rounds)
	return load
}

// balancedLoad is load for balanced blocks: the whole items of a block, the parts of items in its
// share of those that are left over, and the parts of an item that a warp merges.
func (c Config) balancedLoad(p problem.Attention, sms int) terms {
	d := c.divide(p, sms)
	if p.Causal { // the first and the last item of a range are parts
		return terms{perLaunch: 1, perItem: float64(d.whole + 1), perTile: float64(d.quota), perCausal: float64(d.quota), perPart: float64(d.tiles/d.quota + 2), perRange: 1}
	}
	load := terms{perLaunch: 1, perItem: float64(d.whole), perTile: float64(d.whole*d.tiles + d.quota)}
	switch {
	case d.left == 0:
	case d.tiles%d.quota == 0: // shares end where items end
		load[perItem]++
		load[perPart] = float64(d.tiles / d.quota)
	default:
		load[perItem] += 2
		load[perPart] = float64(d.tiles/d.quota + 2)
	}
	return load
}

// skipped returns how many tiles of an item a warpgroup skips on average: its rows end half as far before
// the end of the item's rows, on average, as the first warpgroup's.
func (c Config) skipped(causal bool) float64 {
	if !c.skipsTiles(causal) {
		return 0
	}
	return float64(c.rows()-warpgroupRows) / float64(2*c.TileN)
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
func (c Config) causalTiles(p problem.Attention, items, rounds, blocks int) int {
	perHead := ceil(p.Sq, c.rows())
	tiles := make([]int, perHead)
	for i := range tiles {
		tiles[i] = c.tiles(p, min((i+1)*c.rows(), p.Sq))
	}
	switch most := tiles[perHead-1]; {
	case items > maxCounted:
		return max(rounds*(tiles[0]+most)/2, most)
	case c.Persistent:
		return dealt(tiles, items, blocks)
	default:
		return queued(tiles, items, blocks, c.Split)
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
			last = max(last, free[0]+n)
			free.delay(n)
		}
	}
	return last
}

// times is a heap with the earliest time first.
type times []int

// delay adds n to the earliest time. The general heap of the library takes three times as long, most of the
// time of Choose.
func (t times) delay(n int) {
	at, moved := 0, t[0]+n
	for {
		next := 2*at + 1
		if next >= len(t) {
			break
		}
		if other := next + 1; other < len(t) && t[other] < t[next] {
			next = other
		}
		if t[next] >= moved {
			break
		}
		t[at] = t[next]
		at = next
	}
	t[at] = moved
}
