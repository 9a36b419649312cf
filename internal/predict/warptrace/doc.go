// Package warptrace records what the warps of a few blocks do on the emulator, for a simulator that
// replays it with time.
//
// A trace has the path of each warp as a list of executed instructions. Instructions that touch
// memory, barriers or the copy engine carry facts: wavefronts of shared memory, lines and sectors
// of global memory, asynchronous copies, and the phases of barriers that they arrive at or wait
// for.
//
// A phase is one completion of a barrier or an mbarrier. The trace numbers all phases of a
// cluster and counts the arrivals and copies that complete each one. A replay therefore needs
// neither the state of a barrier nor the order in which the emulator ran the warps. Polls that
// came too early are not part of the path, because a replay decides how long a wait takes.
package warptrace
