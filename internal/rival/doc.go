// Package rival times the attention of other libraries, PyTorch, FlashAttention-3, Triton
// and JAX, on the same card and in the same run as ours: a claim to be faster needs the
// other in the room.
//
// [Start] runs an installed Python with a script that is part of this package and
// talks to it over a pipe, one JSON object a line. [Rival.Prepare] makes a [Case]
// ready, and [Prepared.Candidate] is what timing.Interleave takes beside our own
// work: while one process measures, the other waits for its turn.
//
// The script times as package timing does: one launch between events or many in a
// graph, warm or cold, behind a kernel that holds the stream until all is queued,
// so that Python is not in the figures. JAX has neither events nor graphs; its
// figures are of a compiled loop by the host's clock, and say so.
//
// No Python, no library or no GPU is [ErrMissing]: a normal state of a machine.
package rival
