package decode

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// partial returns the number of a row of an item among the partial results of a block.
func (g *gen) partial(it item, position, number build.U32) build.U64 {
	rows := it.rows
	if g.c.RowBlocks {
		rows, number = g.k.U32(uint32(g.c.tileRows())), number.Sub(it.firstRow)
	}
	return it.slot.Add(position).MulWide(rows).Add(number.CvtU64())
}

// storePartial writes the block's result.
func (g *gen) storePartial(it item, rows [2]row, s sums) {
	k := g.k
	column := s.first.Shl(2).Add(g.lane.And(3)).Shl(2)
	for i, r := range rows {
		k.If(s.stores(r), func() {
			at := g.partial(it, it.position, r.number)
			to := build.GlobalAt[build.F32](g.partialO.Addr().Add(at.MulLo(4 * g.dv)).Add(column.Shl(2).CvtU64()))
			for u, values := range s.values {
				to.Plus(16 * u).StV4(values[i])
			}
			k.If(column.SetpEq(0), func() {
				build.GlobalAt[build.F32](g.partialL.Addr().Add(at.Shl(3))).StV2([2]build.F32{s.reference[i], s.l[i]})
			})
		})
	}
}

// lastBlock reports whether all other blocks of the item have written their results. The counter
// returns to 0 when the last block arrives. The atomic operation releases what this block has
// written and acquires what the earlier blocks have written.
func (g *gen) lastBlock(it item) build.Pred {
	k := g.k
	flag := build.SharedAs[build.U32](g.shared, g.plan.last)
	last := it.parts.Sub(1)
	k.If(g.tid.SetpEq(0), func() {
		flag.St(g.arrived.At(it.counter).Atom(build.AtomicInc, last, build.AcqRel, build.Gpu))
	})
	k.SyncThreads()
	return flag.Ld().SetpEq(last)
}

// mergeParts sums the partial results of an item and writes O. Few rows are all summed at once, with
// more parts in flight.
func (g *gen) mergeParts(it item, scale build.F32) {
	k := g.k
	rows := it.rows
	if g.c.RowBlocks {
		rows = it.endRow.Sub(it.firstRow)
	}
	m := g.newMerger(it, scale)
	most := (g.c.tileRows() + m.step - 1) / m.step
	if most == 1 {
		m.sum(rows, 1)
		return
	}
	k.If(rows.SetpLe(m.step), func() { m.sum(rows, 1) }).Else(func() { m.sum(rows, min(most, rowsAtOnce)) })
}

const (
	// rowsAtOnce is the most rows that a thread sums at a time.
	rowsAtOnce = 4
	// loadsAtOnce is the number of quads that a thread loads from shared memory before it uses the
	// first one.
	loadsAtOnce = 16
)

// merger sums partial results of an item. A thread has four columns of some rows. Its copies of them
// travel through a ring in shared memory of which it alone uses a part, so that no thread waits for
// another, and as many are in flight as the ring holds. With loads to registers that would be left to
// the assembler, and ptxas starts each load after the use of the one before.
type merger struct {
	g      *gen
	it     item
	scale  build.F32 // of V
	perRow int       // threads of a row, a power of two
	step   int       // rows of all threads, one each
	lanes  int       // the lanes of a warp that have the same row
	lane   build.U32 // the thread's number among these lanes
	column build.U32
	stride build.U32 // rows from part to part
	// The merge counts parts from first up to end, without end. first is 0 except for chunks whose first one
	// depends on the other rows of the tile. Chunks then count from a multiple of lanes, so that a chunk of a
	// sequence always has the same lane, and the order of the sums is that of any other tile.
	first, end build.U32
	shifted    bool // first may be larger than 0
}

func (g *gen) newMerger(it item, scale build.F32) *merger {
	perRow := 1 << bits.Len(uint(g.dv/laneVector-1))
	m := &merger{g: g, it: it, scale: scale, perRow: perRow, step: g.c.threads() / perRow, lanes: min(perRow, 32), stride: it.rows}
	if g.c.RowBlocks {
		m.stride = g.k.U32(uint32(g.c.tileRows()))
	}
	m.lane, m.column = g.lane.And(m.lanes-1), g.tid.And(perRow-1).MulLo(laneVector)
	m.end = it.parts
	if m.shifted = g.c.Chunk > 0 && g.c.RowBlocks && g.p.Window.Limited(); m.shifted {
		tile0, _ := g.tiles(it)
		m.first = part.Divide(g.k, tile0, g.c.Chunk/g.c.TileN).And(m.lanes - 1)
		m.end = m.end.Add(m.first)
	}
	return m
}

// exists reports whether the merge counts a part.
func (m *merger) exists(number build.U32) build.Pred {
	p := number.SetpLt(m.end)
	if m.shifted {
		p = p.And(number.SetpGe(m.first))
	}
	return p
}

// sum sums and writes all rows of the item, with n rows of a thread at a time.
func (m *merger) sum(rows build.U32, n int) {
	g := m.g
	k := g.k
	k.Loop(0, rows, n*m.step, func(first build.U32) {
		number := first.Add(part.Divide(k, g.tid, m.perRow))
		if g.c.RowBlocks {
			number = number.Add(m.it.firstRow)
		}
		s := m.open(number, n)
		s.fill()
		k.Loop(0, m.end, m.lanes, func(from build.U32) {
			s.weigh(from)
			k.Loop(0, m.end.Sub(from).Min(m.lanes), s.group, func(at build.U32) { s.add(at) })
		})
		s.store()
	})
}

// rowSums are the sums of some rows over the parts so far: as in a partial result, but each lane has
// its own share of l.
type rowSums struct {
	*merger
	rows      []row
	size      []build.U32 // bytes that the thread copies of a part of a row: 0 if it does not store the row
	least, l  []*build.Var[build.F32]
	o         [][]*build.Var[build.F32]
	weight    []*build.Var[build.F32] // of part lane of the current parts, as many as there are lanes
	stats     build.U64               // the address of reference and l of the first row in part 0
	group     int                     // parts that are copied as one group
	slots     int                     // groups in the ring
	copied    *build.Var[build.U32]   // the first part that is not being copied yet
	from      *build.Var[build.U64]   // its address
	slot      *build.Var[build.U32]   // the next slot, in bytes
	groupSize int                     // bytes of a group of all threads
}

// open prepares the sums of n rows of the thread, from number on.
func (m *merger) open(number build.U32, n int) *rowSums {
	g := m.g
	k := g.k
	s := &rowSums{merger: m, least: build.Vars(k.F32(part.Unseen), n), l: build.Vars(k.F32(0), n), weight: build.Vars(k.F32(0), n)}
	for i := range n {
		r := g.newRow(m.it, number.Add(i*m.step))
		stores := r.exists
		if m.perRow*laneVector > g.dv {
			stores = stores.And(m.column.SetpLt(g.dv))
		}
		s.rows, s.size = append(s.rows, r), append(s.size, k.U32(4*laneVector).Selp(0, stores))
		s.o = append(s.o, build.Vars(k.F32(0), laneVector))
	}
	part0 := g.partial(m.it, k.U32(0), number)
	if m.shifted {
		part0 = part0.Sub(m.first.MulWide(m.stride))
	}
	s.stats = g.partialL.Addr().Add(part0.Shl(3))
	s.from = build.NewVar(g.partialO.Addr().Add(part0.MulLo(4 * g.dv)).Add(m.column.Shl(2).CvtU64()))
	s.copied, s.slot = build.NewVar(k.U32(0)), build.NewVar(k.U32(0))
	bytes := n * g.c.threads() * 4 * laneVector // of a part
	s.group = min(max(loadsAtOnce/n, 1), m.lanes)
	for s.group > 1 && 2*s.group*bytes > g.plan.q {
		s.group /= 2
	}
	s.groupSize = s.group * bytes
	s.slots = min(g.plan.q/s.groupSize, 8)
	return s
}

// fill starts copies to all slots. It is a loop of the GPU, because most items have parts for the first slots
// only, and the merge fetches its instructions for the first time.
func (s *rowSums) fill() {
	s.g.k.Loop(0, s.slots*s.groupSize, s.groupSize, s.copy)
}

// place returns the thread's quad of a row of a part of the group in a slot.
func (s *rowSums) place(slot build.U32, p, i int) build.Shared[build.F32] {
	quad := 4 * laneVector * s.g.c.threads()
	return build.SharedAt[build.F32](s.g.shared.Addr().Add(slot).Add(s.g.tid.Shl(4))).Plus((p*len(s.rows) + i) * quad / 4)
}

// copy starts the copies of the next group of parts, if there is one, and ends a group of copies in
// any case: waiting counts groups. Parts beyond the last one and rows that the thread does not store
// become zeros.
func (s *rowSums) copy(slot build.U32) {
	g := s.g
	first := s.copied.Get()
	g.k.If(first.SetpLt(s.end), func() {
		from, stride := s.from.Get(), s.stride.MulWide(4*g.dv)
		for p := range s.group {
			exists := s.exists(first.Add(p))
			for i := range s.rows {
				at := build.GlobalAt[build.F32](from).Plus(i * s.step * g.dv)
				g.k.CpAsyncCgSrcSize(s.place(slot, p, i), at, 4*laneVector, s.size[i].Selp(0, exists))
			}
			from = from.Add(stride)
		}
		s.from.Set(from)
	})
	s.copied.Set(first.Add(s.group))
	g.k.CpAsyncCommitGroup()
}

// weigh loads references and sums of the parts from a number on, one per lane, makes the sums so far
// relative to the new reference, and computes the weights of the parts.
func (s *rowSums) weigh(from build.U32) {
	k := s.g.k
	mine := from.Add(s.lane)
	at := build.GlobalAt[build.F32](s.stats.Add(mine.MulWide(s.stride).Shl(3)))
	var stats [][2]*build.Var[build.F32]
	for i, r := range s.rows { // a part beyond the last one counts as a row without keys
		stat := [2]*build.Var[build.F32]{build.NewVar(k.F32(part.Unseen)), build.NewVar(k.F32(0))}
		k.If(r.exists.And(s.exists(mine)), func() {
			for e, x := range at.Plus(2 * i * s.step).LdV2() {
				stat[e].Set(x)
			}
		})
		stats = append(stats, stat)
	}
	for i, stat := range stats {
		least := func(x, y build.F32) build.F32 { return x.Min(y, build.NaN) }
		reference := least(s.least[i].Get(), build.LaneReduce(stat[0].Get(), s.lanes, least))
		by := reference.Sub(s.least[i].Get(), build.Rn).Ex2Approx(build.Ftz)
		w := reference.Sub(stat[0].Get(), build.Rn).Ex2Approx(build.Ftz)
		s.least[i].Set(reference)
		s.weight[i].Set(w)
		s.l[i].Set(stat[1].Get().FmaRn(w, s.l[i].Get().Mul(by, build.Rn)))
		for _, o := range s.o[i] {
			o.Set(o.Get().Mul(by, build.Rn))
		}
	}
}

// add adds the next group of parts, whose weights lanes at and after it have.
func (s *rowSums) add(at build.U32) {
	k := s.g.k
	k.CpAsyncWaitGroup(s.slots - 1)
	slot := s.slot.Get()
	var quads [][4]build.F32
	for p := range s.group {
		for i := range s.rows {
			quads = append(quads, s.place(slot, p, i).LdV4())
		}
	}
	segment := (32-s.lanes)<<8 | 31
	for n, quad := range quads {
		p, i := n/len(s.rows), n%len(s.rows)
		w := s.weight[i].Get().ShflSyncIdx(at.Add(p), segment, k.FullMask())
		for e, x := range quad {
			s.o[i][e].Set(x.FmaRn(w, s.o[i][e].Get()))
		}
	}
	s.copy(slot)
	after := slot.Add(s.groupSize)
	s.slot.Set(k.U32(0).Selp(after, after.SetpEq(s.slots*s.groupSize)))
}

// store writes O and the LSE of the rows.
func (s *rowSums) store() {
	g := s.g
	for i, r := range s.rows {
		l := build.LaneReduce(s.l[i].Get(), s.lanes, func(x, y build.F32) build.F32 { return x.Add(y, build.Rn) })
		g.k.If(s.size[i].SetpNe(0), func() {
			norm, lse := g.normalise(r, s.least[i].Get(), l, s.scale)
			var total [4]build.F32
			for e, o := range s.o[i] {
				total[e] = o.Get()
			}
			g.storeFour(g.outputAt(s.it, r, s.column), total, norm)
			if g.p.LSE {
				g.k.If(s.column.SetpEq(0), func() { g.storeLSE(s.it, r, lse) })
			}
		})
	}
}
