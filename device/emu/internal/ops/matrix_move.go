package ops

import (
	"encoding/binary"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	control("ldmatrix", func(d *decoder, x *inst, o *op) { aligned(d, o, buildLoadMatrix(d, x)) })
	control("stmatrix", func(d *decoder, x *inst, o *op) { aligned(d, o, buildStoreMatrix(d, x)) })
	control("movmatrix", func(d *decoder, x *inst, o *op) { aligned(d, o, buildMoveMatrix(d, x)) })
}

// rowsOf returns the eight rows of an 8×8 matrix of 16-bit elements, whose addresses
// are in the eight lanes from first on.
func rowsOf(a *machine.Address, f *frame, m uint32, first int, write bool) (rows [8][]byte) {
	for i := range rows {
		l := first + i
		if m>>l&1 == 0 {
			f.Raise(-1, "lane %d holds the address of a row but does not execute the instruction", l)
		}
		rows[i] = a.View(f, l, 16, write)
	}
	return rows
}

func buildLoadMatrix(d *decoder, x *inst) exec {
	to, a, trans := d.Results(x.Arg("r"), ptx.B32), d.Addr(x.Arg("p"), x.SpaceName("p")), x.Has("trans")
	return func(f *frame, m uint32) {
		var out [4]machine.Lanes32 // a buffer, because a destination may be the address register
		for i := range to {
			rows := rowsOf(a, f, m, layout.LdMatrixRow(i, 0), false)
			if trans {
				spreadTransposed(&out[i], &rows)
			} else {
				spread(&out[i], &rows)
			}
		}
		for i, s := range to {
			machine.MoveLanes(&f.R32[s], &out[i], m)
		}
	}
}

// spread writes to each lane its two elements of the rows, in the layout of
// layout.LdMatrix: four lanes share a row.
func spread(out *machine.Lanes32, rows *[8][]byte) {
	for r, row := range rows {
		for i := range 4 {
			out[4*r+i] = binary.LittleEndian.Uint32(row[4*i:])
		}
	}
}

// spreadTransposed is spread for the transposed matrix: four lanes share a column.
func spreadTransposed(out *machine.Lanes32, rows *[8][]byte) {
	for i := range 4 {
		lo, hi := rows[2*i], rows[2*i+1]
		for c := range 8 {
			out[4*c+i] = uint32(binary.LittleEndian.Uint16(lo[2*c:])) | uint32(binary.LittleEndian.Uint16(hi[2*c:]))<<16
		}
	}
}

func buildStoreMatrix(d *decoder, x *inst) exec {
	from, a, trans := d.Sources(x.Arg("r")), d.Addr(x.Arg("p"), x.SpaceName("p")), x.Has("trans")
	return func(f *frame, m uint32) {
		for i, s := range from {
			rows := rowsOf(a, f, m, layout.LdMatrixRow(i, 0), true)
			for l := range 32 {
				lo, hi := layout.LdMatrix(l, 0, trans), layout.LdMatrix(l, 1, trans)
				memory.PutWord(rows[lo.Row][2*lo.Col:][:2], uint64(f.R32[s][l]))
				memory.PutWord(rows[hi.Row][2*hi.Col:][:2], uint64(f.R32[s][l]>>16))
			}
		}
	}
}

func buildMoveMatrix(d *decoder, x *inst) exec {
	to, from := d.Dst(x.Arg("d"), ptx.B32), d.Src32(x.Arg("a"), ptx.B32)
	return func(f *frame, m uint32) {
		var matrix [8][8]uint32
		for l, v := range f.R32[from] {
			for h := range 2 {
				p := layout.LdMatrix(l, h, false)
				matrix[p.Row][p.Col] = v >> (16 * h) & 0xffff
			}
		}
		machine.EachLane(m, func(l int) {
			lo, hi := layout.LdMatrix(l, 0, true), layout.LdMatrix(l, 1, true)
			f.R32[to][l] = matrix[lo.Row][lo.Col] | matrix[hi.Row][hi.Col]<<16
		})
	}
}
