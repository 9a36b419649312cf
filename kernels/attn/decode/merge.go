package decode

import (
	"math"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// A partial result of a row is (reference, l, O): the shift lift - c·m of the score m that its
// weights are relative to, the sum of its weights, and O before normalisation. Partial results
// are merged twice: those of the teams of a block in shared memory, and those of the blocks of
// an item in global memory. A part i with reference r_i has the weight 2^(r - r_i), where r is
// the smallest reference. Sums run over the parts in their order, so the bits do not depend on
// which block comes last.

// sums is the merged result of a lane's two rows in some units of 16 columns. In each unit a
// lane has four neighbours of each row, from column 4q on.
type sums struct {
	reference, l [2]build.F32
	first        build.U32  // the first unit
	idle         build.Pred // the lane stores nothing, if it is not the zero value
	values       [][2][4]build.F32
}

// finish merges the results of the block's warps. A block that has an item for itself writes
// O. Otherwise the block writes a partial result, and the last block of the item merges all.
func (g *gen) finish(it item, a *attention) {
	k := g.k
	scale := g.itemScale(it, g.vs) // loaded here, so that its latency is that of the merge
	s := g.mergeTeams(a)
	rows := g.laneRows(it)
	k.If(it.parts.SetpEq(1), func() {
		for i, r := range rows {
			k.If(s.stores(r), func() { g.storeLane(it, r, s, i, scale) })
		}
	}).Else(func() {
		g.storePartial(it, rows, s)
		k.SyncThreads() // all partial results of the block are written
		k.If(g.lastBlock(it), func() { g.mergeParts(it, scale) })
	})
}

// mergeTeams returns the sums over the teams. Each team sums its share of the columns.
func (g *gen) mergeTeams(a *attention) sums {
	k, teams := g.k, g.c.teams()
	reference, l := a.state.Sums(nil, 0)
	units := g.teamUnits()
	if teams == 1 {
		s := sums{reference: [2]build.F32(reference), l: [2]build.F32(l), first: k.U32(0)}
		for u := range units {
			s.values = append(s.values, unit(a.O.Get, 8*u))
		}
		return s
	}
	outputs, stats := build.SharedAs[build.F32](g.shared, 0), build.SharedAs[build.F32](g.shared, g.plan.stats)
	quads := a.O.Elements() / 4 // the quads that a lane stores
	k.SyncThreads()             // all teams are done with their rings
	mine := outputs.At(g.warp.MulLo(quads * 128).Add(g.lane.Shl(2)))
	for i := range quads {
		mine.Plus(128 * i).StV4([4]build.F32{a.O.Get(4 * i), a.O.Get(4*i + 1), a.O.Get(4*i + 2), a.O.Get(4*i + 3)})
	}
	inTile := g.lane.Shr(2)
	k.If(g.lane.And(3).SetpEq(0), func() {
		for i := range l {
			stats.At(g.warp.MadLo(warpRows, inTile).Add(8 * i).Shl(1)).StV2([2]build.F32{reference[i], l[i]})
		}
	})
	k.SyncThreads()

	s := sums{first: g.team.MulLo(units), values: make([][2][4]build.F32, units)}
	if teams*units*16 > g.dv { // the last teams have no columns: they sum others and do not store them
		s.first, s.idle = s.first.Min(g.dv/16-units), s.first.SetpGe(g.dv/16)
	}
	weights := make([][2]build.F32, teams)
	for i := range s.l {
		var all [][2]build.F32
		for t := range teams {
			all = append(all, stats.At(g.rowTile.MadLo(warpRows, inTile).Add(t*g.c.RowTiles*warpRows+8*i).Shl(1)).LdV2())
		}
		var w []build.F32
		s.reference[i], s.l[i], w = weigh(k, all)
		for t := range w {
			weights[t][i] = w[t]
		}
	}
	from := outputs.At(g.rowTile.MulLo(quads * 128).Add(s.first.MulLo(2 * 128)).Add(g.lane.Shl(2)))
	for u := range units {
		var total []build.F32
		for t := range teams {
			at := from.Plus((t*g.c.RowTiles*quads + 2*u) * 128)
			even, odd := at.LdV4(), at.Plus(128).LdV4()
			for e, x := range append(even[:], odd[:]...) {
				by := weights[t][e/2%2]
				if t == 0 {
					total = append(total, x.Mul(by, build.Rn))
					continue
				}
				total[e] = x.FmaRn(by, total[e])
			}
		}
		s.values[u] = unit(func(i int) build.F32 { return total[i] }, 0)
	}
	return s
}

// teamUnits returns how many units of 16 columns a team sums. If they do not divide evenly, the last
// teams have none.
func (g *gen) teamUnits() int { return (g.dv/16 + g.c.teams() - 1) / g.c.teams() }

// stores returns the rows of a lane that it stores.
func (s sums) stores(r row) build.Pred {
	if s.idle == (build.Pred{}) {
		return r.exists
	}
	return r.exists.And(s.idle.Not())
}

// unit returns the four neighbours of both rows in the 16 columns whose first element is at:
// elements are those of the even columns of both rows, then those of the odd ones.
func unit(get func(i int) build.F32, at int) (rows [2][4]build.F32) {
	for r := range rows {
		rows[r] = [4]build.F32{get(at + 2*r), get(at + 4 + 2*r), get(at + 2*r + 1), get(at + 4 + 2*r + 1)}
	}
	return rows
}

// weigh merges references and sums: it returns the smallest reference, the sum relative to it,
// and the weight of each part.
func weigh(k *build.Kernel, parts [][2]build.F32) (reference, l build.F32, weights []build.F32) {
	reference = parts[0][0]
	for _, p := range parts[1:] {
		reference = reference.Min(p[0], build.NaN)
	}
	for i, p := range parts {
		w := reference.Sub(p[0], build.Rn).Ex2Approx(build.Ftz)
		weights = append(weights, w)
		if i == 0 {
			l = p[1].Mul(w, build.Rn)
		} else {
			l = p[1].FmaRn(w, l)
		}
	}
	return reference, l, weights
}

// storeLane writes O of a row of a lane, and its LSE.
func (g *gen) storeLane(it item, r row, s sums, i int, scale build.F32) {
	norm, lse := g.normalise(r, s.reference[i], s.l[i], scale)
	column := s.first.Shl(2).Add(g.lane.And(3)).Shl(2)
	to := g.outputAt(it, r, column)
	for u, rows := range s.values {
		g.storeFour(to.Plus(8*u), rows[i], norm)
	}
	if g.p.LSE {
		g.k.If(column.SetpEq(0), func() { g.storeLSE(it, r, lse) })
	}
}

// outputAt returns the address of a column of a row of O.
func (g *gen) outputAt(it item, r row, column build.U32) build.Global[build.B32] {
	return build.GlobalAt[build.B32](g.out.O.Addr().Add(g.queryOffset(it, r, g.oSteps, 2*g.dv)).Add(column.Shl(1).CvtU64()))
}

// storeFour writes four neighbours of O.
func (g *gen) storeFour(to build.Global[build.B32], x [4]build.F32, norm build.F32) {
	y := func(i int) build.F32 { return x[i].Mul(norm, build.Rn) }
	to.StV2([2]build.B32{g.out.Pair(y(0), y(1)), g.out.Pair(y(2), y(3))})
}

func (g *gen) storeLSE(it item, r row, lse build.F32) {
	build.GlobalAt[build.F32](g.lse.Addr().Add(g.placeByHead(it, r).MulWide(4))).St(lse)
}

// normalise returns the factor scale/l of a row's output, and the row's log-sum-exp. A sink is one
// more part of the row, with the weight 2^lift and without an output.
func (g *gen) normalise(r row, reference, l, scale build.F32) (norm, lse build.F32) {
	k := g.k
	if g.p.Sinks {
		sink := g.sinks.At(r.head).Ld().FmaRn(-math.Log2E, k.F32(lift))
		var w []build.F32
		reference, l, w = weigh(k, [][2]build.F32{{reference, l}, {sink, k.F32(1 << lift)}})
		scale = scale.Mul(w[0], build.Rn)
	}
	norms, logs := (&part.Softmax{K: k}).Normalise(scale, []build.F32{reference}, []build.F32{l}, g.p.LSE)
	if g.p.LSE {
		lse = logs[0]
	}
	return norms[0], lse
}
