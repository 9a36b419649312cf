package examples

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Matmul is C = A·B on tensor cores: A is m×kdim and B is kdim×n in f16, C is m×n
// in f32, all by rows. A block of 4 warps makes one 64×64 tile of C, each warp 16
// of its rows.
//
// Launch: grid (n/64, m/64), blocks of 128 threads; kdim a multiple of 32.
func Matmul() *build.Kernel {
	const (
		kTile  = 32        // depth of a step
		aPitch = kTile + 8 // halves a row of the A tile: 80 bytes, an odd number of
		bPitch = 64 + 8    // 16-byte units, so that ldmatrix meets no bank twice
	)
	k := build.New("matmul", ptx.SM80)
	k.ReqNTid(128)
	a, b, c := k.ParamGlobalF16("a"), k.ParamGlobalF16("b"), k.ParamGlobalF32("c")
	n, kdim := k.ParamU32("n"), k.ParamU32("kdim")
	as, bs := k.SharedF16("as", 64*aPitch), k.SharedF16("bs", kTile*bPitch)

	tid := k.TidX()
	lane, warp := tid.And(k.U32(31)), tid.Shr(k.U32(5))
	row0, col0 := k.CtaidY().MulLo(k.U32(64)), k.CtaidX().MulLo(k.U32(64))
	acc := build.Vars(k.F32(0), 8*4) // 8 fragments of 16×8

	k.Loop(k.U32(0), kdim, k.U32(kTile), func(k0 build.U32) {
		// Both tiles have 256 units of 16 bytes: two a thread.
		for u := uint32(0); u < 256; u += 128 {
			unit := tid.Add(k.U32(u))
			r, q := unit.Shr(k.U32(2)), unit.And(k.U32(3)).Shl(k.U32(3)) // A: 4 units a row
			k.CpAsyncCg(as.At(r.MadLo(k.U32(aPitch), q)), a.At(row0.Add(r).MadLo(kdim, k0.Add(q))), 16)
			r, q = unit.Shr(k.U32(3)), unit.And(k.U32(7)).Shl(k.U32(3)) // B: 8 units a row
			k.CpAsyncCg(bs.At(r.MadLo(k.U32(bPitch), q)), b.At(k0.Add(r).MadLo(n, col0.Add(q))), 16)
		}
		k.CpAsyncWaitAll()
		k.SyncThreads()

		// ldmatrix takes a row's address from each lane: 16 rows, two halves of 8.
		r, h := lane.And(k.U32(15)), lane.Shr(k.U32(4)).Shl(k.U32(3))
		for kk := uint32(0); kk < kTile; kk += 16 {
			af := k.LdmatrixM8n8X4(as.At(warp.MadLo(k.U32(16), r).MadLo(k.U32(aPitch), h.Add(k.U32(kk)))))
			for j := uint32(0); j < 8; j += 2 { // two fragments of B at once
				bf := k.LdmatrixM8n8X4(bs.At(r.Add(k.U32(kk)).MadLo(k.U32(bPitch), h.Add(k.U32(8*j)))), build.Trans)
				for i := range uint32(2) {
					d := acc[4*(j+i):][:4]
					s := k.MmaM16n8k16RowColF32F16F16F32(af, [2]build.B32{bf[2*i], bf[2*i+1]}, get(d)) // D += A·B
					for e := range s {
						d[e].Set(s[e])
					}
				}
			}
		}
		k.SyncThreads() // before the next step overwrites the tiles
	})

	// Fragment: row lane/4 (+8 for the last two values), columns 2·(lane%4) and +1.
	row := row0.Add(warp.MadLo(k.U32(16), lane.Shr(k.U32(2))))
	col := col0.Add(lane.And(k.U32(3)).Shl(k.U32(1)))
	for j := range uint32(8) {
		v := get(acc[4*j:][:4])
		at := row.MadLo(n, col.Add(k.U32(8*j)))
		c.At(at).StV2([2]build.F32{v[0], v[1]})
		c.At(at.Add(n.Shl(k.U32(3)))).StV2([2]build.F32{v[2], v[3]})
	}
	return k
}

// get reads four variables.
func get(d []*build.Var[build.F32]) [4]build.F32 {
	return [4]build.F32{d[0].Get(), d[1].Get(), d[2].Get(), d[3].Get()}
}
