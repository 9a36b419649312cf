package check

import "github.com/GOATnote-Inc/attest/finding"

// The kinds that follow from the order of accesses.
const (
	SharedRace     finding.Kind = "shared-race"
	GlobalRace     finding.Kind = "global-race"
	AsyncRace      finding.Kind = "async-race"
	NonCoherent    finding.Kind = "nc-load"
	ProxyFence     finding.Kind = "proxy-fence"
	UninitGlobal   finding.Kind = "uninit-global"
	UninitShared   finding.Kind = "uninit-shared"
	MbarrierMisuse finding.Kind = "mbarrier-misuse"
	AsyncLeak      finding.Kind = "async-leak"
)

func init() {
	register(checker{kinds: orderKinds, also: []finding.Kind{OOBShared}, start: newOrder})
}

var orderKinds = []kind{
	{Rule: finding.Rule{
		Kind:  SharedRace,
		Short: "two threads of a block touch the same shared memory in no order",
		Full:  "No barrier, fence or atomic orders two accesses to the same bytes of shared memory, at least one of which is a write. Which access comes first changes from run to run.",
		Help:  "Put bar.sync between them, or bar.warp.sync when all threads are in one warp. In a loop, look at both sides: the read of this iteration and the write of the next.",
	}},
	{Rule: finding.Rule{
		Kind:  GlobalRace,
		Short: "two threads touch the same global memory in no order",
		Full:  "Nothing orders two accesses to the same bytes of global memory, at least one of which is a write. Threads of different blocks are ordered only by atomics, by fences with strong accesses, and by the end of the kernel.",
		Help:  "Give each thread its own bytes, use atom or red, or publish with st.release and read with ld.acquire at a scope that includes both threads.",
	}},
	{Rule: finding.Rule{
		Kind:  AsyncRace,
		Short: "memory is touched while an asynchronous copy or product uses it",
		Full:  "cp.async, bulk copies and wgmma read and write memory after the instruction that starts them. A thread touched the bytes before the wait that covers this work, or the wait was not passed on to the other threads.",
		Help:  "Wait for the work first: cp.async.wait_group, cp.async.bulk.wait_group, mbarrier.try_wait or wgmma.wait_group. Add a barrier if other threads rely on it. In the last iterations of a pipeline, N of wait_group must count down to 0.",
	}},
	{
		Rule: finding.Rule{
			Kind:  NonCoherent,
			Short: "a non-coherent load of memory that the kernel writes",
			Full:  "ld.global.nc and ldu read through a cache that writes do not update. The memory must not change as long as the kernel runs; no barrier and no fence makes a write visible to such a load. nvcc uses it for pointers that are const and __restrict__.",
			Help:  "Use ld.global, or remove __restrict__ from a pointer whose memory the kernel writes, also through another pointer.",
		},
		why: "ld.global.nc and ldu may read a cache that holds the data from before the write; no barrier or fence changes that",
		fix: "read the memory with ld.global: remove __restrict__ or __ldg, or pass different buffers",
	},
	{Rule: finding.Rule{
		Kind:  ProxyFence,
		Short: "generic and asynchronous accesses without fence.proxy.async between them",
		Full:  "Bulk copies and wgmma access shared memory through the async proxy, ld and st through the generic proxy. Order between threads is not enough: without a proxy fence the writes of one proxy are not visible to the other.",
		Help:  "Execute fence.proxy.async after the generic accesses and before the barrier or arrival that publishes them.",
	}},
	{Rule: finding.Rule{
		Kind:  UninitShared,
		Short: "shared memory is read that nobody wrote",
		Full:  "Shared memory holds whatever the last block left in it. The value that is read changes from run to run.",
		Help:  "Write it first, with all the threads that the loop over it assumes. Look at the bounds of the fill and at tiles that reach past the end of the data.",
	}},
	{Rule: finding.Rule{
		Kind:  UninitGlobal,
		Short: "global memory is read that nobody wrote",
		Full:  "The launch declares the contents of a buffer as undefined, as those of memory are that was just allocated, and a thread reads a part of it that no thread has written.",
		Help:  "Write it first, or let the program that launches the kernel clear it. Look at accumulators and workspaces that the kernel expects to be zero.",
	}},
	{
		Rule: finding.Rule{
			Kind:  MbarrierMisuse,
			Short: "an mbarrier used against its rules",
			Full:  "An mbarrier was used before mbarrier.init or after inval, or initialised again while threads use it; it got more arrivals than it expects or bytes that never balance; or its memory was used for something else.",
			Help:  "Initialise it once, by one thread. Fence and synchronise before others use it. Arrive as often as it was initialised for, and expect_tx exactly the bytes that the copies bring.",
		},
		why: "an mbarrier must be initialised before it is used, and each phase takes as many arrivals as it was initialised for",
		fix: "compare the count of mbarrier.init with the threads that arrive in one phase",
	},
	{Rule: finding.Rule{
		Kind:  AsyncLeak,
		Short: "a thread ends while its asynchronous copies are still in flight",
		Full:  "Copies that no thread has waited for may still write shared memory, which other threads read or the next block already owns.",
		Help:  "Wait for all of them before the end: cp.async.wait_all, cp.async.bulk.wait_group 0, or the mbarrier that counts them.",
	}},
}
