package decode

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/problem"
)

// Pages of a multiple of 16 rows hold all keys of a group, so that one entry of the page table is read per
// group. In other pages (AnyPages), lanes 0 to 15 find the places of the 16 keys of a group, and so do
// lanes 16 to 31, and a lane that copies a row gets its place from one of them.

// keyPlace says where a group of keys lies, or, with AnyPages, the lane's key of the group.
type keyPlace struct {
	row    build.U32 // the row of the first key, among the rows of its head, if tensors or scales need it
	page   build.U32 // if tensors have gaps, or the problem has scales of pages
	inPage build.U32 // the row in the page, if tensors have gaps
}

// fields returns which fields of a place a problem uses.
func fields(p problem.Attention) (row, page, inPage bool) {
	return !p.Strided() || p.Scaling == problem.PerToken, p.Strided() || p.Scaling == problem.PerPage, p.Strided()
}

// locate returns the place of a group of keys: its row counts from key 0, or, if keys are paged,
// from row 0 of page 0. A group that no query sees has no page: its
// entry of the table may be anything or may not exist.
func (r *ring) locate(key build.U32) keyPlace {
	g := r.g
	if g.p.Keys != problem.Paged {
		return keyPlace{row: key}
	}
	k := g.k
	if g.c.AnyPages {
		key = key.Add(g.lane.And(groupKeys - 1))
	}
	exists := r.seen(key)
	if !g.c.AnyPages && g.p.Window.Limited() { // the window may begin inside the group
		exists = key.SetpLt(r.it.end).And(key.Add(groupKeys).SetpGt(r.it.first))
	}
	wantRow, wantPage, wantIn := fields(g.p)
	row, page, inPage := r.wanted(wantRow), r.wanted(wantPage), r.wanted(wantIn)
	k.If(exists, func() {
		n := key.Div(g.pageRows)
		number := g.pages.At(r.it.batch.MadLo(g.tableWidth, n)).Ld()
		perPage := g.pageRows
		if g.p.Layout == problem.BHSD {
			perPage = perPage.MulLo(g.headsKV)
		}
		in := key.Sub(n.MulLo(g.pageRows))
		if row != nil {
			row.Set(number.MadLo(perPage, in))
		}
		if page != nil {
			page.Set(number)
		}
		if inPage != nil {
			inPage.Set(in)
		}
	})
	return keyPlace{row: found(row), page: found(page), inPage: found(inPage)}
}

// wanted returns a variable for a field of a place, or nil.
func (r *ring) wanted(is bool) *build.Var[build.U32] {
	if !is {
		return nil
	}
	return build.NewVar(r.g.k.U32(0))
}

// found returns the value of a field of a place, or the zero value.
func found(field *build.Var[build.U32]) (x build.U32) {
	if field != nil {
		x = field.Get()
	}
	return x
}

// of returns the place that a lane has found.
func (at keyPlace) of(k *build.Kernel, lane build.U32) (other keyPlace) {
	for _, field := range []struct {
		from build.U32
		to   *build.U32
	}{{at.row, &other.row}, {at.page, &other.page}, {at.inPage, &other.inPage}} {
		if field.from != (build.U32{}) {
			*field.to = field.from.ShflSyncIdx(lane, 31, k.FullMask())
		}
	}
	return other
}

// offset returns the offset of a place in bytes.
func (c copies) offset(at keyPlace) build.U64 {
	if c.steps == nil || at.inPage == (build.U32{}) {
		return at.row.MulWide(c.stride)
	}
	return at.page.CvtU64().MadLo(c.steps.outer, at.inPage.MulWide(c.stride))
}
