package emu

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/ptx"
)

// clusterLanes is where the threads of a warp are with the barrier of the cluster.
type clusterLanes struct {
	arrived uint32 // have arrived in this phase
	passed  uint32 // arrived in a phase that is over, and have not waited yet
}

// settle ends the phase of the cluster's barrier when every thread that lives has
// arrived.
func (c *cluster) settle() {
	for _, b := range c.blocks {
		for _, w := range b.warps {
			if w.lanes&^w.exited&^w.async.cluster.arrived != 0 {
				return
			}
		}
	}
	for _, b := range c.blocks {
		for _, w := range b.warps {
			l := &w.async.cluster
			l.passed, l.arrived = l.arrived, 0
		}
	}
	c.opened()
	c.changed()
}

func clusterArrive(f *frame, m uint32) {
	l := &f.w.async.cluster
	if twice := m & (l.arrived | l.passed); twice != 0 {
		f.raise(firstLane(twice), "a second arrival without a wait between")
	}
	l.arrived |= m
	f.b.cluster.settle()
}

func clusterWait(f *frame, m uint32) status {
	l := &f.w.async.cluster
	if never := m &^ (l.arrived | l.passed); never != 0 {
		f.raise(firstLane(never), "a wait without an arrival before")
	}
	if m&^l.passed != 0 {
		f.b.cluster.settle() // a thread that ended may have been the last
	}
	if m&^l.passed != 0 {
		return again
	}
	l.passed &^= m
	return done
}

// buildRemoteStore is st.async: a store to shared memory of the cluster that an
// mbarrier there counts.
func buildRemoteStore(d *decoder, x *inst) exec {
	t := x.Type("b")
	var cells []cell
	for _, e := range vector(x.Arg("b")) {
		cells = append(cells, d.from(e, t))
	}
	return remote(d, x, cells, t.Bytes(), replaceBytes)
}

// buildRemoteReduce is red.async.
func buildRemoteReduce(d *decoder, x *inst) exec {
	t := x.Type("b")
	return remote(d, x, []cell{d.from(x.Arg("b"), t)}, t.Bytes(), reduceBytes(x.Mod("op"), t))
}

// inCluster faults as a GPU does when blocks that are not launched in clusters, not even
// of one, write to shared memory of a cluster asynchronously.
func (f *frame) inCluster(m uint32) {
	if !f.b.launch.clustered {
		f.raise(bits.TrailingZeros32(m), "this is an illegal instruction without clusters: launch with some, or compile with .reqnctapercluster")
	}
}

// remote is an asynchronous store of the cells, of n bytes each.
func remote(d *decoder, x *inst, cells []cell, n int, put placing) exec {
	a, bar := d.addr(x.Arg("a"), x.SpaceName("a")), d.addr(x.Arg("mbar"), x.SpaceName("mbar"))
	size := n * len(cells)
	return func(f *frame, m uint32) {
		f.inCluster(m)
		eachLane(m, func(l int) {
			block, off := a.sharedAt(f, l, size)
			barBlock, barOff := bar.sharedAt(f, l, 8)
			if block != barBlock {
				f.raise(l, "the destination is in block %d of the cluster, the mbarrier in block %d", block.rank, barBlock.rank)
			}
			data := make([]byte, size)
			for i, c := range cells {
				putWord(data[i*n:][:n], c.get(f, l))
			}
			dst := f.within(l, block.shared, off, size, "shared-memory")
			f.touched(l, ptx.Shared, block, nil, off, size, true)
			bars := []barRef{f.barRef(l, barBlock, barOff)}
			f.b.cluster.start(transfer{from: f.origin(l), work: f.started(l, bars), bars: bars, bytes: size, move: func() { put(dst, data, false) }})
		})
	}
}

// buildClusterBarrier is barrier.cluster.arrive and barrier.cluster.wait.
func buildClusterBarrier(d *decoder, x *inst, o *op) {
	if x.Has("arrive") {
		o.run = clusterArrive
		return
	}
	o.kind, o.try = opTry, clusterWait
}
