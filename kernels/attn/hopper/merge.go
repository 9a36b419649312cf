package hopper

import (
	"attest/build"
	"attest/build/tile"
)

// When the blocks of a cluster share the keys of a tile of queries, each ends with m, l
// and O over its own keys. Block t writes columns t·D/Split and on of the output: the
// others send it these columns of their O, and their m and l, through distributed
// shared memory.
//
// The cluster's barrier is passed twice: first to know that all blocks have started,
// so that their shared memory may be written, which costs nothing as all arrive before
// they compute; then to know that all have sent. What each block then reads is its own.

// attendMerge is what threads that have nothing to send do meanwhile.
func (g *gen) attendMerge() {
	k := g.k
	k.BarWarpSync(k.FullMask())
	k.BarrierClusterWait()
	if g.c.Exchange > 0 {
		return
	}
	k.BarrierClusterArrive(build.Relaxed)
	k.BarrierClusterWait()
}

// merge sends, receives and writes the block's columns of O.
func (a *attention) merge(it item, m, l []build.F32) {
	g := a.g
	k := g.k
	k.BarrierClusterWait()
	for t := range g.c.Split {
		a.send(k.U32(uint32(t)), t, m, l)
	}
	k.BarrierClusterArrive(build.Release)
	k.BarrierClusterWait(build.Acquire)

	cols := g.d / g.c.Split
	weight, norm, lse := a.weigh(it)
	U := a.wg.Accumulator(cols)
	for src := range g.c.Split {
		for i := 0; i < U.Elements(); i += 4 {
			for e, x := range a.part(src, i).LdV4() {
				slot := e / 2 % slots
				U.Set(i+e, x.FmaRn(weight[src][slot], U.Get(i+e)))
			}
		}
	}
	a.storeOutput(it, U, cols, g.rank.MulLo(k.U32(uint32(cols))), norm)
	if g.p.LSE {
		k.If(g.rank.SetpEq(k.U32(0)), func() { a.storeLSE(it, lse) })
	}
}

// part is where block src puts elements i to i+3 of this thread's columns.
func (a *attention) part(src, i int) build.Shared[build.F32] {
	g := a.g
	k := g.k
	perBlock := g.d / g.c.Split / 2 // elements of a thread
	at := (src*perBlock + i) * warpgroupThreads * 4
	mem := build.SharedAs[build.F32](g.mem, g.plan.parts+at)
	return mem.At(a.wg.Thread.Shl(k.U32(2)))
}

// rowSums is where block src puts m and l of the lane's row slot s.
func (a *attention) rowSums(src, s int) build.Shared[build.F32] {
	g := a.g
	r, _ := a.O.Base(g.k, a.wg.Thread)
	mem := build.SharedAs[build.F32](g.mem, g.plan.sums+8*(src*warpgroupRows+a.O.SlotRow(s)))
	return mem.At(r.Shl(g.k.U32(1)))
}

// send gives block to, the t-th, its columns of this block's O, and m and l.
func (a *attention) send(to build.U32, t int, m, l []build.F32) {
	g := a.g
	k := g.k
	each := g.d / g.c.Split / 2
	perRank := k.U32(uint32(each * warpgroupThreads * 4)) // bytes from one sender's to the next's
	for i := 0; i < each; i += 4 {
		var x [4]build.F32
		for e := range x {
			x[e] = a.O.Get(t*each + i + e)
		}
		at := build.SharedAt[build.F32](a.part(0, i).Addr().Add(g.rank.MulLo(perRank)))
		at.Mapa(to).StV4(x)
	}
	k.If(a.wg.Lane.And(k.U32(3)).SetpEq(k.U32(0)), func() { // one lane of a row
		for s := range slots {
			at := build.SharedAt[build.F32](a.rowSums(0, s).Addr().Add(g.rank.MulLo(k.U32(8 * warpgroupRows))))
			at.Mapa(to).StV2([2]build.F32{m[s], l[s]})
		}
	})
}

// weigh is what each block's O is multiplied by, by block and row slot: 2^(c·m-c·M), M
// the largest of all blocks' m; and the factor and the LSE of the whole.
func (a *attention) weigh(it item) (weight [][]build.F32, norm, lse []build.F32) {
	g := a.g
	k, c := g.k, a.rows.c.Get()
	weight = make([][]build.F32, g.c.Split)
	var most, sum []build.F32
	for s := range slots {
		parts := make([][2]build.F32, g.c.Split) // m and l
		M := tile.NegInf(k)
		for src := range parts {
			parts[src] = a.rowSums(src, s).LdV2()
			M = M.Max(parts[src][0])
		}
		back := g.shift(finite(k, M), c)
		L := k.F32(0)
		for src, p := range parts {
			w := g.shrink(p[0], c, back)
			weight[src] = append(weight[src], w)
			L = p[1].FmaRn(w, L)
		}
		most, sum = append(most, M), append(sum, L)
	}
	norm, lse = a.rows.finish(it, most, sum)
	return weight, norm, lse
}
