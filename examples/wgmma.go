package examples

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Wgmma computes one tile of an FP8 matrix product, D = A·Bᵀ: A and B are 64×128 in e4m3, D
// is 64×64 in f32. One warpgroup computes it. The copy engine loads both factors with the
// 128-byte swizzle, which wgmma reads without bank conflicts.
//
// Launch: one block of 128 threads; a and b are tensor maps of u8, box 128×64,
// 128-byte swizzle.
func Wgmma() *build.Kernel {
	const m, n, kdim = 64, 64, 128
	k := build.New("wgmma", ptx.SM90a)
	k.ReqNTid(128)
	a, b, d := k.ParamTensorMap("a"), k.ParamTensorMap("b"), build.ParamGlobal[build.F32](k, "d")
	as := build.SharedAlign(build.SharedArray[build.B8](k, "as", m*kdim), 1024) // a swizzle repeats every
	bs := build.SharedAlign(build.SharedArray[build.B8](k, "bs", n*kdim), 1024) // 8 rows of 128 bytes
	landed := build.SharedArray[build.B64](k, "landed", 1)

	tid := k.TidX()
	k.If(tid.SetpEq(0), func() {
		k.MbarrierInit(landed, 1)
		k.FenceMbarrierInitReleaseCluster()
		k.MbarrierArriveExpectTx(landed, (m+n)*kdim)
		origin := []build.Int{0, 0}
		k.CpAsyncBulkTensorSharedClusterGlobal(as, a, origin, landed)
		k.CpAsyncBulkTensorSharedClusterGlobal(bs, b, origin, landed)
	})
	k.SyncThreads() // the barrier is initialised
	k.MbarrierWait(landed, 0)

	acc := build.Vars(k.F32(0), n/2)
	product := build.WgmmaForm{A: ptx.E4M3, B: ptx.E4M3}
	k.WgmmaFence()
	for kk := 0; kk < kdim; kk += 32 { // D += A·Bᵀ, 32 columns of each at a time
		k.WgmmaMmaAsync(product, acc, descriptor(as.Plus(kk)), descriptor(bs.Plus(kk)), k.Pred(true))
	}
	k.WgmmaCommitGroup()
	k.WgmmaWaitGroup(0)

	// Accumulator: row 16·warp + lane/4 (+8), columns 8·j + 2·(lane%4) and +1.
	lane, warp := tid.And(31), tid.Shr(5)
	row, col := warp.MadLo(16, lane.Shr(2)), lane.And(3).Shl(1)
	at := d.At(row.MadLo(n, col))
	for j := range n / 8 {
		v := get(acc[4*j:][:4])
		at.Plus(8 * j).StV2([2]build.F32{v[0], v[1]})
		at.Plus(8*j + 8*n).StV2([2]build.F32{v[2], v[3]})
	}
	return k
}

// descriptor returns the matrix descriptor of a tile of 128-byte rows in the 128-byte swizzle:
// address/16, groups of 8 rows 1024 bytes apart, swizzle mode 1.
func descriptor(tile build.Shared[build.B8]) build.U64 {
	addr := tile.Addr()
	start := addr.Shr(4).And(0x3fff).CvtU64()
	return start.Or(1<<62 | 1024>>4<<32 | 1<<16)
}
