// Package timeline writes a replayed launch as trace events, which Perfetto (ui.perfetto.dev) and
// chrome://tracing show.
//
// Each block is a process and each warp is a track. A slice is a run of instructions from one
// source file, or a wait with its reason. Copies and products in flight are asynchronous slices,
// and each barrier is a counter of its completed phases. The times are predictions, and the name of
// every process says so.
package timeline
