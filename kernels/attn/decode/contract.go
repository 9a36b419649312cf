package decode

import (
	"fmt"
	"slices"
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
	structure := map[string]int{"tile_q": c.RowTiles * warpRows, "tile_kv": c.TileN, "stages": c.Stages, "split": c.teams()}
	if c.Chunk > 0 {
		structure["chunk"] = c.Chunk
	}
	if n := c.maxRegisters(p, t); n > usualRegisters(t) {
		structure["register_budget"] = n
	}
	if total := c.plan(p).total; total > usualShared && !t.Runs(ptx.SM90a) {
		structure["shared_budget"] = total
	}
	return &kernel.Kernel{
		Name: k.Name(), PTX: text, Op: p.Op(), Fixed: p.Facts(), Supports: supports(p), Require: c.rules(p),
		Let: c.lets(p), Operands: c.operands(p, args),
		Launches: []kernel.Launch{{
			Entry: k.Name(), Args: args, Grid: c.grid(p),
			Block: []expr.Expr{expr.Const(int64(c.threads()))}, Shared: expr.Const(int64(c.plan(p).total)),
			Dependent: c.Dependent,
		}},
		Claims:    map[string]string{"p": string(problem.F16), "accumulator": "f32"},
		Structure: structure,
		Config:    map[string]string{"config": c.String(), "head_dim": p.HeadDim().String(), "lse": strconv.FormatBool(p.LSE)},
	}, nil
}

// sizesOnly are features that every text computes, because they only change sizes and values
// that are passed to the kernel. written are features that a text computes if it was written
// for a problem with them.
var (
	sizesOnly = []string{problem.CrossLengths, problem.CustomScale, problem.GroupedHeads}
	written   = []string{
		problem.CausalMask, problem.SlidingMask, problem.LogSumExp, problem.SoftCapped, problem.SinkLogits, problem.RaggedBatch, problem.PagedKeys,
		problem.MixedFormats, problem.MaskBuffer, problem.ValueHeadDim, problem.StridedRows,
	}
)

// supports returns the features that the text for p computes.
func supports(p problem.Attention) []string {
	list := slices.Clone(sizesOnly)
	for _, f := range p.Uses() {
		if slices.Contains(written, f) {
			list = append(list, f)
		}
	}
	return list
}

// unsupported returns a feature of the problem that no kernel of this family computes, or "".
func unsupported(p problem.Attention) string {
	for _, f := range p.Uses() {
		if !slices.Contains(sizesOnly, f) && !slices.Contains(written, f) {
			return f
		}
	}
	return ""
}

// mostParts is the most parts of a schedule: parts of the smallest size fill the GPU twice, and the
// last part of each item may be smaller.
const mostParts = "2*slots + items"

// grid returns the grid of the launch.
func (c Config) grid(p problem.Attention) []expr.Expr {
	if c.balanced(p) {
		return attn.Exprs(mostParts)
	}
	return attn.Exprs("items*row_blocks", "splits")
}

// operands returns the memory that the arguments name: that of the problem, and workspaces for
// the results of blocks that split the keys of an item.
func (c Config) operands(p problem.Attention, args []kernel.Arg) (list []kernel.Operand) {
	space := func(name, typ string, init kernel.Init, dims ...string) kernel.Operand {
		return kernel.Operand{Name: name, Type: typ, Role: kernel.Workspace, Dims: attn.Exprs(dims...), Init: init}
	}
	parts, rows := "items*row_blocks*parts", "Sq*(H/Hkv)"
	if c.balanced(p) {
		parts = mostParts
	}
	if c.RowBlocks {
		rows = strconv.Itoa(c.tileRows())
	}
	all := append(attn.Operands(p),
		space("partial_o", "f32", kernel.AsIs, parts, rows, attn.DimV(p)),
		space("partial_l", "f32", kernel.AsIs, parts, rows, "2"),
		space("arrived", "u32", kernel.ZeroOnce, "items*row_blocks"))
	for _, o := range all {
		if slices.ContainsFunc(args, func(a kernel.Arg) bool { return a.Pointer == o.Name }) {
			list = append(list, o)
		}
	}
	return list
}

const (
	// maxSeq keeps the number of a key, and of a few tiles beyond the last one, in a signed
	// 32-bit integer.
	maxSeq = 1 << 24
	// maxRows keeps the number of a row of a tensor in a signed 32-bit integer.
	maxRows = 1<<31 - 1
	// mostSoftcap keeps the error of the logits, about 1e-7 of the soft cap, below that of rounding the
	// weights to f16.
	mostSoftcap = 4096.0
	// maxSplits is the most blocks that share the keys of an item. It keeps products of a
	// number of tiles and a number of blocks in 32 bits.
	maxSplits = 1024
)

// rules returns the limits on the sizes of a problem. The contract states them, and
// [Config.Check] checks them.
func (c Config) rules(p problem.Attention) []kernel.Rule {
	list := []kernel.Rule{
		attn.Rule(fmt.Sprintf("Skv <= %d", maxSeq), fmt.Sprintf("a sequence has at most %d keys", maxSeq)),
		attn.Rule(fmt.Sprintf("B*H*Sq <= %d && B*Hkv*Skv <= %d", maxRows, maxRows),
			fmt.Sprintf("Q, K and V have at most %d rows: divide the batch", maxRows)),
	}
	if c.RowBlocks {
		list = append(list, attn.Rule(fmt.Sprintf("Sq <= %d && B*Hkv*cdiv(Sq*(H/Hkv), %d) <= %d", maxSeq, c.tileRows(), maxRows),
			fmt.Sprintf("a sequence has at most %d queries, and there are at most %d tiles of %d rows: divide the batch", maxSeq, maxRows, c.tileRows())))
	} else {
		list = append(list, attn.Rule(fmt.Sprintf("Sq*(H/Hkv) <= %d", c.tileRows()),
			fmt.Sprintf("a tile has at most %d rows, Sq*H/Hkv: use a kernel for more queries", c.tileRows())))
	}
	if p.Keys == problem.Paged && !c.AnyPages {
		list = append(list, attn.Rule(fmt.Sprintf("page_size %% %d == 0", groupKeys), fmt.Sprintf("pages must have a multiple of %d rows", groupKeys)))
	}
	if p.Keys == problem.Paged {
		list = append(list, attn.Rule(fmt.Sprintf("pages*page_size*Hkv <= %d", maxRows), fmt.Sprintf("the pages have at most %d rows of all heads", maxRows)))
	}
	if p.Softcap != 0 {
		list = append(list, attn.Rule(fmt.Sprintf("softcap <= %.1f", mostSoftcap),
			fmt.Sprintf("a soft cap is at most %.0f: a larger one needs more digits of tanh than the kernel computes, so leave it out", mostSoftcap)))
	}
	if c.Chunk > 0 {
		list = append(list, attn.Rule(fmt.Sprintf("Skv <= %d", c.Chunk*maxSplits),
			fmt.Sprintf("at most %d chunks of %d keys: use larger chunks", maxSplits, c.Chunk)))
	}
	return append(list, strideRules(p)...)
}

// lets returns the sizes of the launch: items, the heads of K and V of the batch; row_blocks, the
// tiles of query rows of each; slots, the blocks that the GPU runs at a time; splits, the blocks
// over which the keys of a tile are split; and parts, the number of partial results of a tile in
// memory.
//
// Without chunks, the blocks of all items should fill whole waves of the GPU. wave1 is the
// number of splits that fits into one wave, wave2 into two, and so on; the first that leaves
// at most a tenth of the GPU idle is used. A block has at least four tiles per team, because
// merging takes longer than computing few tiles. There are at most as many as pay: see [Config.square].
func (c Config) lets(p problem.Attention) []kernel.Binding {
	let := func(name, value string) kernel.Binding {
		return kernel.Binding{Name: name, Value: expr.Must(value)}
	}
	list := []kernel.Binding{let("items", "B*Hkv"), let("row_blocks", "1"), let("slots", fmt.Sprintf("SMs*%d", c.BlocksPerSM))}
	if c.RowBlocks {
		list[1] = let("row_blocks", fmt.Sprintf("cdiv(Sq*(H/Hkv), %d)", c.tileRows()))
	}
	parts := let("parts", "splits > 1 ? splits : 0")
	switch {
	case c.balanced(p):
		return list
	case c.Chunk > 0:
		return append(list, let("splits", fmt.Sprintf("max(cdiv(Skv, %d), 1)", c.Chunk)), parts)
	}
	list = append(list, let("blocks", "items*row_blocks"), let("square", c.square(p)))
	root := strconv.Itoa(firstRoot)
	for i := range 4 { // Newton's iteration
		n := fmt.Sprintf("root%d", i+1)
		list = append(list, let(n, fmt.Sprintf("max((%s + square/%s)/2, 1)", root, root)))
		root = n
	}
	// Blocks that do not fill the SMs once more would only make some SMs take longer.
	list = append(list, let("paying", fmt.Sprintf("blocks*%s > SMs ? SMs*(blocks*%s/max(SMs, 1))/blocks : %s", root, root, root)),
		let("most", fmt.Sprintf("min(min(max(cdiv(Skv, %d), 1), paying), %d)", leastTiles*c.teams()*c.TileN, maxSplits)))
	fill := "max(8*slots/blocks, 1)"
	for waves := 7; waves >= 1; waves-- {
		n := fmt.Sprintf("wave%d", waves)
		list = append(list, let(n, fmt.Sprintf("%d*slots/blocks", waves)))
		fill = fmt.Sprintf("10*blocks*%s >= 9*%d*slots ? %s : (%s)", n, waves, n, fill)
	}
	return append(list, let("splits", fmt.Sprintf("max(min(%s, most), 1)", "("+fill+")")), parts)
}

// firstRoot is where the iteration for a square root begins. Numbers from 16² to 500² have their roots, to
// a few per cent, after four steps; the root of a smaller number is a little too large.
const firstRoot = 64

// square returns the square of the most splits that pay, as an expression. With n splits a block computes
// Skv/n keys, and then one block merges n parts of each row. Both take equally long at the best n.
func (c Config) square(p problem.Attention) string {
	key, part := c.costs(p)
	return fmt.Sprintf("Skv*%d/(%d*max(min(Sq*(H/Hkv), %d), 1))", key, part, c.tileRows())
}

// costs returns what a key costs a block, and what a row of a part costs the merge, in the same unit: bytes
// of a merge. On an H200 a block merges 126 KB per microsecond. It computes 47 KB of keys and values per
// microsecond and row tile, which counts as half as many bytes here, because the GPU's memory delivers
// less if all SMs read.
func (c Config) costs(p problem.Attention) (key, part int) {
	return 2 * (p.D + p.DimV()) * c.RowTiles, 4 * p.DimV()
}
