package examples

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Ring doubles a matrix of floats, which the copy engine loads in tiles of 8x64. One thread
// fills a ring of three pipeline stages, and four warps empty it.
//
// Each stage has two mbarriers. full completes a phase when the bytes of the tile have
// arrived. empty completes a phase when all 128 consumers have read the tile. A wait selects
// phase n of a barrier by the parity of n.
//
// Launch: any grid, blocks of 160 threads; src is a tensor map of a matrix 64
// wide and tiles·8 high, its box 64×8, no swizzle.
func Ring() *build.Kernel {
	const stages, consumers, tile, width = 3, 128, 8 * 64, 64
	k := build.New("ring", ptx.SM90)
	k.Version(8, 0)
	k.ReqNTid(consumers + 32)
	src, dst, tiles := k.ParamTensorMap("src"), build.ParamGlobal[build.F32](k, "dst"), k.ParamU32("tiles")
	ring := build.SharedAlign(build.SharedArray[build.F32](k, "ring", stages*tile), 128)
	full, empty := build.SharedArray[build.B64](k, "full", stages), build.SharedArray[build.B64](k, "empty", stages)

	tid := k.TidX()
	k.If(tid.SetpEq(0), func() {
		for s := range stages {
			k.MbarrierInit(full.Plus(s), 1)
			k.MbarrierInit(empty.Plus(s), consumers)
		}
		k.FenceMbarrierInitReleaseCluster() // makes them visible to the copy engine
	})
	k.SyncThreads()

	// each calls body for the tiles of the block, with the stage of the tile and lap, the
	// number of times that the ring was used completely before.
	each := func(body func(t, stage, lap build.U32)) {
		round := build.NewVar(k.U32(0))
		k.Loop(k.CtaidX(), tiles, k.NctaidX(), func(t build.U32) {
			r := round.Get()
			body(t, r.Rem(stages), r.Div(stages))
			round.Set(r.Add(1))
		})
	}
	parity := func(lap build.U32) build.U32 { return lap.And(1) }

	k.If(tid.SetpEq(consumers), func() { // the producer
		each(func(t, s, lap build.U32) {
			k.MbarrierWait(empty.At(s), parity(lap.Add(1))) // does not wait in lap 0
			k.MbarrierArriveExpectTx(full.At(s), 4*tile)
			at := []build.Int{0, t.MulLo(tile / width)} // column, row
			k.CpAsyncBulkTensorSharedClusterGlobal(ring.At(s.MulLo(tile)), src, at, full.At(s))
		})
	})
	k.If(tid.SetpLt(consumers), func() { // the consumers: 4 floats each
		mine := tid.MulLo(4)
		each(func(t, s, lap build.U32) {
			k.MbarrierWait(full.At(s), parity(lap))
			v := ring.At(s.MadLo(tile, mine)).LdV4()
			k.FenceProxyAsyncSharedCta() // orders these reads before the next copy's writes
			k.MbarrierArrive(empty.At(s))
			for i := range v {
				v[i] = v[i].Add(v[i])
			}
			dst.At(t.MadLo(tile, mine)).StV4(v)
		})
	})
	return k
}
