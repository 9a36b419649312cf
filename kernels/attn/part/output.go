package part

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Output is O in global memory: [heads of the whole batch, SeqQ, D] of two bytes per
// element.
type Output struct {
	K    *build.Kernel
	O    build.Global[build.B16]
	Type ptx.Type // F16 or BF16
	SeqQ build.U32
	D    int
}

// Pair rounds two neighbours to the output's type, lo in the lower half.
func (o Output) Pair(lo, hi build.F32) build.B32 {
	if o.Type == ptx.BF16 {
		return build.Cast[build.B32](hi.CvtRnBF16x2(lo))
	}
	return build.Cast[build.B32](hi.CvtRnF16x2(lo))
}

// Row is one of a lane's rows of O.
type Row struct {
	Exists build.Pred // the row is within the sequence
	To     build.Global[build.B32]
}

// Rows returns the rows of a lane's row slots. row is the lane's first row and col the
// lane's first column.
func (o Output) Rows(f *tile.Frag, head, row, col build.U32) (rows []Row) {
	for s := range f.Slots() {
		at := row.Add(f.SlotRow(s))
		rows = append(rows, o.Row(head, at, col))
	}
	return rows
}

// Row returns one row of O from column col on.
func (o Output) Row(head, row, col build.U32) Row {
	exists := row.SetpLt(o.SeqQ)
	rows := head.MulWide(o.SeqQ).Add(row.CvtU64())
	offset := rows.MulLo(2 * o.D).Add(col.Shl(1).CvtU64())
	return Row{exists, build.GlobalAt[build.B32](o.O.Addr().Add(offset))}
}

// Store writes U·norm to the rows that exist, norm being one factor per row slot. The
// rows' addresses are those of the lane's first column.
func (o Output) Store(rows []Row, U *tile.Frag, norm []build.F32) {
	for s, row := range rows {
		o.K.If(row.Exists, func() {
			x := func(i int) build.F32 { return U.Get(i).Mul(norm[s], build.Rn) }
			for i := 0; i < U.Elements(); i += 2 {
				if e := U.Elem(i); e.Row == U.SlotRow(s) {
					row.To.Plus(e.Col / 2).St(o.Pair(x(i), x(i+1)))
				}
			}
		})
	}
}

// Plus returns the rows, cols columns further on.
func Plus(rows []Row, cols int) (moved []Row) {
	for _, r := range rows {
		moved = append(moved, Row{r.Exists, r.To.Plus(cols / 2)})
	}
	return moved
}

// StoreInterleaved writes cols columns of U·norm to the rows that exist, norm being one
// factor per row slot. The fragment's columns are permuted: of each sixteen, the first
// eight are the even columns of O and the last eight the odd ones. A lane's four elements
// of a row and of sixteen columns are then four neighbours, 4q to 4q+3, in the order 0, 2
// and 1, 3. The rows' addresses are those of column 4q.
func (o Output) StoreInterleaved(rows []Row, U *tile.Frag, cols int, norm []build.F32) {
	for s, row := range rows {
		o.K.If(row.Exists, func() {
			for c := 0; c < cols; c += 16 {
				perEight := 2 * U.Slots() // elements of a lane in eight columns
				even := c/8*perEight + 2*s
				odd := even + perEight
				x := func(i int) build.F32 { return U.Get(i).Mul(norm[s], build.Rn) }
				words := [2]build.B32{o.Pair(x(even), x(odd)), o.Pair(x(even+1), x(odd+1))}
				row.To.Plus(c / 2).StV2(words)
			}
		})
	}
}
