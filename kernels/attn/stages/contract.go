package stages

import (
	"fmt"
	"strconv"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// New writes the kernel of a configuration for a target with its call. It serves every
// problem with the facts of p.
func New(p problem.Attention, c Config, t ptx.Target) (*kernel.Kernel, error) {
	p = p.Filled()
	k, args, err := write(p, c, t)
	if err != nil {
		return nil, err
	}
	k.Strict()
	text, err := k.PTX()
	if err != nil {
		return nil, err
	}
	claims := map[string]string{"p": string(problem.F16), "accumulator": "f32"}
	if !c.TensorPV {
		claims["p"] = string(problem.F32)
	}
	features := []string{problem.CustomScale}
	if p.LSE {
		features = append(features, problem.LogSumExp)
	}
	return &kernel.Kernel{
		Name: k.Name(), PTX: text, Op: p.Op(), Fixed: p.Facts(), Supports: features,
		Require:  rules(),
		Operands: attn.Operands(p),
		Launches: []kernel.Launch{{
			Entry: k.Name(), Args: args, Grid: c.grid(),
			Block: []expr.Expr{expr.Const(int64(c.threads()))}, Shared: expr.Const(int64(c.plan(p.D).total)),
		}},
		Claims:    claims,
		Structure: map[string]int{"tile_q": c.TileM, "tile_kv": c.TileN, "stages": max(c.Stages, 1)},
		Config: map[string]string{
			"config": c.String(), "tile_m": strconv.Itoa(c.TileM), "tile_n": strconv.Itoa(c.TileN),
			"head_dim": strconv.Itoa(p.D), "lse": strconv.FormatBool(p.LSE),
		},
	}, nil
}

const (
	// maxSeq keeps byte offsets within a head below 2^32.
	maxSeq = 1 << 23
	// maxRowTiles keeps the number of a block in a signed 32-bit integer. Tiles have at
	// least warpRows query rows.
	maxRowTiles = 1 << 30
)

// rules returns the limits on the sizes of a problem. The contract states them, and
// [Config.Check] checks them.
func rules() []kernel.Rule {
	return []kernel.Rule{
		attn.Rule(fmt.Sprintf("Sq <= %d", maxSeq),
			fmt.Sprintf("a sequence has at most %d positions, so that offsets within a head fit 32 bits", maxSeq)),
		attn.Rule(fmt.Sprintf("B*H*cdiv(Sq, %d) <= %d", warpRows, maxRowTiles),
			fmt.Sprintf("a launch has at most %d tiles of %d query rows: divide the batch", maxRowTiles, warpRows)),
	}
}

// grid returns the extents of the grid: one block per tile of queries, or as many blocks as
// are resident at once.
func (c Config) grid() []expr.Expr {
	tiles := fmt.Sprintf("B*H*cdiv(Sq, %d)", c.TileM)
	if c.Persistent {
		tiles = fmt.Sprintf("min(%s, SMs*BlocksPerSM)", tiles)
	}
	return attn.Exprs(tiles)
}
