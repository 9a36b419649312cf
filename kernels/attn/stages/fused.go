package stages

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// With fused softmax a warp owns 16 whole query rows. It computes their scores against all of
// a KV tile in its accumulator registers, turns them into P there, and multiplies P by V
// from registers. Row reductions stay within four lanes, and neither S nor P touches shared
// memory.
//
// A warp must own whole rows. If two warps each have half of the keys of the same rows, each
// must have its own m, l and U, to be merged at the end: with common ones, each overwrites
// the update of the other.

// warpRows is how many query rows a warp owns.
const warpRows = 16

// outputCols is the number of columns of U that one product computes.
const outputCols = 64

// attention is the state of a warp for one item: its rows of Q, their softmax and the output
// before normalisation.
type attention struct {
	g     *gen
	it    part.Item
	row   build.U32 // the warp's first row in the item's tile
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
	g.w.Sync() // the warp is done with the rows of the item before
	g.loadTile(g.lanes(), g.head(it, g.q), it.Row0.Add(row), Q, g.queries(flip))
	g.w.Sync()

	a := &attention{g: g, it: it, row: row, S: g.w.Accumulator(g.c.TileN)}
	for range g.d / outputCols {
		a.U = append(a.U, g.w.Accumulator(outputCols))
	}
	a.state = g.newSoftmax(build.NewVar(c), a.S.Slots())
	a.q = g.w.A(Q) // each tile reads it again: in registers it would take D/4 beside S and U
	return a
}

// scores computes S = Q·Kᵀ.
func (a *attention) scores(k tile.B) {
	a.S.Fill(a.g.k.F32(0))
	a.g.w.MMA(a.S, "S = Q·Kᵀ", a.q, k)
}

// softmax turns the scores of the item's n-th KV tile into P, and makes U relative to the new
// maxima.
func (a *attention) softmax(n build.U32) {
	w := a.g.weights(a.state, a.S, a.it.Tile(n), a.it.Row0.Add(a.row))
	for _, U := range a.U {
		U.MulRows(w)
	}
}

// output computes U += P·V.
func (a *attention) output(v tile.B) {
	P := a.S.A()
	for i, U := range a.U {
		if i > 0 {
			// Only for ptxas: without a barrier, which loads do not cross, it loads all
			// columns of V at once and spills registers.
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

// fused computes an item of a kernel whose warps all load, decode and compute.
func (g *gen) fused(it part.Item) {
	k := g.k
	K, V := g.half(g.plan.k, g.c.TileN, g.d), g.half(g.plan.v, g.c.TileN, g.d)
	kv := g.openKV(it, K, V)
	a := g.newAttention(it)
	kt, v := g.w.BT(K), g.w.B(V)
	k.Loop(0, it.Tiles, 1, func(n build.U32) {
		kv.wait()       // this thread's bytes of tile n have arrived
		k.SyncThreads() // all warps are done with K and V of the round before
		kv.decode(n)    // K, V = tile n
		kv.refill(n)    // the copy of a later tile begins
		k.SyncThreads() // all threads have decoded their share
		a.scores(kt)    // S = Q·Kᵀ
		a.softmax(n)    // P = 2^(c·S-c·m), l = w·l + ΣP, U = w·U
		a.output(v)     // U += P·V
	})
	a.end()
}
