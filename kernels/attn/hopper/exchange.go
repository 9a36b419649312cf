package hopper

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
	"github.com/GOATnote-Inc/attest/problem"
)

// Warpgroups that split the keys of a tile of queries merge their results in one step. They
// are in one block, or in both blocks of a cluster. Each has O and l over its own keys and
// owns a share of the columns of the output. It sends every owner the owner's columns of
// O/l, and the log₂ of its row sums, from registers to the owner's inbox:
//
//	within the block  st.shared, then one arrival per warp at the owner's mbarrier
//	to another block  st.async, whose bytes the owner's mbarrier counts
//
// An owner waits only at its own mbarrier, which expects the bytes from the beginning. No
// warpgroup waits for what it has sent. The barrier of the cluster is used once: all threads
// arrive after their mbarriers are initialised, and wait before they send.
//
// A block does not end while data is on its way to it, because each of its warpgroups waits
// for all shares that it receives. A block may send before the owner has finished its tiles,
// so inboxes have memory of their own.
//
// O/l is at most about as large as the largest value of V, so it is sent as f16: half the
// bytes, and no more rounding than in the output. Rounding P to e4m3 can make it twice as
// large, which for e5m2 exceeds the range of f16: O/l is then sent in units of 16.

// sharers returns the number of warpgroups that split the keys of a tile of queries.
func (c Config) sharers() int { return c.Split * c.perBlock() }

// perBlock returns how many of the sharers are in one block.
func (c Config) perBlock() int {
	if c.SplitInBlock {
		return 2
	}
	return 1
}

// share is what one warpgroup sends to another: columns of O/l and one number per row. A
// thread has elements of it in units of 16 bytes; all threads together have bytes.
type share struct{ columns, elements, units, bytes int }

func (c Config) share(dv int) share {
	columns := dv / c.sharers()
	elements := columns / 2
	units := elements * 2 / 16
	return share{columns, elements, units, (warpgroupThreads*units + warpgroupRows*4/16) * 16}
}

// remote returns how many sharers are in the other block of the cluster.
func (c Config) remote() int { return c.sharers() - c.perBlock() }

// arrivals returns how many arrivals complete the phase that a warpgroup waits for: one per
// warp of the block's other sharers, and one that announces the bytes from the other block.
func (c Config) arrivals() int { return 4*(c.perBlock()-1) + c.Split - 1 }

// expectShares announces the bytes that the other block will send to a warpgroup.
func (g *gen) expectShares(bar build.Shared[build.B64]) {
	if n := g.c.remote(); n > 0 {
		g.k.MbarrierArriveExpectTx(bar, n*g.c.share(g.dv).bytes)
	}
}

// exchanged returns the mbarrier of the block's first sharer of a tile of rows.
func (g *gen) exchanged(rowTile build.U32) build.Shared[build.B64] {
	first := rowTile.MulLo(g.c.perBlock())
	return build.SharedAs[build.B64](g.mem, g.plan.exchanged).At(first)
}

// inboxes returns the inbox of the block's first sharer of a tile of rows.
func (g *gen) inboxes(rowTile build.U32) build.Shared[build.B32] {
	first := rowTile.MulLo(g.c.perBlock() * g.plan.inbox / 4)
	return build.SharedAs[build.B32](g.mem, g.plan.inboxes).At(first)
}

// exchange sends the other sharers their shares, and writes this warpgroup's columns of O.
func (a *consumer) exchange(it part.Item, base, l []build.F32) {
	g := a.g
	k := g.k
	inBlock := g.inBlock()
	me := inBlock
	if g.c.Split > 1 {
		me = g.rank.MadLo(g.c.perBlock(), inBlock)
	}
	columns := g.c.share(g.dv).columns
	a.sendShares(me, base, l)
	a.arrive(inBlock)
	// Computed here, the addresses cost no time: the shares from others are on their way.
	to := a.outputRows(it, me.MulLo(columns))
	a.awaitShares(inBlock)

	mine := g.inboxes(g.rowTile()).At(inBlock.MulLo(g.plan.inbox / 4))
	weight, norm, lse := a.weighShares(mine)
	U := a.wg.Accumulator(columns)
	for src := range weight {
		for i, x := range a.received(mine, src) {
			U.Set(i, x.FmaRn(weight[src][i/2%slots], U.Get(i)))
		}
	}
	g.out.StoreInterleaved(to, U, columns, norm)
	if g.p.LSE {
		k.If(me.SetpEq(0), func() { a.storeLSE(it, lse) })
	}
}

// sendShares sends each sharer its columns of O/l and the log₂ of the row sums, to the other
// block first. A row that has seen no key has l = 0 and sends zeros and -∞.
func (a *consumer) sendShares(me build.U32, base, l []build.F32) {
	g := a.g
	k := g.k
	parts := g.inboxes(g.rowTile())
	s := sending{
		a:    a,
		unit: parts.At(g.unitOf(me, 0, a.wg.Thread)), log: parts.At(g.logOf(me, a.wg.Thread)),
		first: a.wg.Lane.And(3).SetpEq(0),
	}
	for i := range slots {
		inverse := g.times(l[i].RcpApprox(build.Ftz), 1/g.sentIn())
		s.inverse[i] = inverse.Selp(0, l[i].SetpNeu(0))
		s.logs[i] = build.Cast[build.B32](l[i].Lg2Approx(build.Ftz).Sub(base[i], build.Rn))
	}
	for rank := range g.c.Split { // the registers of a share depend on the rank
		k.If(g.rank.SetpEq(rank), func() {
			for i := range g.c.sharers() {
				s.send(rank, ((rank+1)*g.c.perBlock()+i)%g.c.sharers())
			}
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

// sending holds what a thread needs to send: 1/l in units of sentIn, the log₂ of the row
// sums, and where its part of a share goes in the first inbox of a block.
type sending struct {
	a         *consumer
	inverse   [slots]build.F32
	logs      [slots]build.B32
	unit, log build.Shared[build.B32]
	first     build.Pred // the lane sends the logarithms of its row
}

// put writes two or four words to an inbox.
type put func(at build.Shared[build.B32], x []build.B32)

// send writes an owner's share to its inbox, from block rank.
func (s sending) send(rank, owner int) {
	g := s.a.g
	p := store
	if owner/g.c.perBlock() != rank {
		p = s.storeAsync(owner)
	}
	inbox := owner % g.c.perBlock() * g.plan.inbox / 4
	words := s.words(owner)
	for u := 0; u < len(words); u += 4 {
		p(s.unit.Plus(inbox+u*warpgroupThreads), words[u:][:4])
	}
	g.k.If(s.first, func() { p(s.log.Plus(inbox), s.logs[:]) })
}

func store(at build.Shared[build.B32], x []build.B32) {
	if len(x) == 2 {
		at.StV2([2]build.B32(x))
		return
	}
	at.StV4([4]build.B32(x))
}

// storeAsync returns a put that writes to the owner's block. The owner's mbarrier counts the
// bytes.
func (s sending) storeAsync(owner int) put {
	g := s.a.g
	k := g.k
	to := k.U32(uint32(owner / g.c.perBlock()))
	bar := build.Mapa(g.exchanged(k.U32(0)).Plus(owner%g.c.perBlock()), to)
	return func(at build.Shared[build.B32], x []build.B32) { k.StAsyncB32(build.Mapa(at, to), x, bar) }
}

// words returns a thread's elements of an owner's share, as pairs of f16.
func (s sending) words(owner int) (words []build.B32) {
	g := s.a.g
	n := g.c.share(g.dv).elements
	x := func(i int) build.F32 { return s.a.O.Get(i).Mul(s.inverse[i/2%slots], build.Rn) }
	for i := owner * n; i < (owner+1)*n; i += 2 {
		words = append(words, build.Cast[build.B32](x(i+1).CvtRnF16x2(x(i))))
	}
	return words
}

// unitOf returns the offset, in words, of a thread's unit u from sharer src in an inbox.
func (g *gen) unitOf(src build.U32, u int, thread build.U32) build.U32 {
	perShare := g.c.share(g.dv).units * warpgroupThreads * 4
	return src.MadLo(perShare, thread.Shl(2)).Add(u * warpgroupThreads * 4)
}

// logOf returns the offset, in words, of the logarithms of a thread's rows from sharer src.
func (g *gen) logOf(src, thread build.U32) build.U32 {
	logs := g.c.sharers() * g.c.share(g.dv).units * warpgroupThreads * 4
	return src.MadLo(warpgroupRows, thread.Shr(2).Shl(1)).Add(logs)
}

// arrive tells the block's other sharers that their shares have arrived.
func (a *consumer) arrive(inBlock build.U32) {
	g := a.g
	k := g.k
	a.wg.Sync() // the logarithms of a row are written by one of its lanes and read by all
	if g.c.perBlock() == 1 {
		return
	}
	k.If(a.wg.One(), func() {
		for i := 1; i < g.c.perBlock(); i++ { // a power of two of them
			k.MbarrierArrive(g.exchanged(g.rowTile()).At(inBlock.Xor(i)))
		}
	})
}

// awaitShares waits until all shares for this warpgroup have arrived.
func (a *consumer) awaitShares(inBlock build.U32) {
	k := a.g.k
	bar := a.g.exchanged(a.g.rowTile()).At(inBlock)
	if a.g.c.Split == 1 {
		k.MbarrierWait(bar, 0)
		return
	}
	k.Until(func() build.Pred { return k.MbarrierTryWaitParity(bar, 0, build.Acquire, build.Cluster) })
}

// received returns the elements of the share from sharer src.
func (a *consumer) received(inbox build.Shared[build.B32], src int) (xs []build.F32) {
	g := a.g
	for u := range g.c.share(g.dv).units {
		for _, w := range inbox.At(g.unitOf(g.k.U32(uint32(src)), u, a.wg.Thread)).LdV4() {
			lo, hi := build.Unpack2[build.F16](w)
			xs = append(xs, lo.CvtF32(), hi.CvtF32())
		}
	}
	return xs
}

// weighShares returns the weight of each sharer's O/l, by sharer and row slot, the factor that
// normalises the weighted sum, and the LSE.
func (a *consumer) weighShares(inbox build.Shared[build.B32]) (weight [][]build.F32, norm, lse []build.F32) {
	g := a.g
	logs := make([][]build.F32, g.c.sharers())
	for src := range logs {
		pair := build.SharedAs[build.F32](inbox.At(g.logOf(g.k.U32(uint32(src)), a.wg.Thread)), 0).LdV2()
		logs[src] = pair[:]
	}
	return part.Weigh(g.k, logs, func() build.F32 { return g.times(a.vs.Get(), g.sentIn()) }, g.p.LSE)
}
