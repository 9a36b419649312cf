package check

import (
	"math/bits"
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Kernels often do not write the rows of a tile that lie past the end of the data. They
// multiply these rows with the others and never use the result. A row of a factor of a matrix
// product becomes a row or a column of the result and does not affect other rows. So reading a
// row that is unwritten as a whole is a warning if other rows of the same factor are written.
// It is an error if only part of the row is unwritten, or if the block writes no row of the
// checkFactor at all. ldmatrix loads 16 bytes of each row, so only these bytes are considered; with
// .trans its rows lie along the contraction and affect each other.

// factorKey identifies a factor of a matrix product in a block: the memory that the
// instructions of one source line multiply, or load in order to multiply. One instruction
// reads only some of its rows.
type factorKey struct {
	rank   int
	source string // the source line, or "" if it is not known
	inst   int    // without a source line: the instruction, or -1 for all ldmatrix
	second bool   // the second factor of wgmma
}

// rowLoads marks the instructions that load rows of a factor: ldmatrix whose results are used
// by mma only.
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
	used := map[*ptx.Symbol]bool{} // registers that other instructions read
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

// factorRows returns the flag of the factor that the current access reads. The flag says that
// some row of the factor was found written.
func (c *orderWatch) factorRows(second bool) *bool {
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

// noteRows records that an ldmatrix has found its rows written.
func (c *orderWatch) noteRows(a *observe.Access) {
	n := len(c.o.classes)
	if c.brought == nil {
		c.brought = make([]bool, n*len(c.Blocks))
	}
	if b := &c.brought[a.Rank*n+a.ID]; !*b {
		*b, c.cur.a = true, a
		*c.factorRows(false) = true
	}
}

// checkRows records whether the current access, an ldmatrix, finds a row written.
func (c *orderWatch) checkRows() {
	cur := &c.cur
	cur.rows = c.factorRows(false)
	cells := c.cells(cur.a)
	for m := cur.a.Mask; m != 0 && !*cur.rows; m &= m - 1 {
		*cur.rows = !cells.at(int(cur.a.Offsets[bits.TrailingZeros32(m)])).blank()
	}
}

// checkFactor records whether the current access, by wgmma, finds a row of its factor written.
// Other warps of the block read other rows.
func (c *orderWatch) checkFactor(first bool) {
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

// unitsOfRow returns the number of units that make a row of a factor. For a factor that may be
// stored by columns it returns the units of eight rows.
func unitsOfRow(in *observe.Inst) int {
	for _, name := range []string{"immTransA", "immTransB"} {
		if o := in.Arg(name); o != nil && o.Val == 1 {
			return 16
		}
	}
	return 2
}

// missingRow returns the flag of factorRows if the present unit belongs to a row that is
// unwritten as a whole, else nil.
func (c *orderWatch) missingRow() *bool {
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

// blank reports whether no byte of the cell is written.
func (c *cell) blank() bool { return c.w == nil && c.flags&(isWritten|isSplit) == 0 }
