package examples

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Matmul computes C = A·B on tensor cores: A is m×kdim and B is kdim×n in f16, C is m×n in
// f32, all stored by rows. A block of 4 warps computes one 64x64 tile of C, and each warp
// computes 16 rows of it.
//
// Launch: grid (n/64, m/64), blocks of 128 threads; kdim is a multiple of 32.
func Matmul() *build.Kernel {
	const (
		kTile  = 32        // depth of a step
		aPitch = kTile + 8 // f16 per row of the A tile: 80 bytes are an odd number of
		bPitch = 64 + 8    // 16-byte units, so that ldmatrix has no bank conflicts
	)
	k := build.New("matmul", ptx.SM80)
	k.ReqNTid(128)
	a, b, c := build.ParamGlobal[build.F16](k, "a"), build.ParamGlobal[build.F16](k, "b"), build.ParamGlobal[build.F32](k, "c")
	n, kdim := k.ParamU32("n"), k.ParamU32("kdim")
	as, bs := build.SharedArray[build.F16](k, "as", 64*aPitch), build.SharedArray[build.F16](k, "bs", kTile*bPitch)

	tid := k.TidX()
	lane, warp := tid.And(31), tid.Shr(5)
	row0, col0 := k.CtaidY().MulLo(64), k.CtaidX().MulLo(64)
	acc := build.Vars(k.F32(0), 8*4) // 8 fragments of 16×8
	product := build.MmaForm{Shape: build.M16n8k16, D: ptx.F32, A: ptx.F16, B: ptx.F16}

	k.Loop(0, kdim, kTile, func(k0 build.U32) {
		// Both tiles have 256 units of 16 bytes: two per thread.
		for u := uint32(0); u < 256; u += 128 {
			unit := tid.Add(u)
			r, q := unit.Shr(2), unit.And(3).Shl(3) // A: 4 units per row
			k.CpAsyncCg(as.At(r.MadLo(aPitch, q)), a.At(row0.Add(r).MadLo(kdim, k0.Add(q))), 16)
			r, q = unit.Shr(3), unit.And(7).Shl(3) // B: 8 units per row
			k.CpAsyncCg(bs.At(r.MadLo(bPitch, q)), b.At(k0.Add(r).MadLo(n, col0.Add(q))), 16)
		}
		k.CpAsyncWaitAll()
		k.SyncThreads()

		// ldmatrix takes the address of a row from each lane: 16 rows, two halves of 8.
		r, h := lane.And(15), lane.Shr(4).Shl(3)
		for kk := uint32(0); kk < kTile; kk += 16 {
			af := k.LdmatrixM8n8X4(as.At(warp.MadLo(16, r).MadLo(aPitch, h.Add(kk))))
			for j := uint32(0); j < 8; j += 2 { // two fragments of B at once
				bf := k.LdmatrixM8n8X4(bs.At(r.Add(kk).MadLo(bPitch, h.Add(8*j))), build.Trans)
				for i := range uint32(2) {
					d := acc[4*(j+i):][:4]
					sums := k.Mma(product, af, bf[2*i:][:2], get(d)).F32() // D += A·B
					for e, s := range sums {
						d[e].Set(s)
					}
				}
			}
		}
		k.SyncThreads() // before the next step overwrites the tiles
	})

	// Fragment: row lane/4 (+8 for the last two values), columns 2·(lane%4) and +1.
	row := row0.Add(warp.MadLo(16, lane.Shr(2)))
	col := col0.Add(lane.And(3).Shl(1))
	for j := range uint32(8) {
		v := get(acc[4*j:][:4])
		at := row.MadLo(n, col.Add(8*j))
		c.At(at).StV2([2]build.F32{v[0], v[1]})
		c.At(at.Add(n.Shl(3))).StV2([2]build.F32{v[2], v[3]})
	}
	return k
}

// get returns the values of four variables.
func get(d []*build.Var[build.F32]) [4]build.F32 {
	return [4]build.F32{d[0].Get(), d[1].Get(), d[2].Get(), d[3].Get()}
}
