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
		f.Raise(machine.FirstLane(twice), "a second arrival without a wait between")
	}
	l.Arrived |= m
	f.Block.Cluster.Settle()
}

func clusterWait(f *frame, m uint32) machine.Status {
	l := &f.Warp.Async.Cluster
	if never := m &^ (l.Arrived | l.Passed); never != 0 {
		f.Raise(machine.FirstLane(never), "a wait without an arrival before")
	}
	if m&^l.Passed != 0 {
		f.Block.Cluster.Settle() // a thread that ended may have been the last that was awaited
	}
	if m&^l.Passed != 0 {
		return machine.Again
	}
	l.Passed &^= m
	return machine.Done
}

// buildRemoteStore builds st.async: a store to shared memory of the cluster, counted by an
// mbarrier there.
func buildRemoteStore(d *decoder, x *inst) exec {
	t := x.Type("b")
	var cells []machine.Cell
	for _, e := range machine.Elements(x.Arg("b")) {
		cells = append(cells, d.From(e, t))
	}
	return remote(d, x, cells, t.Bytes(), replaceBytes)
}

// buildRemoteReduce builds red.async.
func buildRemoteReduce(d *decoder, x *inst) exec {
	t := x.Type("b")
	return remote(d, x, []machine.Cell{d.From(x.Arg("b"), t)}, t.Bytes(), reduceBytes(x.Mod("op"), t))
}

// inCluster raises the fault of a GPU if blocks that are not launched in clusters (even of
// one block) write to shared memory of a cluster asynchronously.
func inCluster(f *frame, m uint32) {
	if !f.Block.Launch.Clustered {
		f.Raise(bits.TrailingZeros32(m), "this is an illegal instruction without clusters: launch with some, or compile with .reqnctapercluster")
	}
}

// remote builds an asynchronous store of the cells, n bytes each.
func remote(d *decoder, x *inst, cells []machine.Cell, n int, put placing) exec {
	a, bar := d.Addr(x.Arg("a"), x.SpaceName("a")), d.Addr(x.Arg("mbar"), x.SpaceName("mbar"))
	size := n * len(cells)
	return func(f *frame, m uint32) {
		inCluster(f, m)
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
			f.Touched(l, ptx.Shared, block, nil, off, size, true)
			bars := []machine.BarRef{f.BarRef(l, barBlock, barOff)}
			f.Block.Cluster.Start(machine.Transfer{From: f.Origin(l), Work: f.Started(l, bars), Bars: bars, Bytes: size, Move: func() { put(dst, data, false) }})
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
