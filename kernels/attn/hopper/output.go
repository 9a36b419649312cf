package hopper

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// outputRows returns where the lane's rows of O go, from column col on. Transposing V put
// even dimensions into the first eight columns of sixteen and odd ones into the last, so
// lane q of a quad has the columns 4q to 4q+3 of each sixteen.
func (a *consumer) outputRows(it part.Item, col build.U32) []part.Row {
	row := a.row(it)
	quad := a.wg.Lane.And(3)
	return a.g.out.Rows(a.O.Frag, it.Head, row, col.Add(quad.Shl(2)))
}

// row returns the lane's first row of O.
func (a *consumer) row(it part.Item) build.U32 {
	r, _ := a.O.Base(a.g.k, a.wg.Thread)
	return it.Row0.Add(a.g.groupRow()).Add(r)
}

// storeLSE writes the log-sum-exp of the lane's rows.
func (a *consumer) storeLSE(it part.Item, lse []build.F32) {
	g := a.g
	if !g.p.LSE {
		return
	}
	part.LSE{K: g.k, To: g.lse, SeqQ: g.seqQ}.Store(a.O.Frag, a.wg.Lane, it.Head, a.row(it), lse)
}
