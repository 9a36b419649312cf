package decode

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
	"github.com/GOATnote-Inc/attest/problem"
)

// ring is a team's ring of tiles of K and V, which cp.async fills. While a tile is computed,
// the copies of the stages-1 tiles after it are in flight. A team computes every teams-th tile
// of the block.
type ring struct {
	g      *gen
	it     item
	rounds build.U32 // the number of tiles that the team computes
	first  build.U32 // its first tile

	copies  []copies
	current *build.Var[build.U32] // the slot of the current tile, in bytes
	free    *build.Var[build.U32] // the slot of the tile before
	ahead   *build.Var[build.U32] // the tile to be copied next

	scales   build.U64 // the scales of K or of V, whichever the lane copies
	scaleKey build.U32 // the key of a group whose scale the lane copies
	scalesTo build.U32 // the address of the lane's scale of the first group in slot 0
}

// copies are the copies of the rows of K and of V. Both are copied with the same numbers if their rows
// are equally wide.
type copies struct {
	tileRows
	tensors []copied
	steps   *strides  // nil if the tensors are contiguous
	stride  build.U32 // bytes from row to row in global memory
	spans   []span
}

// copied is a tensor whose rows are copied.
type copied struct {
	rows build.Global[build.B8]
	at   int // where its tile is in a slot, in bytes
}

// span is a part of each row whose width in bytes is a power of two, so that the lanes of a warp copy
// whole rows of it at a time. Rows of 96 and 192 bytes have two spans.
type span struct {
	bytes   int
	row, at build.U32   // the row and the byte of a row that the lane copies first
	from    []build.U64 // the address of the lane's first byte of row 0, in each tensor
	to      build.U32   // the address of the lane's first byte of a tile in slot 0, without its place in the row
	column  build.U32   // the swizzled place in the row
}

// copies returns the copies of K and V.
func (g *gen) copies() []copies {
	K, V := copied{g.keys, 0}, copied{g.values, g.plan.k.tile}
	if g.d == g.dv && !g.p.Strided() {
		return []copies{{tileRows: g.plan.k, tensors: []copied{K, V}}}
	}
	return []copies{{tileRows: g.plan.k, tensors: []copied{K}, steps: g.kSteps}, {tileRows: g.plan.v, tensors: []copied{V}, steps: g.vSteps}}
}

// divide divides the rows for the lanes.
func (t tileRows) divide(g *gen) (list []span) {
	for at := 0; at < t.d; {
		s := span{bytes: 1 << (bits.Len(uint(t.d-at)) - 1)}
		units := s.bytes / unitBytes
		s.row, s.at = part.Divide(g.k, g.lane, units), g.lane.And(units-1).MulLo(unitBytes)
		if at > 0 {
			s.at = s.at.Add(at)
		}
		list, at = append(list, s), at+s.bytes
	}
	return list
}

// openRing prepares the copies of an item.
func (g *gen) openRing(it item) *ring {
	k, c := g.k, g.c
	r := &ring{g: g, it: it, first: it.from.Add(g.team)}
	teams := c.teams()
	r.rounds = it.to.Add(teams - 1).Max(r.first).Sub(r.first)
	if teams > 1 {
		r.rounds = part.Divide(k, r.rounds, teams)
	}
	r.copies = g.copies()
	for i := range r.copies {
		r.copies[i].open(g, it)
	}
	r.current, r.free = build.NewVar(k.U32(0)), build.NewVar(k.U32(uint32((c.Stages-1)*g.plan.slot)))
	r.ahead = build.NewVar(r.first)
	if scaledByKey(g.p) {
		r.openScales()
	}
	return r
}

// open finds the addresses of an item's rows.
func (c *copies) open(g *gen, it item) {
	c.spans = c.divide(g)
	c.stride = g.k.U32(uint32(c.d))
	if g.p.Layout == problem.BSHD {
		c.stride = g.headsKV.MulLo(c.d)
	}
	var zero build.U64 // the offset of row 0
	if c.steps == nil {
		zero = g.rowZero(it).MulWide(c.d)
	} else {
		c.stride, zero = c.steps.row, c.steps.origin(g.p.Keys, it.batch, it.startKV, it.head)
	}
	for i := range c.spans {
		s := &c.spans[i]
		offset := zero.Add(s.at.CvtU64())
		if !g.c.AnyPages {
			offset = offset.Add(s.row.MulWide(c.stride))
		}
		for _, t := range c.tensors {
			s.from = append(s.from, t.rows.Addr().Add(offset))
		}
		s.to = g.shared.Addr().Add(g.team.MulLo(g.plan.ring)).Add(s.row.MulLo(c.pitch))
		s.column = s.at
		if c.swizzled() {
			s.column = s.at.Xor(c.permute(s.row))
		}
	}
}

// rowZero returns the number of key 0 among the rows of K, unless the keys are paged.
func (g *gen) rowZero(it item) build.U32 {
	bshd := g.p.Layout == problem.BSHD
	switch {
	case g.p.Keys == problem.Paged && bshd:
		return it.head
	case g.p.Keys == problem.Paged:
		return it.head.MulLo(g.pageRows)
	case g.p.Keys == problem.Packed && bshd:
		return it.startKV.MadLo(g.headsKV, it.head)
	case g.p.Keys == problem.Packed:
		return it.head.MadLo(g.totalKV, it.startKV)
	case bshd:
		return it.batch.MulLo(g.seqKV).MadLo(g.headsKV, it.head)
	}
	return it.number.MulLo(g.seqKV)
}

// permute returns the number with which the place of a unit in a row is xored, as in tile.Swizzled.
func (t tileRows) permute(row build.U32) build.U32 {
	if t.d == 64 {
		row = row.Shr(1).And(3)
	} else {
		row = row.And(7)
	}
	return row.Shl(4)
}

// permuted is permute for a row whose number is known when the kernel is written.
func (t tileRows) permuted(row int) int {
	if !t.swizzled() {
		return 0
	}
	if t.d == 64 {
		return row / 2 % 4 * unitBytes
	}
	return row % 8 * unitBytes
}

// fill starts the first copies.
func (r *ring) fill() {
	for s := range r.g.c.Stages - 1 {
		r.copy(r.g.k.U32(uint32(s * r.g.plan.slot)))
	}
}

// wait waits until this thread's copies to the current slot have arrived.
func (r *ring) wait() { r.g.k.CpAsyncWaitGroup(r.g.c.Stages - 2) }

// next starts the copy of a later tile into the slot of the tile before the current one, and
// returns the current slot.
func (r *ring) next() (slot build.U32) {
	k := r.g.k
	slot = build.NewVar(r.current.Get()).Get()
	r.copy(r.free.Get())
	r.free.Set(slot)
	after := slot.Add(r.g.plan.slot)
	r.current.Set(k.U32(0).Selp(after, after.SetpEq(r.g.plan.ring)))
	return slot
}

// key returns the first key of the team's n-th tile.
func (r *ring) key(n build.U32) build.U32 {
	return n.MadLo(r.g.c.teams(), r.first).MulLo(r.g.c.TileN)
}

// copy starts the warp's copies of the next tile, if there is one, and ends a group of copies
// in any case: waiting counts groups.
func (r *ring) copy(slot build.U32) {
	g := r.g
	k := g.k
	tile := r.ahead.Get()
	k.If(tile.SetpLt(r.it.to), func() {
		for i := 0; i < g.c.TileN/groupKeys; i += g.c.RowTiles {
			group := g.rowTile.Add(i)
			key := tile.MulLo(g.c.TileN).Add(group.MulLo(groupKeys))
			at := r.locate(key)
			for _, c := range r.copies {
				r.copyGroup(c, key, at, slot.Add(group.MulLo(groupKeys*c.pitch)))
			}
			if scaledByKey(g.p) {
				r.copyScales(key, at, slot.Add(group.MulLo(4*groupKeys)))
			}
		}
	})
	r.ahead.Set(tile.Add(g.c.teams()))
	k.CpAsyncCommitGroup()
}

// copyGroup copies rows from key on. Rows that no query sees become zeros:
// their memory may hold anything, NaN included, and 0·NaN is NaN.
func (r *ring) copyGroup(c copies, key build.U32, place keyPlace, slot build.U32) {
	k := r.g.k
	var offset build.U64
	if !r.g.c.AnyPages {
		offset = c.offset(place)
	}
	for _, s := range c.spans {
		step := 32 * unitBytes / s.bytes // rows from one copy of a lane to the next
		at := key.Add(s.row)
		to := s.to.Add(slot)
		from := s.from
		if !r.g.c.AnyPages {
			from = addTo(from, offset)
		}
		for row := 0; row < groupKeys; row += step {
			size := k.U32(unitBytes).Selp(0, r.seen(at.Add(row)))
			column := s.column
			if n := c.permuted(row); n != 0 {
				column = column.Xor(n)
			}
			dst := build.SharedAt[build.B8](to.Add(column)).Plus(row * c.pitch)
			further := func(i int) build.U64 { return c.further(r.g, from[i], row) }
			if r.g.c.AnyPages {
				rows := addTo(from, c.offset(place.of(k, s.row.Add(row))))
				further = func(i int) build.U64 { return rows[i] }
			}
			for i, t := range c.tensors {
				k.CpAsyncCgSrcSize(dst.Plus(t.at), build.GlobalAt[build.B8](further(i)), unitBytes, size)
			}
		}
	}
}

// addTo returns addresses with an offset.
func addTo(list []build.U64, offset build.U64) (sums []build.U64) {
	for _, x := range list {
		sums = append(sums, x.Add(offset))
	}
	return sums
}

// seen reports whether a query of the item sees a key. Keys before a window are old: a server may have given
// their memory away.
func (r *ring) seen(key build.U32) build.Pred {
	if !r.g.p.Window.Limited() {
		return key.SetpLt(r.it.end)
	}
	return key.Sub(r.it.first).SetpLt(r.it.end.Sub(r.it.first))
}

// further returns an address that is a number of rows further on.
func (c copies) further(g *gen, from build.U64, rows int) build.U64 {
	switch {
	case rows == 0:
		return from
	case g.p.Layout == problem.BSHD || c.steps != nil:
		return from.Add(c.stride.MulWide(rows))
	}
	return from.Add(uint64(rows * c.d))
}
