package ada

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
	"github.com/GOATnote-Inc/attest/problem"
)

// Warps that split the keys of 16 query rows merge their results through shared memory. Each has
// O and l over its own keys and owns an equal share of the columns of the output. It writes the
// other owners' columns of O/l, as f16, over its team's ring, and the log₂ of its row sums. Then it
// reads its own columns from the other teams' rings.
//
// O/l is at most about as large as the largest value of V, so f16 loses no more than the rounding
// of the output does. Rounding P can make O/l larger, which for e5m2 exceeds the range of f16: it
// is then sent in units of 16.

// partBytes returns the bytes that a warp sends to one owner of columns.
func (c Config) partBytes(d int) int { return warpRows * d / c.Shares * 2 }

// outbox returns the bytes that a team sends: a part from each warp to each owner. The part for the
// warp itself stays empty.
func (c Config) outbox(d int) int {
	if c.Shares == 1 {
		return 0
	}
	return c.rowGroups() * c.Shares * c.partBytes(d)
}

// merge sends O/l to the other owners and writes this warp's columns of O.
func (a *warp) merge(reference, l []build.F32) {
	g := a.g
	k, n := g.k, g.c.Shares
	var inverse, logs []build.F32
	for i := range slots {
		x := g.times(l[i].RcpApprox(build.Ftz), 1/g.sentIn())
		inverse = append(inverse, x.Selp(0, l[i].SetpNeu(0)))
		logs = append(logs, l[i].Lg2Approx(build.Ftz).Sub(reference[i], build.Rn))
	}
	columns := g.d / n
	U := g.w.Accumulator(columns)
	a.writeLogs(logs)
	for s := range n { // the registers of a share depend on the warp
		k.If(g.share.SetpEq(s), func() {
			for i := 1; i < n; i++ {
				a.send((s+i)%n, inverse)
			}
			for i, x := range a.owned(s, inverse) {
				U.Set(i, x)
			}
		})
	}
	to := a.outputRows(g.share.MulLo(columns))
	k.BarSyncThreads(g.group.Add(1+n), 32*n) // the warps with these rows have sent their parts

	others := [][]build.F32{logs}
	var from []build.U32
	for i := 1; i < n; i++ {
		src := g.share.Add(i).And(n - 1)
		from, others = append(from, src), append(others, a.readLogs(src))
	}
	weight, norm, lse := part.Weigh(k, others, func() build.F32 { return g.times(a.vs, g.sentIn()) }, g.p.LSE)
	U.MulRows(weight[0])
	for i, src := range from {
		for e, x := range a.receive(src) {
			U.Set(e, x.FmaRn(weight[i+1][e/2%slots], U.Get(e)))
		}
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

// send writes an owner's columns of O/l.
func (a *warp) send(owner int, inverse []build.F32) {
	to := a.partAt(a.g.k.U32(uint32(owner)), a.g.share)
	xs := a.owned(owner, inverse)
	for i := 0; i < len(xs); i += 8 {
		var words [4]build.B32
		for w := range words {
			words[w] = build.Cast[build.B32](xs[i+2*w+1].CvtRnF16x2(xs[i+2*w]))
		}
		to.Plus(i / 8 * 4 * 32).StV4(words)
	}
}

// receive reads this warp's columns of O/l that warp src has sent.
func (a *warp) receive(src build.U32) (xs []build.F32) {
	from := a.partAt(a.g.share, src)
	for i := 0; i < a.g.d/2/a.g.c.Shares; i += 8 {
		for _, w := range from.Plus(i / 8 * 4 * 32).LdV4() {
			lo, hi := build.Unpack2[build.F16](w)
			xs = append(xs, lo.CvtF32(), hi.CvtF32())
		}
	}
	return xs
}

// partAt returns the lane's first 16 bytes of the part that warp src of this row group sends to an
// owner. The lanes' units of 16 bytes follow each other, so that stores and loads have no bank
// conflicts.
func (a *warp) partAt(owner, src build.U32) build.Shared[build.B32] {
	g := a.g
	part := g.group.MadLo(g.c.Shares, owner).MulLo(g.c.partBytes(g.d))
	at := src.MadLo(g.plan.team, part).Add(g.w.Lane.Shl(4))
	return build.SharedAs[build.B32](g.mem.Plus(g.plan.rings).At(at), 0)
}

// logsAt returns the place of the logarithms of warp src for the lane's rows: row g and row g+8
// follow each other.
func (a *warp) logsAt(src build.U32) build.Shared[build.F32] {
	g := a.g
	row := g.group.MadLo(g.c.Shares, src).MadLo(warpRows, g.w.Lane.Shr(2).Shl(1))
	return build.SharedAs[build.F32](g.mem, g.plan.logs).At(row)
}

// writeLogs writes the logarithms of this warp's row sums. The first of the four lanes that share
// a row writes.
func (a *warp) writeLogs(logs []build.F32) {
	first := a.g.w.Lane.And(3).SetpEq(0)
	a.g.k.If(first, func() { a.logsAt(a.g.share).StV2([2]build.F32(logs)) })
}

func (a *warp) readLogs(src build.U32) []build.F32 {
	pair := a.logsAt(src).LdV2()
	return pair[:]
}
