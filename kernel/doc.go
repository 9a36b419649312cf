// Package kernel is the contract of a kernel: everything that is needed to run it, as
// plain data. A [Kernel] holds its PTX, every piece of memory that it touches, its launches
// in stream order, the limits within which it serves a problem, and what it claims.
//
// A kernel's author writes the contract once. The lab, the Go library, tuning, profiling
// and everything else that runs a kernel read it, and know nothing else about the position
// of a parameter or the size of a grid. The contract contains no functions, so it can be
// stored as JSON and read in any language. A value that depends on the problem is an
// expression over names.
//
// # Three moments
//
// Each fact about a problem becomes known at one of three moments.
//
//	build   the text depends on it: head dimension, formats, mask.    Fixed, Supports
//	launch  the host knows it: batch, lengths, scale, SMs.            names in expressions
//	device  only memory holds it: lengths of a batch, a page table.   an Operand with a Meaning
//
// Grids, shared memory, workspaces and tensor maps use only the first two. A launch then
// does not depend on the contents of memory, and a CUDA graph can hold it. If the work
// depends on the contents, a first launch plans it and writes the plan to a workspace.
//
// # From kernel to launch
//
// [Kernel.Serves] returns nil if the kernel computes a problem on a chip, or the reason why
// it does not.
// [Kernel.Bind] evaluates all expressions for one problem and returns a [Plan]: sizes of
// memory and launches without addresses. Package device gives a plan its addresses and
// runs it.
package kernel
