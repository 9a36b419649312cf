package hopper

import (
	"attest/build"
)

// inBlock is the warpgroup's number among those of the block that share its rows, and
// that of its first tile of keys. The first ones of all tiles of rows come before the
// second ones.
func (g *gen) inBlock() build.U32 {
	k := g.k
	if g.c.perBlock() == 1 {
		return k.U32(0)
	}
	return g.over(g.group.Sub(k.U32(1)), g.c.rowTiles())
}

// joinBarrier is the first of the named barriers, one a pair, at which the first half
// waits for the second.
const joinBarrier = 1

// join brings the halves of a pair together: the second warpgroup leaves its m, l and O
// in shared memory, the first adds them to its own and goes on with the sums.
func (a *attention) join(m, l []build.F32, then func(m, l []build.F32)) {
	g := a.g
	k := g.k
	bar, both := g.rowTile().Add(k.U32(joinBarrier)), k.U32(2*warpgroupThreads)
	mem := a.handover()
	k.If(g.inBlock().SetpEq(k.U32(1)), func() {
		for i := 0; i < a.O.Elements(); i += 4 {
			mem.Plus(i * warpgroupThreads).StV4([4]build.F32{a.O.Get(i), a.O.Get(i + 1), a.O.Get(i + 2), a.O.Get(i + 3)})
		}
		mem.Plus(a.O.Elements() * warpgroupThreads).StV4([4]build.F32{m[0], l[0], m[1], l[1]})
		k.BarArrive(bar, both)
		if g.c.Split > 1 {
			g.attendMerge()
		}
	}).Else(func() {
		k.BarSyncThreads(bar, both)
		c, sums := a.rows.c.Get(), mem.Plus(a.O.Elements()*warpgroupThreads).LdV4()
		var mine, other [slots]build.F32 // what each half is multiplied by
		M, L := make([]build.F32, slots), make([]build.F32, slots)
		for s := range slots {
			m2, l2 := sums[2*s], sums[2*s+1]
			M[s] = m[s].Max(m2)
			to := g.shift(finite(k, M[s]), c)
			mine[s], other[s] = g.shrink(m[s], c, to), g.shrink(m2, c, to)
			L[s] = l[s].Mul(mine[s], build.Rn).Add(l2.Mul(other[s], build.Rn), build.Rn)
		}
		for i := 0; i < a.O.Elements(); i += 4 {
			for e, x := range mem.Plus(i * warpgroupThreads).LdV4() {
				slot := e / 2 % slots
				a.O.Set(i+e, a.O.Get(i+e).Mul(mine[slot], build.Rn).Add(x.Mul(other[slot], build.Rn), build.Rn))
			}
		}
		then(M, L)
	})
}

// handover is where the second half of the warpgroup's pair leaves what this thread's
// lane of it has: elements i to i+3 of O are i·warpgroupThreads further on, m and l
// after them.
func (a *attention) handover() build.Shared[build.F32] {
	g := a.g
	k := g.k
	pair := g.rowTile().MulLo(k.U32(uint32(g.c.halfBytes(g.d) / 4)))
	return build.SharedAs[build.F32](g.mem, g.plan.half).At(a.wg.Thread.MadLo(k.U32(4), pair))
}
