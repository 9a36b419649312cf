// Package ncu profiles one launch of a kernel with Nsight Compute, NVIDIA's profiler, and
// reads the table that it writes.
package ncu
