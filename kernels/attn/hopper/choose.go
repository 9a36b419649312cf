package hopper

// Throughput is the design for problems that fill the card: three or four warpgroups a
// block, blocks that stay. Heads of 128 leave registers for three, and for 128 keys a
// tile; three with heads of 64 have 192.
func Throughput(headDim, warpgroups int) Config {
	c := Config{Warpgroups: warpgroups, TileN: 128, Stages: 2, Split: 1, Persistent: true, Turns: 64, SumColumn: true, BlocksPerSM: 1}
	if headDim == 64 {
		c.Turns, c.Polynomial = 32, 16
		if warpgroups == 3 {
			c.TileN = 192
		}
	}
	return c
}

// Pair is the design between the two: blocks of 128 rows.
func Pair() Config {
	return Config{Warpgroups: 2, TileN: 128, Stages: 2, Split: 1, Turns: 96, SumColumn: true, BlocksPerSM: 1}
}

// TwoPairs is the same for heads of 64: two pairs of warpgroups, each sharing the keys of
// 64 rows. Two warpgroups of 64 rows would leave the units that take exponentials idle
// half of the time.
func TwoPairs() Config {
	return Config{Warpgroups: 4, TileN: 128, Stages: 4, Split: 1, Turns: 32, Halves: true, SumColumn: true, BlocksPerSM: 1}
}

// Latency is a design for problems of few tiles: 64 rows a block.
func Latency(headDim int) Config {
	c := Config{Warpgroups: 1, TileN: 128, Stages: 2, Split: 1, SumColumn: true, BlocksPerSM: 2}
	if headDim == 128 {
		c.BlocksPerSM = 1 // shared memory for no more
	}
	return c
}

// InHalves is the other: 64 rows a block, the keys over its two warpgroups, and over a
// cluster of split blocks.
func InHalves(split int) Config {
	return Config{Warpgroups: 2, TileN: 128, Stages: 2, Split: split, Halves: true, BlocksPerSM: 1}
}

// Choose is the configuration for a problem on a GPU of so many SMs: the fastest of
// those measured on the nearest shape, as docs/TUNING.md has them. What fills every SM
// with 192 rows takes the throughput design; what leaves half of them idle at 64 rows
// splits its keys as well.
func Choose(p Problem, sms int) Config {
	blocks := func(rows int) int { return p.Batch * p.Heads * ((p.SeqQ + rows - 1) / rows) }
	var c Config
	switch {
	case blocks(192) >= sms:
		c = Throughput(p.HeadDim, 3)
	case blocks(64) > sms && p.HeadDim == 64 && blocks(128) <= sms:
		c = TwoPairs()
	case blocks(64) > sms:
		c = Pair()
	case 2*blocks(64) <= sms:
		c = InHalves(2)
	default:
		c = InHalves(1)
	}
	if !c.Persistent && p.Batch*p.Heads > maxGridY {
		c = Throughput(p.HeadDim, 3)
	}
	return c.without(p)
}
