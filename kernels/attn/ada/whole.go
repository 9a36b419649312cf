package ada

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// With [Config.Whole], all keys and values of a head have a place in shared memory, and the few rounds
// are written one after the other. So all offsets are constants, the first round needs no O before it,
// and no warp waits until another warp has read a slot. One more warp, the producer, copies K and V in
// the order in which they are needed. The others wait only for copies: each group of copies has an
// mbarrier.

// attendWhole computes an item.
func (g *gen) attendWhole(it part.Item) {
	k := g.k
	f := g.newFeed(it)
	k.If(g.tid.SetpGe(32*g.c.rowGroups()*g.c.Shares), f.run).Else(func() {
		a := g.newWarp(it)
		a.loadQ()
		factors := g.scales.Load(it.HeadInBatch)
		a.open()
		k.SyncThreads() // see feed.run
		f.wait(firstKeys)
		a.prepare(factors())
		k.If(it.Tiles.SetpGt(0), func() {
			a.scores(a.S, a.K, 0, 0, stepKeys) // S = Q·Kᵀ
			if g.c.TileN > stepKeys {
				f.wait(otherKeys)
				a.scores(a.S, a.K, 0, stepKeys, g.c.TileN)
			}
			a.round(f, 0)
		}).Else(a.announce)
		a.end()
	})
}

// round computes round n, whose scores are in S, and the rounds after it.
func (a *warp) round(f *feed, n int) {
	g := a.g
	if n == 0 || g.p.Causal {
		a.mask(a.S, f.last.Sub(n))
	}
	x := a.weigh(a.S)
	f.wait(valuesOf + n)
	output := func() { a.output(a.V, n*g.c.TileN, x, n == 0) } // O = w·O + P·V
	last := func() {
		a.announce()
		output()
	}
	if n+1 == g.c.Stages {
		last()
		return
	}
	g.k.If(a.it.Tiles.SetpGt(n+1), func() {
		a.scores(a.S, a.K, (n+1)*g.c.TileN, 0, g.c.TileN) // S = Q·Kᵀ of the next round
		output()
		a.round(f, n+1)
	}).Else(last)
}

// feed copies the keys and values of all teams. Round n has KV tile last-n: only the first round has
// rows beyond the end.
type feed struct {
	copier // of the producer
	it     part.Item
	last   build.U32 // the KV tile of round 0
	bars   build.Shared[build.B64]
	k, v   build.Global[build.B8]
	until  build.S32 // bytes from the lane's first unit to the end of the head
}

// The groups of copies of a team. The first scores need only the first keys.
const (
	firstKeys = iota // the first 32 keys of round 0
	otherKeys        // the other keys of round 0
	valuesOf         // the values of round 0 and the keys of round 1; the next group is for round 1
)

func (g *gen) newFeed(it part.Item) *feed {
	return &feed{copier: copier{g: g}, it: it, last: it.Tiles.Sub(1), bars: build.SharedAs[build.B64](g.mem, g.plan.bars)}
}

// wait waits for the copies of the team's group n.
func (f *feed) wait(n int) {
	bar := f.bars.At(f.g.share.MulLo(f.g.c.groups())).Plus(n)
	f.g.k.Until(func() build.Pred { return f.g.k.MbarrierTestWaitParity(bar, 0) })
}

// run is the producer. It initialises the mbarriers and starts the copies of the first keys. When the
// other warps have asked for Q and the scales, it starts all other copies: in another order, what is
// needed last would delay what is needed first.
func (f *feed) run() {
	g, k := f.g, f.g.k
	f.copier = g.newCopier(g.w.Lane, 32, g.tile(g.plan.rings, g.c.TileN))
	row0 := f.last.MulLo(g.c.roundKeys())
	head := g.headKV(f.it)
	f.k, f.v = f.head(g.kk, head, g.seqKV, row0), f.head(g.v, head, g.seqKV, row0)
	first := row0.MulLo(g.d).Add(g.w.Lane.MulLo(unitBytes))
	f.until = build.Cast[build.S32](g.seqKV.MulLo(g.d).Sub(first))
	f.initBars()
	any := f.it.Tiles.SetpGt(0)
	f.when(nil, func() {
		k.If(any, func() {
			f.each(func(team int) {
				f.copy(f.k, 0, 0, team, 0, stepKeys)
				f.arrive(team, firstKeys)
			})
		}).Else(func() { f.each(func(team int) { f.arrive(team, firstKeys) }) })
	})
	k.SyncThreads()
	f.when(&any, func() {
		if g.c.TileN > stepKeys {
			f.each(func(team int) {
				f.copy(f.k, 0, 0, team, stepKeys, g.c.TileN)
				f.arrive(team, otherKeys)
			})
		}
		f.rounds(0)
	})
}

// initBars initialises the mbarriers of all teams. Each lane that copies arrives at them.
func (f *feed) initBars() {
	g, lane := f.g, f.g.w.Lane
	lanes, bars := rowsAtOnce(g.c.TileN, g.d, 32)*g.d/unitBytes, g.c.Shares*g.c.groups()
	g.k.If(lane.SetpLt(bars), func() { g.k.MbarrierInit(f.bars.At(lane), lanes) })
	g.w.Sync()
}

// rounds copies the values of round n, the keys of the next round, and what comes after them.
func (f *feed) rounds(n int) {
	g := f.g
	group := func(keys bool) {
		f.each(func(team int) {
			f.copy(f.v, g.plan.values, n, team, 0, g.c.TileN)
			if keys {
				f.copy(f.k, 0, n+1, team, 0, g.c.TileN)
			}
			f.arrive(team, valuesOf+n)
		})
	}
	if n+1 == g.c.Stages {
		group(false)
		return
	}
	g.k.If(f.it.Tiles.SetpGt(n+1), func() {
		group(true)
		f.rounds(n + 1)
	}).Else(func() { group(false) })
}

// each runs do for each team. The last team comes first: its warps are the youngest, and among warps
// that are ready a scheduler prefers the youngest.
func (f *feed) each(do func(team int)) {
	for team := f.g.c.Shares - 1; team >= 0; team-- {
		do(team)
	}
}

// arrive counts this lane at the mbarrier of a team's group n when its copies so far have arrived.
func (f *feed) arrive(team, n int) {
	f.g.k.CpAsyncMbarrierArrive(f.bars.Plus(team*f.g.c.groups()+n), build.Noinc)
}

// copy starts the copies of rows row0 to row1-1 of a team's tile of round n. at is the place of the
// tiles in the team's memory. In round 0, rows beyond the end become zeros, so that no warp reads
// uninitialised shared memory.
func (f *feed) copy(from build.Global[build.B8], at, n, team, row0, row1 int) {
	g := f.g
	for _, u := range f.units {
		if row := u.bytes / g.d; row < row0 || row >= row1 {
			continue
		}
		to := build.SharedAs[build.B8](u.at, team*g.plan.team+at+n*g.plan.tile)
		bytes := u.bytes + (team*g.c.TileN-n*g.c.roundKeys())*g.d
		if n == 0 {
			size := g.k.U32(unitBytes).Selp(0, f.until.SetpGt(bytes))
			g.k.CpAsyncCgSrcSize(to, from.Plus(bytes), unitBytes, size)
		} else {
			g.k.CpAsyncCg(to, from.Plus(bytes), unitBytes)
		}
	}
}
