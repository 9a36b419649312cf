package decode

import (
	"math"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/problem"
)

// stepWords is the number of words of 16 rows and 16 columns of operand A.
const stepWords = 128

// loadQueries writes the lane's words of Q, as operand A, to shared memory, where all teams find
// them: in registers they would need half as many as O. It also loads the factors of the scores.
// Columns 4q to 4q+3 of sixteen are the columns 2q, 2q+1, 2q+8 and 2q+9 of operand A, because
// ldmatrix gives a lane four neighbouring bytes of K.
//
// All loads are started before the first one is waited for, because a batch of one sequence spends
// much of its time on latencies.
func (a *attention) loadQueries() {
	g := a.g
	k := g.k
	steps := g.d / 16
	first := g.team.SetpEq(0)
	var rows [2][]words
	if g.p.FormatQ == problem.BF16 { // every team needs the factors
		rows = a.queryWords(nil)
	} else {
		rows = a.queryWords(&first)
	}
	var scales [2]rowScales
	for s, r := range a.rows {
		scales[s] = g.loadScales(a.it, r)
	}
	for s := range a.rows {
		a.c[s] = g.factor(scales[s])
	}
	var by [2]build.F32
	if g.p.FormatQ == problem.BF16 {
		by = a.raise(rows)
	}
	tile := g.rowTile.MulLo(steps * stepWords).Add(g.lane.Shl(2))
	a.q = build.SharedAs[build.B32](g.shared, g.plan.q).At(tile)
	k.If(first, func() {
		for i := range steps {
			upper, lower := rows[0][i], rows[1][i]
			switch g.p.FormatQ {
			case "":
				upper, lower = a.decode(upper[0]), a.decode(lower[0])
			case problem.BF16:
				upper, lower = narrowed(upper, by[0]), narrowed(lower, by[1])
			}
			a.q.Plus(i * stepWords).StV4([4]build.B32{upper[0], lower[0], upper[1], lower[1]})
		}
	})
	k.SyncThreads()
}

// words are a lane's columns of 16: four elements of two bytes, or of one byte in the first word.
type words = [2]build.B32

// queryWords returns the lane's columns of both of its rows as they are in memory. Rows that do
// not exist are zero. Only threads for which needed holds load, or all without needed.
func (a *attention) queryWords(needed *build.Pred) (rows [2][]words) {
	k := a.g.k
	for s, r := range a.rows {
		size := a.g.p.QueryFormat().Bytes()
		list := build.Vars(k.B32(0), size*a.g.d/16)
		exists := r.exists
		if needed != nil {
			exists = exists.And(*needed)
		}
		k.If(exists, func() {
			from := a.queryAt(r, size)
			for i := 0; i < len(list); i += size {
				if size == 1 {
					list[i].Set(from.Plus(4 * i).Ld())
					continue
				}
				for e, w := range from.Plus(4 * i).LdV2() {
					list[i+e].Set(w)
				}
			}
		})
		for i := 0; i < len(list); i += size {
			w := words{list[i].Get()}
			if size == 2 {
				w[1] = list[i+1].Get()
			}
			rows[s] = append(rows[s], w)
		}
	}
	return rows
}

// queryAt returns the address of the lane's first columns of a row, which has elements of size
// bytes.
func (a *attention) queryAt(r row, size int) build.Global[build.B32] {
	g := a.g
	at := g.lane.And(3).Shl(2)
	if size == 2 {
		at = at.Shl(1)
	}
	return build.GlobalAt[build.B32](g.q.Addr().Add(g.queryOffset(a.it, r, g.qSteps, size*g.d)).Add(at.CvtU64()))
}

// raise returns the powers of two that Q in bf16 is multiplied by before it becomes f16, whose range
// is narrower: one per row, which makes the row's largest element at least 2^14. The factor of the
// row's scores is divided by it. Elements down to 2^-28 of the largest one stay exact.
//
// Magnitudes are compared as integers. As floats they would stay in registers until narrowed
// multiplies them.
func (a *attention) raise(rows [2][]words) (by [2]build.F32) {
	const top = 14
	k := a.g.k
	for s, list := range rows {
		most := k.U32(0)
		for _, pair := range list {
			for _, w := range pair {
				both := build.Cast[build.U32](w)
				most = most.Max(both.Shl(17)).Max(both.Shl(1).And(0xfffe0000))
			}
		}
		most = build.LaneReduce(most, 4, func(x, y build.U32) build.U32 { return x.Max(y) })
		exponent := most.Shr(24).Max(top + 1)
		by[s] = build.Mov[build.F32](k.U32(2*127 + top).Sub(exponent).Shl(23))
		a.c[s] = a.c[s].Mul(build.Mov[build.F32](exponent.Sub(top).Shl(23)), build.Rn)
	}
	return by
}

// narrowed turns four elements from bf16 into f16, times by.
func narrowed(elements words, by build.F32) (w words) {
	for i, x := range elements {
		lo, hi := build.Cast[build.F32](x.Shl(16)), build.Cast[build.F32](x.And(0xffff0000))
		w[i] = build.Cast[build.B32](hi.Mul(by, build.Rn).CvtRnF16x2(lo.Mul(by, build.Rn)))
	}
	return w
}

// rowScales holds the scales of Q and K for a row, if the problem has them.
type rowScales struct{ q, k build.F32 }

// loadScales loads the scales of a row. A row that does not exist has scales of 0.
func (g *gen) loadScales(it item, r row) (s rowScales) {
	hasQ := g.p.FormatQ == "" && g.p.Scaling != problem.NoScale
	hasK := g.p.Scaling != problem.NoScale && !scaledByKey(g.p)
	if !hasQ && !hasK {
		return s
	}
	q, key := build.NewVar(g.k.F32(0)), build.NewVar(g.k.F32(0))
	g.k.If(r.exists, func() {
		if hasQ {
			q.Set(g.queryScale(it, r))
		}
		if hasK {
			key.Set(g.itemScale(it, g.ks))
		}
	})
	if hasQ {
		s.q = q.Get()
	}
	if hasK {
		s.k = key.Get()
	}
	return s
}

// factor returns the factor that turns a row's scores into logits to base 2, or, with a soft
// cap other than 0, into arguments of tanh. Scales of keys are not part of it.
func (g *gen) factor(s rowScales) build.F32 {
	c := g.scale
	if s.q != (build.F32{}) {
		c = c.Mul(s.q, build.Rn)
	}
	if s.k != (build.F32{}) {
		c = c.Mul(s.k, build.Rn)
	}
	logit := c.Mul(math.Log2E, build.Rn)
	if g.p.Softcap == 0 {
		return logit
	}
	return c.DivRn(g.cap).Selp(logit, g.cap.SetpNeu(0))
}
