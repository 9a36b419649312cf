package hopper

import (
	"fmt"

	"attest/build/tile"
	"attest/ptx"
)

// Config is how a kernel computes.
type Config struct {
	Warpgroups int // that compute, 64 query rows each: 1 to 4
	TileN      int // keys of a step: 64, 128 or 192
	Stages     int // tiles of K, and of transposed V, that are there or on their way
	// Split is the number of blocks, a cluster, that share the keys of a tile of
	// queries: 1, 2 or 4.
	Split int
	// Persistent blocks take one tile of queries after the other, the next one's
	// data on their way.
	Persistent bool
	// Overlap starts Q·Kᵀ of the next tile together with P·V of this one. It needs
	// registers for S and T at once.
	Overlap bool
	// Ahead starts Q·Kᵀ of the next tile before this one's exponentials. It needs
	// registers for two S.
	Ahead bool
	// Turns has the warpgroups begin their exponentials one after the other, so that
	// one of them takes them while others multiply.
	Turns bool
	// Halves has two warpgroups share 64 query rows: each takes every other tile of
	// keys, and in the end their results are joined. A block has one such pair or two.
	Halves bool
	// Quarters has the four warpgroups of a block share 64 query rows in the same way,
	// which takes an Exchange.
	Quarters bool
	// Exchange merges what warpgroups and blocks have of the same queries in one step,
	// sent as numbers of so many bits, 16 or 32: see exchange.go. 0 joins the halves of
	// a block first, and then the blocks.
	Exchange int
	// Early starts the first copies as soon as their barriers are made, before the
	// block's threads have met.
	Early bool
	// Polynomial computes one exponential of so many on the FMA units instead of the
	// special function units: 0 is none, 4 every fourth.
	Polynomial int
	// SumColumn has the tensor cores add up the rows of P: V gets dimensions more that
	// are 1. It saves an addition a score, and sums P as it was rounded.
	SumColumn bool
	// BlocksPerSM is how many blocks the registers are dealt out for.
	BlocksPerSM int
}

// String lists what is chosen.
func (c Config) String() string {
	s := fmt.Sprintf("%dx%d stages-%d", c.rows(), c.TileN, c.Stages)
	if c.Split > 1 {
		s += fmt.Sprintf(" split-%d", c.Split)
	}
	if c.Persistent {
		s += " persistent"
	}
	if c.Overlap {
		s += " overlap"
	}
	if c.Ahead {
		s += " ahead"
	}
	if c.Turns {
		s += " turns"
	}
	if c.Halves {
		s += " halves"
	}
	if c.Quarters {
		s += " quarters"
	}
	if c.Exchange > 0 {
		s += fmt.Sprintf(" exchange-%d", c.Exchange)
	}
	if c.Early {
		s += " early"
	}
	if c.Polynomial > 0 {
		s += fmt.Sprintf(" polynomial-%d", c.Polynomial)
	}
	if c.SumColumn {
		s += " sum-column"
	}
	if c.BlocksPerSM > 1 {
		s += fmt.Sprintf(" blocks-%d", c.BlocksPerSM)
	}
	return s
}

// sharedLimit is the shared memory that a block may have, sharedPerSM what there is.
const (
	sharedLimit = 227 << 10
	sharedPerSM = 228 << 10
	sharedBlock = 1 << 10 // that the driver takes of each block
)

// Check says why a kernel of this Config cannot compute the problem, or nil when it can.
func (c Config) Check(p Problem) error {
	if err := p.Check(); err != nil {
		return err
	}
	switch {
	case c.Warpgroups < 1 || c.Warpgroups > 4:
		return fmt.Errorf("%d warpgroups: 1 to 4 compute", c.Warpgroups)
	case c.TileN != 64 && c.TileN != 128 && c.TileN != 192:
		return fmt.Errorf("KV tiles of %d: 64, 128 or 192 are possible", c.TileN)
	case c.Stages < 1 || c.Stages > 4:
		return fmt.Errorf("%d stages: 1 to 4", c.Stages)
	case c.Split != 1 && c.Split != 2 && c.Split != 4:
		return fmt.Errorf("keys over %d blocks: 1, 2 or 4", c.Split)
	case c.Split > 1 && (c.rows() > warpgroupRows || c.Persistent):
		return fmt.Errorf("keys split over a cluster with %d rows a block, persistent %t: blocks that merge have 64 rows and one tile", c.rows(), c.Persistent)
	case !c.Persistent && p.Batch*p.Heads > maxGridY:
		return fmt.Errorf("batch %d, heads %d: blocks that are not persistent take at most %d heads in all", p.Batch, p.Heads, maxGridY)
	case c.Halves && (c.Quarters || c.Warpgroups%2 != 0 || c.Persistent || c.Overlap):
		return fmt.Errorf("halves of the keys with %v: it takes two or four warpgroups and one tile of queries a block, products in turn", c)
	case c.Quarters && (c.Warpgroups != 4 || c.Exchange == 0 || c.Persistent || c.Overlap):
		return fmt.Errorf("quarters of the keys with %v: it takes four warpgroups, one tile of queries a block, products in turn, and an exchange", c)
	case c.Stages%c.perBlock() != 0:
		return fmt.Errorf("keys over %d warpgroups with %d stages: each has slots of its own, equally many", c.perBlock(), c.Stages)
	case c.Exchange != 0 && c.Exchange != 16 && c.Exchange != 32:
		return fmt.Errorf("numbers of %d bits exchanged: 16 or 32, or 0 for a merge in steps", c.Exchange)
	case c.Exchange != 0 && (c.sharers() == 1 || c.share(p.HeadDim).columns%16 != 0):
		return fmt.Errorf("head dimension %d with %v: %d warpgroups that share keys, and each of two or more takes a multiple of 16 columns", p.HeadDim, c, c.sharers())
	case c.Early && c.Persistent:
		return fmt.Errorf("early copies with blocks that stay: all but a block's first are early anyhow")
	case c.Ahead && (c.Overlap || c.perBlock() > 1):
		return fmt.Errorf("scores ahead with %v: without overlap, and with whole rows a warpgroup", c)
	case c.Turns && c.Warpgroups == 1:
		return fmt.Errorf("turns with one warpgroup: there is nobody to take turns with")
	case c.Polynomial < 0 || c.Polynomial == 1:
		return fmt.Errorf("one of %d exponentials by a polynomial: 0, or 2 and more", c.Polynomial)
	case c.SumColumn && p.LSE:
		return fmt.Errorf("a column of sums with the LSE: it sums P as rounded to e4m3, which is right for O and off by up to a hundredth for the LSE")
	case c.BlocksPerSM < 1 || c.BlocksPerSM > 4:
		return fmt.Errorf("%d blocks an SM: 1 to 4", c.BlocksPerSM)
	}
	if n := c.plan(p.HeadDim).total; n > sharedLimit || c.BlocksPerSM*(n+sharedBlock) > sharedPerSM {
		return fmt.Errorf("head dimension %d with %v: %d bytes of shared memory a block, an SM has %d and a block at most %d", p.HeadDim, c, n, sharedPerSM, sharedLimit)
	}
	if need, has := c.registersNeeded(p), c.registers(); need > has.consumer {
		return fmt.Errorf("head dimension %d with %v: a consumer needs about %d registers and has %d", p.HeadDim, c, need, has.consumer)
	}
	return nil
}

// rows is the query rows of a block.
func (c Config) rows() int { return warpgroupRows * c.rowTiles() }

// rowTiles is how many tiles of 64 query rows a block has.
func (c Config) rowTiles() int { return c.Warpgroups / c.perBlock() }

const (
	warpgroupRows    = 64
	warpgroupThreads = 128
)

// threads of a block: the producers' warpgroup and the consumers'.
func (c Config) threads() int { return warpgroupThreads * (c.Warpgroups + 1) }

// registers are what the threads of each role have, and what all have at first.
type registers struct{ start, producer, consumer int }

// registers deals out the 65536 of an SM: few to producers, the rest to consumers.
func (c Config) registers() registers {
	const inAll, most = 65536, 240
	producer := 40
	if c.Warpgroups >= 3 {
		producer = 32 // 8 a thread less here are 8 more for some consumers
	}
	start := min(inAll/c.BlocksPerSM/c.threads()/8*8, most)
	spare := (start - producer) / c.Warpgroups / 8 * 8
	return registers{start, producer, min(start+spare, most)}
}

// registersNeeded is an estimate of what a consumer's round has alive at once.
func (c Config) registersNeeded(p Problem) int {
	others := 16 // m, l, α, addresses, places in the rings
	S, P, T := c.TileN/2, c.TileN/8, c.columns(p.HeadDim)/2
	O := T
	if c.SumColumn { // no l, and of the columns beside the sums none is kept
		O, others = O-2, others-2
	}
	switch {
	case c.Overlap:
		return S + P + T + O + others
	case c.Ahead:
		// T cannot lie where S was, for the next S follows on it, and P is there before
		// and after its rounding as long as it is added up.
		others += 8
		if !c.SumColumn {
			others += 2 * P
		}
		return 2*S + T + O + others
	}
	return max(S, P+T) + O + others
}

// Launch is how a kernel is started: blocks in x and y, threads a block, blocks a
// cluster, and bytes of dynamic shared memory.
type Launch struct{ GridX, GridY, Block, Cluster, Shared int }

// maxGridY is how many blocks a grid may have in y.
const maxGridY = 65535

// Launch is the launch of a kernel for the problem on a GPU of so many SMs.
func (c Config) Launch(p Problem, sms int) Launch {
	x, y := (p.SeqQ+c.rows()-1)/c.rows()*c.Split, p.Batch*p.Heads
	if c.Persistent {
		x, y = min(x*y, max(sms*c.BlocksPerSM, 1)), 1
	}
	return Launch{GridX: x, GridY: y, Block: c.threads(), Cluster: c.Split, Shared: c.plan(p.HeadDim).total}
}

// Map describes Q, K or V to the copy engine: a tensor of bytes, the innermost
// dimension first.
type Map struct {
	Type    ptx.Type
	Dims    []uint64
	Strides []uint64 // bytes, of all dimensions but the innermost
	Box     []uint32
	Swizzle int // bytes: 64 or 128
}

// Maps are the tensor maps that the kernel takes for Q, K and V.
func (c Config) Maps(p Problem) (q, k, v Map) {
	m := func(heads, seq, rows int) Map {
		d := uint64(p.HeadDim)
		return Map{
			Type:    ptx.U8,
			Dims:    []uint64{d, uint64(seq), uint64(p.Batch * heads)},
			Strides: []uint64{d, d * uint64(seq)},
			Box:     []uint32{uint32(d), uint32(rows), 1},
			Swizzle: tile.KMajorWidth(p.HeadDim),
		}
	}
	k = m(p.HeadsKV, p.SeqKV, c.TileN)
	return m(p.Heads, p.SeqQ, warpgroupRows), k, k
}

// plan is what lies where in a block's shared memory, in bytes from its beginning.
type plan struct {
	q, k, raw, v int // rings of tiles; see doc.go
	qTile, tile  int // bytes of a tile of Q, and of K or raw
	vTile        int // of transposed V
	barriers     [rings]int
	turns        int
	parts, sums  int // what the blocks of a cluster send each other
	half         int // what one half of each pair gives the other
	inbox        int // bytes that one warpgroup receives in an exchange, from parts on
	exchanged    int // its barriers
	total        int
}

// The rings, by the number of their barriers.
const (
	ringQ = iota
	ringK
	ringRaw
	ringV
	rings
)

// slots are how many tiles each ring holds.
func (c Config) slots(ring int) int {
	switch ring {
	case ringQ:
		if c.Persistent {
			return 2
		}
		return 1
	case ringRaw:
		return min(c.Stages, max(c.perBlock(), 2))
	}
	return c.Stages
}

// columns are those of T and O: the dimensions, and a group of eight for the row sums.
func (c Config) columns(d int) int {
	if c.SumColumn {
		return d + 8
	}
	return d
}

// halfBytes is what a warpgroup gives the one that joins the results of a pair: its O, m
// and l.
func (c Config) halfBytes(d int) int { return warpgroupThreads * 4 * (c.columns(d)/2 + 4) }

func (c Config) plan(d int) plan {
	p := plan{qTile: c.rows() * d, tile: c.TileN * d, vTile: c.TileN * c.columns(d)}
	take := func(bytes int) int {
		at := p.total
		p.total += (bytes + 1023) / 1024 * 1024 // a swizzle repeats within 1024 bytes
		return at
	}
	p.q = take(c.slots(ringQ) * p.qTile)
	p.k = take(c.slots(ringK) * p.tile)
	p.raw = take(c.slots(ringRaw) * p.tile)
	p.v = take(c.slots(ringV) * p.vTile)
	switch {
	case c.Exchange > 0:
		p.inbox = c.sharers() * c.share(d).bytes
		p.parts = take(c.Warpgroups * p.inbox)
	case c.Split > 1:
		p.parts = take(warpgroupRows * d * 4)
		p.sums = take(c.Split * warpgroupRows * 8)
	}
	if c.Halves && c.Exchange == 0 {
		p.half = take(c.rowTiles() * c.halfBytes(d))
	}
	bars := 0
	for r := range p.barriers {
		p.barriers[r] = bars
		bars += tile.RingBytes(c.slots(r))
	}
	p.turns = bars
	p.exchanged = p.turns + tile.TurnsBytes(4*c.Warpgroups)
	at := take(p.exchanged + 8*c.Warpgroups)
	for r := range p.barriers {
		p.barriers[r] += at
	}
	p.turns += at
	p.exchanged += at
	return p
}

// SharedBytes is the dynamic shared memory of a kernel for heads of dimension d.
func (c Config) SharedBytes(d int) int { return c.plan(d).total }
