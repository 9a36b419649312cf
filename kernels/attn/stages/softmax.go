package stages

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// newSoftmax returns the online softmax of fragments with a number of row slots. P is
// between 0 and 1, and all tiles are relative to the largest scores so far.
func (g *gen) newSoftmax(c *build.Var[build.F32], slots int) *part.Softmax {
	n := part.Numerics{Exp2: part.Exp2{Polynomial: part.ForF16}}
	if g.c.FastExp {
		n.Exp2.Every = 1
	}
	return part.NewSoftmax(g.k, n, c, slots)
}

// weights masks the scores of KV tile j and turns them into P, in place. The fragment's
// rows are the query rows from row on. It returns the factor w of the sums of earlier
// tiles.
func (g *gen) weights(s *part.Softmax, S *tile.Frag, j, row build.U32) (w []build.F32) {
	g.mask.Apply(S, g.w.Lane, j.MulLo(g.c.TileN), row)
	t := s.Tile(S)           // m = rowmax S
	w = t.Raise()            // m' = max(m, m₀), w = 2^(c·m₀ - c·m'), m₀ = m = m'
	P := t.Exp(0, g.c.TileN) // P = 2^(c·S - c·m)
	for i := range P {
		S.Set(i, P[i])
		P[i] = S.Get(i) // the register that P stays in: the sum needs no copy
	}
	t.Sum(P)
	t.AddSums(w) // l = w·l + ΣP
	return w
}

// normalise returns the factor of each row's output, and the rows' LSE where it is wanted.
func (g *gen) normalise(s *part.Softmax, it part.Item) (norm, lse []build.F32) {
	reference, l := s.Sums(nil, 0)
	return s.Normalise(g.scales.Value(it.Head), reference, l, g.p.LSE)
}
