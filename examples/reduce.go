package examples

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Reduce adds n floats: each block adds its part and then adds the result to *total.
//
// Threads step through x by the size of the grid. The lanes of a warp add their sums by
// butterfly shuffles, and the warps exchange their sums in shared memory.
//
// Launch: any grid, blocks of 256 threads; *total starts at 0.
func Reduce() *build.Kernel {
	const threads, warps = 256, 8
	k := build.New("reduce", ptx.SM80)
	k.ReqNTid(threads)
	x, total, n := build.ParamGlobal[build.F32](k, "x"), build.ParamGlobal[build.F32](k, "total"), k.ParamU32("n")
	partial := build.SharedArray[build.F32](k, "partial", warps)

	tid := k.TidX()
	first := k.CtaidX().MadLo(threads, tid)
	stride := k.NctaidX().MulLo(threads)
	sum := build.NewVar(k.F32(0))
	k.Loop(first, n, stride, func(i build.U32) {
		sum.Set(sum.Get().Add(x.At(i).Ld()))
	})

	add := func(a, b build.F32) build.F32 { return a.Add(b) }
	warpSum := build.WarpReduce(sum.Get(), add)
	lane, warp := tid.And(31), tid.Shr(5)
	k.If(lane.SetpEq(0), func() { partial.At(warp).St(warpSum) })
	k.SyncThreads()

	k.If(tid.SetpLt(warps), func() {
		// Only the first 8 lanes of the first warp are here, so only they shuffle.
		s := partial.At(tid).Ld()
		for d := uint32(warps / 2); d > 0; d /= 2 {
			s = s.Add(s.ShflSyncBfly(d, 31, 1<<warps-1))
		}
		k.If(tid.SetpEq(0), func() { total.Red(build.AtomicAdd, s) })
	})
	return k
}
