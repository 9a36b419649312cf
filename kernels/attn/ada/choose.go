package ada

import (
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
)

// Throughput returns the design for problems that fill the GPU: one warp for each 16 rows, and as
// many warps as there are registers for. Several small blocks on an SM are faster than a large one,
// because warps of different blocks never wait for each other. Blocks of fewer than 64 rows would need
// more bytes of K and V than the L2 cache delivers.
func Throughput(headDim int, widen bool) Config {
	c := Config{Rows: 64, TileN: 64, Shares: 1, Stages: 2, BlocksPerSM: 4, Widen: widen}
	switch {
	case widen: // operands of f16 take twice the registers
		c.Rows, c.BlocksPerSM, c.TileN = 128, 1, 32
	case headDim == 96 || headDim == 128:
		c.TileN, c.Stages, c.BlocksPerSM = 32, 3, 3
	case headDim == 256:
		c.TileN, c.BlocksPerSM = 32, 2
	}
	return c
}

// Latency returns the design for problems with few tiles: warps split the keys of their rows. It
// chooses the number of rows per block with the lowest estimated time. For 8 heads of 512 rows on
// an L4 with 58 SMs, that is 80 rows: they make 56 blocks, one per SM at most. Blocks of 64 rows
// would give two blocks to 6 of the SMs. If all keys fit in shared memory, the block needs no ring.
func Latency(p problem.Attention, sms int, widen bool) Config {
	return fastest(splitting(p.D, widen), p, sms)
}

// splitting returns the configurations that Latency compares. With all numbers of rows from 16 to 128, the estimates
// of random problems are less than 1 % lower on average: each further configuration is a kernel more in exported files.
func splitting(headDim int, widen bool) (list []Config) {
	add := func(c Config, shares int, rows ...int) {
		for _, c.Rows = range rows {
			c.TileN, c.Shares, c.BlocksPerSM, c.Widen = 32, shares, 1, widen
			list = append(list, c)
		}
	}
	whole, ring := Config{Stages: 4, Whole: true}, Config{Stages: 3}
	switch headDim {
	case 64:
		add(whole, 4, 80, 64)
		add(ring, 4, 64, 48)
		add(whole, 2, 96, 80, 48, 32)
		add(ring, 2, 128, 96, 16)
	case 96:
		add(whole, 2, 48)
		add(ring, 2, 96, 80, 64, 48, 32, 16)
	case 128:
		add(ring, 4, 48)
		add(whole, 2, 80, 64, 32)
		add(ring, 2, 96, 80, 64, 48, 32, 16)
	case 256:
		ring.Stages = 2
		add(ring, 2, 64)
		if !widen { // ptxas spills registers of this one with f16
			add(ring, 2, 32)
		}
		add(ring, 2, 16)
	}
	return list
}

// Choose returns the configuration for a problem on a GPU with sms SMs: that of [Throughput] or
// [Latency] with the lower estimated time. widen selects products in f16. If no configuration
// computes the problem, it is that of Throughput.
func Choose(p problem.Attention, sms int, widen bool) Config {
	if best := fastest(choices(p.D, widen), p, sms); best != (Config{}) {
		return best
	}
	return Throughput(p.D, widen)
}

// choices returns the configurations that Choose compares.
func choices(headDim int, widen bool) []Config {
	return append([]Config{Throughput(headDim, widen)}, splitting(headDim, widen)...)
}

// fastest returns the configuration of a list that computes a problem in the lowest estimated time, or
// the zero Config if none computes it.
func fastest(list []Config, p problem.Attention, sms int) (best Config) {
	least := int64(math.MaxInt64)
	for _, c := range list {
		if t := c.estimate(p, sms); t < least && c.Check(p) == nil {
			best, least = c, t
		}
	}
	return best
}

// The terms of an estimate, in clocks of an L4. They describe predictions of the timing model
// (attest profile ada --chip L4), because no L4 was timed. On a chip with other rates the estimates
// are wrong, but the order of the designs hardly changes.
const (
	// perBlock is the time from the start of a block to its first product, and from its last product
	// to its end.
	perBlock = 2800
	// perMerge is added where warps merge their results.
	perMerge = 900
	// perWhole is the sum of both with Whole.
	perWhole = 3400
	// l2Bytes are the bytes that the L2 cache delivers to an SM in ten clocks.
	l2Bytes = 133
	// subCores are the parts of an SM, each with a tensor core and with a quarter of the warps.
	subCores = 4
	// perProduct are the clocks of a product of 16 rows, 8 columns and 32 bytes on a tensor core.
	perProduct = 16
)

// busy and busyWhole are the percentage of the time for which the tensor core of a sub-core is busy, by its
// number of warps, and busyWhole is for Whole. Warps of different blocks do not wait for each other.
const (
	busy      = "(warps == 1 ? 40 : (warps == 2 ? 60 : 68 + 2*min(warps - 3, 3))) + 4*(resident - 1)"
	busyWhole = "warps == 1 ? 62 : (warps == 2 ? 70 : 76 + 2*min(warps - 3, 2))"
)

// terms returns the named values of [cost]. Exported files evaluate them too, so they are expressions.
// They are in integers, which all languages compute alike: a round is in tenths of a clock.
func (c Config) terms(causal bool) []kernel.Binding {
	ends, busy := perBlock, busy
	switch {
	case c.Whole:
		ends, busy = perWhole, busyWhole
	case c.Shares > 1:
		ends += perMerge
	}
	warps := c.rowGroups() * c.Shares
	// An SM has the rounds of all its blocks. Causal blocks start with the longest, so an SM has about
	// as many as the average block, and at least those of the longest block.
	rounds := "per_sm*longest"
	if causal {
		// seen is twice the number of keys that a row sees on average.
		seen := "(Sq <= Skv ? 2*Skv - Sq : Skv*Skv/Sq)"
		rounds = fmt.Sprintf("max(per_sm*(%s + %d)/%d, longest)", seen, c.roundKeys(), 2*c.roundKeys())
	}
	return []kernel.Binding{
		attn.Let("per_sm", fmt.Sprintf("cdiv(B*H*cdiv(Sq, %d), SMs)", c.Rows)),
		attn.Let("resident", fmt.Sprintf("min(per_sm, %d)", c.BlocksPerSM)),
		attn.Let("warps", fmt.Sprintf("cdiv(%d*resident, %d)", warps, subCores)),
		attn.Let("busy", busy),
		// The products of a sub-core in a round of all resident blocks, and what they load. A sub-core with
		// fewer warps than others is done earlier, and leaves them the shared memory: the number of warps
		// is the mean of the average and the largest.
		attn.Let("products", fmt.Sprintf("(%d*warps + %d*resident)*%d*D*2*%d*1000/(2*%d*8*32*busy)", subCores, warps, c.TileN, perProduct, subCores)),
		attn.Let("loads", fmt.Sprintf("resident*2*%d*D*100/%d", c.roundKeys(), l2Bytes)),
		attn.Let("longest", fmt.Sprintf("cdiv(Skv, %d)", c.roundKeys())),
		attn.Let("rounds", rounds),
		attn.Let("ends", fmt.Sprintf("cdiv(per_sm, %d)*%d*10", c.BlocksPerSM, ends)),
	}
}

// cost is the time that the SM with the most blocks needs for a problem, in tenths of a clock.
var cost = expr.Must("ends + rounds*max(products, loads)/resident")

// estimate returns [cost] for a problem, or the largest integer for sizes that are beyond it.
func (c Config) estimate(p problem.Attention, sms int) int64 {
	names := p.Names()
	names["SMs"] = expr.Int(int64(max(sms, 1)))
	for _, l := range c.terms(p.Causal) {
		n, err := l.Value.Int(names)
		if err != nil {
			return math.MaxInt64
		}
		names[l.Name] = expr.Int(n)
	}
	n, err := cost.Int(names)
	if err != nil {
		return math.MaxInt64
	}
	return n
}
