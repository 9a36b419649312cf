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
		if t := o.costs.estimate(c, p, sms); t < least && !c.short(p) && c.pays(p) && c.Check(p) == nil {
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

// estimate returns the time of a launch in whole nanoseconds. Choose compares these integers, because exported files
// must choose the same configuration: [Family.Candidates] states this estimate for them.
func (t terms) estimate(c Config, p problem.Attention, sms int) (nanos int64) {
	t, sms = t.of(c, p.Causal), max(sms, 1)
	if c.Balanced {
		for i, n := range c.balancedLoad(p, sms) {
			nanos += t.nano(i) * int64(n)
		}
		return nanos
	}
	w := c.work(p, sms)
	item, tile := w.nanos(t)
	return t.nano(perLaunch) + w.busy(item, tile)
}

// nano returns the cost of a term in nanoseconds.
func (t terms) nano(term int) int64 { return int64(math.Round(1000 * t[term])) }

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
			{finer, terms{0.515, 1.976, 0.325, 0, -0.003, 0, 0}},
			{SplitKeys(2), terms{0.618, 1.93, 0.562, 0, 0.011, 0, 0}},
			{SplitKeys(1), terms{0.449, 2.094, 0.465, 0, 0, 0, 0}},
			{Latency(64), terms{1.063, 0.738, 0.778, 0.21, 0.026, 0, 0}},
			{small, terms{1.754, 0.393, 0.489, 0.123, 0.018, 0, 0}},
			{Pair(), terms{0.517, 2.24, 0.81, 0, 0.015, 0, 0}},
			{ManyItems(), terms{2.237, 0.793, 0.837, 0, 0.02, 0, 0}},
			{TwoPairs(), terms{0.589, 3.153, 0.644, 0, 0.021, 0, 0}},
			{Throughput(64, 3), terms{2.698, 1.759, 1.446, 0, 0.035, 0, 0}},
			{Throughput(64, 4), terms{2.32, 1.983, 1.232, 0, 0.125, 0, 0}},
			{balanced(Throughput(64, 3)), terms{5.484, 1.763, 1.446, 0, 0.089, 0.202, 3.834}},
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
			{two, terms{0.276, 2.216, 0.852, 0.308, 0.056, 0, 0}},
			{twoPersistent, terms{1.171, 1.756, 0.88, 0.316, 0.067, 0, 0}},
			{SplitKeys(2), terms{0.523, 3.333, 0.768, 0, 0.012, 0, 0}},
			{SplitKeys(1), terms{0, 3.825, 0.757, 0, 0.013, 0, 0}},
			{Latency(headDim), terms{0, 2.816, 1.246, 0, 0.003, 0, 0}},
			{Pair(), terms{0, 4.769, 1.722, 0, 0.038, 0, 0}},
			{narrow, terms{1.51, 3.165, 1.147, 0, 0.017, 0, 0}},
			{WideHeads(), terms{1.118, 3.938, 1.651, 0, 0.089, 0, 0}},
			{balanced(WideHeads()), terms{8.082, 4.299, 1.651, 0, 0.336, 0.124, 0.866}},
		}
	}
	return []choice{
		{finer, terms{0.647, 2.198, 0.47, 0, 0.024, 0, 0}},
		{SplitKeys(2), terms{0.546, 2.557, 0.669, 0, 0.015, 0, 0}},
		{SplitKeys(1), terms{0.402, 2.495, 0.673, 0, 0.011, 0, 0}},
		{split, terms{0.697, 2.047, 0.944, 0, 0.028, 0, 0}},
		{Latency(headDim), terms{0.198, 1.896, 0.938, 0, 0.02, 0, 0}},
		{small, terms{1.748, 0.668, 0.611, 0.19, 0.026, 0, 0}},
		{Pair(), terms{0.185, 3.043, 1.094, 0, 0.01, 0, 0}},
		{ManyItems(), terms{2.293, 1.196, 1.093, 0, 0.024, 0, 0}},
		{Throughput(headDim, 3), terms{2.543, 2.025, 1.379, 0, 0.078, 0, 0}},
		{described, terms{3.037, 1.438, 1.386, 0, 0.056, 0, 0}},
		{balanced(Throughput(headDim, 3)), terms{6.638, 2.346, 1.379, 0, 0.149, 0.384, 2.053}},
	}
}

// work is how a launch of blocks that are not balanced divides its work.
type work struct {
	Config
	p       problem.Attention
	blocks  int // with each block of a cluster
	places  int // for resident blocks, on all SMs
	items   int // of each SM, if all items have equally many tiles
	rounds  int // in which an SM computes its items, BlocksPerSM at a time
	crowded int // rounds with more than one block
}

// work returns how a launch for p on a GPU with sms SMs divides its work.
func (c Config) work(p problem.Attention, sms int) work {
	w := work{Config: c, p: p, blocks: p.B * p.Hq * ceil(p.Sq, c.rows()) * c.Split, places: sms * c.BlocksPerSM}
	w.items = ceil(w.blocks, sms)
	w.rounds = ceil(w.items, c.BlocksPerSM)
	if c.BlocksPerSM > 1 {
		w.crowded = (w.items + c.BlocksPerSM - 2) / c.BlocksPerSM
	}
	return w
}

// nanos returns how long a place is busy with the beginning and the end of an item, and with a tile, in nanoseconds.
// Two blocks on an SM compute their tiles at the same time: a tile takes longer than with one block, but not twice
// as long. Their beginnings and ends do not overlap.
func (w work) nanos(t terms) (item, tile int64) {
	tile = t.nano(perTile)
	if w.p.Causal {
		tile += t.nano(perCausal)
	}
	return t.nano(perItem) * int64(w.items) / int64(w.rounds), tile + t.nano(perBeside)*int64(w.crowded)/int64(w.rounds)
}

// busy returns how long the place is busy that ends last, if the beginning and the end of an item take the time item,
// and each of its tiles takes the time tile. All items have equally many tiles, except under a causal mask: there the
// place with the longest item may have fewer items than others. For persistent blocks, part.Work deals out the items,
// and the sizes decide how evenly. Other blocks start, longest first, when an earlier one has ended. Tiles are counted
// as a block loads and transposes them, also if two warpgroups split them.
//
// [Family.Candidates] states the same time for the exported files, which compute it in the same integers.
func (w work) busy(item, tile int64) int64 {
	rounds, most := int64(w.rounds), int64(w.tiles(w.p, w.p.Sq))
	switch {
	case !w.p.Causal:
		return rounds * (item + most*tile)
	case w.blocks > maxCounted:
		least := int64(w.tiles(w.p, min(w.rows(), w.p.Sq)))
		return rounds*item + max(rounds*(least+most)/2, most)*tile
	}
	lengths := make([]int64, ceil(w.p.Sq, w.rows()))
	for i := range lengths {
		lengths[i] = item + int64(w.tiles(w.p, min((i+1)*w.rows(), w.p.Sq)))*tile
	}
	if w.Persistent {
		return dealt(lengths, w.blocks, w.places)
	}
	return queued(lengths, w.blocks, w.places, w.Split)
}

// balancedLoad returns how often a launch of balanced blocks has each term: the whole items of a block, the parts of items in its
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

// maxCounted is the number of blocks up to which the items of a causal problem are followed
// block by block. With more blocks there are many rounds, and all places are busy for about the same time.
const maxCounted = 1 << 11

// dealt returns how long the persistent block that ends last is busy when part.Work deals out
// the items, the longest of all heads first.
func dealt(lengths []int64, items, blocks int) (most int64) {
	heads := items / len(lengths)
	for b := range min(items, blocks) {
		sum := int64(0)
		for n := 0; n*blocks < items; n++ {
			place := b
			if n%2 == 1 {
				place = blocks - 1 - b
			}
			if i := n*blocks + place; i < items {
				sum += lengths[len(lengths)-1-i/heads]
			}
		}
		most = max(most, sum)
	}
	return most
}

// queued returns when the last item ends, if each of the places for resident
// blocks takes the next item as soon as it is free, the longest of all heads first. A
// cluster of split blocks takes split places at once.
func queued(lengths []int64, items, places, split int) (last int64) {
	free := make(times, max(places/split, 1))
	heads := items / split / len(lengths)
	for _, n := range slices.Backward(lengths) {
		for range heads {
			last = max(last, free[0]+n)
			free.delay(n)
		}
	}
	return last
}

// times is a heap with the earliest time first.
type times []int64

// delay adds n to the earliest time. The general heap of the library takes three times as long, most of the
// time of Choose.
func (t times) delay(n int64) {
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
