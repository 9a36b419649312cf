// Package rival times the attention of other libraries (PyTorch, FlashAttention-3, Triton and
// JAX) on the same GPU and in the same run as our kernels.
//
// [Start] runs an installed Python with a script of this package and talks to it over a pipe,
// one JSON object per line. [Rival.Prepare] prepares a [Case], and [Prepared.Candidate] returns
// a candidate for timing.Interleave, beside our own kernels. While one process measures, the
// other waits for its turn.
//
// The script times like package timing: one launch between events or many in a graph, with a
// warm or a cold cache. A kernel holds the stream until everything is queued, so the times do
// not include Python. JAX has neither events nor graphs: its launches run in a compiled loop
// and are timed by the clock of the host, and the method says so.
//
// If Python, the library or a GPU is missing, the error is [ErrMissing].
package rival
