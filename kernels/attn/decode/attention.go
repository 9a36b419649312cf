package decode

import (
	"math"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// lift is the power of two that weights are multiplied by before they are rounded to f16.
// Weights down to 2^-36 of the largest one then count, which matters if there are many keys.
const lift = 12

// attention is the state of a warp: its 16 rows of Q, their softmax and the output before
// normalisation. The columns of O are permuted: of each sixteen, the first eight are the even
// columns and the last eight the odd ones.
type attention struct {
	g      *gen
	it     item
	rows   [2]row // the two rows of the lane
	c      [2]build.F32
	q      build.Shared[build.B32] // the lane's words of Q, as operand A
	state  *part.Softmax
	S, O   *tile.Frag
	keys   tile.Cursor[build.F16] // the addresses of K for ldmatrix, in slot 0
	values tile.Cursor[build.F16]
	zero   build.B32
}

// newAttention loads the warp's rows of Q.
func (g *gen) newAttention(it item) *attention {
	k := g.k
	a := &attention{g: g, it: it, S: g.w.Accumulator(g.c.TileN), O: g.w.Accumulator(g.dv), zero: build.NewVar(k.B32(0)).Get()}
	a.rows = g.laneRows(it)
	a.loadQueries()
	a.state = part.NewSoftmax(k, part.Numerics{Lift: lift}, build.NewVar(k.F32(1)), len(a.rows))
	mem := build.SharedAs[build.F16](g.shared, 0)
	ring := g.team.MulLo(g.plan.ring)
	K, V := g.tile(mem, g.plan.k), g.tile(build.SharedAs[build.F16](mem, g.plan.k.tile), g.plan.v)
	// A matrix of ldmatrix is eight keys × 16 bytes of their rows. Four matrices are 64 bytes of
	// eight rows of K, or 32 bytes of 16 rows of V.
	a.keys = K.Cursor(g.lane.And(7), g.lane.Shr(3).Shl(3)).Plus(ring)
	a.values = g.w.ByRows(V).Plus(ring)
	return a
}

// tile returns the tile of K or V at mem, with two bytes as one element.
func (g *gen) tile(mem build.Shared[build.F16], rows tileRows) tile.Tile[build.F16] {
	if rows.swizzled() {
		return tile.Swizzled(g.k, mem, g.c.TileN, rows.d/2)
	}
	return tile.Pitched(g.k, mem, g.c.TileN, rows.d/2, rows.pitch/2)
}

// laneRows returns the lane's rows of its warp's tile. The end of the kernel computes them again,
// because the loop needs the registers.
func (g *gen) laneRows(it item) (rows [2]row) {
	first := g.rowTile.MadLo(warpRows, g.lane.Shr(2))
	if g.c.RowBlocks {
		first = first.Add(it.firstRow)
	}
	for s := range rows {
		rows[s] = g.newRow(it, first.Add(8*s))
	}
	return rows
}

// decode turns four bytes into two pairs of f16, without rounding.
func (a *attention) decode(word build.B32) [2]build.B32 {
	if a.g.p.Format == problem.E5M2 { // a byte is the upper half of the f16
		return [2]build.B32{word.Prmt(a.zero, 0x1404), word.Prmt(a.zero, 0x3424)}
	}
	lo, hi := build.Unpack2[build.E4M3x2](word)
	return [2]build.B32{build.Cast[build.B32](lo.CvtRnF16x2()), build.Cast[build.B32](hi.CvtRnF16x2())}
}

// product is mma.sync with f16 operands.
var product = build.MmaForm{Shape: build.M16n8k16, D: ptx.F32, A: ptx.F16, B: ptx.F16}

// mma adds a product to the n-th eight columns of a fragment.
func (a *attention) mma(d *tile.Frag, n int, left [4]build.B32, right [2]build.B32) {
	var c [4]build.F32
	for e := range c {
		c[e] = d.Get(4*n + e)
	}
	for e, sum := range a.g.k.Mma(product, left, right, c).F32() {
		d.Set(4*n+e, sum)
	}
}

// scores computes S = Q·Kᵀ for the tile in a slot.
func (a *attention) scores(slot build.U32) {
	k := a.g.k
	k.Comment("S = Q·Kᵀ, mma.sync m16n8k16 f16 f32")
	a.S.Fill(k.F32(0))
	K := a.keys.Plus(slot)
	for d := 0; d < a.g.d; d += 64 {
		q := make([][4]build.B32, min(4, (a.g.d-d)/16))
		for i := range q {
			q[i] = a.q.Plus((d/16 + i) * stepWords).LdV4()
		}
		for n := 0; n < a.g.c.TileN; n += 8 {
			for i, word := range a.keyWords(K.At(n, d/2), len(q)) {
				a.mma(a.S, n/8, q[i], a.decode(word))
			}
		}
	}
}

// keyWords loads four or two matrices of eight keys, of 16 columns each.
func (a *attention) keyWords(at build.Shared[build.F16], matrices int) []build.B32 {
	if matrices == 2 {
		words := a.g.k.LdmatrixM8n8X2(at)
		return words[:]
	}
	words := a.g.k.LdmatrixM8n8X4(at)
	return words[:]
}

// weigh turns the scores of the tile from key on into P, and makes O relative to the new
// maxima.
func (a *attention) weigh(key, slot build.U32) {
	k := a.g.k
	a.logits(slot)
	a.mask(key)
	t := a.state.Tile(a.S)
	w := t.Raise()
	P := t.Exp(0, a.S.Cols)
	if scaledByKey(a.g.p) {
		t.Sum(a.withoutScales(slot, P))
	} else {
		t.Sum(P)
	}
	t.AddSums(w)
	for i, p := range P {
		a.S.Set(i, p)
	}
	k.Comment("O = w·O, if a maximum has risen")
	risen := w[0].SetpNeu(1).Or(w[1].SetpNeu(1)) // also true for NaN
	k.If(risen.VoteSyncAny(math.MaxUint32), func() { a.O.MulRows(w) })
}

// logits multiplies the scores by the factors of their rows, which differ because the heads of
// a group have scales of their own. A soft cap c makes a logit x c·tanh(x/c).
func (a *attention) logits(slot build.U32) {
	k := a.g.k
	k.Comment("S = c·S")
	a.S.MulRows(a.c[:])
	if scaledByKey(a.g.p) {
		a.scaleKeys(slot)
		defer a.shiftByScales(slot)
	}
	if a.g.p.Softcap == 0 {
		return
	}
	k.Comment("S = log₂e·cap·tanh S, tanh x = 1 - 2/(e^2x + 1), unless cap is 0")
	k.If(a.g.cap.SetpNeu(0), func() {
		most := a.g.cap.Mul(math.Log2E, build.Rn)
		a.S.Map(func(x build.F32, _ int, _ tile.Pos) build.F32 {
			e := x.Mul(2*math.Log2E, build.Rn).Ex2Approx(build.Ftz)
			tanh := e.Add(1, build.Rn).RcpApprox(build.Ftz).FmaRn(-2, k.F32(1))
			return tanh.Mul(most, build.Rn)
		})
	})
}

// mask gives the logit -∞ to the keys that a row does not see. A branch skips tiles in which
// every row sees every key.
func (a *attention) mask(key build.U32) {
	g := a.g
	k := g.k
	windowed := g.p.Window.Limited()
	hidden := key.Add(g.c.TileN).SetpGt(a.it.allEnd)
	if windowed {
		hidden = hidden.Or(key.SetpLt(a.it.allFirst))
	}
	switch {
	case g.p.MaskBits:
		a.maskBits(key)
	case g.p.Masked:
		a.maskBuffer(key)
	}
	k.If(hidden, func() {
		_, column := a.S.Base(k, g.lane)
		at := key.Add(column)
		var first, end [2]build.S32 // the visible keys, relative to the lane's first column
		for s, r := range a.maskedRows() {
			first[s], end[s] = build.Cast[build.S32](r.first.Sub(at)), build.Cast[build.S32](r.end.Sub(at))
		}
		a.S.Map(func(x build.F32, slot int, at tile.Pos) build.F32 {
			x = x.Selp(tile.NegInf(k), end[slot].SetpGt(at.Col))
			if windowed {
				x = x.Selp(tile.NegInf(k), first[slot].SetpLe(at.Col))
			}
			return x
		})
	})
}

// maskedRows returns the lane's rows with the keys that they see. With wide heads the loop has no
// registers for these keys, so they are computed again in each tile that needs a mask.
func (a *attention) maskedRows() [2]row {
	if max(a.g.d, a.g.dv) > 128 {
		return a.g.laneRows(a.it)
	}
	return a.rows
}

// maskBuffer gives the logit -∞ to the keys that the mask in memory hides from a row. Keys beyond
// the sequence and rows that do not exist have no place in the mask.
func (a *attention) maskBuffer(key build.U32) {
	g := a.g
	_, column := a.S.Base(g.k, g.lane)
	at := key.Add(column)
	var from [2]build.U64
	var keys [2]build.S32 // the keys of the row, relative to the lane's first column
	for s, r := range a.rows {
		from[s] = g.mask.Addr().Add(a.it.batch.MulWide(g.seqQ).Add(r.token.CvtU64()).MulLo(g.seqKV.CvtU64())).Add(at.CvtU64())
		keys[s] = build.Cast[build.S32](r.end.Sub(at)).Selp(0, r.exists)
	}
	a.S.Map(func(x build.F32, slot int, at tile.Pos) build.F32 {
		inside := keys[slot].SetpGt(at.Col)
		byte := build.GlobalAt[build.U8](from[slot].Add(uint64(at.Col)).Selp(g.mask.Addr(), inside)).Ld()
		return x.Selp(tile.NegInf(g.k), byte.CvtU32().SetpNe(0))
	})
}

// maskBits is maskBuffer for a mask with one bit per key. A tile begins at a multiple of 8 keys, so that a
// byte has the bits of eight columns of the tile.
func (a *attention) maskBits(key build.U32) {
	g := a.g
	k := g.k
	_, column := a.S.Base(k, g.lane)
	pitch := g.seqKV.Add(7).Shr(3)
	var bits [2][]build.U32 // of each eight columns, those of the lane first
	for s, r := range a.rows {
		from := g.mask.Addr().Add(a.it.batch.MulWide(g.seqQ).Add(r.token.CvtU64()).MulLo(pitch.CvtU64())).Add(key.Shr(3).CvtU64())
		keys := build.Cast[build.S32](r.end.Sub(key)).Selp(0, r.exists)
		for n := range a.S.Cols / 8 {
			at := from.Add(uint64(n)).Selp(g.mask.Addr(), keys.SetpGt(8*n))
			bits[s] = append(bits[s], build.GlobalAt[build.U8](at).Ld().CvtU32().Shr(column))
		}
	}
	a.S.Map(func(x build.F32, slot int, at tile.Pos) build.F32 {
		return x.Selp(tile.NegInf(k), bits[slot][at.Col/8].And(1<<(at.Col%8)).SetpNe(0))
	})
}

// output computes O += P·V. ldmatrix transposes pairs of bytes, so a word holds two columns of
// two keys. prmt puts the keys of a column side by side.
func (a *attention) output(slot build.U32) {
	k := a.g.k
	k.Comment("O += P·V, mma.sync m16n8k16 f16 f32")
	P := a.S.A()
	V := a.values.Plus(slot)
	pair := func(word build.B32) [2]build.B32 { return a.decode(word.Prmt(a.zero, 0x3120)) }
	for n := range P { // 16 keys
		for d := 0; d < a.g.dv; d += 32 {
			words := k.LdmatrixM8n8X4(V.At(16*n, d/2), build.Trans)
			for i := 0; i < len(words); i += 2 { // 16 columns: keys 0 to 7 and 8 to 15
				lo, hi := pair(words[i]), pair(words[i+1])
				at := d/8 + i
				a.mma(a.O, at, P[n], [2]build.B32{lo[0], hi[0]})
				a.mma(a.O, at+1, P[n], [2]build.B32{lo[1], hi[1]})
			}
		}
	}
}
