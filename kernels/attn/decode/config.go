package decode

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Config describes a kernel: one field per decision.
type Config struct {
	// RowTiles is the number of tiles of 16 rows that hold the queries of a group: 1, 2 or 4.
	// A team has one warp per tile. Its warps share their keys.
	RowTiles int `json:"row_tiles"`
	Warps    int `json:"warps"`  // the warps of a block: 4 or 8
	TileN    int `json:"tile_n"` // keys that a team computes at a time
	Stages   int `json:"stages"` // tiles of keys in the ring of a team
	// BlocksPerSM is the number of blocks that share an SM.
	BlocksPerSM int `json:"blocks_per_sm"`
	// Chunk makes each block compute this many keys of a sequence, from a multiple of this
	// number on. The bits of a sequence's output then do not depend on the rest of the batch.
	// 0 splits the keys over as many blocks as fill the GPU.
	Chunk int `json:"chunk"`
	// RowBlocks divides the query rows that share a head of K and V into several items, so that
	// there may be any number of them.
	RowBlocks bool `json:"row_blocks"`
	// Dependent selects programmatic dependent launch: blocks start while the launch before them ends,
	// such as one that appends keys, and wait for its end before they touch global memory. It needs
	// sm_90.
	Dependent bool `json:"dependent"`
	// AnyPages allows pages of any number of rows: the place of each row is looked up. Otherwise pages have a
	// multiple of 16 rows.
	AnyPages bool `json:"any_pages"`
}

const (
	warpRows   = 16 // rows that a warp computes
	groupKeys  = 16 // keys whose rows one warp copies together; they lie in one page
	unitBytes  = 16 // the bytes that one cp.async copies
	mostRows   = 64
	laneVector = 4 // numbers that a lane moves at once
)

// headDims are the head dimensions that this family computes, of K and of V.
var headDims = []int{64, 96, 128, 192, 256}

// largeShared is the shared memory of an SM, in bytes, from which on blocks have large rings.
const largeShared = 200 << 10

// usualShared is the shared memory of a block, in bytes, that the resources gate allows on every GPU.
const usualShared = 64 << 10

// Default returns the configuration for a problem on a chip: as few row tiles as hold the
// queries, and rings of 48 KiB per block, or of 64 KiB if the SMs have much shared memory.
func Default(p problem.Attention, chip kernel.Chip) Config {
	p = p.Filled()
	c := Config{RowTiles: 1, Warps: 4, Stages: 3, BlocksPerSM: 2, AnyPages: p.Keys == problem.Paged && p.PageSize%groupKeys != 0}
	bytes := 2048 // the mean of the bytes of a tile of K and of V, for each warp
	if c.large(chip) {
		c.Stages, bytes = 2, 4096
	}
	if max(p.D, p.DimV()) > 128 {
		c.Stages = 2
	}
	for c.RowTiles < mostRows/warpRows && c.RowTiles*warpRows < rows(p) {
		c.RowTiles *= 2
	}
	keys := 2 * c.RowTiles * bytes / max(p.D+p.DimV(), 1)
	c.TileN = min(max(1<<bits.Len(uint(keys))/2, c.RowTiles*groupKeys), mostTile(p.DimV()))
	for c.Stages > 2 && c.plan(p).total > usualShared {
		c.Stages--
	}
	return c
}

// large reports whether the blocks of a chip have large rings.
func (Config) large(chip kernel.Chip) bool {
	return chip.SharedPerSM >= largeShared || chip.SharedPerSM == 0 && chip.Target.Runs(ptx.SM90a)
}

// Prefill returns the configuration for many queries: tiles of 64 rows.
func Prefill(p problem.Attention, chip kernel.Chip) Config {
	p.Shape.Sq, p.Shape.Hq, p.Shape.Hkv = mostRows, 1, 1
	p.Batch = problem.Batch{PageSize: p.PageSize}
	c := Default(p, chip)
	c.RowBlocks = true
	return c
}

// mostTile returns the largest number of keys in a tile for which a thread has registers. The
// scores take half as many registers as O.
func mostTile(dv int) int {
	if dv > 64 {
		return 64
	}
	return 128
}

// Invariant returns the configuration whose results for a sequence do not depend on the rest
// of the batch.
func Invariant(p problem.Attention, chip kernel.Chip) Config {
	c := Default(p, chip)
	c.Chunk = 512
	return c
}

// prefillChunk is the number of keys of a block of a prefill kernel whose results do not depend on the
// batch. There are many query rows, so few sequences need more than one block for a tile of them.
const prefillChunk = 4096

// PrefillInvariant returns the configuration for many queries whose results for a sequence do not
// depend on the rest of the batch.
func PrefillInvariant(p problem.Attention, chip kernel.Chip) Config {
	c := Prefill(p, chip)
	c.Chunk = prefillChunk
	return c
}

// rows returns the number of query rows that share a head of K and V.
func rows(p problem.Attention) int {
	if p.Hkv < 1 {
		return 0
	}
	return p.Sq * (p.Hq / p.Hkv)
}

// String returns the short form that records use.
func (c Config) String() string {
	s := fmt.Sprintf("%dx%d warps-%d stages-%d blocks-%d", c.RowTiles*warpRows, c.TileN, c.Warps, c.Stages, c.BlocksPerSM)
	if c.Chunk > 0 {
		s += fmt.Sprintf(" chunk-%d", c.Chunk)
	}
	if c.RowBlocks {
		s += " row-blocks"
	}
	if c.Dependent {
		s += " dependent"
	}
	if c.AnyPages {
		s += " any-pages"
	}
	return s
}

func (c Config) threads() int { return 32 * c.Warps }

// tileRows returns the number of query rows that a block computes.
func (c Config) tileRows() int { return c.RowTiles * warpRows }

// teams returns the number of teams of a block. Each has its own keys.
func (c Config) teams() int { return c.Warps / c.RowTiles }

// maxRegisters returns the limit of registers per thread. With several row tiles or wide heads a kernel
// needs as many as a thread can have for scores and O. With scales of keys, gaps, pages of any size or queries
// of 16 bits it needs some more than usual. The blocks of an SM have them all the same.
func (c Config) maxRegisters(p problem.Attention, t ptx.Target) int {
	switch usual := usualRegisters(t); {
	case max(p.D, p.DimV()) > 128 || c.RowTiles > 1:
		return mostRegisters
	case scaledByKey(p) || p.Strided() || c.AnyPages || p.FormatQ == problem.BF16 || p.FormatQ == problem.F16:
		return max(usual, 168)
	default:
		return usual
	}
}

// usualRegisters returns the registers of a thread that the resources gate allows on a target unless a
// kernel states that it needs more.
func usualRegisters(t ptx.Target) int {
	if t.Runs(ptx.SM90a) {
		return 168
	}
	return 128
}

// mostRegisters is the most registers that a thread can have.
const mostRegisters = 255

// Shared memory in bytes: the most that a block may have, and what an SM has.
const (
	sharedLimit = 227 << 10
	sharedPerSM = 228 << 10
	sharedBlock = 1 << 10 // reserved by the driver for each block
)

// Check returns the reason why a kernel of this Config cannot compute the problem on a target,
// or nil.
func (c Config) Check(p problem.Attention, t ptx.Target) error {
	p = p.Filled()
	if err := checkProblem(p, t); err != nil {
		return err
	}
	switch {
	case c.RowTiles != 1 && c.RowTiles != 2 && c.RowTiles != 4:
		return fmt.Errorf("%d row tiles: use 1, 2 or 4", c.RowTiles)
	case c.Warps != 4 && c.Warps != 8:
		return fmt.Errorf("%d warps: use 4 or 8", c.Warps)
	case c.TileN != 16 && c.TileN != 32 && c.TileN != 64 && c.TileN != 128:
		return fmt.Errorf("KV tiles of %d keys: use 16, 32, 64 or 128", c.TileN)
	case c.TileN < groupKeys*c.RowTiles:
		return fmt.Errorf("KV tiles of %d keys for %d warps that share them: each warp copies at least %d keys", c.TileN, c.RowTiles, groupKeys)
	case c.Stages < 2 || c.Stages > 8:
		return fmt.Errorf("%d stages: use 2 to 8", c.Stages)
	case c.teams() > p.DimV()/16:
		return fmt.Errorf("%d teams with head dimension %v: a team merges at least 16 columns", c.teams(), p.HeadDim())
	case c.BlocksPerSM < 1 || c.BlocksPerSM > 4:
		return fmt.Errorf("%d blocks per SM: use 1 to 4", c.BlocksPerSM)
	case c.Dependent && t.SM < 90:
		return fmt.Errorf("%s has no programmatic dependent launch: use a GPU from sm_90 on", t)
	case c.AnyPages && p.Keys != problem.Paged:
		return fmt.Errorf("pages of any size, but the keys are not paged")
	case c.Chunk < 0 || c.Chunk%c.TileN != 0:
		return fmt.Errorf("chunks of %d keys: use 0 or a multiple of the %d keys of a tile", c.Chunk, c.TileN)
	case c.Chunk > 0 && c.RowBlocks && c.teams() > 1:
		// A team takes every teams-th tile from the first that any row of the tile sees.
		return fmt.Errorf("%d teams of warps: bits that do not depend on the other rows of a tile need one team: use 4 warps and 4 row tiles", c.teams())
	}
	if err := attn.CheckRules(c.rules(p), p); err != nil {
		return err
	}
	if n := c.plan(p).total; n > sharedLimit || c.BlocksPerSM*(n+sharedBlock) > sharedPerSM {
		return fmt.Errorf("head dimension %v with %v: a block needs %d bytes of shared memory; an SM has %d bytes and a block at most %d", p.HeadDim(), c, n, sharedPerSM, sharedLimit)
	}
	return nil
}

// checkProblem refuses a problem that no kernel of this family computes, whatever its sizes:
// [Config.rules] limits those.
func checkProblem(p problem.Attention, t ptx.Target) error {
	if err := p.Check(); err != nil {
		return err
	}
	switch {
	case !slices.Contains(headDims, p.D):
		return fmt.Errorf("head dimension %d is not supported: use %s", p.D, english.Or(headDims))
	case !slices.Contains(headDims, p.DimV()):
		return fmt.Errorf("heads of V with %d columns are not supported: use %s", p.DV, english.Or(headDims))
	case p.Format != problem.E4M3 && p.Format != problem.E5M2:
		return fmt.Errorf("format %s is not supported: use e4m3 or e5m2", p.Format)
	case p.Output != problem.F16 && p.Output != problem.BF16:
		return fmt.Errorf("output %s is not supported: use f16 or bf16", p.Output)
	case unsupported(p) != "":
		return fmt.Errorf("the problem uses %s, which decode kernels do not support", unsupported(p))
	case p.Format == problem.E4M3 && t.SM < 89:
		return fmt.Errorf("%s cannot convert e4m3: use e5m2, or a GPU from sm_89 on", t)
	case t.SM < 80:
		return fmt.Errorf("%s has no cp.async: use a GPU from sm_80 on", t)
	}
	return nil
}

// plan is the layout of a block's shared memory, in bytes from its beginning.
type plan struct {
	k, v   tileRows
	scales int // where the scales of keys are in a slot, after the tiles of K and V
	slot   int // bytes of a tile of K, the tile of V after it, and the scales of their keys
	ring   int // bytes of the ring of a team; the rings follow each other from 0 on
	q      int // the queries of each row tile, as operands in f16
	stats  int // references and sums of the rows of each warp
	last   int // whether the block is the last one of its item
	total  int
}

// tileRows describes the rows of a tile of K or V in shared memory.
type tileRows struct {
	d     int // bytes of a row, one per column
	pitch int // bytes from row to row
	tile  int // bytes of a tile
}

// swizzled reports whether the units of a row in shared memory are permuted. Other rows are one unit
// longer than the head instead, because their length is not a power of two.
func (t tileRows) swizzled() bool { return t.pitch == t.d }

// newTileRows returns the rows of a tile of heads with d columns.
func (c Config) newTileRows(d int) tileRows {
	t := tileRows{d: d, pitch: d}
	if d&(d-1) != 0 {
		t.pitch += unitBytes // against bank conflicts
	}
	t.tile = c.TileN * t.pitch
	return t
}

// plan returns the layout for a problem. When the rings are empty, O of each warp takes their
// place.
func (c Config) plan(a problem.Attention) plan {
	p := plan{k: c.newTileRows(a.D), v: c.newTileRows(a.DimV())}
	p.scales = p.k.tile + p.v.tile
	p.slot = p.scales
	if scaledByKey(a) {
		p.slot += 2 * 4 * c.TileN
	}
	p.ring = c.Stages * p.slot
	rings, outputs := c.teams()*p.ring, 4*c.Warps*warpRows*a.DimV()
	p.q = max(rings, outputs)
	p.stats = p.q + 2*c.RowTiles*warpRows*a.D
	p.last = p.stats + 8*c.Warps*warpRows
	p.total = p.last + 16
	return p
}
