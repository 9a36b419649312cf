package ada

import (
	"math"

	"github.com/GOATnote-Inc/attest/problem"
)

// Throughput returns the design for problems that fill the GPU: one warp for each 16 rows, and as
// many warps as there are registers for. Several small blocks on an SM are faster than a large one,
// because warps of different blocks never wait for each other. By the model of an L4, the tensor
// cores are busy for 73 % of the time with D = 64 and for 76 % with D = 128.
func Throughput(headDim int, widen bool) Config {
	c := Config{Rows: 128, TileN: 64, Shares: 1, Stages: 2, BlocksPerSM: 2, Widen: widen}
	switch {
	case widen: // operands of f16 take twice the registers
		c.BlocksPerSM, c.TileN = 1, 32
	case headDim == 96 || headDim == 128:
		c.Rows, c.TileN, c.BlocksPerSM, c.Ahead = 64, 32, 3, true
	case headDim == 256:
		c.TileN, c.BlocksPerSM = 32, 1
	}
	return c
}

// Latency returns the design for problems with few tiles: warps split the keys of their rows. It
// chooses the number of rows per block with the lowest estimated time. For 8 heads of 512 rows on
// an L4 with 58 SMs, that is 80 rows: they make 56 blocks, one per SM at most. Blocks of 64 rows
// would give two blocks to 6 of the SMs.
func Latency(p problem.Attention, sms int, widen bool) Config {
	best, least := Config{}, math.Inf(1)
	for _, shares := range []int{4, 2} {
		for rows := 128; rows >= warpRows; rows -= warpRows {
			c := Config{Rows: rows, TileN: 32, Shares: shares, Stages: 3, BlocksPerSM: 1, Widen: widen}
			if p.D == 256 {
				c.Stages = 2
			}
			if t := c.estimate(p, sms); t < least && c.Check(p) == nil {
				best, least = c, t
			}
		}
	}
	return best
}

// Choose returns the configuration for a problem on a GPU with sms SMs: that of [Throughput] or
// [Latency] with the lower estimated time. widen selects products in f16.
func Choose(p problem.Attention, sms int, widen bool) Config {
	fast, small := Throughput(p.D, widen), Latency(p, sms, widen)
	if small != (Config{}) && small.estimate(p, sms) < fast.estimate(p, sms) {
		return small
	}
	return fast
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
	// l2Bytes are the bytes per clock that the L2 cache delivers to an SM.
	l2Bytes = 13.3
	// subCores are the parts of an SM, each with a tensor core and with a quarter of the warps.
	subCores = 4
	// perProduct are the clocks of a product of 16 rows, 8 columns and 32 bytes on a tensor core.
	perProduct = 16
)

// busy returns the share of the time for which the tensor core of a sub-core with that many warps
// is busy.
func busy(warps int) float64 {
	return []float64{0.35, 0.40, 0.60, 0.68}[min(warps, 3)] + 0.02*float64(min(max(warps-3, 0), 3))
}

// estimate returns the clocks that the SM with the most blocks needs for a problem.
func (c Config) estimate(p problem.Attention, sms int) float64 {
	blocks := p.B * p.Hq * ceil(p.Sq, c.Rows)
	perSM := ceil(blocks, max(sms, 1))
	resident := min(perSM, c.BlocksPerSM)
	warps := ceil(c.rowGroups()*c.Shares*resident, subCores)
	products := float64(warps*c.TileN*p.D) * 2 / (8 * 32) // the products of a sub-core in a round of all resident blocks
	loads := float64(resident*2*c.roundKeys()*p.D) / l2Bytes
	round := max(products*perProduct/busy(warps), loads)
	ends := perBlock
	if c.Shares > 1 {
		ends += perMerge
	}
	return float64(ceil(perSM, c.BlocksPerSM)*ends) + c.rounds(p, perSM)/float64(resident)*round
}

// rounds returns the rounds of an SM with perSM blocks. Causal blocks start with the longest, so an
// SM has about as many as the average block, and at least those of the longest block.
func (c Config) rounds(p problem.Attention, perSM int) float64 {
	longest := float64(ceil(p.Skv, c.roundKeys()))
	if !p.Causal {
		return float64(perSM) * longest
	}
	seen := float64(p.Skv) - float64(min(p.Sq, p.Skv))/2 // keys that a row sees on average
	average := seen*float64(min(p.Sq, p.Skv))/float64(p.Sq)/float64(c.roundKeys()) + 0.5
	return max(float64(perSM)*average, longest)
}

// ceil returns n/by, rounded up.
func ceil(n, by int) int { return (n + by - 1) / by }
