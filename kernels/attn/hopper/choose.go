package hopper

// Throughput is the design for problems that fill the card: large tiles, blocks that
// stay. Heads of 64 leave registers for three warpgroups; heads of 128 for two that
// overlap their products.
func Throughput(headDim int) Config {
	c := Config{Warpgroups: 3, TileN: 128, Stages: 2, Split: 1, Persistent: true, Turns: true, BlocksPerSM: 1}
	if headDim == 64 {
		c.TileN = 192
	}
	return c
}

// Latency is the design for problems of few tiles: 64 rows a block, the keys over a
// cluster of split blocks.
func Latency(headDim, split int) Config {
	c := Config{Warpgroups: 1, TileN: 128, Stages: 2, Split: split, BlocksPerSM: 2}
	if headDim == 128 {
		c.BlocksPerSM = 1
	}
	return c
}
