// Package difffuzz compares two devices on random kernels.
//
// [Generate] makes a small kernel from a seed: instructions of the table in
// attest/ptx/isa on operands that are nasty by construction, with branches, loops,
// calls, shared memory, warp exchanges and matrix products around them. Such a kernel
// ends, faults nowhere, has no race and uses nothing that PTX leaves undefined, so
// whatever two devices disagree about is a defect of one of them. A [Fuzzer] runs
// kernels on both and compares what they wrote to the bit.
//
// Every register of a kernel has a value from memory before its first instruction and
// goes back to memory after the last. So any instruction can be taken out and what is
// left is still a kernel of the same kind, which is what [Shrink] lives on: it takes
// out all that does not matter to a difference. What remains is written to a folder as
// PTX with a launch file, for attest exec to replay.
//
// A GPU runs what an assembler makes of a kernel, and those make mistakes. The ones that
// are known are left out, under their numbers in DEVIATIONS.md. Many come from what an
// assembler believes to know about a register, so every result is combined with a zero
// that it cannot know. Others come from many predicates that live long, so these lie in
// registers between the pieces of a kernel: kernels show what instructions do, one by one,
// and not how they are optimised together.
//
// One device is the reference, as a rule the emulator. The other may be a GPU: it is
// then driven by a process of its own ([Child]), because a kernel that faults takes
// the process's context with it. Where there is no GPU the emulator is compared with
// itself under another schedule and with more blocks, which must not matter.
package difffuzz
