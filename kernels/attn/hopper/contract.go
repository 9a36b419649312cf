package hopper

import (
	"fmt"
	"strconv"

	"github.com/GOATnote-Inc/attest/build/tile"
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
	structure := map[string]int{"tile_q": c.rows(), "tile_kv": c.TileN, "stages": c.Stages, "split": c.Split}
	if n := c.mostRegisters(p); n > enoughRegisters {
		structure["register_budget"] = n
	}
	return &kernel.Kernel{
		Name: k.Name(), PTX: text, Op: p.Op(),
		Fixed: p.Facts(), Supports: supports(p), Require: c.rules(p),
		Let: c.lets(p.Causal), Operands: append(attn.Operands(p), c.workspaces(p)...),
		Launches: []kernel.Launch{{
			Entry: k.Name(), Args: args,
			Grid: c.grid(p), Block: []expr.Expr{expr.Const(int64(c.threads()))}, Cluster: []expr.Expr{expr.Const(int64(c.Split))},
			Shared: expr.Const(int64(c.plan(p.HeadDim()).total)), Dependent: c.Dependent,
		}},
		Claims:    map[string]string{"p": string(problem.E4M3), "accumulator": "f32"},
		Structure: structure,
		Config: map[string]string{
			"config": c.String(), "head_dim": p.HeadDim().String(), "lse": strconv.FormatBool(p.LSE), "causal": strconv.FormatBool(p.Causal),
		},
	}, nil
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
	if p.DV != 0 {
		list = append(list, problem.ValueHeadDim)
	}
	return list
}

const (
	// maxSeq keeps the number of a row, and of a few tiles beyond the last row, in a signed
	// 32-bit integer.
	maxSeq = 1 << 24
	// maxRowTiles keeps the number of a block in a signed 32-bit integer, also where
	// several blocks share the keys of a tile.
	maxRowTiles = 1 << 28
	// maxGridY is the largest extent of a grid in y.
	maxGridY = 65535
	// fewestCodesKeys is the number of keys below which an error of a twelfth in a few weights would be more than
	// the rounding of weights to e4m3 explains.
	fewestCodesKeys = 512
	// maxSumsInVKeys is the number of keys up to which sums in columns of V are accurate
	// without TileMaxima.
	maxSumsInVKeys = 2048
)

// rules returns the limits on the sizes of a problem. The contract states them, and
// [Config.Check] checks them.
func (c Config) rules(p problem.Attention) []kernel.Rule {
	list := []kernel.Rule{
		attn.Rule(fmt.Sprintf("Sq <= %d && Skv <= %d", maxSeq, maxSeq),
			fmt.Sprintf("a sequence has at most %d positions", maxSeq)),
		attn.Rule(fmt.Sprintf("B*H*cdiv(Sq, %d) <= %d", warpgroupRows, maxRowTiles),
			fmt.Sprintf("a launch has at most %d tiles of %d query rows: divide the batch", maxRowTiles, warpgroupRows)),
	}
	switch {
	case c.Persistent:
	case p.Causal:
		list = append(list, attn.Rule(fmt.Sprintf("cdiv(Sq, %d) <= %d", c.rows(), maxGridY),
			fmt.Sprintf("causal blocks of %d rows take at most %d queries: use a persistent design", c.rows(), maxGridY*c.rows())))
	default:
		list = append(list, attn.Rule(fmt.Sprintf("B*H <= %d", maxGridY),
			fmt.Sprintf("blocks that are not persistent take at most %d heads, B*H: use a persistent design", maxGridY)))
	}
	if c.Balanced && p.Causal {
		list = append(list,
			attn.Rule("Skv >= Sq", "balanced causal blocks need at least as many keys as queries: turn balanced off"),
			attn.Rule(fmt.Sprintf("B*H*cdiv(Sq, %d)*cdiv(Skv, %d) <= %d", warpgroupRows, warpgroupRows, maxRowTiles),
				fmt.Sprintf("balanced causal blocks count at most %d tiles of %d rows and keys: divide the batch", maxRowTiles, warpgroupRows)))
	}
	if c.Codes > 0 {
		list = append(list, attn.Rule(fmt.Sprintf("Skv >= %d", fewestCodesKeys),
			fmt.Sprintf("weights as codes need at least %d keys, over which their errors average: turn codes off", fewestCodesKeys)))
	}
	if c.SumsInV && !c.TileMaxima {
		list = append(list, attn.Rule(fmt.Sprintf("Skv <= %d", maxSumsInVKeys),
			fmt.Sprintf("row sums in columns of V lose accuracy beyond %d keys: use tile_maxima, or do without sums_in_v", maxSumsInVKeys)))
	}
	return list
}

// grid returns the extents of the grid. The blocks of one head start one after the other, so
// that its K and V are in the L2 cache. Causal blocks start with the longest rows of all
// heads instead: if a long one started last, the rest of the GPU would wait for it.
func (c Config) grid(p problem.Attention) []expr.Expr {
	tiles := fmt.Sprintf("cdiv(Sq, %d)", c.rows())
	switch {
	case c.Balanced:
		return attn.Exprs("blocks", "1")
	case c.Persistent:
		return attn.Exprs(fmt.Sprintf("min(B*H*%s, SMs*%d)", tiles, c.BlocksPerSM), "1")
	case p.Causal:
		return attn.Exprs(fmt.Sprintf("B*H*%d", c.Split), tiles)
	}
	return attn.Exprs(fmt.Sprintf("%s*%d", tiles, c.Split), "B*H")
}

// tensorMap describes q, k or v to the copy engine: bytes, in boxes of rows rows and as many columns as
// a block of tile.KMajor has. dim is the name of the head dimension, and d its value. A box that spans the
// head has the width dim, as in published records.
func tensorMap(operand, heads, seq, dim string, d, rows int) kernel.TensorMap {
	columns := expr.Must(dim)
	if width := tile.KMajorWidth(d); width != d {
		columns = expr.Const(int64(width))
	}
	return kernel.TensorMap{
		Operand: operand, Type: "u8", Dims: attn.Exprs(dim, seq, "B*"+heads),
		Box: []expr.Expr{columns, expr.Const(int64(rows)), expr.Const(1)}, Swizzle: fmt.Sprintf("%dB", tile.KMajorWidth(d)),
	}
}
