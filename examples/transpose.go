package examples

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Transpose writes the transpose of a rows×cols matrix of floats.
//
// A block moves one 32x32 tile through shared memory, so that both reads and writes of
// global memory go along rows. A row of the tile is 33 words long, so that a column lies
// in 32 different banks.
//
// Launch: grid (⌈cols/32⌉, ⌈rows/32⌉), blocks of (32, 8).
func Transpose() *build.Kernel {
	const tile, pitch, step = 32, 33, 8
	k := build.New("transpose", ptx.SM80)
	k.ReqNTid(tile, step)
	in, out := build.ParamGlobal[build.F32](k, "in"), build.ParamGlobal[build.F32](k, "out")
	rows, cols := k.ParamU32("rows"), k.ParamU32("cols")
	s := build.SharedArray[build.F32](k, "tile", tile*pitch)

	x, y := k.TidX(), k.TidY()
	left, top := k.CtaidX().MulLo(tile), k.CtaidY().MulLo(tile)

	// move calls do for each of the thread's four elements (x, y), (x, y+8), … that lies
	// inside a height×width matrix if the corner of the tile is at (x0, y0).
	move := func(x0, y0, width, height build.U32, do func(j, i, at build.U32)) {
		for dy := uint32(0); dy < tile; dy += step {
			j := y.Add(dy)
			row, col := y0.Add(j), x0.Add(x)
			inside := col.SetpLt(width).And(row.SetpLt(height))
			k.If(inside, func() { do(j, x, row.MadLo(width, col)) })
		}
	}
	move(left, top, cols, rows, func(j, i, at build.U32) {
		s.At(j.MadLo(pitch, i)).St(in.At(at).Ld())
	})
	k.SyncThreads()
	move(top, left, rows, cols, func(j, i, at build.U32) {
		out.At(at).St(s.At(i.MadLo(pitch, j)).Ld())
	})
	return k
}
