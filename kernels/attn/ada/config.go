package ada

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Config describes a kernel: one field per decision.
type Config struct {
	Rows  int `json:"rows"`   // query rows of a block, 16 for each warp
	TileN int `json:"tile_n"` // keys of a KV tile, which a warp computes in one round
	// Shares is the number of warps that split the keys of the same 16 query rows. In each
	// round every one of them computes a tile. They merge their results at the end.
	Shares int `json:"shares"`
	Stages int `json:"stages"` // slots of the ring of K and V; a slot has Shares tiles
	// Ahead computes the scores of the next round before the exponentials of this round, in the same
	// basic block, so that the tensor cores are busy meanwhile. It takes registers for both, and the
	// scores of the last round are computed twice, so it does not suit few rounds.
	Ahead bool `json:"ahead"`
	// Whole gives every round a slot of its own. A warp then has at most 128 keys: so few that the
	// tensor cores add P·V to O, which saves registers and an fma per element and round.
	Whole bool `json:"whole"`
	// BlocksPerSM is the number of blocks that share the registers of an SM.
	BlocksPerSM int `json:"blocks_per_sm"`
	// Widen converts bytes to f16 before each product, for chips before sm_89, whose tensor
	// cores have no FP8.
	Widen bool `json:"widen"`
}

// String lists what is set, in the short form that records use.
func (c Config) String() string {
	s := fmt.Sprintf("%dx%d stages-%d", c.Rows, c.TileN, c.Stages)
	if c.Shares > 1 {
		s += fmt.Sprintf(" shares-%d", c.Shares)
	}
	if c.Ahead {
		s += " ahead"
	}
	if c.Whole {
		s += " whole"
	}
	if c.BlocksPerSM > 1 {
		s += fmt.Sprintf(" blocks-%d", c.BlocksPerSM)
	}
	if c.Widen {
		s += " widen"
	}
	return s
}

const (
	warpRows   = 16      // query rows of a warp
	stepKeys   = 32      // keys that one product of P·V sums over
	groupCols  = 32      // columns of O that are accumulated at a time
	wholeKeys  = 128     // keys of a warp over which the tensor cores add up O; more would cost accuracy
	sharedUnit = 1 << 10 // the alignment of shared tiles; also what the driver reserves per block
	maxThreads = 1024
)

// headDims are the head dimensions that the kernels support.
var headDims = []int{64, 96, 128, 256}

// target returns the lowest target that runs the kernel.
func (c Config) target() ptx.Target {
	if c.Widen {
		return ptx.SM80
	}
	return ptx.SM89
}

// Check returns the reason why a kernel of this Config cannot compute the problem, or nil.
func (c Config) Check(p problem.Attention) error {
	p = p.Filled()
	if err := checkProblem(p); err != nil {
		return err
	}
	switch {
	case c.Rows < warpRows || c.Rows > 256 || c.Rows%warpRows != 0:
		return fmt.Errorf("%d query rows per block: use 16 to 256 in steps of 16, because a warp owns 16 rows", c.Rows)
	case c.TileN < stepKeys || c.TileN > 128 || c.TileN%stepKeys != 0:
		return fmt.Errorf("KV tiles of %d keys: use 32, 64, 96 or 128", c.TileN)
	case !slices.Contains([]int{1, 2, 4}, c.Shares):
		return fmt.Errorf("keys split over %d warps: use 1, 2 or 4", c.Shares)
	case c.threads() > maxThreads:
		return fmt.Errorf("%d rows with keys split over %d warps: a block would have %d threads, at most %d are possible", c.Rows, c.Shares, c.threads(), maxThreads)
	case p.D/c.Shares%16 != 0:
		return fmt.Errorf("head dimension %d with keys split over %d warps: each warp merges an equal share of the columns, a multiple of 16; use fewer shares", p.D, c.Shares)
	case c.Ahead && c.Shares > 1:
		return fmt.Errorf("scores ahead with keys split over %d warps: use one of both", c.Shares)
	case !c.Whole && (c.Stages < 2 || c.Stages > 8):
		return fmt.Errorf("%d stages: use 2 to 8", c.Stages)
	case c.Whole && (c.Stages < 1 || c.Stages*c.TileN > wholeKeys || c.Shares == 1 || c.Ahead):
		return fmt.Errorf("all keys in shared memory with %v: use 2 or 4 warps for the keys of 16 rows, at most %d keys for each of them, and no scores ahead", c, wholeKeys)
	case c.Whole && !c.keepsQ(p.D):
		return fmt.Errorf("head dimension %d with %v: Q does not fit in the registers; use slots that are filled again", p.D, c)
	case c.BlocksPerSM < 1 || c.BlocksPerSM > 4:
		return fmt.Errorf("%d blocks per SM: use 1 to 4", c.BlocksPerSM)
	}
	if err := attn.CheckRules(c.rules(p), p); err != nil {
		return err
	}
	if n := c.plan(p.D).total; n > sharedLimit || c.BlocksPerSM*(n+sharedUnit) > sharedPerSM {
		return fmt.Errorf("head dimension %d with %v: a block needs %d bytes of shared memory; an SM has %d bytes and a block at most %d", p.D, c, n, sharedPerSM, sharedLimit)
	}
	if need, has := c.registersNeeded(p), c.registers(); need > has {
		return fmt.Errorf("head dimension %d with %v: a thread needs about %d registers and has %d", p.D, c, need, has)
	}
	return nil
}

// Shared memory in bytes on sm_86 and sm_89, which have the least: the most that a block may
// have, and what an SM has.
const (
	sharedLimit = 99 << 10
	sharedPerSM = 100 << 10
)

// rowGroups returns the number of groups of 16 query rows in a block.
func (c Config) rowGroups() int { return c.Rows / warpRows }

// threads returns the threads of a block: a warp for each group of rows and each share of the keys.
func (c Config) threads() int { return 32 * c.rowGroups() * c.Shares }

// roundKeys returns the keys of a round: a tile for each share.
func (c Config) roundKeys() int { return c.TileN * c.Shares }

// registers returns the registers per thread if BlocksPerSM blocks share an SM. Each of its four parts
// has a quarter of the registers and of a block's warps, rounded up.
func (c Config) registers() int {
	const inPart, most = 65536 / subCores, 255
	warps := ceil(c.threads()/32, subCores)
	return min(inPart/c.BlocksPerSM/(32*warps)/8*8, most)
}

// registersNeeded estimates how many registers ptxas needs for the loop without spills. The constants describe its
// output for sm_80 and sm_89: besides accumulators and operands it has addresses, positions in the ring, m, l and c,
// and operands of later products, more with more columns.
func (c Config) registersNeeded(p problem.Attention) int {
	S, P, T := c.TileN/2, c.TileN/8, groupCols/2
	if c.Widen { // twice P, and operands while they are converted
		P = 2*P + 4
	}
	if c.Ahead {
		P += S
	}
	held := p.D/2 + 4*c.queryWords(p.D) // O and Q
	if c.Whole {                        // no T, and the scores of two rounds
		return held + 2*S + 20
	}
	return held + max(S, P+T) + 44 + 3*p.D/16
}

// queryWords returns the number of operands of four registers that hold Q through the loop, or 1
// if each round reads Q from shared memory again because registers are short.
func (c Config) queryWords(d int) int {
	words := d / 32
	if c.Widen {
		words *= 2
	}
	if words > 4 {
		return 1
	}
	return words
}

// keepsQ reports whether Q stays in registers.
func (c Config) keepsQ(d int) bool { return c.queryWords(d) > 1 }

// plan is the layout of a block's shared memory, in bytes from its beginning. Each team, the warps
// with the same share of the keys, has a ring of its own. When no warp of a team reads keys any more,
// it writes what it sends to other teams over them.
type plan struct {
	q, rings int // the tile of Q, if it is in shared memory, and the first team's ring
	tile     int // bytes of a tile of K or V
	values   int // the tiles of V in a team's ring; those of K come first
	team     int // bytes of a team's ring
	outbox   int // what the first team sends
	sent     int // bytes from the outbox of a team to that of the next team
	sums     int // the row sums of warps that split keys; see merge.go
	bars     int // with Whole, mbarriers; see feed.go
	total    int
}

// pitched reports whether rows of d bytes are padded. Rows of other lengths are swizzled.
func pitched(d int) bool { return d&(d-1) != 0 }

// take returns the place of bytes more.
func (p *plan) take(bytes int) int {
	at := p.total
	p.total += roundUp(bytes)
	return at
}

// plan returns the layout for head dimension d.
func (c Config) plan(d int) plan {
	if c.Whole {
		return c.wholePlan(d)
	}
	p := plan{tile: roundUp(tile.Bytes(c.TileN, d, !pitched(d)))}
	p.values = max(c.Stages*p.tile, roundUp(c.outbox(d))) // what a team sends overwrites K, but not V
	p.team = p.values + c.Stages*p.tile
	if !c.keepsQ(d) {
		p.q = p.take(tile.Bytes(c.Rows, d, !pitched(d)))
	}
	p.rings = p.take(c.Shares * p.team)
	p.outbox, p.sent = p.rings, p.team
	if c.Shares > 1 {
		p.sums = p.take(c.rowGroups() * c.Shares * recordsBytes)
	}
	return p
}

// wholePlan returns the layout with Whole: K and V of all rounds, in the order of their rows in memory.
func (c Config) wholePlan(d int) (p plan) {
	p.tile = tile.Bytes(c.roundKeys(), d, !pitched(d))
	p.rings = p.take(c.Stages * p.tile)
	p.values = p.take(c.Stages * p.tile)
	p.sent = c.outbox(d)
	p.outbox = p.take(c.Shares * p.sent)
	p.sums = p.take(c.rowGroups() * c.Shares * recordsBytes)
	p.bars = p.take((c.feedBars() + c.rowGroups()) * 8)
	return p
}

// roundUp returns bytes in whole units of 1024, within which a swizzle repeats.
func roundUp(bytes int) int { return (bytes + sharedUnit - 1) / sharedUnit * sharedUnit }

// ceil returns n/by, rounded up.
func ceil(n, by int) int { return (n + by - 1) / by }
