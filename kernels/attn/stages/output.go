package stages

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/problem"
)

// pair rounds two neighbours to the output's type.
func (g *gen) pair(lo, hi build.F32) build.B32 {
	if g.p.Output == problem.BF16 {
		return build.Cast[build.B32](hi.CvtRnBF16x2(lo))
	}
	return build.Cast[build.B32](hi.CvtRnF16x2(lo))
}

// storeOutput writes O = U·norm for the rows of a fragment that exist. row and col
// are where the fragment lies in the item's tile; norm is one factor a row slot.
func (g *gen) storeOutput(it item, U *tile.Frag, row, col build.U32, norm []build.F32) {
	k := g.k
	r, c := U.Base(k, g.w.Lane)
	row, col = it.row0.Add(row).Add(r), col.Add(c)
	for s := range U.Slots() {
		at := row.Add(k.U32(uint32(U.SlotRow(s))))
		k.If(at.SetpLt(g.seq), func() {
			to := build.GlobalAt[build.B32](of(it, g.o).At(at.MadLo(k.U32(uint32(g.d)), col)).Addr())
			for i := 0; i < U.Elements(); i += 2 {
				if e := U.Elem(i); e.Row == U.SlotRow(s) {
					to.Plus(e.Col / 2).St(g.pair(U.Get(i).Mul(norm[s]), U.Get(i+1).Mul(norm[s])))
				}
			}
		})
	}
}

// storeLSE writes the rows' logarithms, one lane of each row.
func (g *gen) storeLSE(it item, S *tile.Frag, row build.U32, lse []build.F32) {
	if !g.p.LSE {
		return
	}
	k := g.k
	r, c := S.Base(k, g.w.Lane)
	for s := range lse {
		at := it.row0.Add(row).Add(r).Add(k.U32(uint32(S.SlotRow(s))))
		first := c.SetpEq(k.U32(0)).And(at.SetpLt(g.seq))
		k.If(first, func() { move(g.lse, it.head.MulWide(g.seq)).At(at).St(lse[s]) })
	}
}
