package hopper

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Build writes the kernel, or says why it cannot be.
//
// Parameters, in this order:
//
//	q, k, v       tensor maps as [Config.Maps] describes them
//	qs            float [Heads], ks and vs float [HeadsKV], what a byte's value is
//	              multiplied by; all above zero
//	o             f16 or bf16 [B,Heads,SeqQ,D]
//	lse           float [B,Heads,SeqQ], only with Problem.LSE
//	heads, group  u32: heads of Q in all of the batch, and how many share one of K and V
//	perBatch      u32: heads of Q in one of the batch
//	seqQ, seqKV   u32
//	scale         float above zero, what scores are multiplied by, mostly 1/√D
//
// [Config.Launch] gives grid, block, cluster and dynamic shared memory. The text
// depends on the problem's HeadDim, Format, Output, LSE and Causal, and on whether heads
// share K and V, not on its sizes.
func Build(p Problem, c Config) (*build.Kernel, error) {
	if err := c.Check(p); err != nil {
		return nil, fmt.Errorf("hopper attention kernel %v: %w", c, err)
	}
	k := build.New(name(p), ptx.SM90a)
	k.ReqNTid(c.threads())
	if start := c.registers().start; start > enoughRegisters {
		k.MaxNReg(enoughRegisters) // an assembler that may take more does
	} else {
		k.MinNCTAPerSM(c.BlocksPerSM)
	}
	if c.Split > 1 {
		k.ReqNCTAPerCluster(c.Split, 1, 1)
	}
	if c.Split > 1 {
		k.Version(8, 1) // has st.async
	}
	g := newGen(k, p, c)
	g.open()
	g.group = g.uniform(k.TidX().Shr(k.U32(7))) // not before the first copies: it takes a while
	k.If(g.group.SetpEq(k.U32(0)), g.produce).Else(g.consume)
	return k, nil
}

func name(p Problem) string {
	n := fmt.Sprintf("attn_hopper_%s_d%d_%s", p.Format, p.HeadDim, p.Output)
	if p.Causal {
		n += "_causal"
	}
	return n
}

// gen is a kernel being written: what all its parts need.
type gen struct {
	k    *build.Kernel
	p    Problem
	c    Config
	d    int // head dimension
	plan plan

	q, kk, v                     build.TensorMap
	qs, ks, vs                   build.Global[build.F32]
	o                            build.Global[build.B16]
	lse                          build.Global[build.F32]
	heads, shared, perBatch      build.U32
	seqQ, seqKV                  build.U32
	scale                        build.F32
	mem                          build.Shared[build.B8]
	rank                         build.U32 // in the cluster
	group                        build.U32 // the thread's warpgroup: 0 produces
	wg                           tile.Warpgroup
	turns                        tile.Turns
	ringQ, ringK, ringRaw, ringV tile.Ring
}

func newGen(k *build.Kernel, p Problem, c Config) *gen {
	g := &gen{k: k, p: p, c: c, d: p.HeadDim, plan: c.plan(p.HeadDim)}
	g.q, g.kk, g.v = k.ParamTensorMap("q"), k.ParamTensorMap("k"), k.ParamTensorMap("v")
	g.qs, g.ks, g.vs = k.ParamGlobalF32("qs"), k.ParamGlobalF32("ks"), k.ParamGlobalF32("vs")
	g.o = k.ParamGlobalB16("o")
	if p.LSE {
		g.lse = k.ParamGlobalF32("lse")
	}
	g.heads, g.shared, g.perBatch = k.ParamU32("heads"), k.ParamU32("group"), k.ParamU32("perBatch")
	g.seqQ, g.seqKV = k.ParamU32("seqQ"), k.ParamU32("seqKV")
	g.scale = k.ParamF32("scale")
	g.wg = tile.NewWarpgroup(k, k.TidX().And(k.U32(warpgroupThreads-1)))
	g.rank = k.U32(0)
	if c.Split > 1 {
		g.rank = k.ClusterCtarank()
	}
	g.lieAt(k.DynamicShared(1024))
	return g
}

// lieAt says where the block's shared memory begins.
func (g *gen) lieAt(mem build.Shared[build.B8]) {
	g.mem = mem
	for i, r := range []*tile.Ring{&g.ringQ, &g.ringK, &g.ringRaw, &g.ringV} {
		*r = tile.NewRing(g.k, build.SharedAs[build.B64](mem, g.plan.barriers[i]), g.c.slots(i))
	}
	g.turns = tile.NewTurns(g.k, build.SharedAs[build.B64](mem, g.plan.turns), g.c.turnTakers())
}

// uniform is a number that all lanes of a warp agree on, said so that the assembler
// knows: it then keeps what follows from it in registers of the warp.
func (g *gen) uniform(x build.U32) build.U32 {
	k := g.k
	return x.ShflSyncIdx(k.U32(0), k.U32(31), k.FullMask())
}

// transposers are the warps that transpose V.
const transposers = 3

// open makes the barriers, four warps a part of them: they are made one after the other,
// and the first copy waits for them. A consumer warp, or a transposing one, arrives once
// for all its lanes; a copy is announced by the one thread that starts it.
func (g *gen) open() {
	const warps = 4
	k := g.k
	counts := g.arrivals()
	exchanged := (g.plan.exchanged - g.plan.barriers[0]) / 8 // the number of the first
	for w := range warps {
		k.If(k.TidX().SetpEq(k.U32(uint32(32*w))), func() {
			for i := w; i < len(counts); i += warps {
				bar := build.SharedAs[build.B64](g.mem, g.plan.barriers[0]).Plus(i)
				k.MbarrierInit(bar, k.U32(uint32(counts[i])))
				if i >= exchanged {
					g.expectShares(bar)
				}
			}
			k.FenceMbarrierInitReleaseCluster() // the copy engine sees them, too
		})
	}
	k.If(k.TidX().SetpEq(k.U32(32*warps)), func() {
		for _, m := range []build.TensorMap{g.q, g.kk, g.v} {
			k.PrefetchTensormap(m.Addr())
		}
	})
	if g.c.SumColumn {
		g.fillSumColumn()
	}
	k.SyncThreads()
	if g.c.Split > 1 {
		k.BarrierClusterArrive(build.Relaxed) // this block is there: see exchange.go
	}
}

// arrivals are how many complete a phase of each barrier, in the order in which they lie
// in memory.
func (g *gen) arrivals() (counts []int) {
	consumers := 4 * g.c.Warpgroups
	users := 4 * g.c.rowTiles() // of a slot of K or V
	for ring, n := range [rings][2]int{{1, consumers}, {1, users}, {1, transposers}, {transposers, users}} {
		for _, side := range n {
			counts = append(counts, slices.Repeat([]int{side}, g.c.slots(ring))...)
		}
	}
	counts = append(counts, slices.Repeat([]int{1}, g.c.turnTakers())...)
	if g.c.sharers() > 1 {
		counts = append(counts, slices.Repeat([]int{g.c.arrivals()}, g.c.Warpgroups)...)
	}
	return counts
}

// take gives a warpgroup the registers of its role, if those that all have at first are
// too few.
func (g *gen) take(n int) {
	start := g.c.registers().start
	switch {
	case g.c.registersNeeded(g.p) <= start:
	case n < start:
		g.k.SetmaxnregDec(n)
	case n > start:
		g.k.SetmaxnregInc(n)
	}
}

// item is one tile of query rows of one head: what a block does at a time.
type item struct {
	number build.U32 // how many the block has done before
	head   build.U32 // of Q, counted through the batch
	row0   build.U32 // its first row
	first  build.U32 // the first tile of K and V, which is the last that is worked on
	tiles  build.U32 // how many
}

// eachItem runs body for the block's items. A block has one, by its place in the grid;
// persistent blocks go on to the next as long as there are any. Neighbouring blocks work
// on the same head, whose K and V then come from the L2 cache. Of causal problems all
// heads' last tiles of queries come first: they have the most keys, and what is left for
// the end is short.
func (g *gen) eachItem(body func(item)) {
	k, m := g.k, uint32(g.c.rows())
	if !g.c.Persistent {
		t, head := g.over(k.CtaidX(), g.c.Split), k.CtaidY()
		if g.p.Causal {
			head, t = t, k.NctaidY().Sub(k.U32(1)).Sub(head)
		}
		body(g.item(k.U32(0), head, t.MulLo(k.U32(m))))
		return
	}
	rowTiles, number := g.over(g.seqQ.Add(k.U32(m-1)), int(m)), k.U32(0).Var()
	slow, fast := g.heads, rowTiles // how many there are of what changes seldom, and often
	if g.p.Causal {
		slow, fast = rowTiles, g.heads
	}
	var i, s build.U32
	k.While(func() build.Pred {
		i = g.nth(number.Get())
		s = i.Div(fast)
		return s.SetpLt(slow) // one that is beyond the end is in the last round
	}, func() {
		head, t := s, i.Sub(s.MulLo(fast))
		if g.p.Causal {
			head, t = t, rowTiles.Sub(k.U32(1)).Sub(s)
		}
		body(g.item(number.Get(), head, t.MulLo(k.U32(m))))
		number.Set(number.Get().Add(k.U32(1)))
	})
}

// nth is which of all items the block takes in its round n.
//
// Of causal ones, the longest come first: every other round goes through the blocks
// backwards, so that none has the longest of each.
func (g *gen) nth(n build.U32) build.U32 {
	k := g.k
	place := k.CtaidX()
	if g.p.Causal {
		back := k.NctaidX().Sub(k.U32(1)).Sub(place)
		place = back.Selp(place, n.And(k.U32(1)).SetpEq(k.U32(1)))
	}
	return n.MadLo(k.NctaidX(), place)
}

// item is the item of a head that starts at row0.
func (g *gen) item(number, head, row0 build.U32) item {
	k, n := g.k, uint32(g.c.TileN)
	keys := g.seqKV
	if g.p.Causal { // the item's last row sees the most
		last := row0.Add(k.U32(uint32(g.c.rows()))).Min(g.seqQ)
		keys = g.sees(last)
	}
	it := item{number: number, head: head, row0: row0, first: k.U32(0), tiles: g.over(keys.Add(k.U32(n-1)), int(n))}
	if g.c.Split > 1 {
		share := func(r build.U32) build.U32 { return g.over(r.MulLo(it.tiles), g.c.Split) }
		it.first = share(g.rank)
		it.tiles = share(g.rank.Add(k.U32(1))).Sub(it.first)
	}
	return it
}

// over is x/n rounded down, for x below 2^31 and n a power of two or three times one.
// The assembler makes a reciprocal and a dozen instructions more of a division, by a
// constant as well, and the first copy would have to wait for them.
func (g *gen) over(x build.U32, n int) build.U32 {
	k := g.k
	shift := bits.TrailingZeros(uint(n))
	switch n >> shift {
	case 1:
		if shift == 0 {
			return x
		}
		return x.Shr(k.U32(uint32(shift)))
	case 3:
		return x.MulHi(k.U32((1<<33 + 1) / 3)).Shr(k.U32(uint32(shift + 1)))
	}
	k.Errorf("a division by %d: there is one by powers of two and three times these", n)
	return x
}

// sees is how many keys the row before row n sees: n+SeqKV-SeqQ, or none.
func (g *gen) sees(n build.U32) build.U32 {
	sum := n.Add(g.seqKV)
	return sum.Max(g.seqQ).Sub(g.seqQ)
}

// groupRow is the first of the item's rows that the warpgroup computes.
func (g *gen) groupRow() build.U32 { return g.rowTile().MulLo(g.k.U32(warpgroupRows)) }

// rowTile is which of the item's tiles of 64 rows the warpgroup computes.
func (g *gen) rowTile() build.U32 {
	k, n := g.k, g.c.rowTiles()
	if n == 1 {
		return k.U32(0)
	}
	number := g.group.Sub(k.U32(1))
	if g.c.perBlock() > 1 {
		return number.Sub(g.over(number, n).MulLo(k.U32(uint32(n))))
	}
	return number
}

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

// headKV is the head of K and V that an item's head shares with others.
func (g *gen) headKV(it item) build.U32 {
	if g.p.HeadsKV == g.p.Heads {
		return it.head
	}
	return it.head.Div(g.shared)
}
