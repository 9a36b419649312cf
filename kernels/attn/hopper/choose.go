package hopper

// Throughput is the design for problems that fill the card: three warpgroups a block,
// blocks that stay. Heads of 64 leave registers for wider tiles.
func Throughput(headDim int) Config {
	c := Config{Warpgroups: 3, TileN: 128, Stages: 2, Split: 1, Persistent: true, Turns: true, Polynomial: 16, BlocksPerSM: 1}
	if headDim == 64 {
		c.TileN = 192
	}
	return c
}

// throughput is Throughput with the row sums on the tensor cores, where there are
// registers for them: heads of 128 have none.
func throughput(headDim int) Config {
	c := Throughput(headDim)
	c.SumColumn = headDim == 64
	return c
}

// Pair is the design between the two: blocks of 128 rows.
func Pair() Config {
	return Config{Warpgroups: 2, TileN: 128, Stages: 2, Split: 1, Turns: true, BlocksPerSM: 1}
}

// Latency is a design for problems of few tiles: 64 rows a block, the keys over a
// cluster of split blocks.
func Latency(headDim, split int) Config {
	c := Config{Warpgroups: 1, TileN: 128, Stages: 2, Split: split, BlocksPerSM: 2}
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

// InQuarters is for a few hundred keys: 64 rows a block, the keys over its four
// warpgroups.
func InQuarters() Config {
	return Config{Warpgroups: 4, TileN: 128, Stages: 4, Split: 1, Quarters: true, Exchange: 16, Early: true, BlocksPerSM: 1}
}

// TwoPairs is for problems that have a block of 128 rows for each SM: two pairs of
// warpgroups, each sharing the keys of 64 rows. Two warpgroups of 64 rows would leave
// the units that take exponentials idle half of the time.
func TwoPairs() Config {
	return Config{Warpgroups: 4, TileN: 128, Stages: 4, Split: 1, Turns: true, Halves: true, BlocksPerSM: 1}
}

// Choose is the configuration for a problem on a GPU of so many SMs: the fastest of
// those measured on the nearest shape, as docs/TUNING.md has them. What fills every SM
// with 192 rows takes the throughput design; what leaves half of them idle at 64 rows
// splits its keys as well.
func Choose(p Problem, sms int) Config {
	blocks := func(rows int) int { return p.Batch * p.Heads * ((p.SeqQ + rows - 1) / rows) }
	manyKeys := p.SeqKV > 256
	var c Config
	switch {
	case blocks(192) >= sms:
		c = throughput(p.HeadDim)
	case blocks(64) > sms && p.HeadDim == 64 && blocks(128) <= sms:
		c = Pair()
	case blocks(64) > sms && p.HeadDim == 64:
		c = Latency(64, 1)
		c.SumColumn = true
	case blocks(64) > sms:
		c = Config{Warpgroups: 2, TileN: 192, Stages: 2, Split: 1, SumColumn: true, BlocksPerSM: 1}
	case p.HeadDim == 64 && 2*blocks(64) <= sms && manyKeys:
		c = InHalves(2)
	case p.HeadDim == 64:
		c = InHalves(1)
	case 2*blocks(64) <= sms && manyKeys:
		c = Latency(128, 2)
	default:
		c = Latency(128, 1)
	}
	if !c.Persistent && p.Batch*p.Heads > maxGridY {
		c = throughput(p.HeadDim)
	}
	return c.without(p)
}
