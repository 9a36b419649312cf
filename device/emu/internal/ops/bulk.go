package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

// buildBulk builds cp.async.bulk and cp.reduce.async.bulk.
func buildBulk(d *decoder, x *inst) exec {
	switch {
	case x.Has("commit_group"):
		return func(f *frame, m uint32) { f.Warp.Async.Bulk.Commit(m) }
	case x.Has("wait_group"):
		keep, read := uint32(x.Arg("N").Val), x.Has("read")
		return func(f *frame, m uint32) { f.Warp.Async.Bulk.Finish(m, keep, read) }
	case x.Has("tensor"):
		return buildTensorCopy(d, x)
	case x.Has("prefetch"):
		src := bulkEndOf(d, x, "srcMem")
		size := d.Src32(x.Arg("size"), ptx.U32)
		return func(f *frame, m uint32) {
			machine.EachLane(m, func(l int) { src.bytes(f, l, f.R32[size][l], false) })
		}
	case x.Has("bulk_group"):
		return buildBulkStore(d, x)
	}
	return buildBulkLoad(d, x)
}

// bulkEnd is the source or the destination of a bulk copy.
type bulkEnd struct{ *machine.Address }

func bulkEndOf(d *decoder, x *inst, name string) bulkEnd {
	return bulkEnd{d.Addr(x.Arg(name), x.SpaceName(name))}
}

// bytes returns the n bytes at the lane's address. The address and n must be multiples of
// 16.
func (e bulkEnd) bytes(f *frame, lane int, n uint32, write bool) []byte {
	addr := e.aligned(f, lane, n)
	if n == 0 {
		return nil
	}
	return f.Memory(lane, e.Space, addr, int(n), write)
}

// aligned returns the lane's address after checking that it and n are multiples of 16.
func (e bulkEnd) aligned(f *frame, lane int, n uint32) uint64 {
	addr := e.At(f, lane)
	if addr%16 != 0 || n%16 != 0 {
		f.RaiseAs("misaligned", lane, "a bulk copy of %d bytes at %#x: the size and the address must be multiples of 16", n, addr)
	}
	return addr
}

// buildBulkLoad builds the forms whose bytes mbarriers count: copies to the shared memory
// of the block, of another block of the cluster, or of several blocks.
func buildBulkLoad(d *decoder, x *inst) exec {
	dst, src := bulkEndOf(d, x, "dstMem"), bulkEndOf(d, x, "srcMem")
	size := d.Src32(x.Arg("size"), ptx.U32)
	bar := d.Addr(x.Arg("mbar"), x.SpaceName("mbar"))
	cast := multicastOf(d, x)
	put := bulkWriteOf(d, x)
	between := src.Space == ptx.Shared
	return func(f *frame, m uint32) {
		if between {
			requireCluster(f, m)
		}
		machine.EachLane(m, func(l int) {
			n := f.R32[size][l]
			from := src.bytes(f, l, n, false)
			dst.aligned(f, l, n)
			block, off := dst.SharedAt(f, l, 16)
			barBlock, barOff := bar.SharedAt(f, l, 8)
			if block != barBlock {
				f.Raise(l, "the destination is in block %d of the cluster, the mbarrier in block %d", block.Rank, barBlock.Rank)
			}
			var to [][]byte
			var bars []machine.BarRef
			for _, b := range cast.blocks(f, l, block) {
				to = append(to, f.Within(l, b.Shared, off, int(n), "shared-memory"))
				f.AnnounceLane(l, ptx.Shared, b, nil, off, int(n), true)
				bars = append(bars, f.BarRef(l, b, barOff))
			}
			f.Block.Cluster.Start(machine.Transfer{From: f.Origin(l), Work: f.AnnounceStart(l, bars), Bars: bars, Bytes: int(n), Move: func() {
				for _, t := range to {
					put(t, from, false)
				}
			}})
		})
	}
}

// buildBulkStore builds the forms that belong to bulk groups: copies to global memory.
func buildBulkStore(d *decoder, x *inst) exec {
	dst, src := bulkEndOf(d, x, "dstMem"), bulkEndOf(d, x, "srcMem")
	size := d.Src32(x.Arg("size"), ptx.U32)
	put := bulkWriteOf(d, x)
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			n := f.R32[size][l]
			from, to := src.bytes(f, l, n, false), dst.bytes(f, l, n, true)
			shared := f.Block.Launch.Parallel
			f.AnnounceStart(l, nil)
			f.Warp.Async.Bulk.Add(f.Origin(l),
				func() []byte { return append([]byte{}, from...) },
				func(data []byte) { put(to, data, shared) })
		})
	}
}

// multicast is the register that holds the mask of the destination blocks, or -1.
type multicast slot

func multicastOf(d *decoder, x *inst) multicast {
	if o := x.Arg("ctaMask"); o != nil {
		return multicast(d.Src32(o, ptx.U16))
	}
	return -1
}

// blocks returns the destination blocks of a lane's copy: only block one without a mask,
// else all blocks of the mask.
func (c multicast) blocks(f *frame, lane int, one *machine.Block) []*machine.Block {
	if c < 0 {
		return []*machine.Block{one}
	}
	mask := f.R32[c][lane] & 0xffff
	all := f.Block.Cluster.Blocks
	if mask>>len(all) != 0 {
		f.Raise(lane, "mask %#x names blocks beyond the %d of the cluster", mask, len(all))
	}
	var to []*machine.Block
	machine.EachLane(mask, func(r int) { to = append(to, all[r]) })
	return to
}
