package ada

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
	"github.com/GOATnote-Inc/attest/problem"
)

// Warps that split the keys of 16 query rows merge their results through shared memory. Each has
// O and l over its own keys and owns an equal share of the columns of the output.
//
// l is known before the last P·V. So a warp first writes the log₂ of its row sums. When it has O, it
// writes the other owners' columns of O/l as f16. When all have done so, it adds up its own columns of
// all warps, each with its weight in the result.
//
// O/l is at most about as large as the largest value of V, so f16 loses no more than the rounding
// of the output does. Rounding P can make O/l larger, which for e5m2 exceeds the range of f16: it
// is then sent in units of 16. The weights are rounded to f16 too, and what other warps have sent is
// added up in f16: each of these roundings is as small as that of the output.

// partBytes returns the bytes that a warp sends to one owner of columns.
func (c Config) partBytes(d int) int { return warpRows * d / c.Shares * 2 }

// outbox returns the bytes that a team sends: a part from each warp to each other owner.
func (c Config) outbox(d int) int {
	if c.Shares == 1 {
		return 0
	}
	return c.rowGroups() * (c.Shares - 1) * c.partBytes(d)
}

// totals is what a warp that splits keys knows of its rows before it has O, by row slot.
type totals struct {
	inverse []*build.Var[build.F32] // 1/l, in the unit of what is sent; 0 for a row without keys
	logs    []*build.Var[build.F32] // log₂ of the row sum
}

func (g *gen) newTotals() totals {
	return totals{build.Vars(g.k.F32(0), slots), build.Vars(g.k.F32(0), slots)}
}

// announce computes the totals and writes them for the warps with other keys of the same rows.
func (a *warp) announce() {
	g := a.g
	if g.c.Shares == 1 {
		return
	}
	reference, l := a.softmax.Sums(nil, 0)
	var logs [slots]build.F32
	for i := range slots {
		x := g.times(l[i].RcpApprox(build.Ftz), 1/g.sentIn())
		a.totals.inverse[i].Set(x.Selp(0, l[i].SetpNeu(0)))
		logs[i] = l[i].Lg2Approx(build.Ftz).Sub(reference[i], build.Rn)
		a.totals.logs[i].Set(logs[i])
	}
	// The first of the four lanes that share a row writes.
	box := g.newMailbox()
	g.k.If(g.w.Lane.And(3).SetpEq(0), func() { box.log(g.share).StV2(logs) })
}

// merge sends O/l to the other owners and writes this warp's columns of O.
func (a *warp) merge() {
	g := a.g
	k, n := g.k, g.c.Shares
	columns := g.d / n
	U := g.w.Accumulator(columns)
	a.box = g.newMailbox()
	inverse := []build.F32{a.totals.inverse[0].Get(), a.totals.inverse[1].Get()}
	for s := range n { // the registers of a share depend on the warp
		k.If(g.share.SetpEq(s), func() {
			for i := 1; i < n; i++ {
				a.send((s+i)%n, i, inverse)
			}
			for i, x := range a.owned(s, inverse) {
				U.Set(i, x)
			}
		})
	}
	to := a.outputRows(g.share.MulLo(columns))
	k.BarSyncThreads(g.group.Add(1+n), 32*n) // the warps with these rows have sent their parts

	logs := [][]build.F32{{a.totals.logs[0].Get(), a.totals.logs[1].Get()}}
	var from []build.U32
	for i := 1; i < n; i++ {
		from = append(from, g.share.Add(i).And(n-1))
		pair := a.box.log(from[i-1]).LdV2()
		logs = append(logs, pair[:])
	}
	weight, norm, lse := part.Weigh(k, logs, func() build.F32 { return g.times(a.vs, g.sentIn()) }, g.p.LSE)
	for i, x := range a.receive(from, weight[1:]) {
		lo, hi := build.Unpack2[build.F16](build.Cast[build.B32](x))
		w := weight[0][i%slots]
		U.Set(2*i, U.Get(2*i).FmaRn(w, lo.CvtF32()))
		U.Set(2*i+1, U.Get(2*i+1).FmaRn(w, hi.CvtF32()))
	}
	g.out.StoreInterleaved(to, U, columns, norm)
	if g.p.LSE {
		k.If(g.share.SetpEq(0), func() { a.storeLSE(lse) })
	}
}

// sentIn returns the unit, a power of two, in which O/l is sent.
func (g *gen) sentIn() float32 {
	if g.p.Format == problem.E5M2 {
		return 16
	}
	return 1
}

// times returns x·f.
func (g *gen) times(x build.F32, f float32) build.F32 {
	if f == 1 {
		return x
	}
	return x.Mul(f, build.Rn)
}

// owned returns the lane's elements of O/l in the columns of an owner.
func (a *warp) owned(owner int, inverse []build.F32) (xs []build.F32) {
	const perGroup = groupCols / 2 // elements of a lane in 32 columns
	n := a.g.d / 2 / a.g.c.Shares
	for i := owner * n; i < (owner+1)*n; i++ {
		xs = append(xs, a.O[i/perGroup].Get(i%perGroup).Mul(inverse[i/2%slots], build.Rn))
	}
	return xs
}

// send writes an owner's columns of O/l. The owner is the after-th warp after this one.
func (a *warp) send(owner, after int, inverse []build.F32) {
	to := a.box.part(a.g.share, after)
	xs := a.owned(owner, inverse)
	for i := 0; i < len(xs); i += 8 {
		var words [4]build.B32
		for w := range words {
			words[w] = build.Cast[build.B32](xs[i+2*w+1].CvtRnF16x2(xs[i+2*w]))
		}
		to.Plus(i / 8 * 4 * 32).StV4(words)
	}
}

// receive returns the weighted sum of this warp's columns that other warps have sent, two elements of
// a row at a time.
func (a *warp) receive(from []build.U32, weight [][]build.F32) (sum []build.F16x2) {
	g, n := a.g, a.g.c.Shares
	for p, src := range from {
		var w []build.F16x2
		for s := range slots {
			w = append(w, weight[p][s].CvtRnF16x2(weight[p][s]))
		}
		at := a.box.part(src, n-1-p)
		for i := 0; i < g.d/2/n; i += 8 {
			for e, word := range at.Plus(i / 8 * 4 * 32).LdV4() {
				x, j := build.Cast[build.F16x2](word), i/2+e
				if p == 0 {
					sum = append(sum, x.Mul(w[j%slots], build.Rn))
				} else {
					sum[j] = x.FmaRn(w[j%slots], sum[j])
				}
			}
		}
	}
	return sum
}

// mailbox knows where the warps of a row group leave their row sums and parts for each other.
type mailbox struct {
	g           *gen
	parts, logs build.U32 // addresses of the lane's places for warp 0 of the row group
}

func (g *gen) newMailbox() mailbox {
	mem, lane := g.mem.Addr(), g.w.Lane
	return mailbox{
		g:     g,
		parts: g.group.MadLo((g.c.Shares-1)*g.c.partBytes(g.d), lane.Shl(4)).Add(mem),
		logs:  g.group.MadLo(g.c.Shares*warpRows*4, lane.Shr(2).Shl(3)).Add(mem),
	}
}

// part returns the lane's first 16 bytes of the part that warp src sends to the after-th warp after it.
// The lanes' units of 16 bytes follow each other, so that stores and loads have no bank conflicts.
func (m mailbox) part(src build.U32, after int) build.Shared[build.B32] {
	g := m.g
	at := build.SharedAt[build.B8](src.MadLo(g.plan.sent, m.parts))
	return build.SharedAs[build.B32](at, g.plan.outbox+(after-1)*g.c.partBytes(g.d))
}

// log returns the place of the logarithms of warp src for the lane's rows: row g and row g+8 follow
// each other.
func (m mailbox) log(src build.U32) build.Shared[build.F32] {
	at := build.SharedAt[build.B8](src.MadLo(warpRows*4, m.logs))
	return build.SharedAs[build.F32](at, m.g.plan.logs)
}
