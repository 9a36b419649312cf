package examples

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Pipeline reverses each tile of 1024 floats. While it reverses one tile, cp.async copies the
// next one into a second buffer.
//
// Launch: any grid, blocks of 256 threads; the input has tiles·1024 floats.
func Pipeline() *build.Kernel {
	const threads, tile = 256, 1024 // 4 floats (16 bytes) per thread
	k := build.New("pipeline", ptx.SM80)
	k.ReqNTid(threads)
	in, out, tiles := build.ParamGlobal[build.F32](k, "in"), build.ParamGlobal[build.F32](k, "out"), k.ParamU32("tiles")
	buffers := build.SharedArray[build.F32](k, "buffers", 2*tile)

	blocks := k.NctaidX()
	mine := k.TidX().MulLo(4)                           // the thread's first float
	mirror := k.U32(tile - 4).Sub(mine)                 // and where it ends up
	at := func(buf build.U32) build.Shared[build.F32] { // buffer 0 or 1
		return buffers.At(buf.MulLo(tile))
	}
	// fetch starts the copy of a tile, if there is one. It always commits a group, because
	// wait_group counts groups and must cover the last tile as well.
	fetch := func(t, buf build.U32) {
		k.If(t.SetpLt(tiles), func() {
			k.CpAsyncCg(at(buf).At(mine), in.At(t.MadLo(tile, mine)), 16)
		})
		k.CpAsyncCommitGroup()
	}

	buf := build.NewVar(k.U32(0))
	fetch(k.CtaidX(), buf.Get())
	k.Loop(k.CtaidX(), tiles, blocks, func(t build.U32) {
		this := buf.Get()
		next := this.Xor(1)
		fetch(t.Add(blocks), next)
		k.CpAsyncWaitGroup(1) // waits for all groups except the newest: this tile has arrived
		k.SyncThreads()       // in all threads

		v := at(this).At(mirror).LdV4()
		out.At(t.MadLo(tile, mine)).StV4([4]build.F32{v[3], v[2], v[1], v[0]})

		k.SyncThreads() // before the next round overwrites this buffer
		buf.Set(next)
	})
	return k
}
