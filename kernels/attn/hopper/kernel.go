package hopper

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// write returns the kernel and the arguments of its launch. The text depends on the
// problem's facts and on whether heads share K and V, but not on its sizes.
func write(p problem.Attention, c Config) (*build.Kernel, []kernel.Arg, error) {
	if err := c.Check(p); err != nil {
		return nil, nil, fmt.Errorf("hopper attention kernel %v: %w", c, err)
	}
	k := build.New(attn.EntryName("hopper", p), ptx.SM90a)
	k.ReqNTid(c.threads())
	if c.registers().start > enoughRegisters {
		k.MaxNReg(c.mostRegisters(p))
	} else {
		k.MinNCTAPerSM(c.BlocksPerSM)
	}
	if c.Split > 1 {
		k.ReqNCTAPerCluster(c.Split, 1, 1)
		k.Version(8, 1) // has st.async
	}
	g := newGen(k, p, c)
	if c.Dependent {
		k.GriddepcontrolLaunchDependents() // the next launch waits for the end of this one in any case
	}
	g.open()
	if c.Dependent {
		k.GriddepcontrolWait()
	}
	g.group = g.uniform(k.TidX().Shr(7)) // after open: the shuffle would delay the barriers
	k.If(g.group.SetpEq(0), g.produce).Else(g.consume)
	return k, g.args, nil
}

// gen holds what all parts of the kernel that is being written need.
type gen struct {
	k    *build.Kernel
	p    problem.Attention
	c    Config
	d    int // head dimension of Q and K
	dv   int // head dimension of V and O
	plan plan
	args []kernel.Arg // the arguments of the launch, in the order of the parameters

	q, kk, v                     build.TensorMap
	qs, ks, vs                   build.Global[build.F32]
	o                            build.Global[build.B16]
	lse                          build.Global[build.F32]
	heads, headsPerKV, perBatch  build.U32
	seqQ, seqKV                  build.U32
	scale                        build.F32
	mem                          build.Shared[build.B8]
	rank                         build.U32 // the rank in the cluster
	group                        build.U32 // the thread's warpgroup: 0 produces
	wg                           tile.Warpgroup
	pingPong                     tile.PingPong
	mask                         part.Mask
	work                         part.Work
	scales                       part.Scales
	out                          part.Output
	ringQ, ringK, ringRaw, ringV tile.Ring
	parts                        parts     // of items whose keys are split over blocks
	given                        build.F32 // c of the item whose descriptor was read last
}

func newGen(k *build.Kernel, p problem.Attention, c Config) *gen {
	g := &gen{k: k, p: p, c: c, d: p.D, dv: p.DimV(), plan: c.plan(p.HeadDim())}
	params := attn.NewParams(k)
	g.q, g.kk, g.v = params.Map(tensorMap("q", "H", "Sq", "D", p.D, warpgroupRows)), params.Map(tensorMap("k", "Hkv", "Skv", "D", p.D, c.TileN)), params.Map(tensorMap("v", "Hkv", "Skv", attn.DimV(p), p.DimV(), c.TileN))
	g.qs, g.ks, g.vs = params.Floats("qs"), params.Floats("ks"), params.Floats("vs")
	g.o = params.Halves("o")
	if p.LSE {
		g.lse = params.Floats("lse")
	}
	g.heads, g.headsPerKV, g.perBatch = params.U32("heads", "B*H"), params.U32("group", "H/Hkv"), params.U32("perBatch", "H")
	g.seqQ, g.seqKV = params.U32("seqQ", "Sq"), params.U32("seqKV", "Skv")
	g.scale = params.F32("scale", "scale")
	if c.Balanced {
		g.declareParts(params)
	}
	g.args = params.Args()
	g.wg = tile.NewWarpgroup(k, k.TidX().And(warpgroupThreads-1))
	g.rank = k.U32(0)
	if c.Split > 1 {
		g.rank = k.ClusterCtarank()
	}
	g.mask = part.Mask{K: k, SeqQ: g.seqQ, SeqKV: g.seqKV, Causal: p.Causal}
	g.work = part.Work{K: k, Rows: c.rows(), Keys: c.TileN, Heads: g.heads, Mask: g.mask, Persistent: c.Persistent, Split: c.Split, Rank: g.rank, Balance: g.parts.balance, Ranges: g.parts.ranges}
	g.scales = part.Scales{K: k, Q: g.qs, Key: g.ks, V: g.vs, Softmax: g.scale, HeadsInBatch: g.perBatch, Grouped: true, Group: g.headsPerKV, Step: 1}
	g.out = part.Output{K: k, O: g.o, Type: attn.OutputType(p), SeqQ: g.seqQ, D: g.dv}
	g.placeShared(k.DynamicShared(1024))
	return g
}

// placeShared sets the address of the block's shared memory, and places the rings and the
// barriers in it.
func (g *gen) placeShared(mem build.Shared[build.B8]) {
	g.mem = mem
	ring := func(number, at, bytes int) tile.Ring {
		slots := tile.NewBuffers(g.k, build.SharedAs[build.B8](mem, at), bytes, g.c.slots(number, g.d))
		return tile.NewRing(slots, build.SharedAs[build.B64](mem, g.plan.barriers[number]))
	}
	g.ringQ = ring(ringQ, g.plan.q, g.plan.qTile)
	g.ringK = ring(ringK, g.plan.k, g.plan.kTile)
	g.ringRaw = ring(ringRaw, g.plan.raw, g.plan.rawTile)
	g.ringV = ring(ringV, g.plan.v, g.plan.vTile)
	g.pingPong = tile.NewPingPong(g.k, build.SharedAs[build.B64](mem, g.plan.pingPong), g.c.pingPongWarps())
}

// uniform returns x, which has the same value in all lanes of a warp. Through a shuffle,
// ptxas knows that too, and keeps values that depend on x in uniform registers.
func (g *gen) uniform(x build.U32) build.U32 {
	k := g.k
	return x.ShflSyncIdx(0, 31, k.FullMask())
}

// transposers is the number of warps that transpose V.
const transposers = 3

// open initialises the barriers. The first copy waits for them, so four warps share the work.
// A consumer warp or a transposing warp arrives once for all its lanes; for a copy, the
// thread that starts it arrives.
func (g *gen) open() {
	const warps = 4
	k := g.k
	counts := g.arrivals()
	exchanged := (g.plan.exchanged - g.plan.barriers[0]) / 8 // index of the first such barrier
	for w := range warps {
		k.If(k.TidX().SetpEq(32*w), func() {
			for i := w; i < len(counts); i += warps {
				bar := build.SharedAs[build.B64](g.mem, g.plan.barriers[0]).Plus(i)
				k.MbarrierInit(bar, counts[i])
				if i >= exchanged {
					g.expectShares(bar)
				}
			}
			k.FenceMbarrierInitReleaseCluster() // makes them visible to the copy engine
		})
	}
	k.If(k.TidX().SetpEq(32*warps), func() {
		for _, m := range []build.TensorMap{g.q, g.kk, g.v} {
			k.PrefetchTensormap(m.Addr())
		}
	})
	if g.c.SumsInV {
		g.writeOnes()
	}
	k.SyncThreads()
	if g.c.Split > 1 {
		k.BarrierClusterArrive(build.Relaxed) // the barriers are initialised: see exchange.go
	}
}

// arrivals returns how many arrivals complete a phase of each barrier, in the order of the
// barriers in memory.
func (g *gen) arrivals() (counts []int) {
	consumers := 4 * g.c.Warpgroups
	users := 4 * g.c.rowTiles() // warps that use one slot of K or V
	queries := [2]int{1, consumers}
	if g.c.Descriptors { // the loading warp arrives again, and the transposing warps read descriptors, too
		queries = [2]int{2, consumers + transposers}
	}
	for ring, n := range [rings][2]int{queries, {1, users}, {1, transposers}, {transposers, users}} {
		for _, side := range n {
			counts = append(counts, slices.Repeat([]int{side}, g.c.slots(ring, g.d))...)
		}
	}
	counts = append(counts, slices.Repeat([]int{1}, g.c.pingPongWarps())...)
	if g.c.sharers() > 1 {
		counts = append(counts, slices.Repeat([]int{g.c.arrivals()}, g.c.Warpgroups)...)
	}
	return counts
}

// setRegisters gives each thread of a warpgroup the registers of its role, if the number
// that all threads start with is too small.
func (g *gen) setRegisters(n int) {
	start := g.c.registers().start
	switch {
	case g.c.registersNeeded(g.p) <= start:
	case n < start:
		g.k.SetmaxnregDec(n)
	case n > start:
		g.k.SetmaxnregInc(n)
	}
}

// groupRow returns the first of the item's rows that the warpgroup computes.
func (g *gen) groupRow() build.U32 { return g.rowTile().MulLo(warpgroupRows) }

// rowTile returns the number of the warpgroup's tile of 64 rows within the item.
func (g *gen) rowTile() build.U32 {
	k, n := g.k, g.c.rowTiles()
	if n == 1 {
		return k.U32(0)
	}
	number := g.group.Sub(1)
	if g.c.perBlock() > 1 {
		return number.Sub(part.Divide(k, number, n).MulLo(n))
	}
	return number
}

// inBlock returns the warpgroup's number among the warpgroups of the block that split the
// keys of its rows. Its first KV tile has the same number. Warpgroups are numbered first
// through all tiles of rows, then through the warpgroups that split the keys.
func (g *gen) inBlock() build.U32 {
	k := g.k
	if g.c.perBlock() == 1 {
		return k.U32(0)
	}
	return part.Divide(k, g.group.Sub(1), g.c.rowTiles())
}

// headKV returns the head of K and V for an item.
func (g *gen) headKV(it part.Item) build.U32 {
	if g.p.Hkv == g.p.Hq {
		return it.Head
	}
	return it.Head.Div(g.headsPerKV)
}
