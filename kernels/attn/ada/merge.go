package ada

import (
	"math"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/problem"
)

// Warps that split the keys of 16 query rows merge their results through shared memory. Each has
// O and l over its own keys and owns an equal share of the columns of the output.
//
// l is known before the last P·V. So a warp first writes its row sums, and what they are relative to.
// With those of the other warps it finds the factor of its O in O/l of all keys. When it has O, it writes
// the other owners' columns with that factor as f16. When all have done so, it adds up its own columns.
//
// O/l is at most about as large as the largest value of V, so f16 loses no more than the rounding
// of the output does. Rounding P can make O/l larger, which for e5m2 exceeds the range of f16: it
// is then sent in units of 16. What other warps have sent is added up in f16: this rounding, too, is as
// small as that of the output.

// partBytes returns the bytes that a warp sends to one owner of columns.
func (c Config) partBytes(d int) int { return warpRows * d / c.Shares * 2 }

// outbox returns the bytes that a team sends: a part from each warp to each other owner.
func (c Config) outbox(d int) int {
	if c.Shares == 1 {
		return 0
	}
	return c.rowGroups() * (c.Shares - 1) * c.partBytes(d)
}

// totals is what a warp that splits keys knows of its rows before it has all of O, by row slot.
type totals struct {
	factor []*build.Var[build.F32] // of its O in O/l of all keys, in the unit of what is sent
	lse    []*build.Var[build.F32] // the log-sum-exp of all keys, to base e
}

func (g *gen) newTotals() totals {
	return totals{build.Vars(g.k.F32(0), slots), build.Vars(g.k.F32(0), slots)}
}

// announce writes the row sums for the warps with other keys of the same rows. The first of the four
// lanes that share two rows writes.
func (a *warp) announce() {
	g := a.g
	if g.c.Shares == 1 {
		return
	}
	reference, l := a.softmax.Sums(nil, 0)
	box := g.newMailbox()
	g.k.If(g.w.Lane.And(3).SetpEq(0), func() {
		box.sums(g.share).StV4([4]build.F32{reference[0], reference[1], l[0], l[1]})
	})
}

// total computes the totals, when the warps with the same rows have announced their sums. References are
// shifts lift-c·m of maxima m, so the least is that of the largest score. A row without keys has l = 0:
// its output is 0 and its log-sum-exp -∞.
func (a *warp) total() {
	g, box := a.g, a.g.newMailbox()
	var all [][4]build.F32
	for s := range g.c.Shares {
		all = append(all, box.sums(g.k.U32(uint32(s))).LdV4())
	}
	reference := a.softmax.References()
	for i := range slots {
		least, l := all[0][i], g.k.F32(0)
		for _, x := range all[1:] {
			least = least.Min(x[i])
		}
		for _, x := range all {
			l = x[slots+i].FmaRn(least.Sub(x[i], build.Rn).Ex2Approx(build.Ftz), l)
		}
		seen := l.SetpNeu(0) // also true for NaN
		own := least.Sub(reference[i], build.Rn).Ex2Approx(build.Ftz)
		a.totals.factor[i].Set(g.times(own.Mul(l.RcpApprox(build.Ftz), build.Rn), 1/g.sentIn()).Selp(0, seen))
		if g.p.LSE {
			logit := l.Lg2Approx(build.Ftz).Sub(least, build.Rn)
			a.totals.lse[i].Set(logit.Mul(math.Ln2, build.Rn).Selp(tile.NegInf(g.k), seen))
		}
	}
}

// merge sends O to the other owners and writes this warp's columns of the sum.
func (a *warp) merge() {
	g := a.g
	k, n := g.k, g.c.Shares
	columns := g.d / n
	U := g.w.Accumulator(columns)
	a.box = g.newMailbox()
	factor := []build.F32{a.totals.factor[0].Get(), a.totals.factor[1].Get()}
	for s := range n { // the registers of a share depend on the warp
		k.If(g.share.SetpEq(s), func() {
			for i := 1; i < n; i++ {
				a.send((s+i)%n, i, factor)
			}
			for i, x := range a.owned(s, factor) {
				U.Set(i, x)
			}
		})
	}
	to := a.outputRows(g.share.MulLo(columns))
	k.BarSyncThreads(g.group.Add(1+n), 32*n) // the warps with these rows have sent their parts

	for i, x := range a.receive() {
		lo, hi := build.Unpack2[build.F16](build.Cast[build.B32](x))
		U.Set(2*i, U.Get(2*i).Add(lo.CvtF32(), build.Rn))
		U.Set(2*i+1, U.Get(2*i+1).Add(hi.CvtF32(), build.Rn))
	}
	vs := g.times(a.vs, g.sentIn())
	g.out.StoreInterleaved(to, U, columns, []build.F32{vs, vs})
	if g.p.LSE {
		k.If(g.share.SetpEq(0), func() {
			a.storeLSE([]build.F32{a.totals.lse[0].Get(), a.totals.lse[1].Get()})
		})
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

// owned returns the lane's elements of O, times its factor, in the columns of an owner.
func (a *warp) owned(owner int, factor []build.F32) (xs []build.F32) {
	const perGroup = groupCols / 2 // elements of a lane in 32 columns
	n := a.g.d / 2 / a.g.c.Shares
	for i := owner * n; i < (owner+1)*n; i++ {
		xs = append(xs, a.O[i/perGroup].Get(i%perGroup).Mul(factor[i/2%slots], build.Rn))
	}
	return xs
}

// send writes an owner's columns of O. The owner is the after-th warp after this one.
func (a *warp) send(owner, after int, factor []build.F32) {
	to := a.box.part(a.g.share, after)
	xs := a.owned(owner, factor)
	for i := 0; i < len(xs); i += 8 {
		var words [4]build.B32
		for w := range words {
			words[w] = build.Cast[build.B32](xs[i+2*w+1].CvtRnF16x2(xs[i+2*w]))
		}
		to.Plus(i / 8 * 4 * 32).StV4(words)
	}
}

// receive returns the sum of this warp's columns that other warps have sent, two elements of a row at a
// time.
func (a *warp) receive() (sum []build.F16x2) {
	g, n := a.g, a.g.c.Shares
	for p := range n - 1 {
		at := a.box.part(g.share.Add(p+1).And(n-1), n-1-p)
		for i := 0; i < g.d/2/n; i += 8 {
			for e, word := range at.Plus(i / 8 * 4 * 32).LdV4() {
				if x, j := build.Cast[build.F16x2](word), i/2+e; p == 0 {
					sum = append(sum, x)
				} else {
					sum[j] = x.Add(sum[j], build.Rn)
				}
			}
		}
	}
	return sum
}

// mailbox knows where the warps of a row group leave their row sums and parts for each other.
type mailbox struct {
	g              *gen
	parts, records build.U32 // addresses of the lane's places for warp 0 of the row group
}

const (
	recordBytes  = 16 // the references and sums of two rows, those of a lane
	recordsBytes = warpRows / 2 * recordBytes
)

func (g *gen) newMailbox() mailbox {
	mem, lane := g.mem.Addr(), g.w.Lane
	return mailbox{
		g:       g,
		parts:   g.group.MadLo((g.c.Shares-1)*g.c.partBytes(g.d), lane.Shl(4)).Add(mem),
		records: g.group.MadLo(g.c.Shares*recordsBytes, lane.Shr(2).Shl(4)).Add(mem),
	}
}

// part returns the lane's first 16 bytes of the part that warp src sends to the after-th warp after it.
// The lanes' units of 16 bytes follow each other, so that stores and loads have no bank conflicts.
func (m mailbox) part(src build.U32, after int) build.Shared[build.B32] {
	g := m.g
	at := build.SharedAt[build.B8](src.MadLo(g.plan.sent, m.parts))
	return build.SharedAs[build.B32](at, g.plan.outbox+(after-1)*g.c.partBytes(g.d))
}

// sums returns the place of the references and sums of warp src for the lane's rows.
func (m mailbox) sums(src build.U32) build.Shared[build.F32] {
	at := build.SharedAt[build.B8](src.MadLo(recordsBytes, m.records))
	return build.SharedAs[build.F32](at, m.g.plan.sums)
}
