package ada

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// feed copies the keys and values of a block with [Config.Whole]. A team is the warps with the same share
// of the keys. Copies are in groups, and each team has an mbarrier for each group. One team's copies come
// after the other's: the teams then have other work to do at the same time, products or exponentials.
//
// Four warps start all copies at the beginning. If all warps copied, the last copies of one warp would be
// started before the first copies of another. Round n has KV tile last-n, so only round 0 has rows beyond
// the end.
type feed struct {
	copier
	it    part.Item
	last  build.U32 // the KV tile of round 0
	bars  build.Shared[build.B64]
	k, v  build.Global[build.B8]
	until build.S32 // bytes from the thread's first unit in round 0 to the end of the head
}

// The groups of copies of a team. Scores are computed a round ahead.
const (
	keysOf   = iota     // the keys of round 0; the next group has those of round 1
	valuesOf = iota + 1 // the values of round 0 and the keys of round 2; the next group is for round 1
)

// feedGroups returns the number of groups of copies of a team.
func (c Config) feedGroups() int { return valuesOf + c.Stages }

// feedBars returns the number of mbarriers for copies.
func (c Config) feedBars() int { return c.Shares * c.feedGroups() }

// feeders returns the number of threads that copy, the last ones of the block, and how many rows they copy
// at a time. 32 rows take them a whole number of times.
func (c Config) feeders(d int) (threads, rows int) {
	rows = rowsAtOnce(stepKeys, d, min(4*32, c.threads()))
	return rows * d / unitBytes, rows
}

func (g *gen) newFeed(it part.Item) *feed {
	return &feed{copier: copier{g: g}, it: it, last: it.Tiles.Sub(1), bars: build.SharedAs[build.B64](g.mem, g.plan.bars)}
}

// run starts all copies. It contains a barrier of the block, after which the mbarriers are initialised.
func (f *feed) run() {
	g, k := f.g, f.g.k
	warps := ceil(f.threads(), 32)
	if warps == g.c.threads()/32 {
		f.feed()
		return
	}
	k.If(g.warp.SetpGe(g.c.threads()/32-warps), f.feed).Else(k.SyncThreads)
}

// threads returns the number of threads that copy.
func (f *feed) threads() int {
	n, _ := f.g.c.feeders(f.g.d)
	return n
}

// feed starts all copies in the warps that copy. The barrier comes after the first ones: so these come
// first.
func (f *feed) feed() {
	g, k := f.g, f.g.k
	any := f.it.Tiles.SetpGt(0)
	f.open()
	f.when(&any, func() {
		f.each(func(team int) { f.copy(f.k, 0, 0, team) })
	})
	f.initBars()
	k.SyncThreads()
	f.when(&any, func() {
		f.each(func(team int) { f.arrive(team, keysOf) })
		if g.c.Stages > 1 {
			k.If(f.it.Tiles.SetpGt(1), func() {
				f.each(func(team int) {
					f.copy(f.k, 0, 1, team)
					f.arrive(team, keysOf+1)
				})
			})
		}
		f.copyRound(0)
	})
}

// open finds the units of the thread.
func (f *feed) open() {
	g := f.g
	threads, rows := g.c.feeders(g.d)
	first := g.c.threads() - 32*ceil(threads, 32)
	f.thread = g.tid.Sub(first)
	if threads%32 != 0 {
		p := f.thread.SetpLt(threads)
		f.copies = &p
	}
	perRow := g.d / unitBytes
	row := part.Divide(g.k, f.thread, perRow)
	to := g.tile(g.plan.rings, g.c.roundKeys()).Cursor(row, f.thread.Sub(row.MulLo(perRow)).MulLo(unitBytes/2))
	for down := 0; down < stepKeys; down += rows {
		f.units = append(f.units, unit{down * g.d, to.At(down, 0)})
	}
	row0, head := f.last.MulLo(g.c.roundKeys()), g.headKV(f.it)
	f.k, f.v = f.head(g.kk, head, g.seqKV, row0), f.head(g.v, head, g.seqKV, row0)
	f.until = build.Cast[build.S32](g.seqKV.Sub(row0).MulLo(g.d).Sub(f.thread.MulLo(unitBytes)))
}

// initBars initialises the mbarriers: those for copies, at which threads arrive, and one for the sums of
// each row group, at which warps arrive.
func (f *feed) initBars() {
	g, k, copies := f.g, f.g.k, f.g.c.feedBars()
	k.If(f.thread.SetpLt(copies+g.c.rowGroups()), func() {
		k.MbarrierInit(f.bars.At(f.thread), k.U32(uint32(f.threads())).Selp(uint32(g.c.Shares), f.thread.SetpLt(copies)))
	})
}

// copyRound copies the values of round n, the keys of round n+2, and what comes after them.
func (f *feed) copyRound(n int) {
	g := f.g
	group := func(keys bool) {
		f.each(func(team int) {
			if keys {
				f.copy(f.k, 0, n+2, team)
			}
			f.copy(f.v, g.plan.values-g.plan.rings, n, team)
			f.arrive(team, valuesOf+n)
		})
	}
	if n+2 >= g.c.Stages {
		group(false)
	} else {
		g.k.If(f.it.Tiles.SetpGt(n+2), func() { group(true) }).Else(func() { group(false) })
	}
	if n+1 < g.c.Stages {
		g.k.If(f.it.Tiles.SetpGt(n+1), func() { f.copyRound(n + 1) })
	}
}

// each runs do for each team.
func (f *feed) each(do func(team int)) {
	for team := f.g.c.Shares - 1; team >= 0; team-- {
		do(team)
	}
}

// copy starts the copies of a team's tile of round n. at is the distance of the rows from those of K. In
// round 0, rows beyond the end become zeros, so that no warp reads uninitialised shared memory.
func (f *feed) copy(from build.Global[build.B8], at, n, team int) {
	g := f.g
	for row := team * g.c.TileN; row < (team+1)*g.c.TileN; row += stepKeys {
		for _, u := range f.units {
			to := build.SharedAs[build.B8](u.at, at+n*g.plan.tile+row*g.pitch())
			bytes := u.bytes + (row-n*g.c.roundKeys())*g.d
			if n > 0 {
				g.k.CpAsyncCg(to, from.Plus(bytes), unitBytes)
				continue
			}
			size := g.k.U32(unitBytes).Selp(0, f.until.SetpGt(bytes))
			g.k.CpAsyncCgSrcSize(to, from.Plus(bytes), unitBytes, size)
		}
	}
}

// arrive counts this thread at the mbarrier of a team's group when its copies so far have come.
func (f *feed) arrive(team, group int) {
	f.g.k.CpAsyncMbarrierArrive(f.bars.Plus(team*f.g.c.feedGroups()+group), build.Noinc)
}

// wait waits for the copies of the team's group.
func (f *feed) wait(group int) {
	f.waitFor(f.bars.At(f.g.share.MulLo(f.g.c.feedGroups())).Plus(group))
}

// announced counts the warp as one that has announced its sums.
func (f *feed) announced() {
	g := f.g
	g.w.Sync()
	g.k.If(g.w.Lane.SetpEq(0), func() { g.k.MbarrierArrive(f.sumsBar()) })
}

// waitSums waits until the warps with the same rows have announced their sums.
func (f *feed) waitSums() { f.waitFor(f.sumsBar()) }

func (f *feed) sumsBar() build.Shared[build.B64] {
	return f.bars.At(f.g.group).Plus(f.g.c.feedBars())
}

// waitFor waits for the only phase of an mbarrier.
func (f *feed) waitFor(bar build.Shared[build.B64]) {
	f.g.k.Until(func() build.Pred { return f.g.k.MbarrierTestWaitParity(bar, 0) })
}
