package hopper

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
)

// pair rounds two neighbours to the output's type.
func (g *gen) pair(lo, hi build.F32) build.B32 {
	if g.p.Output == stages.BF16 {
		return build.Cast[build.B32](hi.CvtRnBF16x2(lo))
	}
	return build.Cast[build.B32](hi.CvtRnF16x2(lo))
}

// place is where the first column of a lane's row of O goes, and whether the row exists.
type place struct {
	exists build.Pred
	to     build.Global[build.B32]
}

// places are those of the lane's row slots, of columns from col on.
func (a *attention) places(it item, col build.U32) (ps [slots]place) {
	g := a.g
	k := g.k
	row := a.row(it)
	quad := a.wg.Lane.And(k.U32(3))
	col = col.Add(quad.Shl(k.U32(2)))
	for s := range slots {
		at := row.Add(k.U32(uint32(a.O.SlotRow(s))))
		ps[s] = place{at.SetpLt(g.seqQ), g.outputRow(it, at, col)}
	}
	return ps
}

// storeAt writes cols columns of U·norm for the rows that exist.
//
// Transposing V put even dimensions into the first eight columns of sixteen and odd
// ones into the last, so a lane's four elements of a row and of sixteen columns are
// four neighbours: 4q to 4q+3 in the order 0, 2 and 1, 3.
func (a *attention) storeAt(ps [slots]place, U *tile.Frag, cols int, norm []build.F32) {
	g := a.g
	for s, p := range ps {
		g.k.If(p.exists, func() {
			for c := 0; c < cols; c += 16 {
				even, odd := c/2+2*s, c/2+4+2*s // elements of columns c to c+7, and of the next eight
				x := func(i int) build.F32 { return U.Get(i).Mul(norm[s], build.Rn) }
				words := [2]build.B32{g.pair(x(even), x(odd)), g.pair(x(even+1), x(odd+1))}
				p.to.Plus(c / 2).StV2(words)
			}
		})
	}
}

// row is the lane's first row of O.
func (a *attention) row(it item) build.U32 {
	k := a.g.k
	r, _ := a.O.Base(k, a.wg.Thread)
	return it.row0.Add(a.g.groupRow()).Add(r)
}

// outputRow is where column col of a row of O is.
func (g *gen) outputRow(it item, row, col build.U32) build.Global[build.B32] {
	k := g.k
	rows := it.head.MulWide(g.seqQ).Add(row.CvtU64())
	offset := rows.MulLo(k.U64(uint64(2 * g.d))).Add(col.Shl(k.U32(1)).CvtU64())
	return build.GlobalAt[build.B32](g.o.Addr().Add(offset))
}

// storeLSE writes the rows' logarithms, one lane of each row.
func (a *attention) storeLSE(it item, lse []build.F32) {
	g := a.g
	if !g.p.LSE {
		return
	}
	k := g.k
	row := a.row(it)
	for s := range slots {
		at := row.Add(k.U32(uint32(a.O.SlotRow(s))))
		first := a.wg.Lane.And(k.U32(3)).SetpEq(k.U32(0)).And(at.SetpLt(g.seqQ))
		k.If(first, func() {
			offset := it.head.MulWide(g.seqQ).Add(at.CvtU64()).Shl(k.U32(2))
			build.GlobalAt[build.F32](g.lse.Addr().Add(offset)).St(lse[s])
		})
	}
}
