package ada

import (
	"github.com/GOATnote-Inc/attest/problem"
)

// Throughput returns the design for problems that fill the GPU: 128 rows per block, so that the
// L2 cache delivers K and V fast enough, and as many warps as there are registers for.
func Throughput(headDim int) Config {
	c := Config{Rows: 128, TileN: 64, Shares: 1, Stages: 2, BlocksPerSM: 1}
	switch {
	case headDim == 64:
		c.BlocksPerSM = 2
	case headDim == 256:
		c.TileN = 32
	}
	return c
}

// Latency returns the design for problems of few tiles: warps split the keys of their rows, and a
// block has the number of rows with which the longest-running SM has the fewest rows.
func Latency(p problem.Attention, sms int) Config {
	c := Config{TileN: 32, Shares: 4, Stages: 3, BlocksPerSM: 1, Rows: 80}
	if p.D != 64 {
		c.Shares, c.Stages = 2, 2
	}
	return c
}

// Choose returns the configuration for a problem on a GPU with sms SMs.
func Choose(p problem.Attention, sms int) Config {
	if p.B*p.Hq*p.Sq <= 128*sms {
		return Latency(p, sms)
	}
	return Throughput(p.D)
}
