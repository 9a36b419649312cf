package ada

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// attend computes an item: each warp has 16 query rows and every KV tile of its share. Scores are
// computed a round ahead: the tensor cores then have the scores of a round and P·V of the round
// before to do while other warps compute exponentials.
func (g *gen) attend(it part.Item) {
	k := g.k
	a := g.newWarp(it)
	a.loadQ()
	logit := g.scales.LoadLogit(it.HeadInBatch)
	a.ring = g.openRing(it)
	a.open()
	a.ring.start(func() { a.prepare(logit()) })
	k.If(it.Tiles.SetpGt(0), func() {
		a.scores(a.S, a.K, 0, 0, g.c.TileN) // S = Q·Kᵀ
		a.ring.fill(1, a.ring.ahead())
		if g.c.Ahead {
			a.roundsAhead()
		} else {
			a.rounds()
		}
	}).Else(a.announce)
	a.vs = g.scales.Value(it.HeadInBatch) // read here, so that the loop needs no register for it
	if g.c.Shares > 1 {
		k.BarSyncThreads(g.group.Add(1+g.c.Shares), 32*g.c.Shares) // the warps with these rows have announced their sums
		a.total()
	}
	a.end()
}

// rounds computes all rounds. P·V of the last round stands after the loop: the scores are then dead
// during P·V, which saves their registers.
func (a *warp) rounds() {
	k, r := a.g.k, a.ring
	tile := build.NewVar(r.last)
	kept := a.g.newKept()
	k.While(func() build.Pred {
		j := tile.Get()
		a.mask(a.S, j)
		kept.set(a.weigh(a.S))
		r.arrive()
		if !a.g.c.refillsLate(a.g.d) {
			r.refill(j)
		}
		return j.SetpGt(0)
	}, func() {
		next := r.next()
		a.scores(a.S, a.K.Plus(next), 0, 0, a.g.c.TileN) // S = Q·Kᵀ of the next round
		if a.g.c.refillsLate(a.g.d) {
			r.refill(tile.Get())
		}
		a.output(a.V.Plus(r.slot.Get()), kept.get()) // O = w·O + P·V
		r.slot.Set(next)
		tile.Set(tile.Get().Sub(1))
	})
	a.announce()
	a.output(a.V.Plus(r.slot.Get()), kept.get())
}

// roundsAhead computes all rounds with [Config.Ahead].
func (a *warp) roundsAhead() {
	k, r := a.g.k, a.ring
	tile := build.NewVar(r.last)
	k.Until(func() build.Pred {
		j, slot, next := tile.Get(), r.slot.Get(), r.next()
		a.mask(a.S, j)
		r.arrive()
		if !a.g.c.refillsLate(a.g.d) {
			r.refill(j)
		}
		a.scores(a.next, a.K.Plus(next.Selp(slot, j.SetpGt(0))), 0, 0, a.g.c.TileN) // the last round computes its own scores again
		x := a.weigh(a.S)
		if a.g.c.refillsLate(a.g.d) {
			r.refill(j)
		}
		a.output(a.V.Plus(slot), x)
		r.slot.Set(next)
		for i := range a.S.Elements() {
			a.S.Set(i, a.next.Get(i))
		}
		tile.Set(j.Sub(1))
		return j.SetpEq(0)
	})
	a.announce()
}

// weighed is what a round computes from scores: P as operands A, one for each 32 keys, and the
// factor w of O before this round.
type weighed struct {
	P []left
	w []build.F32
}

// mask gives the score -∞ to the keys of KV tile j that a row does not see.
func (a *warp) mask(S *tile.Frag, j build.U32) {
	g := a.g
	g.mask.Apply(S, g.w.Lane, j.MulLo(g.c.roundKeys()).Add(g.share.MulLo(g.c.TileN)), a.row)
}

// weigh turns scores into weights.
func (a *warp) weigh(S *tile.Frag) (x weighed) {
	t := a.softmax.Tile(S)         // m = rowmax S
	return a.weights(t, t.Raise()) // m' = max(m, m₀), w = 2^(c·m₀ - c·m'), m₀ = m = m'
}

// weights turns the scores of a tile into weights. w is the factor of O before this tile; nil is 1.
func (a *warp) weights(t *part.Tile, w []build.F32) weighed {
	g, x := a.g, weighed{w: w}
	for n := 0; n < g.c.TileN; n += stepKeys {
		P := t.Exp(n, n+stepKeys) // P = 2^(c·S - c·m + 8)
		t.Sum(P)
		x.P = append(x.P, g.mul.weights(P)...)
	}
	t.AddSums(x.w) // l = w·l + ΣP
	return x
}

// kept are variables for what a round computes, for the code after the loop.
type kept struct {
	P [][][]*build.Var[build.B32] // by 32 keys, operand and register
	w []*build.Var[build.F32]
}

func (g *gen) newKept() (v kept) {
	operands := 1
	if g.c.Widen {
		operands = 2
	}
	for range g.c.TileN / stepKeys {
		var P [][]*build.Var[build.B32]
		for range operands {
			P = append(P, build.Vars(g.k.B32(0), 4))
		}
		v.P = append(v.P, P)
	}
	v.w = build.Vars(g.k.F32(0), slots)
	return v
}

func (v kept) set(x weighed) {
	for step, P := range x.P {
		for i, words := range P {
			for r, word := range words {
				v.P[step][i][r].Set(word)
			}
		}
	}
	for s, w := range x.w {
		v.w[s].Set(w)
	}
}

func (v kept) get() (x weighed) {
	for _, operands := range v.P {
		var P left
		for _, r := range operands {
			P = append(P, [4]build.B32{r[0].Get(), r[1].Get(), r[2].Get(), r[3].Get()})
		}
		x.P = append(x.P, P)
	}
	for _, w := range v.w {
		x.w = append(x.w, w.Get())
	}
	return x
}

// lift multiplies P by 2^8: P reaches from 0 to 256, where e4m3 ends at 448.
const lift = 8

// slots is the number of rows of an accumulator in which a lane has elements.
const slots = 2

// warp is the state of a warp for one item.
type warp struct {
	g       *gen
	it      part.Item
	row     build.U32 // the first of its query rows
	ring    *ring
	q       tile.ATile     // Q in shared memory, if it does not stay in registers
	words   [][4]build.B32 // Q as it is in memory, for each 32 columns
	flip    build.B32      // changes the signs of Q if the factor of the scores is negative
	Q       []left         // the fragments of Q, one for each 32 columns, if Q stays in registers
	K, V    tile.B
	S, next *tile.Frag         // scores of this round, and with Ahead those of the next round
	O       []part.Accumulator // 32 columns each
	softmax *part.Softmax
	totals  totals
	box     mailbox
	vs      build.F32
}

func (g *gen) newWarp(it part.Item) *warp {
	a := &warp{g: g, it: it, row: g.row0(it), S: g.w.Accumulator(g.c.TileN)}
	if g.c.Ahead || g.c.Whole {
		a.next = g.w.Accumulator(g.c.TileN)
	}
	for range g.d / groupCols {
		a.O = append(a.O, part.Accumulator{Frag: g.w.Accumulator(groupCols), Kept: groupCols})
	}
	return a
}

// loadQ reads Q into registers, if there are enough: each lane reads its words of operand A from
// global memory. The rows after the last query have the words of the last one, and are not stored.
func (a *warp) loadQ() {
	g := a.g
	if !g.c.keepsQ(g.d) {
		a.q = g.w.A(g.tile(g.plan.q, g.c.Rows).Sub(g.group.MulLo(warpRows), 0, warpRows, g.d/2))
		return
	}
	head := g.q.Addr().Add(a.it.Head.MulWide(g.seqQ.MulLo(g.d)))
	var rows [slots]build.Global[build.B32]
	for s := range rows {
		row := a.row.Add(g.w.Lane.Shr(2)).Add(8 * s).Min(g.seqQ.Sub(1))
		at := build.GlobalAt[build.B8](head).At(row.MulLo(g.d).Add(g.w.Lane.And(3).Shl(2)))
		rows[s] = build.GlobalAt[build.B32](at.Addr())
	}
	for i := range g.d / 32 {
		at := func(s, half int) build.B32 { return rows[s].Plus(8*i + 4*half).Ld() }
		a.words = append(a.words, [4]build.B32{at(0, 0), at(1, 0), at(0, 1), at(1, 1)})
	}
}

// open finds the tiles of K and V. It comes after the first copies, because they should start early.
func (a *warp) open() {
	g := a.g
	a.K, a.V = g.w.BT(g.ownTile(0)), g.w.B(g.ownTile(g.plan.values))
}

// prepare takes the factor of the scores.
func (a *warp) prepare(logit build.F32) {
	g := a.g
	a.totals = g.newTotals()
	a.flip = g.k.B32(0x80808080).Selp(0, logit.SetpLt(0))
	a.softmax = part.NewSoftmax(g.k, part.Numerics{Lift: lift}, build.NewVar(part.Magnitude(logit)), slots)
	for _, words := range a.words {
		a.Q = append(a.Q, a.operand(words))
	}
}

// operand returns words of Q, with the sign of the factor of the scores, as operand A.
func (a *warp) operand(words [4]build.B32) left {
	for w := range words {
		words[w] = words[w].Xor(a.flip)
	}
	return a.g.mul.left(words)
}

// query returns columns 32·i to 32·i+31 of Q.
func (a *warp) query(i int) left {
	if a.Q != nil {
		return a.Q[i]
	}
	return a.operand(a.q.Words(i))
}

// scores computes columns from to to-1 of S = Q·Kᵀ, whose keys begin at row n0 of the tile of K.
func (a *warp) scores(S *tile.Frag, K tile.B, n0, from, to int) {
	g := a.g
	form, _ := g.mul.forms()
	K = K.Hoist()
	g.k.Comment("S = Q·Kᵀ")
	for i := range g.d / 32 {
		Q := a.query(i)
		for n := from; n < to; n += 16 {
			words := K.Words(16*i, n0+n)
			g.multiply(S, n/8, form, Q, g.mul.right([2]build.B32{words[0], words[1]}), i == 0)
			g.multiply(S, n/8+1, form, Q, g.mul.right([2]build.B32{words[2], words[3]}), i == 0)
		}
	}
}

// output computes O = w·O + P·V from the values of a slot, 32 columns at a time. Sums of FP8 products
// keep 14 bits on Ada, so T = P·V is a fresh accumulator for each tile, and one fma adds it to O in f32.
//
// Each group of columns is loaded while the group before it is multiplied. ptxas would load all groups
// first and have T of all of them in registers, more than there are. It moves no load across a barrier
// of the warp, which becomes no instruction, so at most two groups are on their way.
func (a *warp) output(V tile.B, x weighed) {
	g := a.g
	V = V.Hoist()
	next := a.loadValues(V, 0, len(x.P))
	for i, O := range a.O {
		words := next
		if i+1 < len(a.O) {
			next = a.loadValues(V, i+1, len(x.P))
		}
		T := g.w.Accumulator(groupCols)
		g.k.Comment("T = P·V")
		for step, P := range x.P {
			a.values(T, words[step], P, step == 0)
		}
		O.ScaleAdd(g.k, x.w, T)
		g.w.Sync()
	}
}

// words32 are the words of 32 tokens and 32 columns of V: those of the first 16 tokens and of the others.
type words32 [2][4]build.B32

// loadValues loads column group i of a tile of V, of which it returns each 32 tokens.
func (a *warp) loadValues(V tile.B, i, steps int) (list []words32) {
	for step := range steps {
		list = append(list, words32{V.Words(32*step, groupCols/2*i), V.Words(32*step+16, groupCols/2*i)})
	}
	return list
}

// values adds the products of P with 32 tokens and 32 columns of V to T. ldmatrix transposes
// two-byte words, so a register has the values of two tokens in two neighbouring columns. prmt
// sorts them: even columns for one product, odd columns for the next.
func (a *warp) values(T *tile.Frag, V words32, P left, fresh bool) {
	g := a.g
	_, form := g.mul.forms()
	upper, lower := V[0], V[1]
	for half := range 2 { // 16 columns each
		for odd, pick := range []uint32{0x6420, 0x7531} {
			b := [2]build.B32{
				upper[2*half].Prmt(upper[2*half+1], pick),
				lower[2*half].Prmt(lower[2*half+1], pick),
			}
			g.multiply(T, 2*half+odd, form, P, g.mul.right(b), fresh)
		}
	}
}
