package ada

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// end writes O = vs·O/l, or merges it with the warps that have other keys of the same rows.
func (a *warp) end() {
	g := a.g
	if g.c.Shares > 1 {
		a.merge()
		return
	}
	reference, l := a.softmax.Sums(nil, 0)
	norm, lse := a.softmax.Normalise(a.vs, reference, l, g.p.LSE)
	rows := a.outputRows(g.k.U32(0))
	for i, O := range a.O {
		g.out.StoreInterleaved(part.Plus(rows, groupCols*i), O.Frag, groupCols, norm)
	}
	a.storeLSE(lse)
}

// firstRow returns the lane's first row of O. Warps that split keys and read Q from shared memory have no register
// for a.row through the loop, so it is computed again here.
func (a *warp) firstRow() build.U32 {
	g := a.g
	r, _ := a.O[0].Base(g.k, g.w.Lane)
	if g.c.Shares == 1 || g.c.keepsQ(g.d) {
		return a.row.Add(r)
	}
	return g.group.MadLo(warpRows, a.it.Row0.Add(r))
}

// outputRows returns where the lane's rows of O go, from column col on. Of each 16 columns, the
// first eight of an accumulator are the even dimensions of V and the last eight the odd ones, so
// lane q of a quad has the columns 4q to 4q+3.
func (a *warp) outputRows(col build.U32) (rows []part.Row) {
	g := a.g
	first := g.out.Row(a.it.Head, a.firstRow(), col.Add(g.w.Lane.And(3).Shl(2)))
	for s := range slots {
		down := a.O[0].SlotRow(s)
		rows = append(rows, part.Row{Exists: a.firstRow().Add(down).SetpLt(g.seqQ), To: first.To.Plus(down * g.d / 2)})
	}
	return rows
}

// storeLSE writes the log-sum-exp of the lane's rows.
func (a *warp) storeLSE(lse []build.F32) {
	g := a.g
	if g.p.LSE {
		part.LSE{K: g.k, To: g.lse, SeqQ: g.seqQ}.Store(a.O[0].Frag, g.w.Lane, a.it.Head, a.firstRow(), lse)
	}
}
