package defects

import (
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// Rule explains a kind of defect.
type Rule struct {
	Kind  check.Kind
	Short string // in a few words
	Full  string // what is wrong, and what comes of it
	Help  string // what usually mends it
}

// Rules explain all kinds: those of the checkers in their order, then those that a
// run shows without any.
var Rules = []Rule{
	{check.SharedRace, "two threads of a block touch the same shared memory in no order",
		"Two accesses to the same bytes of shared memory, at least one of them a write, are ordered by no barrier, fence or atomic. Which comes first changes from run to run.",
		"Put bar.sync between them, or bar.warp.sync when all threads are of one warp. In a loop look at both sides: the read of this round and the write of the next."},
	{check.GlobalRace, "two threads touch the same global memory in no order",
		"Two accesses to the same bytes of global memory, at least one of them a write, are ordered by nothing. Threads of different blocks are ordered only by atomics or fences with strong accesses, and by the end of the kernel.",
		"Give each thread its own bytes, use atom or red, or publish with st.release and read with ld.acquire at a scope that includes both threads."},
	{check.AsyncRace, "memory is touched while an asynchronous copy or product uses it",
		"cp.async, bulk copies and wgmma read and write memory after the instruction that starts them. Something touched the bytes before the wait that covers that work, or the wait was not passed on to the other threads.",
		"Wait for the work first: cp.async.wait_group, cp.async.bulk.wait_group, mbarrier.try_wait or wgmma.wait_group; then a barrier, if other threads rely on it. At the last rounds of a pipeline wait_group N must count down to 0."},
	{check.ProxyFence, "generic and asynchronous accesses without fence.proxy.async between them",
		"Bulk copies and wgmma reach shared memory through the async proxy, ld and st through the generic one. Order between threads is not enough: the writes of one are not visible to the other without a proxy fence.",
		"Execute fence.proxy.async after the generic accesses and before the barrier or arrival that publishes them."},
	{check.UninitShared, "shared memory is read that nobody wrote",
		"Shared memory holds whatever the last block left in it. The value that is read changes from run to run.",
		"Write it first, by all the threads that the loop over it assumes; look at the bounds of the fill and at tiles that reach past the end of the data."},
	{check.UninitLocal, "local memory is read that nobody wrote",
		"A thread reads a part of its stack or of a spilled array that it never wrote.",
		"Initialise the array, or find the path through the code that skips the write."},
	{check.UninitRegister, "a register is used that nobody wrote",
		"An address, a stored value or a branch depends on a register that has no value on this path.",
		"Initialise the register before the branch that skips its definition."},
	{check.OOBGlobal, "a global access outside of every allocation",
		"The address is not inside an allocation. On a GPU it is an error, or silently the memory of somebody else.",
		"Guard the access with the size of the data; look at the last block, which may have more threads than there are elements."},
	{check.OOBShared, "a shared access outside of its variable",
		"The address is outside of the variable that it was computed from, or of all the shared memory that the block has. It may be another variable's bytes.",
		"Check the index against the size of the array, and the bytes of dynamic shared memory of the launch against what the kernel assumes."},
	{check.OOBLocal, "a local access outside of its variable",
		"The address is outside of the thread's variable in local memory.",
		"Check the index against the size of the array."},
	{check.Misaligned, "an address that is not a multiple of the size of the access",
		"An access of n bytes needs an address that is a multiple of n, vectors as a whole. A GPU ends the kernel with an error.",
		"Align the array (.align 16 for vectors of 16 bytes) and keep offsets and row lengths multiples of the size of the access."},
	{check.BarrierDivergence, "a barrier that not all the threads reach that it is for",
		"bar.sync and the other .aligned instructions must be executed by all lanes of a warp together, and by as many threads as the barrier waits for. Reached under a condition that differs between lanes, the result is undefined.",
		"Move the barrier out of the condition, or give it the number of threads that do take part."},
	{check.Deadlock, "threads that wait for each other for ever",
		"Every thread that is left waits, and nobody is left to end the wait.",
		"Compare who waits with who was to arrive: the count of the barrier, the parity of the phase, the bytes of expect_tx, an arrival that a branch skipped."},
	{check.MbarrierMisuse, "an mbarrier used against its rules",
		"Used before mbarrier.init or after inval, initialised again while threads use it, more arrivals than it expects, bytes that never balance, or its memory used for something else.",
		"Initialise it once by one thread, fence and synchronise before others use it, arrive as often as it was initialised for, and expect_tx exactly the bytes that the copies bring."},
	{check.WgmmaHazard, "registers or operands of wgmma touched while it may use them",
		"wgmma.mma_async works on its registers after the instruction. They may not be touched before wgmma.wait_group, and need wgmma.fence after ordinary writes; all four warps must give the same descriptors.",
		"Put wgmma.fence before the first wgmma and after writes to its registers, and wgmma.wait_group before its results are read."},
	{check.ShuffleInactive, "a shuffle reads from a lane that does not take part",
		"shfl.sync gives an undefined value when its source lane is not executing the same shuffle.",
		"Execute the shuffle in all lanes of the mask, before any branch between them, and choose the value afterwards."},
	{check.AsyncLeak, "a thread ends while its asynchronous copies are on their way",
		"Copies that were started and never waited for may still write shared memory, which others read or the next block already owns.",
		"Wait for all of them before the end: cp.async.wait_all, cp.async.bulk.wait_group 0, or the mbarrier that counts them."},
	{Fault, "the launch was stopped by an instruction that cannot be carried out",
		"An access out of bounds, an address that is not aligned, an instruction used against its rules. On a GPU the launch fails or its result is undefined.",
		"Look at the operands at the line; --check all says more about what led to it."},
	{Timeout, "the launch did not end in the time it was given",
		"The kernel ran longer than --timeout, or a warp executed more instructions than --max-instructions.",
		"Look for a loop whose end nobody brings about, or give it more."},
	{Schedule, "the result depends on the order in which warps run",
		"Two orders of the same warps gave different bits, so the order in which something happens is not determined: a race, or floating-point atomics, whose sums depend on it.",
		"Run with --check all, which names the two accesses."},
	{Mismatch, "a buffer does not hold what was expected",
		"After the launch a buffer differed from its \"expect\" by more than the launch file allows.",
		"Run with --check all: a race or memory that nobody wrote is often behind it."},
}

// RuleOf is the rule of a kind, or nil.
func RuleOf(k check.Kind) *Rule {
	for i := range Rules {
		if Rules[i].Kind == k {
			return &Rules[i]
		}
	}
	return nil
}

// Nearest is the kind of a checker whose name is most like a misspelt one, or "".
func Nearest(name string) check.Kind {
	var names []string
	for _, k := range check.Kinds {
		names = append(names, string(k))
	}
	return check.Kind(term.Nearest(name, names))
}
