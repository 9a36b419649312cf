package stages

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// Without fused softmax, four warps share a tile of 32 or 64 query rows, and scores pass
// through shared memory. Each product and the softmax divide the tile among the warps in
// their own way, with a barrier in between.
//
//	S = Q·Kᵀ    a warp has 16 rows and some columns, or a thread a few of each
//	softmax     a warp has 8 rows at a time, with four lanes per row
//	U += P·V    a warp has 16 rows and some of D, or a thread a few of each
//
// The four lanes of a row hold the columns that they would hold in an accumulator, so that
// sums are added in the same order as with fused softmax.

// softRows is the number of rows that the softmax of a warp computes at a time.
const softRows = 8

// sharedScores is the state of the warps of a block for one item.
type sharedScores struct {
	g       *gen
	it      part.Item
	Q, K, V tile.Tile[build.F16]
	S       tile.Tile[build.F32]
	P       tile.Tile[build.F16]
	factor  build.Shared[build.F32]
	norm    build.Shared[build.F32]
	state   []*part.Softmax // one for each 8 rows of the warp
	frag    *tile.Frag
}

// unfused computes an item of a kernel whose scores are in shared memory.
func (g *gen) unfused(it part.Item) {
	k, c, d := g.k, g.c, g.d
	s := &sharedScores{
		g: g, it: it,
		Q: g.half(g.plan.q, c.TileM, d), K: g.half(g.plan.k, c.TileN, d), V: g.half(g.plan.v, c.TileN, d),
		S:      tile.Pitched(k, build.SharedAs[build.F32](g.shared, g.plan.scores), c.TileM, c.TileN, c.scorePitch()),
		P:      g.probs(),
		factor: build.SharedAs[build.F32](g.shared, g.plan.factor),
		norm:   build.SharedAs[build.F32](g.shared, g.plan.norm),
		frag:   tile.NewFrag(k, tile.Accumulator(softRows, c.TileN), k.F32(0)),
	}
	scale, flip := g.logitScale(it)
	logit := build.NewVar(scale)
	for range c.TileM / softRows / 4 {
		s.state = append(s.state, g.newSoftmax(logit, s.frag.Slots()))
	}
	kv := g.openKV(it, s.K, s.V)
	g.loadTile(g.block(), g.head(it, g.q), it.Row0, s.Q, g.queries(flip)) // visible after the first barrier of the loop
	score, sum := s.scalarScores, s.scalarOutput()
	if c.TensorQK {
		score = s.tensorScores
	}
	if c.TensorPV {
		sum = s.tensorOutput()
	}
	k.Loop(0, it.Tiles, 1, func(n build.U32) {
		kv.wait()       // this thread's bytes of tile n have arrived
		k.SyncThreads() // all warps are done with K, V and P of the round before
		kv.decode(n)    // K, V = tile n
		kv.refill(n)    // the copy of a later tile begins
		k.SyncThreads() // all threads have decoded their share
		score()         // S = Q·Kᵀ
		k.SyncThreads() // all scores are written
		s.softmax(n)    // P = 2^(c·S-c·m), w
		k.SyncThreads() // all of P and w is written
		sum.add()       // U = w·U + P·V
	})
	s.end()
	k.SyncThreads() // all rows of norm are written
	sum.store()
}

// output adds P·V of a tile to U and stores O.
type output struct{ add, store func() }

// probs returns P in f16: in its own buffer, or at the start of the rows of the scores.
func (g *gen) probs() tile.Tile[build.F16] {
	if g.c.ReuseScores {
		mem := build.SharedAs[build.F16](g.shared, g.plan.scores)
		return tile.Pitched(g.k, mem, g.c.TileM, g.c.TileN, 2*g.c.scorePitch())
	}
	if !g.c.TensorPV {
		return tile.Tile[build.F16]{}
	}
	return g.half(g.plan.probs, g.c.TileM, g.c.TileN)
}

// eachSoftRows runs do for each group of 8 rows of the warp, with its first row and its
// softmax.
func (s *sharedScores) eachSoftRows(do func(row build.U32, r *part.Softmax)) {
	for i, r := range s.state {
		do(s.g.warpID.Add(4*i).MulLo(softRows), r)
	}
}

// softmax turns the scores of the item's n-th KV tile into P, and writes the factors w of
// earlier sums.
func (s *sharedScores) softmax(n build.U32) {
	g := s.g
	lane := g.w.Lane
	s.eachSoftRows(func(row build.U32, r *part.Softmax) {
		s.frag.Load(lane, s.S.Sub(row, 0, softRows, g.c.TileN))
		w := g.weights(r, s.frag, s.it.Tile(n), s.it.Row0.Add(row))
		if g.c.ReuseScores {
			g.w.Sync() // all lanes have read their scores before P overwrites them
		}
		if g.c.TensorPV {
			s.frag.StoreF16(lane, s.P.Sub(row, 0, softRows, g.c.TileN))
		} else {
			s.frag.Store(lane, s.S.Sub(row, 0, softRows, g.c.TileN))
		}
		s.putRow(s.factor, row, w[0])
	})
}

// putRow writes one value for each of eight rows; the first lane of a row writes.
func (s *sharedScores) putRow(to build.Shared[build.F32], row build.U32, v build.F32) {
	k := s.g.k
	r, c := s.frag.Base(k, s.g.w.Lane)
	k.If(c.SetpEq(0), func() { to.At(row.Add(r)).St(v) })
}

// end writes the factor that normalises each row, and the LSE.
func (s *sharedScores) end() {
	s.eachSoftRows(func(row build.U32, r *part.Softmax) {
		norm, lse := s.g.normalise(r, s.it)
		s.putRow(s.norm, row, norm[0])
		s.g.storeLSE(s.it, s.frag, row, lse)
	})
}
