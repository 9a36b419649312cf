package ada

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// end writes O = vs·O/l, or merges it with the warps that have other keys of the same rows.
func (a *warp) end(r *ring) {
	g := a.g
	reference, l := a.softmax.Sums(nil, 0)
	if g.c.Shares > 1 {
		r.sync() // the team has finished with its ring
		a.merge(reference, l)
		return
	}
	norm, lse := a.softmax.Normalise(a.vs, reference, l, g.p.LSE)
	rows := a.outputRows(g.k.U32(0))
	for i, O := range a.O {
		g.out.StoreInterleaved(part.Plus(rows, groupCols*i), O.Frag, groupCols, norm)
	}
	a.storeLSE(lse)
}

// firstRow returns the lane's first row of O.
func (a *warp) firstRow() build.U32 {
	r, _ := a.O[0].Base(a.g.k, a.g.w.Lane)
	return a.row.Add(r)
}

// outputRows returns where the lane's rows of O go, from column col on. Of each 16 columns, the
// first eight of an accumulator are the even dimensions of V and the last eight the odd ones, so
// lane q of a quad has the columns 4q to 4q+3.
func (a *warp) outputRows(col build.U32) []part.Row {
	quad := a.g.w.Lane.And(3)
	return a.g.out.Rows(a.O[0].Frag, a.it.Head, a.firstRow(), col.Add(quad.Shl(2)))
}

// storeLSE writes the log-sum-exp of the lane's rows.
func (a *warp) storeLSE(lse []build.F32) {
	g := a.g
	if g.p.LSE {
		part.LSE{K: g.k, To: g.lse, SeqQ: g.seqQ}.Store(a.O[0].Frag, g.w.Lane, a.it.Head, a.firstRow(), lse)
	}
}
