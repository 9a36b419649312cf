package hopper

import (
	"attest/build"
)

// joinBarrier is the named barrier at which the first half waits for the second.
const joinBarrier = 1

// join brings the halves of a block together: the second warpgroup leaves its m, l and O
// in shared memory, the first adds them to its own and goes on with the sums.
func (a *attention) join(m, l []build.F32, then func(m, l []build.F32)) {
	g := a.g
	k := g.k
	both := k.U32(2 * warpgroupThreads)
	k.If(g.group.SetpEq(k.U32(2)), func() {
		for i := 0; i < a.O.Elements(); i += 4 {
			a.half(i).StV4([4]build.F32{a.O.Get(i), a.O.Get(i + 1), a.O.Get(i + 2), a.O.Get(i + 3)})
		}
		a.half(a.O.Elements()).StV4([4]build.F32{m[0], l[0], m[1], l[1]})
		k.BarArrive(k.U32(joinBarrier), both)
		if g.c.Split > 1 {
			g.attendMerge()
		}
	}).Else(func() {
		k.BarSyncThreads(k.U32(joinBarrier), both)
		c, sums := a.rows.c.Get(), a.half(a.O.Elements()).LdV4()
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
			for e, x := range a.half(i).LdV4() {
				slot := e / 2 % slots
				a.O.Set(i+e, a.O.Get(i+e).Mul(mine[slot], build.Rn).Add(x.Mul(other[slot], build.Rn), build.Rn))
			}
		}
		then(M, L)
	})
}

// half is where the second half leaves elements i to i+3 of a thread.
func (a *attention) half(i int) build.Shared[build.F32] {
	g := a.g
	mem := build.SharedAs[build.F32](g.mem, g.plan.half+4*warpgroupThreads*i)
	return mem.At(a.wg.Thread.Shl(g.k.U32(2)))
}
