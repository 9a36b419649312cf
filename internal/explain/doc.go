// Package explain says which changes of a kernel would make it faster.
//
// A change is an edit of what the simulator of package predict replays: an access without bank
// conflicts, a ring with one more stage, a reduction as a tree. The package tries all changes that
// fit the kernel, simulates each one again, and ranks them by the predicted gain. Nothing is
// changed in the kernel itself, and the results are PREDICTED.
//
// Some edits are bounds: a barrier at which no warp waits, or a line that takes no time, show the
// most that a change of that part can give. They rank behind concrete changes of similar gain.
package explain
