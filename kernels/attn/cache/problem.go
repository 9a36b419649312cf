package cache

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/problem"
)

// Problem says what to append.
type Problem struct {
	B, Hkv, D int
	DV        int // head dimension of V; 0 is D
	New       int // the most new tokens of a sequence
	TotalNew  int // new tokens of all sequences, if they are packed, or more: the rest is not used
	Skv       int // keys for which a sequence has room
	Pages     int // pages of the cache
	PageSize  int // rows of a page
	Width     int // columns of the page table; 0 is as many as Skv keys need
	Positions int // rows of the tables of cosines and sines; 0 is Skv

	Input   problem.Format    // the format of new tokens: F16 or BF16
	Format  problem.Format    // the format of the cache: E4M3 or E5M2
	Scaling problem.Scaling   // PerTensor, PerHead or PerToken
	Layout  problem.Layout    // the layout of the cache
	Keys    problem.Placement // the placement of the cache: Paged or Padded
	Tokens  problem.Placement // the placement of new tokens: Uniform or Packed
	Gaps    problem.Gaps      // of the cache; only K and V are used
	Rope    problem.Rotation  // of K; "" rotates nothing
	RopeDim int               // the number of columns that are rotated, from the first on; 0 is D
}

// headDims are the head dimensions of K and of V.
var headDims = []int{64, 96, 128, 192, 256}

// ropeUnit is the number of which RopeDim is a multiple, as in FlashAttention.
const ropeUnit = 16

const (
	threads = 128
	warps   = threads / 32
	// maxRows keeps the number of a row in a signed 32-bit integer.
	maxRows = 1<<31 - 1
)

// Op names the operation.
func (p Problem) Op() string { return "append" }

// dimV returns the head dimension of V.
func (p Problem) dimV() int { return problem.HeadDim{D: p.D, DV: p.DV}.V() }

// strided reports whether the cache is not contiguous.
func (p Problem) strided() bool { return p.Gaps.K != problem.Gap{} || p.Gaps.V != problem.Gap{} }

// ropeDim returns the number of columns that are rotated.
func (p Problem) ropeDim() int {
	if p.RopeDim == 0 {
		return p.D
	}
	return p.RopeDim
}

// columns returns the number of pages of a sequence with Skv keys.
func (p Problem) columns() int {
	if p.PageSize < 1 {
		return 0
	}
	return (p.Skv + p.PageSize - 1) / p.PageSize
}

// Check returns an error if a field has a value that is not allowed.
func (p Problem) Check() error {
	switch {
	case p.Input != problem.F16 && p.Input != problem.BF16:
		return fmt.Errorf("new tokens in %q: use f16 or bf16", p.Input)
	case p.Format != problem.E4M3 && p.Format != problem.E5M2:
		return fmt.Errorf("a cache in %q: use e4m3 or e5m2", p.Format)
	case !slices.Contains([]problem.Scaling{problem.PerTensor, problem.PerHead, problem.PerToken}, p.Scaling):
		return fmt.Errorf("scaling %q: use %s, %s or %s", p.Scaling, problem.PerTensor, problem.PerHead, problem.PerToken)
	case p.Layout != problem.BHSD && p.Layout != problem.BSHD:
		return fmt.Errorf("layout %q: use %s or %s", p.Layout, problem.BHSD, problem.BSHD)
	case p.Keys != problem.Paged && p.Keys != problem.Padded:
		return fmt.Errorf("a cache that is %q: use %s or %s", p.Keys, problem.Paged, problem.Padded)
	case p.Tokens != problem.Uniform && p.Tokens != problem.Packed:
		return fmt.Errorf("new tokens that are %q: leave it empty or use %s", p.Tokens, problem.Packed)
	case !slices.Contains([]problem.Rotation{"", problem.RotateHalves, problem.RotatePairs}, p.Rope):
		return fmt.Errorf("rope %q: use %s or %s", p.Rope, problem.RotateHalves, problem.RotatePairs)
	case !slices.Contains(headDims, p.D) || !slices.Contains(headDims, p.dimV()):
		return fmt.Errorf("head dimension %v: use %s", problem.HeadDim{D: p.D, DV: p.dimV()}, english.Or(headDims))
	case p.strided() && slices.ContainsFunc(slices.Concat(p.Gaps.K[:], p.Gaps.V[:]), func(n int) bool { return n < 0 || n%2 != 0 || n > 1<<28 }):
		return fmt.Errorf("gaps %v of K and %v of V: use even numbers of elements", p.Gaps.K, p.Gaps.V)
	case p.RopeDim < 0 || p.RopeDim > p.D || p.RopeDim%ropeUnit != 0:
		return fmt.Errorf("%d rotated columns of %d: use a multiple of %d", p.RopeDim, p.D, ropeUnit)
	case p.RopeDim != 0 && p.Rope == "":
		return fmt.Errorf("%d rotated columns without a rotation: use %s or %s", p.RopeDim, problem.RotateHalves, problem.RotatePairs)
	case p.B < 1 || p.Hkv < 1 || p.New < 1 || p.Skv < 1:
		return fmt.Errorf("%d sequences, %d heads, %d new tokens, %d keys: there must be at least one of each", p.B, p.Hkv, p.New, p.Skv)
	case p.Keys == problem.Paged && (p.PageSize < 1 || p.Pages < 1):
		return fmt.Errorf("%d pages of %d rows: there must be at least one of each", p.Pages, p.PageSize)
	case p.Keys == problem.Paged && p.Width != 0 && p.Width < p.columns():
		return fmt.Errorf("a page table of %d columns, but a sequence of %d rows has %d pages", p.Width, p.Skv, p.columns())
	}
	return nil
}

// Facts returns the values that the text depends on.
func (p Problem) Facts() map[string]string {
	return map[string]string{
		"D": fmt.Sprint(p.D), "DV": fmt.Sprint(p.dimV()), "rope_dim": fmt.Sprint(p.ropeDim()), "input": string(p.Input), "format": string(p.Format), "scaling": string(p.Scaling), "layout": string(p.Layout),
		"strides": fmt.Sprint(p.strided()), "keys": string(p.Keys), "tokens": string(p.Tokens), "rope": string(p.Rope),
	}
}

// Uses returns no feature.
func (p Problem) Uses() []string { return nil }

// Names returns the sizes that expressions of the launch may use.
func (p Problem) Names() expr.Env {
	env := expr.Env{}
	tokens, positions, width := p.B*p.New, p.Positions, p.Width
	if p.Tokens == problem.Packed {
		tokens = p.TotalNew
	}
	if positions == 0 {
		positions = p.Skv
	}
	if width == 0 {
		width = p.columns()
	}
	for name, n := range map[string]int{
		"B": p.B, "Hkv": p.Hkv, "D": p.D, "DV": p.dimV(), "rope_dim": p.ropeDim(), "Snew": p.New, "tokens": tokens, "Skv": p.Skv, "pages": p.Pages, "page_size": p.PageSize,
		"max_pages": width, "positions": positions,
	} {
		env[name] = expr.Int(int64(n))
	}
	for i := range p.Gaps.K {
		env[fmt.Sprintf("k_gap%d", i)], env[fmt.Sprintf("v_gap%d", i)] = expr.Int(int64(p.Gaps.K[i])), expr.Int(int64(p.Gaps.V[i]))
	}
	return env
}
