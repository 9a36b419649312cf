package check

import (
	"slices"

	"attest/device/emu"
)

// Kernels often leave the rows of a tile unwritten that lie past the end of the data,
// multiply them with the others and never use what comes of them. Rows of one factor
// are rows or columns of the result and do not mix. So a row that is missing as a whole
// is a warning if others of the same factor are there; half a row is an error, and so is
// a factor that a block never writes any row of.

// factorKey is a factor of a wgmma in a block.
type factorKey struct {
	rank, id int
	second   bool
}

// factor notes whether the current access, to a factor of wgmma, finds a row written.
// Other warps of the block have other rows.
func (c *ordered) factor(first bool) {
	cur := &c.cur
	in := &c.l.Program[cur.a.ID]
	k := factorKey{cur.a.Rank, cur.a.ID, !first || in.Arg("aDesc") == nil}
	cur.rows = c.factors[k]
	if cur.rows == nil {
		cur.rows = new(bool)
		c.factors[k] = cur.rows
	}
	if *cur.rows {
		return
	}
	n, cells := unitsOfRow(in), c.cells(cur.a)
	for row := range slices.Chunk(cur.a.Units, n) {
		if !slices.ContainsFunc(row, func(off int32) bool { return cells.at(int(off)).blank() }) {
			*cur.rows = true
			return
		}
	}
}

// unitsOfRow is how many units of a factor make a row, or when it may be stored by
// columns, eight rows.
func unitsOfRow(in *emu.Inst) int {
	for _, name := range []string{"immTransA", "immTransB"} {
		if o := in.Arg(name); o != nil && o.Val == 1 {
			return 16
		}
	}
	return 2
}

// missingRow is, when the unit at hand belongs to a row of a factor that is missing as a
// whole, whether others are there; else nil.
func (c *ordered) missingRow() *bool {
	cur := &c.cur
	if cur.rows == nil {
		return nil
	}
	n, cells := unitsOfRow(&c.l.Program[cur.a.ID]), c.cells(cur.a)
	at := slices.Index(cur.a.Units, int32(cur.off&^(cellBytes-1)))
	if at < 0 {
		return nil
	}
	at -= at % n
	for _, off := range cur.a.Units[at : at+n] {
		if !cells.at(int(off)).blank() {
			return nil
		}
	}
	return cur.rows
}

// blank reports whether nobody has written any of the cell.
func (c *cell) blank() bool { return c.w == nil && c.flags&(isWritten|isSplit) == 0 }
