// Package difffuzz compares two devices on random kernels.
//
// [Generate] makes a small kernel from a seed. It combines instructions of the table in
// ptx/isa with operands at the edges of their formats, branches, loops, calls, shared
// memory, warp exchanges and matrix products. Such a kernel always ends, does not fault,
// has no race and uses nothing that PTX leaves undefined. If two devices disagree about its
// results, one of them has a defect. A [Fuzzer] runs kernels on both devices and compares
// the bits that they wrote.
//
// A kernel loads every register from memory before its first instruction and stores every
// register after its last. Any instruction can therefore be removed, and the remaining
// instructions are still a valid kernel. [Shrink] relies on this: it removes everything
// that does not matter to a difference. The shrunk kernel is written to a folder as PTX
// with a launch file, so that attest exec can replay it.
//
// A GPU runs the machine code that ptxas makes of a kernel, and ptxas has defects. The
// generator avoids the defects that are known; comments name them by their numbers in
// DEVIATIONS.md. Many of them come from wrong assumptions of ptxas about the value of a
// register. Every result is therefore combined with a zero that ptxas cannot know. Others
// come from many predicates that live long. Between the pieces of a kernel, predicates are
// therefore stored as numbers in registers. For these reasons the kernels test what single
// instructions do, not how ptxas optimises several instructions together.
//
// One device is the reference, usually the emulator. The other device may be a GPU. A
// separate process ([Child]) then drives it, because a kernel that faults destroys the CUDA
// context of its process. Without a GPU, the emulator is compared with itself under another
// schedule and with more blocks. Neither may change the results.
package difffuzz
