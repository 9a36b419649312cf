package ops

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/ptx"
)

func clusterArrive(f *frame, m uint32) {
	l := &f.Warp.Async.Cluster
	if twice := m & (l.Arrived | l.Passed); twice != 0 {
		f.Raise(machine.FirstLane(twice), "a second arrival at the cluster barrier without a wait in between")
	}
	l.Arrived |= m
	f.Block.Cluster.Settle()
}

func clusterWait(f *frame, m uint32) machine.Status {
	l := &f.Warp.Async.Cluster
	if never := m &^ (l.Arrived | l.Passed); never != 0 {
		f.Raise(machine.FirstLane(never), "a wait at the cluster barrier without an arrival before it")
	}
	if m&^l.Passed != 0 {
		f.Block.Cluster.Settle() // the barrier may have waited only for threads that have ended
	}
	if m&^l.Passed != 0 {
		return machine.Again
	}
	l.Passed &^= m
	return machine.Done
}

// buildRemoteStore builds st.async: a store to shared memory of a block of the cluster. An
// mbarrier in that block counts the bytes.
func buildRemoteStore(d *decoder, x *inst) exec {
	t := x.Type("b")
	var cells []machine.Cell
	for _, e := range machine.Elements(x.Arg("b")) {
		cells = append(cells, d.StoreSrc(e, t))
	}
	return remoteStore(d, x, cells, t.Bytes(), replaceBytes)
}

// buildRemoteReduce builds red.async.
func buildRemoteReduce(d *decoder, x *inst) exec {
	t := x.Type("b")
	return remoteStore(d, x, []machine.Cell{d.StoreSrc(x.Arg("b"), t)}, t.Bytes(), reduceBytes(x.Mod("op"), t))
}

// requireCluster raises a fault if the kernel was not launched with clusters, as a GPU
// does for st.async and red.async. Clusters of one block are enough.
func requireCluster(f *frame, m uint32) {
	if !f.Block.Launch.Clustered {
		f.Raise(bits.TrailingZeros32(m), "this instruction is illegal without clusters: launch with clusters, or compile with .reqnctapercluster")
	}
}

// remoteStore builds an asynchronous store of the cells, n bytes each.
func remoteStore(d *decoder, x *inst, cells []machine.Cell, n int, put bulkWrite) exec {
	a, bar := d.Addr(x.Arg("a"), x.SpaceName("a")), d.Addr(x.Arg("mbar"), x.SpaceName("mbar"))
	size := n * len(cells)
	return func(f *frame, m uint32) {
		requireCluster(f, m)
		machine.EachLane(m, func(l int) {
			block, off := a.SharedAt(f, l, size)
			barBlock, barOff := bar.SharedAt(f, l, 8)
			if block != barBlock {
				f.Raise(l, "the destination is in block %d of the cluster, the mbarrier in block %d", block.Rank, barBlock.Rank)
			}
			data := make([]byte, size)
			for i, c := range cells {
				memory.PutWord(data[i*n:][:n], c.Get(f, l))
			}
			dst := f.Within(l, block.Shared, off, size, "shared-memory")
			f.AnnounceLane(l, ptx.Shared, block, nil, off, size, true)
			bars := []machine.BarRef{f.BarRef(l, barBlock, barOff)}
			f.Block.Cluster.Start(machine.Transfer{From: f.Origin(l), Work: f.AnnounceStart(l, bars), Bars: bars, Bytes: size, Move: func() { put(dst, data, false) }})
		})
	}
}

// buildClusterBarrier builds barrier.cluster.arrive and barrier.cluster.wait.
func buildClusterBarrier(d *decoder, x *inst, o *op) {
	if x.Has("arrive") {
		o.Run = clusterArrive
		return
	}
	o.Kind, o.Try = machine.OpTry, clusterWait
}
