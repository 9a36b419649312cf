package check

import "github.com/GOATnote-Inc/attest/finding"

// Rules explain all kinds, in the order of Kinds.
var Rules = []finding.Rule{
	{
		Kind:  SharedRace,
		Short: "two threads of a block touch the same shared memory in no order",
		Full:  "Two accesses to the same bytes of shared memory, at least one of them a write, are ordered by no barrier, fence or atomic. Which comes first changes from run to run.",
		Help:  "Put bar.sync between them, or bar.warp.sync when all threads are of one warp. In a loop look at both sides: the read of this round and the write of the next.",
	},
	{
		Kind:  GlobalRace,
		Short: "two threads touch the same global memory in no order",
		Full:  "Two accesses to the same bytes of global memory, at least one of them a write, are ordered by nothing. Threads of different blocks are ordered only by atomics or fences with strong accesses, and by the end of the kernel.",
		Help:  "Give each thread its own bytes, use atom or red, or publish with st.release and read with ld.acquire at a scope that includes both threads.",
	},
	{
		Kind:  AsyncRace,
		Short: "memory is touched while an asynchronous copy or product uses it",
		Full:  "cp.async, bulk copies and wgmma read and write memory after the instruction that starts them. Something touched the bytes before the wait that covers that work, or the wait was not passed on to the other threads.",
		Help:  "Wait for the work first: cp.async.wait_group, cp.async.bulk.wait_group, mbarrier.try_wait or wgmma.wait_group; then a barrier, if other threads rely on it. At the last rounds of a pipeline wait_group N must count down to 0.",
	},
	{
		Kind:  ProxyFence,
		Short: "generic and asynchronous accesses without fence.proxy.async between them",
		Full:  "Bulk copies and wgmma reach shared memory through the async proxy, ld and st through the generic one. Order between threads is not enough: the writes of one are not visible to the other without a proxy fence.",
		Help:  "Execute fence.proxy.async after the generic accesses and before the barrier or arrival that publishes them.",
	},
	{
		Kind:  UninitShared,
		Short: "shared memory is read that nobody wrote",
		Full:  "Shared memory holds whatever the last block left in it. The value that is read changes from run to run.",
		Help:  "Write it first, by all the threads that the loop over it assumes; look at the bounds of the fill and at tiles that reach past the end of the data.",
	},
	{
		Kind:  UninitLocal,
		Short: "local memory is read that nobody wrote",
		Full:  "A thread reads a part of its stack or of a spilled array that it never wrote.",
		Help:  "Initialise the array, or find the path through the code that skips the write.",
	},
	{
		Kind:  UninitRegister,
		Short: "a register is used that nobody wrote",
		Full:  "An address, a stored value or a branch depends on a register that has no value on this path.",
		Help:  "Initialise the register before the branch that skips its definition.",
	},
	{
		Kind:  OOBGlobal,
		Short: "a global access outside of every allocation",
		Full:  "The address is not inside an allocation. On a GPU it is an error, or silently the memory of somebody else.",
		Help:  "Guard the access with the size of the data; look at the last block, which may have more threads than there are elements.",
	},
	{
		Kind:  OOBShared,
		Short: "a shared access outside of its variable",
		Full:  "The address is outside of the variable that it was computed from, or of all the shared memory that the block has. It may be another variable's bytes.",
		Help:  "Check the index against the size of the array, and the bytes of dynamic shared memory of the launch against what the kernel assumes.",
	},
	{
		Kind:  OOBLocal,
		Short: "a local access outside of its variable",
		Full:  "The address is outside of the thread's variable in local memory.",
		Help:  "Check the index against the size of the array.",
	},
	{
		Kind:  Misaligned,
		Short: "an address that is not a multiple of the size of the access",
		Full:  "An access of n bytes needs an address that is a multiple of n, vectors as a whole. A GPU ends the kernel with an error.",
		Help:  "Align the array (.align 16 for vectors of 16 bytes) and keep offsets and row lengths multiples of the size of the access.",
	},
	{
		Kind:  BarrierDivergence,
		Short: "a barrier that not all the threads reach that it is for",
		Full:  "bar.sync and the other .aligned instructions must be executed by all lanes of a warp together, and by as many threads as the barrier waits for. Reached under a condition that differs between lanes, the result is undefined.",
		Help:  "Move the barrier out of the condition, or give it the number of threads that do take part.",
	},
	{
		Kind:  Deadlock,
		Short: "threads that wait for each other for ever",
		Full:  "Every thread that is left waits, and nobody is left to end the wait.",
		Help:  "Compare who waits with who was to arrive: the count of the barrier, the parity of the phase, the bytes of expect_tx, an arrival that a branch skipped.",
	},
	{
		Kind:  MbarrierMisuse,
		Short: "an mbarrier used against its rules",
		Full:  "Used before mbarrier.init or after inval, initialised again while threads use it, more arrivals than it expects, bytes that never balance, or its memory used for something else.",
		Help:  "Initialise it once by one thread, fence and synchronise before others use it, arrive as often as it was initialised for, and expect_tx exactly the bytes that the copies bring.",
	},
	{
		Kind:  WgmmaHazard,
		Short: "registers or operands of wgmma touched while it may use them",
		Full:  "wgmma.mma_async works on its registers after the instruction. They may not be touched before wgmma.wait_group, and need wgmma.fence after ordinary writes; all four warps must give the same descriptors.",
		Help:  "Put wgmma.fence before the first wgmma and after writes to its registers, and wgmma.wait_group before its results are read.",
	},
	{
		Kind:  ShuffleInactive,
		Short: "a shuffle reads from a lane that does not take part",
		Full:  "shfl.sync gives an undefined value when its source lane is not executing the same shuffle.",
		Help:  "Execute the shuffle in all lanes of the mask, before any branch between them, and choose the value afterwards.",
	},
	{
		Kind:  AsyncLeak,
		Short: "a thread ends while its asynchronous copies are on their way",
		Full:  "Copies that were started and never waited for may still write shared memory, which others read or the next block already owns.",
		Help:  "Wait for all of them before the end: cp.async.wait_all, cp.async.bulk.wait_group 0, or the mbarrier that counts them.",
	},
}
