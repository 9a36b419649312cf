package ada

import (
	"fmt"
	"strconv"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
)

// New writes the kernel of a configuration with its call. It serves every problem with the
// facts of p. It serves grouped heads only if p has them, because the text for other problems
// saves the division that finds the head of K and V.
func New(p problem.Attention, c Config) (*kernel.Kernel, error) {
	p = p.Filled()
	k, args, err := write(p, c)
	if err != nil {
		return nil, err
	}
	k.Strict()
	text, err := k.PTX()
	if err != nil {
		return nil, err
	}
	return &kernel.Kernel{
		Name: k.Name(), PTX: text, Op: p.Op(),
		Fixed: p.Facts(), Supports: supports(p), Require: c.rules(p),
		Operands: attn.Operands(p),
		Launches: []kernel.Launch{{
			Entry: k.Name(), Args: args, Grid: c.grid(p),
			Block: []expr.Expr{expr.Const(int64(c.threads()))}, Shared: expr.Const(int64(c.plan(p.D).total)),
		}},
		Claims:    map[string]string{"p": string(c.products(p).precision()), "accumulator": "f32"},
		Structure: c.structure(p.D),
		Config: map[string]string{
			"config": c.String(), "head_dim": strconv.Itoa(p.D), "lse": strconv.FormatBool(p.LSE), "causal": strconv.FormatBool(p.Causal),
		},
	}, nil
}

// defaultShared is the shared memory in bytes that the resources gate allows a kernel that states no budget
// of its own.
const defaultShared = 64 << 10

// structure returns the sizes inside the kernel. A design that needs more shared memory than usual states
// its budget: what a block may have on sm_86 and sm_89.
func (c Config) structure(d int) map[string]int {
	sizes := map[string]int{"tile_q": c.Rows, "tile_kv": c.TileN, "stages": c.Stages, "split": c.Shares}
	if c.plan(d).total > defaultShared {
		sizes["shared_budget"] = sharedLimit
	}
	return sizes
}

func supports(p problem.Attention) []string {
	list := []string{problem.CrossLengths, problem.CustomScale}
	if p.Hq != p.Hkv {
		list = append(list, problem.GroupedHeads)
	}
	if p.Causal {
		list = append(list, problem.CausalMask)
	}
	if p.LSE {
		list = append(list, problem.LogSumExp)
	}
	return list
}

const (
	// maxSeq keeps byte offsets within a head, and within a few tiles beyond its end, below
	// 2^32.
	maxSeq = 1 << 23
	// maxRowTiles keeps the number of a block in a signed 32-bit integer.
	maxRowTiles = 1 << 28
	// maxGrid is the largest extent of a grid in y and in z.
	maxGrid = 65535
)

// rules returns the limits on the sizes of a problem. The contract states them, and
// [Config.Check] checks them.
func (c Config) rules(p problem.Attention) []kernel.Rule {
	list := []kernel.Rule{
		attn.Rule(fmt.Sprintf("Sq <= %d && Skv <= %d", maxSeq, maxSeq),
			fmt.Sprintf("a sequence has at most %d positions, so that offsets within a head fit 32 bits", maxSeq)),
		attn.Rule(fmt.Sprintf("B*H*cdiv(Sq, %d) <= %d", warpRows, maxRowTiles),
			fmt.Sprintf("a launch has at most %d tiles of %d query rows: divide the batch", maxRowTiles, warpRows)),
	}
	if keys := c.Stages * c.roundKeys(); c.Whole {
		list = append(list, attn.Rule(fmt.Sprintf("Skv <= %d", keys),
			fmt.Sprintf("the keys have a slot for each round, %d in all: use slots that are filled again", keys)))
	}
	if p.Causal {
		return append(list,
			attn.Rule(fmt.Sprintf("cdiv(Sq, %d) <= %d", c.Rows, maxGrid),
				fmt.Sprintf("causal blocks of %d rows take at most %d queries: use more rows per block", c.Rows, maxGrid*c.Rows)),
			attn.Rule(fmt.Sprintf("B <= %d", maxGrid),
				fmt.Sprintf("a launch takes at most %d sequences: divide the batch", maxGrid)))
	}
	return append(list, attn.Rule(fmt.Sprintf("H <= %d && B <= %[1]d", maxGrid),
		fmt.Sprintf("a launch takes at most %d heads and as many sequences: divide the batch", maxGrid)))
}

// grid returns the extents of the grid. The blocks of one head start one after the other, so
// that its K and V are in the L2 cache. Causal blocks start with the longest rows of all
// heads instead: if a long one started last, the rest of the GPU would wait for it.
func (c Config) grid(p problem.Attention) []expr.Expr {
	tiles := fmt.Sprintf("cdiv(Sq, %d)", c.Rows)
	if p.Causal {
		return attn.Exprs("H", "B", tiles)
	}
	return attn.Exprs(tiles, "H", "B")
}
