package hopper

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
	"github.com/GOATnote-Inc/attest/problem"
)

// Config describes a kernel: one field per decision, in three groups.
type Config struct {
	Sharing  `json:"sharing"`
	Softmax  `json:"softmax"`
	Schedule `json:"schedule"`
}

// Sharing says over how many warpgroups the keys of 64 query rows are split. They merge
// their results at the end.
type Sharing struct {
	// Split is the number of blocks of a cluster that split the keys: 1 or 2.
	Split int `json:"split"`
	// SplitInBlock splits the keys over two warpgroups of a block: each computes every other
	// KV tile. A block has one such pair or two.
	SplitInBlock bool `json:"split_in_block"`
}

// Softmax says how the softmax is computed.
type Softmax struct {
	// Polynomial computes one exponential in this many on the FMA units instead of the
	// special function units: 0 is none, 4 is every fourth.
	Polynomial int `json:"polynomial"`
	// Codes computes one word of four weights in this many as e4m3 codes, without exponentials: see
	// [part.Codes]. 0 is none, 4 is every fourth. A kernel with codes takes up to 15 % less time. Its
	// errors are 5 % larger with 4 and 10 % larger with 2. The row sums are those of the codes.
	Codes int `json:"codes"`
	// SumsInV makes the tensor cores add up the rows of P: V gets extra dimensions of
	// ones. It saves one addition per score, and sums P after rounding.
	SumsInV bool `json:"sums_in_v"`
	// TileMaxima makes P of a tile relative to the tile's own largest scores, and not to
	// the largest scores so far. The largest weight of each row and tile is then exact in
	// e4m3, and a weight rounds to 0 only beside much larger ones of its tile. Errors are a
	// tenth smaller, and half as large with outliers. It takes a branch per tile, which pays
	// only if there are many tiles.
	TileMaxima bool `json:"tile_maxima"`
}

// Schedule says how the work is divided and in which order it is done.
type Schedule struct {
	Warpgroups int `json:"warpgroups"` // the warpgroups that compute, each with 64 query rows: 1 to 4
	TileN      int `json:"tile_n"`     // keys of a KV tile: 64, 128 or 192
	Stages     int `json:"stages"`     // slots of the rings of K and of transposed V
	// Persistent blocks compute one tile of queries after the other, while the data of the
	// next tile are loaded.
	Persistent bool `json:"persistent"`
	// PingPong makes the warpgroups begin their exponentials one after the other, so that
	// one computes them while others multiply. A warpgroup lets the next begin when it has
	// computed this many keys of its tile, a multiple of 32. 0 turns ping-pong off, which
	// suits few tiles.
	PingPong int `json:"ping_pong"`
	// ProductColumns is the number of columns of T that one product computes. Columns that
	// are done are added to O while the next ones are multiplied. 0 computes all columns at
	// once, for which D = 256 has no registers.
	ProductColumns int `json:"product_columns"`
	// BlocksPerSM is the number of blocks that share the registers of an SM.
	BlocksPerSM int `json:"blocks_per_sm"`
	// Descriptors makes the loading warp find the place and the factors of each item and pass them
	// on through shared memory, beside the queries. Otherwise every warp computes them when its
	// item begins: up to four divisions and a read of memory, for which short items wait.
	Descriptors bool `json:"descriptors"`
	// Balanced divides the work of persistent blocks evenly: if some items are left over when all
	// blocks have equally many, their keys are split over the blocks. See balance.go.
	Balanced bool `json:"balanced"`
	// Dependent selects programmatic dependent launch: blocks start and initialise their barriers
	// while the launch before this one in the stream ends, and wait for its end before they read
	// memory. They let the next launch do the same.
	Dependent bool `json:"dependent"`
}

// String lists what is set, in the short form that records use.
func (c Config) String() string {
	s := fmt.Sprintf("%dx%d stages-%d", c.rows(), c.TileN, c.Stages)
	if c.Split > 1 {
		s += fmt.Sprintf(" split-%d", c.Split)
	}
	if c.Persistent {
		s += " persistent"
	}
	if c.PingPong > 0 {
		s += fmt.Sprintf(" ping-pong-%d", c.PingPong)
	}
	switch { // not listed in the usual case: ping-pong with tile maxima, or none of the two
	case c.TileMaxima && c.PingPong == 0:
		s += " tile-maxima"
	case !c.TileMaxima && c.PingPong > 0:
		s += " running-maxima"
	}
	if c.SplitInBlock {
		s += " split-in-block"
	}
	if c.Polynomial > 0 {
		s += fmt.Sprintf(" polynomial-%d", c.Polynomial)
	}
	if c.Codes > 0 {
		s += fmt.Sprintf(" codes-%d", c.Codes)
	}
	if c.SumsInV {
		s += " sums-in-v"
	}
	if c.ProductColumns > 0 {
		s += fmt.Sprintf(" product-columns-%d", c.ProductColumns)
	}
	if c.BlocksPerSM > 1 {
		s += fmt.Sprintf(" blocks-%d", c.BlocksPerSM)
	}
	if c.Descriptors {
		s += " descriptors"
	}
	if c.Balanced {
		s += " balanced"
	}
	if c.Dependent {
		s += " dependent"
	}
	return s
}

// Division says how the work is divided, and not how a warpgroup computes. Tables of measured times have this
// name, so they stay valid when the latter changes.
func (c Config) Division() string {
	c.PingPong, c.TileMaxima, c.Polynomial, c.Codes, c.SumsInV = 0, false, 0, 0, false
	return c.String()
}

// Shared memory in bytes: the most that a block may have, and what an SM has.
const (
	sharedLimit = 227 << 10
	sharedPerSM = 228 << 10
	sharedBlock = 1 << 10 // reserved by the driver for each block
)

// Check returns the reason why a kernel of this Config cannot compute the problem, or nil.
func (c Config) Check(p problem.Attention) error {
	p = p.Filled()
	if err := checkProblem(p); err != nil {
		return err
	}
	switch {
	case c.Warpgroups < 1 || c.Warpgroups > 4:
		return fmt.Errorf("%d computing warpgroups: use 1 to 4", c.Warpgroups)
	case c.TileN != 64 && c.TileN != 128 && c.TileN != 192:
		return fmt.Errorf("KV tiles of %d keys: use 64, 128 or 192", c.TileN)
	case c.Stages < 1 || c.Stages > 4:
		return fmt.Errorf("%d stages: use 1 to 4", c.Stages)
	case c.Split != 1 && c.Split != 2:
		return fmt.Errorf("keys split over %d blocks: use 1 or 2", c.Split)
	case c.Split > 1 && (c.rows() > warpgroupRows || c.Persistent):
		return fmt.Errorf("keys split over a cluster with %d rows per block, persistent %t: a block that splits keys must have 64 rows and must not be persistent", c.rows(), c.Persistent)
	case c.SplitInBlock && (c.Warpgroups%2 != 0 || c.Persistent):
		return fmt.Errorf("keys split within the block with %v: use two or four warpgroups that are not persistent", c)
	case c.sharers() > 1 && p.DimV()%(16*c.sharers()) != 0:
		return fmt.Errorf("head dimension %v with keys split over %d warpgroups: each warpgroup must get a multiple of 16 columns of the output", p.HeadDim(), c.sharers())
	case c.Stages%c.perBlock() != 0:
		return fmt.Errorf("keys split over %d warpgroups with %d stages: the stages must be a multiple of the warpgroups, which have equally many slots", c.perBlock(), c.Stages)
	case c.PingPong < 0 || c.PingPong > c.TileN || c.PingPong%stepKeys != 0:
		return fmt.Errorf("ping-pong hands over after %d keys: use a multiple of %d up to the %d keys of a tile", c.PingPong, stepKeys, c.TileN)
	case c.PingPong > 0 && c.Warpgroups == 1:
		return fmt.Errorf("ping-pong with one warpgroup: use at least two warpgroups, or ping_pong 0")
	case c.Polynomial < 0 || c.Polynomial == 1:
		return fmt.Errorf("one exponential in %d by a polynomial: use 0, or 2 and more", c.Polynomial)
	case c.Codes < 0 || c.Codes == 1:
		return fmt.Errorf("one word in %d as codes: use 0, or 2 and more", c.Codes)
	case c.Codes > 0 && p.LSE:
		return fmt.Errorf("one word in %d as codes with the LSE: row sums of codes make the LSE wrong by up to 0.01; turn codes off", c.Codes)
	case c.SumsInV && p.LSE:
		return fmt.Errorf("row sums in columns of V with the LSE: such sums are of P after rounding to e4m3, which makes the LSE wrong by up to 0.01; turn sums_in_v off")
	case c.SumsInV && p.DimV() > maxSumsInVDim:
		return fmt.Errorf("row sums in columns of V with head dimension %d: there are no registers for the extra columns beyond %d; turn sums_in_v off", p.DimV(), maxSumsInVDim)
	case c.ProductColumns < 0 || c.ProductColumns%32 != 0 || c.ProductColumns >= p.DimV():
		return fmt.Errorf("products of %d columns: use 0, or a multiple of 32 below the head dimension %d", c.ProductColumns, p.DimV())
	case c.ProductColumns == 0 && c.columns(p.DimV()) > maxProductColumns:
		return fmt.Errorf("products of %d columns: a product has at most %d; set product_columns", c.columns(p.DimV()), maxProductColumns)
	case c.Descriptors && (!c.Persistent || c.slots(ringQ, p.D) < 2):
		return fmt.Errorf("descriptors with head dimension %d, persistent %t: use persistent blocks and a head dimension of at most %d, with which a block holds the queries of two items", p.D, c.Persistent, maxTwoQueryTiles)
	case c.Balanced && (!c.Persistent || c.Descriptors):
		return fmt.Errorf("balanced with persistent %t, descriptors %t: use persistent blocks without descriptors", c.Persistent, c.Descriptors)
	case c.Balanced && p.Causal && !part.Divisible(c.rows(), c.TileN):
		return fmt.Errorf("balanced causal blocks of %d rows with tiles of %d keys: the rows must be a multiple of the keys, or the tiles must have 128 keys", c.rows(), c.TileN)
	case c.BlocksPerSM < 1 || c.BlocksPerSM > 4:
		return fmt.Errorf("%d blocks per SM: use 1 to 4", c.BlocksPerSM)
	}
	if err := attn.CheckRules(c.rules(p), p); err != nil {
		return err
	}
	if n := c.plan(p.HeadDim()).total; n > sharedLimit || c.BlocksPerSM*(n+sharedBlock) > sharedPerSM {
		return fmt.Errorf("head dimension %v with %v: a block needs %d bytes of shared memory; an SM has %d bytes and a block at most %d", p.HeadDim(), c, n, sharedPerSM, sharedLimit)
	}
	if need, has := c.registersNeeded(p), c.registers(); need > has.consumer {
		return fmt.Errorf("head dimension %v with %v: a consumer needs about %d registers and has %d", p.HeadDim(), c, need, has.consumer)
	}
	return nil
}

// rows returns the query rows of a block.
func (c Config) rows() int { return warpgroupRows * c.rowTiles() }

// rowTiles returns how many tiles of 64 query rows a block has.
func (c Config) rowTiles() int { return c.Warpgroups / c.perBlock() }

const (
	warpgroupRows    = 64
	warpgroupThreads = 128
)

// threads returns the threads of a block: one producing warpgroup and the consumers.
func (c Config) threads() int { return warpgroupThreads * (c.Warpgroups + 1) }

// registers are the registers per thread: at the start of the kernel, and in each role.
type registers struct{ start, producer, consumer int }

// registers divides the 65536 registers of an SM: few for producers, the rest for consumers.
func (c Config) registers() registers {
	const inAll, most = 65536, 240
	producer := 40
	if c.Warpgroups >= 3 {
		producer = 32 // 8 fewer per thread here are 8 more for some consumers
	}
	start := min(inAll/c.BlocksPerSM/c.threads()/8*8, most)
	spare := (start - producer) / c.Warpgroups / 8 * 8
	return registers{start, producer, min(start+spare, most)}
}

// enoughRegisters is the registers per thread when 384 threads share an SM. Head
// dimensions up to 128 need no more.
const enoughRegisters = 168

// mostRegisters returns how many registers ptxas may give to a thread: no more than the kernel
// needs, because ptxas would use every register that it is allowed.
func (c Config) mostRegisters(p problem.Attention) int {
	start := c.registers().start
	if c.registersNeeded(p) > enoughRegisters {
		return start
	}
	return min(start, enoughRegisters)
}

// short reports whether ptxas spills registers in the loop: four persistent warpgroups have
// no registers for row sums, and for a causal mask only if they are balanced and compute codes.
func (c Config) short(p problem.Attention) bool {
	masked := p.Causal && !(c.Balanced && c.Codes > 0)
	return c.Persistent && c.Warpgroups == 4 && (masked || !c.SumsInV)
}

// registersNeeded estimates how many registers are live at once in a consumer's loop.
func (c Config) registersNeeded(p problem.Attention) int {
	others := 12 // references, l, c, w, positions in the rings
	S, P, T, O := c.TileN/2, c.TileN/8, c.registersOfT(p.DimV()), c.columns(p.DimV())/2
	if c.SumsInV { // no l; a lane keeps one of its four columns of sums
		O, others = O-2, others-2
	}
	return max(S, P+T) + O + others
}

// plan is the layout of a block's shared memory, in bytes from its beginning.
type plan struct {
	q, k, raw, v int // rings of tiles; see doc.go
	qTile, kTile int // bytes of a tile of Q, and of K
	rawTile      int // bytes of a tile of V as in global memory
	vTile        int // bytes of a tile of transposed V
	barriers     [rings]int
	pingPong     int // the barriers of the ping-pong
	inboxes      int // what warpgroups that split keys receive; see exchange.go
	inbox        int // bytes of one inbox
	exchanged    int // the barriers at which they wait for it
	descriptors  int // one for each slot of Q; see descriptor.go
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

// pingPongWarps returns the number of warps that take part in the ping-pong.
func (c Config) pingPongWarps() int {
	if c.PingPong == 0 {
		return 0
	}
	return 4 * c.Warpgroups
}

// slots returns how many tiles a ring holds, with heads of Q of d columns. With D = 256 there is no shared memory for the
// queries of a second item.
func (c Config) slots(ring, d int) int {
	switch ring {
	case ringQ:
		if c.Persistent && d <= maxTwoQueryTiles {
			return 2
		}
		return 1
	case ringRaw:
		return min(c.Stages, max(c.perBlock(), 2))
	}
	return c.Stages
}

// maxSumsInVDim is the largest head dimension of V for which ptxas finds registers for sums in V.
const maxSumsInVDim = 128

// maxTwoQueryTiles is the largest head dimension of Q with which a persistent block holds the
// queries of two items.
const maxTwoQueryTiles = 192

// columns returns the columns of T and O: the head dimension of V, and eight more for row sums.
func (c Config) columns(dv int) int {
	if c.SumsInV {
		return dv + 8
	}
	return dv
}

// plan returns the layout for a head dimension.
func (c Config) plan(h problem.HeadDim) plan {
	d, dv := h.D, h.V()
	p := plan{qTile: c.rows() * d, kTile: c.TileN * d, rawTile: c.TileN * dv, vTile: c.TileN * c.columns(dv)}
	take := func(bytes int) int {
		at := p.total
		p.total += (bytes + 1023) / 1024 * 1024 // a swizzle repeats within 1024 bytes
		return at
	}
	p.q = take(c.slots(ringQ, d) * p.qTile)
	p.k = take(c.slots(ringK, d) * p.kTile)
	p.raw = take(c.slots(ringRaw, d) * p.rawTile)
	p.v = take(c.slots(ringV, d) * p.vTile)
	if c.sharers() > 1 {
		p.inbox = c.sharers() * c.share(dv).bytes
		p.inboxes = take(c.Warpgroups * p.inbox)
	}
	bars := 0
	for r := range p.barriers {
		p.barriers[r] = bars
		bars += tile.RingBytes(c.slots(r, d))
	}
	p.pingPong = bars
	p.exchanged = p.pingPong + tile.PingPongBytes(c.pingPongWarps())
	p.descriptors = (p.exchanged + 8*c.Warpgroups + descriptorBytes - 1) / descriptorBytes * descriptorBytes
	at := take(p.descriptors + c.descriptors(d)*descriptorBytes)
	for r := range p.barriers {
		p.barriers[r] += at
	}
	p.pingPong += at
	p.exchanged += at
	p.descriptors += at
	return p
}
