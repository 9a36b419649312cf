package calibrate

import (
	"strconv"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

func synchronisation() []Probe {
	list := append(barriers(), mbarriers()...)
	return append(append(list, fences()...), copies()...)
}

// nothing is the result of a probe that has no results.
func nothing(f *frame) func() build.U32 { return func() build.U32 { return f.seed } }

// clusterBarrier is a chain of barriers of two blocks.
func clusterBarrier(name, doc string, mods ...build.Mod) Probe {
	return Probe{
		Name: name, Unit: "cycles", Doc: doc + " and wait of two blocks of 4 warps", Target: ptx.SM90, warps: 4, cluster: 2,
		body: func(f *frame) (func(build.U32), func() build.U32) {
			step := func(build.U32) {
				for range unroll {
					f.k.BarrierClusterArrive(mods...)
					f.k.BarrierClusterWait()
				}
			}
			return step, nothing(f)
		},
		value: per(unroll),
	}
}

// barriers are barriers of the block and of the cluster.
func barriers() (list []Probe) {
	for _, warps := range []int{1, 4, 8, 16} {
		list = append(list, Probe{
			Name: "bar_sync_" + strconv.Itoa(warps) + "warps", Unit: "cycles", Doc: "bar.sync of " + strconv.Itoa(warps) + " warps, one after the other", Target: ptx.SM80, warps: warps,
			body: func(f *frame) (func(build.U32), func() build.U32) {
				step := func(build.U32) {
					for range unroll {
						f.k.BarSync(0)
					}
				}
				return step, nothing(f)
			},
			value: per(unroll),
		})
	}
	return append(list,
		clusterBarrier("cluster_latency", "barrier.cluster.arrive.relaxed", build.Relaxed),
		clusterBarrier("cluster_release_round", "barrier.cluster.arrive.release"),
		Probe{
			Name: "dsmem_latency", Unit: "cycles", Doc: "a chain of ld.shared::cluster.u32 from the other block of a cluster", Target: ptx.SM90, cluster: 2,
			body: func(f *frame) (func(build.U32), func() build.U32) {
				s := build.SharedArray[build.U32](f.k, "s", 32)
				s.At(f.tid).St(f.tid)
				other := build.Mapa(s, f.k.ClusterCtarank().Xor(1))
				f.k.BarrierClusterArrive()
				f.k.BarrierClusterWait()
				x := build.NewVar(f.tid)
				step := func(build.U32) {
					for range unroll {
						x.Set(other.At(x.Get()).Ld())
					}
				}
				return step, func() build.U32 {
					f.k.BarrierClusterArrive()
					f.k.BarrierClusterWait()
					return x.Get()
				}
			},
			value: per(unroll),
		})
}

// mbarriers measure arrivals, waits, and the way from an arrival of one warp to the end of the wait
// of another.
func mbarriers() []Probe {
	return []Probe{
		{
			Name: "mbarrier_round", Unit: "cycles", Doc: "mbarrier.arrive of one warp and its own wait for the phase", Target: ptx.SM90,
			body: func(f *frame) (func(build.U32), func() build.U32) {
				bar := initialised(f, 1, 32)
				step := func(i build.U32) {
					for j := range 2 {
						f.k.MbarrierArrive(bar)
						f.k.MbarrierWait(bar, j)
					}
				}
				return step, nothing(f)
			},
			value: per(2),
		},
		{
			Name: "mbarrier_arrive_interval", Unit: "cycles", Doc: "one of 16 mbarrier.arrive of one warp, with the wait after them", Target: ptx.SM90,
			body: func(f *frame) (func(build.U32), func() build.U32) {
				bar := initialised(f, 1, 32*unroll)
				step := func(i build.U32) {
					for range unroll {
						f.k.MbarrierArrive(bar)
					}
					f.k.MbarrierWait(bar, i.And(1))
				}
				return step, nothing(f)
			},
			value: per(unroll),
		},
		{
			Name: "mbarrier_try", Unit: "cycles", Doc: "mbarrier.try_wait of a phase that is complete", Target: ptx.SM90,
			body: func(f *frame) (func(build.U32), func() build.U32) {
				bar := initialised(f, 1, 32)
				step := func(i build.U32) {
					for range unroll {
						f.k.MbarrierWait(bar, 1)
					}
				}
				return step, nothing(f)
			},
			value: per(unroll),
		},
		{
			Name: "mbarrier_handoff", Unit: "cycles", Doc: "from mbarrier.arrive of one warp to the end of the wait of another", Target: ptx.SM90, warps: 2,
			body: func(f *frame) (func(build.U32), func() build.U32) {
				bars := build.SharedArray[build.B64](f.k, "bars", 2)
				f.k.If(f.tid.SetpEq(0), func() {
					f.k.MbarrierInit(bars, 32)
					f.k.MbarrierInit(bars.Plus(1), 32)
				})
				f.k.SyncThreads()
				warp := f.tid.Shr(5)
				step := func(i build.U32) {
					parity := i.And(1)
					f.k.If(warp.SetpEq(0), func() {
						f.k.MbarrierArrive(bars)
						f.k.MbarrierWait(bars.Plus(1), parity)
					}).Else(func() {
						f.k.MbarrierWait(bars, parity)
						f.k.MbarrierArrive(bars.Plus(1))
					})
				}
				return step, nothing(f)
			},
			value: per(2),
		},
	}
}

// initialised returns an mbarrier that awaits a number of arrivals.
func initialised(f *frame, n, count int) build.Shared[build.B64] {
	bars := build.SharedArray[build.B64](f.k, "bars", n)
	f.k.If(f.tid.SetpEq(0), func() {
		for i := range n {
			f.k.MbarrierInit(bars.Plus(i), count)
		}
	})
	f.k.SyncThreads()
	return bars
}

// fences measure fences of a warp without accesses before them.
func fences() (list []Probe) {
	for _, c := range []struct {
		name, doc string
		target    ptx.Target
		fence     func(k *build.Kernel)
	}{
		{"fence_cta", "fence.acq_rel.cta", ptx.SM80, func(k *build.Kernel) { k.FenceCta() }},
		{"fence_gpu_latency", "fence.acq_rel.gpu", ptx.SM80, func(k *build.Kernel) { k.FenceGpu() }},
		{"fence_latency", "fence.proxy.async.shared::cta", ptx.SM90, func(k *build.Kernel) { k.FenceProxyAsyncSharedCta() }},
	} {
		list = append(list, Probe{
			Name: c.name, Unit: "cycles", Doc: c.doc + " after a store to shared memory", Target: c.target,
			body: func(f *frame) (func(build.U32), func() build.U32) {
				s := build.SharedArray[build.U32](f.k, "s", 32)
				step := func(i build.U32) {
					for range 4 {
						s.At(f.tid).St(i, build.Volatile)
						c.fence(f.k)
					}
				}
				return step, nothing(f)
			},
			value: per(4),
		})
	}
	return list
}

// copies measure bulk copies from the L2 to shared memory: one copy at a time for several sizes,
// and eight copies of 4 KiB at a time by all SMs.
func copies() (list []Probe) {
	for _, c := range []struct {
		name          string
		blocks, count int
		bytes         int
	}{
		{"tma_1_256", 1, 1, 256}, {"tma_1_4096", 1, 1, 4096}, {"tma_1_16384", 1, 1, 16384},
		{"tma_8_4096", 1, 8, 4096}, {"tma_all_1_4096", allSMs, 1, 4096}, {"tma_all_8_4096", allSMs, 8, 4096},
	} {
		doc := strconv.Itoa(c.count) + " bulk copies of " + strconv.Itoa(c.bytes) + " bytes from the L2 until the wait ends"
		if c.blocks == allSMs {
			doc += ", by all SMs"
		}
		list = append(list, Probe{
			Name: c.name, Unit: "cycles", Doc: doc, Target: ptx.SM90, blocks: c.blocks, memory: 8 << 20, iterations: [2]int{32, 160},
			body: func(f *frame) (func(build.U32), func() build.U32) {
				bar := initialised(f, 1, 1)
				buffer := build.SharedAlign(build.SharedArray[build.B8](f.k, "buffer", c.count*c.bytes), 128)
				source := build.GlobalAt[build.B8](f.memory.Addr())
				first := f.k.CtaidX().MulLo(c.count * c.bytes)
				step := func(i build.U32) {
					f.k.If(f.tid.SetpEq(0), func() {
						f.k.MbarrierArriveExpectTx(bar, c.count*c.bytes)
						for j := range c.count {
							from := source.At(first.Add(j * c.bytes))
							f.k.CpAsyncBulkSharedClusterGlobal(buffer.Plus(j*c.bytes), from, c.bytes, bar)
						}
					})
					f.k.MbarrierWait(bar, i.And(1))
				}
				return step, nothing(f)
			},
			value: per(1),
		})
	}
	return list
}
