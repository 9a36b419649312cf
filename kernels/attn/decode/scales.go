package decode

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
)

// Scales of tensors, heads and sequences are the same for all keys of an item: those of Q and K
// multiply the scores, and the scale of V multiplies the output.
//
// Scales of tokens, blocks of keys and pages differ from key to key. They travel through the
// ring with their keys. The scale of a key of K multiplies the key's score. The scale v of a key
// of V belongs to the key's weight, which is rounded to f16. So log₂ v is added to the logit:
// the weights for O are then relative to the largest product of a weight and its scale, and the
// sum of the softmax adds up the weights divided by v.

// scaledByKey reports whether the keys of an item have different scales.
func scaledByKey(p problem.Attention) bool {
	return p.Scaling == problem.PerToken || p.Scaling == problem.PerBlock || p.Scaling == problem.PerPage
}

// scaleParams declares the scales.
func (g *gen) scaleParams(params *attn.Params) {
	if g.p.Scaling == problem.NoScale {
		return
	}
	if g.p.FormatQ == "" {
		g.qs = params.Floats("qs")
	}
	g.ks, g.vs = params.Floats("ks"), params.Floats("vs")
}

// blockParams declares the numbers of blocks of rows that share a scale.
func (g *gen) blockParams(params *attn.Params) {
	if g.p.Scaling == problem.PerBlock {
		g.blocksQ, g.blocksKV = params.U32("blocksQ", "cdiv(Sq, scale_block_q)"), params.U32("blocksKV", "cdiv(Skv, scale_block_kv)")
	}
}

// queryScale returns the scale of a row of Q.
func (g *gen) queryScale(it item, r row) build.F32 {
	switch g.p.Scaling {
	case problem.PerTensor:
		return g.qs.Ld()
	case problem.PerBatch:
		return g.qs.At(it.batch.MadLo(g.heads, r.head)).Ld()
	case problem.PerToken:
		return g.qs.At(g.place(it, r)).Ld()
	case problem.PerBlock:
		block := r.token.Div(g.p.ScaleBlockQ)
		if g.p.Layout == problem.BSHD {
			return g.qs.At(it.batch.MadLo(g.blocksQ, block).MadLo(g.heads, r.head)).Ld()
		}
		return g.qs.At(it.batch.MadLo(g.heads, r.head).MadLo(g.blocksQ, block)).Ld()
	}
	return g.qs.At(r.head).Ld()
}

// itemScale returns the scale that all keys of an item share, of K or of V. It is 1 if there is
// none.
func (g *gen) itemScale(it item, of build.Global[build.F32]) build.F32 {
	switch g.p.Scaling {
	case problem.PerHead:
		return of.At(it.head).Ld()
	case problem.PerTensor:
		return of.Ld()
	case problem.PerBatch:
		return of.At(it.number).Ld()
	}
	return g.k.F32(1)
}

// openScales prepares the copies of the scales of keys. The lower half of a warp copies scales of
// K, the upper half scales of V.
func (r *ring) openScales() {
	g := r.g
	r.scaleKey = g.lane.And(groupKeys - 1)
	upper := g.lane.SetpGe(groupKeys)
	r.scales = g.vs.Addr().Selp(g.ks.Addr(), upper)
	if g.p.Scaling == problem.PerToken {
		r.scales = r.scales.Add(g.rowZero(r.it).MulWide(4))
	}
	half := g.k.U32(uint32(4*g.c.TileN)).Selp(0, upper)
	r.scalesTo = g.shared.Addr().Add(g.team.MulLo(g.plan.ring)).Add(g.plan.scales).Add(half).Add(r.scaleKey.Shl(2))
}

// copyScales copies the scales of a group of keys: one number per lane. at says where the group
// lies.
func (r *ring) copyScales(key build.U32, at keyPlace, to build.U32) {
	g := r.g
	mine := key.Add(r.scaleKey)
	size := g.k.U32(4).Selp(0, r.seen(mine))
	from := build.GlobalAt[build.F32](r.scales.Add(g.scaleIndex(r, mine, at).MulWide(4)))
	g.k.CpAsyncCaSrcSize(build.SharedAt[build.F32](r.scalesTo.Add(to)), from, 4, size)
}

// scaleIndex returns the index of the lane's scale among those of K or V.
func (g *gen) scaleIndex(r *ring, key build.U32, at keyPlace) build.U32 {
	it, bshd := r.it, g.p.Layout == problem.BSHD
	switch {
	case g.p.Scaling == problem.PerPage:
		return at.page.MadLo(g.headsKV, it.head)
	case g.p.Scaling == problem.PerBlock && bshd:
		return it.batch.MadLo(g.blocksKV, key.Div(g.p.ScaleBlockKV)).MadLo(g.headsKV, it.head)
	case g.p.Scaling == problem.PerBlock:
		return it.number.MadLo(g.blocksKV, key.Div(g.p.ScaleBlockKV))
	}
	row := at.row
	if !g.c.AnyPages { // otherwise it is the place of the lane's own key
		row = row.Add(r.scaleKey)
	}
	if bshd {
		return row.MulLo(g.headsKV)
	}
	return row
}

// Which scales of a tile a lane loads.
const (
	scalesK = iota
	scalesV
)

// columns returns the scales of the lane's columns of the tile in a slot, two for each eight
// columns.
func (a *attention) columns(slot build.U32, which int) (list [][2]build.F32) {
	g := a.g
	first := g.shared.Addr().Add(g.team.MulLo(g.plan.ring)).Add(slot).Add(g.plan.scales + 4*which*g.c.TileN).Add(g.lane.And(3).Shl(3))
	for n := 0; n < g.c.TileN; n += 8 {
		list = append(list, build.SharedAt[build.F32](first).Plus(n).LdV2())
	}
	return list
}

// smallest replaces smaller scales of V, so that a scale of 0 has a logarithm, and weights divided
// by it stay finite.
const smallest = 0x1p-100

// scaleKeys multiplies the scores by the scales of their keys.
func (a *attention) scaleKeys(slot build.U32) {
	a.g.k.Comment("S = S·ks, by key")
	ks := a.columns(slot, scalesK)
	a.S.Map(func(x build.F32, _ int, at tile.Pos) build.F32 { return x.Mul(ks[at.Col/8][at.Col%2], build.Rn) })
}

// shiftByScales adds the logarithms of the scales of V to the logits.
func (a *attention) shiftByScales(slot build.U32) {
	a.g.k.Comment("S = S + log₂ vs, by key")
	vs := a.columns(slot, scalesV)
	for n := range vs {
		for e := range vs[n] {
			vs[n][e] = vs[n][e].Max(smallest).Lg2Approx(build.Ftz)
		}
	}
	a.S.Map(func(x build.F32, _ int, at tile.Pos) build.F32 { return x.Add(vs[at.Col/8][at.Col%2], build.Rn) })
}

// withoutScales returns the weights of the softmax: P divided by the scales of V.
func (a *attention) withoutScales(slot build.U32, P []build.F32) (W []build.F32) {
	a.g.k.Comment("W = P/vs, by key")
	vs := a.columns(slot, scalesV)
	for n := range vs {
		for e := range vs[n] {
			vs[n][e] = vs[n][e].Max(smallest).RcpApprox(build.Ftz)
		}
	}
	for i, p := range P {
		W = append(W, p.Mul(vs[i/4][i%2], build.Rn))
	}
	return W
}
