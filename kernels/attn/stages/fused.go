package stages

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// With fused softmax a warp owns 16 whole query rows: it computes their scores
// against all of a KV tile, keeps them in its accumulator registers, turns them into
// P there, and multiplies P by V from registers. Row reductions stay within four
// lanes, and nothing of S or P touches shared memory.
//
// The stage of this name that came before gave each 16 rows to two warps, one for
// either half of the KV tile. Both then updated m, l and U of the same rows from
// half of the scores, each overwriting the other. It was taken for a mistake in the
// lane layout, which was right. Either one warp owns whole rows, as here, or halves
// are kept apart and merged at the end.

// warpRows is how many query rows a warp owns.
const warpRows = 16

// outputCols is how many columns of U are multiplied at a time.
const outputCols = 64

// attention is what a warp keeps through an item: its rows of Q, their softmax and
// the output before normalisation.
type attention struct {
	g     *gen
	it    part.Item
	row   build.U32 // of its first row in the item's tile
	q     tile.Left
	state *part.Softmax
	S     *tile.Frag
	U     []*tile.Frag // 64 columns each
}

// newAttention loads the warp's rows of Q. Only this warp reads them, so only this
// warp has to wait.
func (g *gen) newAttention(it part.Item) *attention {
	row := g.warpID.MulLo(warpRows)
	Q := g.half(g.plan.q, g.c.TileM, g.d).Sub(row, 0, warpRows, g.d)
	c, flip := g.logitScale(it)
	g.w.Sync() // the rows of the item before are used up
	g.loadTile(g.lanes(), g.head(it, g.q), it.Row0.Add(row), Q, g.queries(flip))
	g.w.Sync()

	a := &attention{g: g, it: it, row: row, S: g.w.Accumulator(g.c.TileN)}
	for range g.d / outputCols {
		a.U = append(a.U, g.w.Accumulator(outputCols))
	}
	a.state = g.newSoftmax(c.Var(), a.S.Slots())
	a.q = g.w.A(Q) // read anew for each tile: kept, it would take D/4 registers beside S and U
	return a
}

// scores is S = Q·Kᵀ.
func (a *attention) scores(k tile.B) {
	a.S.Fill(a.g.k.F32(0))
	a.g.w.MMA(a.S, "S = Q·Kᵀ", a.q, k)
}

// softmax turns the scores of KV tile j into P, and makes U relative to the new maxima.
func (a *attention) softmax(j build.U32) {
	w := a.g.weights(a.state, a.S, j, a.it.Row0.Add(a.row))
	for _, U := range a.U {
		U.MulRows(w)
	}
}

// output is U += P·V.
func (a *attention) output(v tile.B) {
	P := a.S.A()
	for i, U := range a.U {
		if i > 0 {
			// Only the assembler needs this: it would load all of V's columns at
			// once and spill, but it moves no load across a barrier.
			a.g.w.Sync()
		}
		a.g.w.MMA(U, "U += P·V", P, v.Columns(i*outputCols, outputCols))
	}
}

// end writes O = U/l.
func (a *attention) end() {
	g := a.g
	norm, lse := g.normalise(a.state, a.it)
	for i, U := range a.U {
		g.storeOutput(a.it, U, a.row, g.k.U32(uint32(i*outputCols)), norm)
	}
	g.storeLSE(a.it, a.S, a.row, lse)
}

// fused is an item of a kernel whose warps all load, decode and compute.
func (g *gen) fused(it part.Item) {
	k := g.k
	K, V := g.half(g.plan.k, g.c.TileN, g.d), g.half(g.plan.v, g.c.TileN, g.d)
	kv := g.openKV(it, K, V)
	a := g.newAttention(it)
	kt, v := g.w.BT(K), g.w.B(V)
	k.Loop(0, it.Tiles, 1, func(j build.U32) {
		kv.bring(j)  // K, V = tile j, decoded
		a.scores(kt) // S = Q·Kᵀ
		a.softmax(j) // P = 2^(c·S-c·m), l = w·l + ΣP, U = w·U
		a.output(v)  // U += P·V
	})
	a.end()
}
