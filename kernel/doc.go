// Package kernel is the contract of a kernel: everything that is needed to run it, as
// plain data. A [Kernel] holds its PTX, every piece of memory that it touches, its launches
// in stream order, the limits within which it serves a problem, and what it claims.
//
// A kernel's author writes the contract once. The lab, the Go library, tuning, profiling
// and everything else that runs a kernel read it; nothing else knows the position of a
// parameter or the size of a grid. Nothing in it is a function, so that JSON, and with it
// any language, can hold it. What varies with the problem is an expression over names.
//
// # Three moments
//
// Each fact about a problem becomes known at one of three moments.
//
//	build   the text depends on it: head dimension, formats, mask.    Fixed, Supports
//	launch  the host knows it: batch, lengths, scale, SMs.            names in expressions
//	device  only memory holds it: lengths of a batch, a page table.   an Operand with a Meaning
//
// Grids, shared memory, workspaces and tensor maps use the first two only, so a launch
// stays fixed while the contents of memory change, and a CUDA graph can hold it. Work that
// depends on contents is planned by a first launch that writes a workspace.
//
// # From kernel to launch
//
// [Kernel.Serves] says whether the kernel computes a problem on a chip, and why not.
// [Kernel.Bind] evaluates all expressions for one problem and returns a [Plan]: sizes of
// memory and launches without addresses. Package device gives a plan its addresses and
// runs it.
package kernel
