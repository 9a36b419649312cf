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

	spans   []span
	stride  build.U32             // bytes from row to row
	current *build.Var[build.U32] // the slot of the current tile, in bytes
	free    *build.Var[build.U32] // the slot of the tile before
	ahead   *build.Var[build.U32] // the tile to be copied next

	scales   build.U64 // the scales of K or of V, whichever the lane copies
	scaleKey build.U32 // the key of a group whose scale the lane copies
	scalesTo build.U32 // the address of the lane's scale of the first group in slot 0
}

// span is a part of each row whose width in bytes is a power of two, so that the lanes of a warp copy
// whole rows of it at a time. Rows of 96 and 192 bytes have two spans.
type span struct {
	bytes   int
	row, at build.U32 // the row and the byte of a row that the lane copies first
	k, v    build.U64 // the address of the lane's first byte of row 0 of K and of V
	to      build.U32 // the address of the lane's first byte of a tile in slot 0, without its place in the row
	column  build.U32 // the swizzled place in the row
}

// spans divides the rows for the lanes.
func (g *gen) spans() (list []span) {
	for at := 0; at < g.d; {
		s := span{bytes: 1 << (bits.Len(uint(g.d-at)) - 1)}
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
	r.spans = g.spans()
	r.stride = k.U32(uint32(g.d))
	if g.p.Layout == problem.BSHD {
		r.stride = g.headsKV.MulLo(g.d)
	}
	zero := g.rowZero(it).MulWide(g.d)
	for i := range r.spans {
		s := &r.spans[i]
		offset := zero.Add(s.at.CvtU64()).Add(s.row.MulWide(r.stride))
		s.k, s.v = g.keys.Addr().Add(offset), g.values.Addr().Add(offset)
		s.to = g.shared.Addr().Add(g.team.MulLo(g.plan.ring)).Add(s.row.MulLo(g.plan.pitch))
		s.column = s.at
		if g.swizzled() {
			s.column = s.at.Xor(g.permute(s.row))
		}
	}
	r.current, r.free = build.NewVar(k.U32(0)), build.NewVar(k.U32(uint32((c.Stages-1)*g.plan.slot)))
	r.ahead = build.NewVar(r.first)
	if scaledByKey(g.p) {
		r.openScales()
	}
	return r
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

// swizzled reports whether the units of a row in shared memory are permuted. Other rows are one unit
// longer than the head instead, because their length is not a power of two.
func (g *gen) swizzled() bool { return g.plan.pitch == g.d }

// permute returns the number with which the place of a unit in a row is xored, as in tile.Swizzled.
func (g *gen) permute(row build.U32) build.U32 {
	if g.d == 64 {
		row = row.Shr(1).And(3)
	} else {
		row = row.And(7)
	}
	return row.Shl(4)
}

// permuted is permute for a row whose number is known when the kernel is written.
func (g *gen) permuted(row int) int {
	if !g.swizzled() {
		return 0
	}
	if g.d == 64 {
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
			r.copyGroup(key, at, slot.Add(group.MulLo(groupKeys*g.plan.pitch)))
			if scaledByKey(g.p) {
				r.copyScales(key, at, slot.Add(group.MulLo(4*groupKeys)))
			}
		}
	})
	r.ahead.Set(tile.Add(g.c.teams()))
	k.CpAsyncCommitGroup()
}

// copyGroup copies the rows of K and V from key on. Rows that no query sees become zeros:
// their memory may hold anything, NaN included, and 0·NaN is NaN.
func (r *ring) copyGroup(key build.U32, place keyPlace, slot build.U32) {
	g := r.g
	k := g.k
	offset := place.row.MulWide(r.stride)
	for _, s := range r.spans {
		step := 32 * unitBytes / s.bytes // rows from one copy of a lane to the next
		at := key.Add(s.row)
		to := s.to.Add(slot)
		fromK, fromV := s.k.Add(offset), s.v.Add(offset)
		for row := 0; row < groupKeys; row += step {
			size := k.U32(unitBytes).Selp(0, at.Add(row).SetpLt(r.it.end))
			column := s.column
			if n := g.permuted(row); n != 0 {
				column = column.Xor(n)
			}
			dst := build.SharedAt[build.B8](to.Add(column)).Plus(row * g.plan.pitch)
			k.CpAsyncCgSrcSize(dst, build.GlobalAt[build.B8](r.at(fromK, row)), unitBytes, size)
			k.CpAsyncCgSrcSize(dst.Plus(g.plan.tile), build.GlobalAt[build.B8](r.at(fromV, row)), unitBytes, size)
		}
	}
}

// at returns an address that is a number of rows further on.
func (r *ring) at(from build.U64, rows int) build.U64 {
	switch {
	case rows == 0:
		return from
	case r.g.p.Layout == problem.BSHD:
		return from.Add(r.stride.MulWide(rows))
	}
	return from.Add(uint64(rows * r.g.d))
}

// keyPlace says where a group of keys lies.
type keyPlace struct {
	row  build.U32 // the row of the first key, among the rows of its head
	page build.U32 // if the problem has scales of pages
}

// locate returns the place of a group of keys: its row counts from key 0, or, if keys are paged,
// from row 0 of page 0. A group lies in one page. A group that no query sees has no page: its
// entry of the table may be anything or may not exist.
func (r *ring) locate(key build.U32) keyPlace {
	g := r.g
	if g.p.Keys != problem.Paged {
		return keyPlace{row: key}
	}
	k := g.k
	row := build.NewVar(k.U32(0))
	var number *build.Var[build.U32]
	if g.p.Scaling == problem.PerPage {
		number = build.NewVar(k.U32(0))
	}
	k.If(key.SetpLt(r.it.end), func() {
		n := key.Div(g.pageRows)
		page := g.pages.At(r.it.batch.MadLo(g.tableWidth, n)).Ld()
		perPage := g.pageRows
		if g.p.Layout == problem.BHSD {
			perPage = perPage.MulLo(g.headsKV)
		}
		row.Set(page.MadLo(perPage, key.Sub(n.MulLo(g.pageRows))))
		if number != nil {
			number.Set(page)
		}
	})
	at := keyPlace{row: row.Get()}
	if number != nil {
		at.page = number.Get()
	}
	return at
}
