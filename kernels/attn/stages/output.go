package stages

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// storeOutput writes O = U·norm for the rows of a fragment that exist. row and col are
// where the fragment lies in the item's tile; norm is one factor per row slot.
func (g *gen) storeOutput(it part.Item, U *tile.Frag, row, col build.U32, norm []build.F32) {
	r, c := U.Base(g.k, g.w.Lane)
	g.out.Store(g.out.Rows(U, it.Head, it.Row0.Add(row).Add(r), col.Add(c)), U, norm)
}

// storeLSE writes the log-sum-exp of a fragment's rows.
func (g *gen) storeLSE(it part.Item, S *tile.Frag, row build.U32, lse []build.F32) {
	if !g.p.LSE {
		return
	}
	r, _ := S.Base(g.k, g.w.Lane)
	g.lse.Store(S, g.w.Lane, it.Head, it.Row0.Add(row).Add(r), lse)
}
