package stages

import "github.com/GOATnote-Inc/attest/build"

// share returns the part of a tile that a warp multiplies: 16 rows, of which the warps of
// these rows have equally many columns each.
func (s *sharedScores) share(cols int) (row, col build.U32, width int) {
	g := s.g
	groups := uint32(g.c.TileM / warpRows) // the groups of 16 rows
	width = cols * int(groups) / 4
	row = g.warpID.Rem(groups).MulLo(warpRows)
	col = g.warpID.Div(groups).MulLo(width)
	return row, col, width
}

// tensorScores computes S = Q·Kᵀ on tensor cores.
func (s *sharedScores) tensorScores() {
	g := s.g
	w := g.w
	row, col, width := s.share(g.c.TileN)
	S := w.Accumulator(width)
	w.MMA(S, "S = Q·Kᵀ",
		w.A(s.Q.Sub(row, 0, warpRows, g.d)),
		w.BT(s.K.Sub(col, 0, width, g.d)))
	S.Store(w.Lane, s.S.Sub(row, col, warpRows, width))
}

// tensorOutput has U in accumulators; each warp has its share of D.
func (s *sharedScores) tensorOutput() output {
	g := s.g
	k, w := g.k, g.w
	row, col, width := s.share(g.d)
	U := w.Accumulator(width)
	p := w.A(s.P.Sub(row, 0, warpRows, g.c.TileN))
	v := w.B(s.V.Sub(0, col, g.c.TileN, width))
	rowValues := func(from build.Shared[build.F32]) []build.F32 {
		r, _ := U.Base(k, w.Lane)
		at := from.At(row.Add(r))
		return []build.F32{at.Ld(), at.Plus(U.SlotRow(1)).Ld()}
	}
	return output{
		add: func() {
			U.MulRows(rowValues(s.factor))
			w.MMA(U, "U += P·V", p, v)
		},
		store: func() { g.storeOutput(s.it, U, row, col, rowValues(s.norm)) },
	}
}
