package problem

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/internal/english"
)

// Gaps are the elements of memory between the parts of tensors that are not contiguous. With gaps, the
// sizes of a problem can change without new strides. [Attention.WithStrides] computes them from strides.
// The zero value stands for contiguous tensors. Scales and the log-sum-exp are always contiguous.
type Gaps struct{ Q, K, V, O Gap }

// Gap holds the elements after each part of a tensor: after each sequence or page, after each part of it (a
// row of all heads with the layout BSHD, a head with BHSD), and after each row of a head. Packed
// tensors have no gaps of the first kind.
type Gap [3]int

// named returns the gaps with the names of their tensors.
func (g *Gaps) named() []namedGap {
	return []namedGap{{"q", &g.Q}, {"k", &g.K}, {"v", &g.V}, {"o", &g.O}}
}

type namedGap struct {
	tensor string
	*Gap
}

// Strided reports whether a tensor has gaps.
func (a Attention) Strided() bool { return a.Gaps != Gaps{} }

// UsualGaps returns gaps of all kinds for tests. Each row of K and V is followed by a gap of its own
// size, as in a cache in which rows of K and V alternate.
func (a Attention) UsualGaps() Gaps {
	g := Gaps{Q: Gap{32, 16, 16}, K: Gap{48, 16, max(a.D, 16)}, V: Gap{16, 32, max(a.DimV(), 16)}, O: Gap{16, 48, 32}}
	for _, one := range g.named() {
		if a.placement(one.tensor) == Packed {
			one.Gap[0] = 0
		}
	}
	return g
}

// mostGap keeps strides far below the limits of 64-bit integers.
const mostGap = 1 << 28

// checkGaps refuses gaps that are not possible.
func (a Attention) checkGaps() error {
	for _, g := range a.Gaps.named() {
		if least, most := slices.Min(g.Gap[:]), slices.Max(g.Gap[:]); least < 0 || most > mostGap {
			return fmt.Errorf("gaps %v of %s: use 0 to %d elements", *g.Gap, g.tensor, mostGap)
		}
		if g.Gap[0] != 0 && a.placement(g.tensor) == Packed {
			return fmt.Errorf("a gap of %d elements between the sequences of %s, which are packed: use 0", g.Gap[0], g.tensor)
		}
	}
	return nil
}

// placement returns how the sequences of a tensor lie in memory.
func (a Attention) placement(tensor string) Placement {
	if tensor == "k" || tensor == "v" {
		return a.Keys
	}
	return a.Queries
}

// WithStrides returns the problem with the strides of a tensor, q, k, v or o. The strides are numbers of
// elements, outermost first, without that of the columns, which is 1: for sequences or pages, rows and heads with the
// layout BSHD; for sequences or pages, heads and rows with BHSD. Packed tensors have no stride of sequences.
func (a Attention) WithStrides(tensor string, strides ...int) (Attention, error) {
	a = a.Filled()
	extents := a.extents(tensor)
	if len(extents) == 0 {
		return a, fmt.Errorf("tensor %q is not known: use q, k, v or o", tensor)
	}
	rows := extents[:len(extents)-1]
	if len(strides) != len(rows) {
		return a, fmt.Errorf("%s of %s: give %d, all except that of the columns", english.Count(len(strides), "stride"), tensor, len(rows))
	}
	var gap Gap
	inner := 1 // the stride of the extent inside
	for i := len(rows) - 1; i >= 0; i-- {
		gap[i+len(gap)-len(rows)] = strides[i] - extents[i+1]*inner
		inner = strides[i]
	}
	for _, g := range a.Gaps.named() {
		if g.tensor == tensor {
			*g.Gap = gap
		}
	}
	if slices.Min(gap[:]) < 0 {
		return a, fmt.Errorf("strides %v of %s, whose extents are %v: the parts of the tensor overlap", strides, tensor, extents)
	}
	return a, a.checkGaps()
}

// extents returns the extents of a tensor as it lies in memory, nil for one that is not known.
func (a Attention) extents(tensor string) []int {
	names := a.Names()
	n := func(name string) int { return int(names[name].Int64()) }
	heads, rows, total, columns := a.Hq, a.Sq, n("total_q"), a.D
	switch tensor {
	case "q":
	case "o":
		columns = a.DimV()
	case "k", "v":
		heads, rows, total = a.Hkv, a.Skv, n("total_kv")
		if tensor == "v" {
			columns = a.DimV()
		}
	default:
		return nil
	}
	outer := []int{a.B}
	switch a.placement(tensor) {
	case Packed:
		outer, rows = nil, total
	case Paged:
		outer, rows = []int{n("pages")}, a.PageSize
	}
	if a.Layout == BSHD {
		return append(outer, rows, heads, columns)
	}
	return append(outer, heads, rows, columns)
}

// gapNames adds the gaps to the names that expressions may use: k_gap2 is that after each row of K.
func (a Attention) gapNames(env expr.Env) {
	for _, g := range a.Gaps.named() {
		for i, n := range g.Gap {
			env[fmt.Sprintf("%s_gap%d", g.tensor, i)] = expr.Int(int64(n))
		}
	}
}
