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
// facts of p, and problems with grouped heads if p has them: a text for heads that have K
// and V of their own does not divide.
func New(p problem.Attention, c Config) (*kernel.Kernel, error) {
	p = p.Filled()
	k, args, err := write(p, c)
	if err != nil {
		return nil, err
	}
	text, err := k.PTX()
	if err != nil {
		return nil, err
	}
	return &kernel.Kernel{
		Name: k.Name(), PTX: text, Op: p.Op(),
		Fixed: p.Facts(), Supports: supports(p), Require: c.rules(p),
		Operands: attn.Operands(p),
		Launches: []kernel.Launch{{
			Entry: k.Name(), Args: args,
			Grid: c.grid(p), Block: []expr.Expr{expr.Const(int64(c.threads()))}, Cluster: []expr.Expr{expr.Const(int64(c.Split))},
			Shared: expr.Const(int64(c.plan(p.D).total)),
		}},
		Claims:    map[string]string{"p": string(problem.E4M3), "accumulator": "f32"},
		Structure: map[string]int{"tile_q": c.rows(), "tile_kv": c.TileN, "stages": c.Stages},
		Config: map[string]string{
			"config": c.String(), "head_dim": strconv.Itoa(p.D), "lse": strconv.FormatBool(p.LSE), "causal": strconv.FormatBool(p.Causal),
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
	return list
}

// maxGridY is how many blocks a grid may have in y.
const maxGridY = 65535

// rules are the sizes that a kernel of the configuration serves.
func (c Config) rules(p problem.Attention) []kernel.Rule {
	rule := func(holds, why string) kernel.Rule { return kernel.Rule{Holds: expr.Must(holds), Why: why} }
	list := []kernel.Rule{
		rule(fmt.Sprintf("Sq <= %d && Skv <= %d", maxSeq, maxSeq), fmt.Sprintf("sequences have at most %d positions", maxSeq)),
		rule(fmt.Sprintf("B*H*cdiv(Sq, 64) <= %d", 1<<28), "there are more tiles of 64 rows than a grid has blocks"),
	}
	switch {
	case c.Persistent:
	case p.Causal:
		list = append(list, rule(fmt.Sprintf("cdiv(Sq, %d) <= %d", c.rows(), maxGridY), fmt.Sprintf("blocks of %d causal rows that are not persistent take at most %d queries", c.rows(), maxGridY*c.rows())))
	default:
		list = append(list, rule(fmt.Sprintf("B*H <= %d", maxGridY), fmt.Sprintf("blocks that are not persistent take at most %d heads in all", maxGridY)))
	}
	if c.SumsInV && !c.TileMaxima {
		list = append(list, rule(fmt.Sprintf("Skv <= %d", maxColumnKeys), fmt.Sprintf("row sums in columns of V lose accuracy beyond %d keys where maxima run over all tiles", maxColumnKeys)))
	}
	return list
}

// checkGrid refuses a problem of more blocks than a grid has.
func (c Config) checkGrid(p problem.Attention) error {
	switch {
	case c.Persistent:
	case p.Causal && ceil(p.Sq, c.rows()) > maxGridY:
		return fmt.Errorf("%d causal queries: blocks of %d rows that are not persistent take at most %d", p.Sq, c.rows(), maxGridY*c.rows())
	case !p.Causal && p.B*p.Hq > maxGridY:
		return fmt.Errorf("batch %d, heads %d: blocks that are not persistent take at most %d heads in all", p.B, p.Hq, maxGridY)
	}
	return nil
}

// grid has the blocks of one head start one after the other, so that its K and V are in
// the cache. Causal blocks start with the longest rows of all heads instead: a long one
// that starts last would keep the card waiting.
func (c Config) grid(p problem.Attention) []expr.Expr {
	tiles := fmt.Sprintf("cdiv(Sq, %d)", c.rows())
	switch {
	case c.Persistent:
		return attn.Exprs(fmt.Sprintf("min(B*H*%s, SMs*%d)", tiles, c.BlocksPerSM), "1")
	case p.Causal:
		return attn.Exprs(fmt.Sprintf("B*H*%d", c.Split), tiles)
	}
	return attn.Exprs(fmt.Sprintf("%s*%d", tiles, c.Split), "B*H")
}

// tensorMap describes q, k or v to the copy engine: bytes, in boxes of so many rows.
func tensorMap(operand, heads, seq string, d, rows int) kernel.TensorMap {
	return kernel.TensorMap{
		Operand: operand, Type: "u8", Dims: attn.Exprs("D", seq, "B*"+heads),
		Box: []expr.Expr{expr.Must("D"), expr.Const(int64(rows)), expr.Const(1)}, Swizzle: fmt.Sprintf("%dB", tile.KMajorWidth(d)),
	}
}
