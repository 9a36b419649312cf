package check

import (
	"math/bits"
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Kernels often leave the rows of a tile unwritten that lie past the end of the data,
// multiply them with the others and never use what comes of them. Rows of one factor
// are rows or columns of the result and do not mix. So a row that is missing as a whole
// is a warning if others of the same factor are there; half a row is an error, and so is
// a factor that a block never writes any row of. Of ldmatrix, which brings 16 bytes of
// each row to be multiplied, that is all that can be seen of it; with .trans its rows are
// along the contraction and mix.

// factorKey is a factor in a block: what the instructions of one line of the source
// multiply, or bring to be multiplied. One instruction has only some of its rows.
type factorKey struct {
	rank   int
	source string // of the instructions, or "":
	inst   int    // the instruction; -1 for all ldmatrix without a source line
	second bool
}

// rowLoads marks the instructions that bring rows of a factor: ldmatrix whose results
// are multiplied and nothing else.
func rowLoads(program []observe.Inst, classes []class) {
	var loads []int
	for id := range program {
		if op := program[id].Op; op.Name == "ldmatrix" && !op.Has("trans") {
			loads = append(loads, id)
		}
	}
	if len(loads) == 0 {
		return
	}
	used := map[*ptx.Symbol]bool{} // by other instructions
	for id := range program {
		in := &program[id]
		if in.Op.Name == "mma" {
			continue
		}
		u := newUndefInst(in, -1)
		for _, list := range [][]undefArg{u.src, u.addr} {
			for _, a := range list {
				if a.id >= 0 {
					used[in.Func.Regs[a.id]] = true
				}
			}
		}
	}
	for _, id := range loads {
		classes[id].rows = !slices.ContainsFunc(operandRegs(program[id].Arg("r")), func(r *ptx.Symbol) bool { return used[r] })
	}
}

// factorRows is where it is kept whether a row of a factor was found written.
func (c *ordered) factorRows(second bool) *bool {
	in := &c.l.Program[c.cur.a.ID]
	k := factorKey{rank: c.cur.a.Rank, source: in.Source, second: second}
	switch {
	case in.Source != "":
	case in.Op.Name == "ldmatrix":
		k.inst = -1
	default:
		k.inst = in.ID
	}
	rows := c.factors[k]
	if rows == nil {
		rows = new(bool)
		c.factors[k] = rows
	}
	return rows
}

// brings notes that an ldmatrix has found its rows written.
func (c *ordered) brings(a *observe.Access) {
	n := len(c.o.classes)
	if c.brought == nil {
		c.brought = make([]bool, n*len(c.Blocks))
	}
	if b := &c.brought[a.Rank*n+a.ID]; !*b {
		*b, c.cur.a = true, a
		*c.factorRows(false) = true
	}
}

// loaded notes whether the current access, an ldmatrix, finds a row written.
func (c *ordered) loaded() {
	cur := &c.cur
	cur.rows = c.factorRows(false)
	cells := c.cells(cur.a)
	for m := cur.a.Mask; m != 0 && !*cur.rows; m &= m - 1 {
		*cur.rows = !cells.at(int(cur.a.Offsets[bits.TrailingZeros32(m)])).blank()
	}
}

// factor notes whether the current access, to a factor of wgmma, finds a row written.
// Other warps of the block have other rows.
func (c *ordered) factor(first bool) {
	cur := &c.cur
	in := &c.l.Program[cur.a.ID]
	cur.rows = c.factorRows(!first || in.Arg("aDesc") == nil)
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
func unitsOfRow(in *observe.Inst) int {
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
	if cur.a.Units == nil {
		if !cells.at(cur.off).blank() {
			return nil
		}
		return cur.rows
	}
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
