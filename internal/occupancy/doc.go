// Package occupancy computes how many blocks of a kernel an SM can hold and what limits
// them, for any architecture and without a GPU. The rules are those of NVIDIA's occupancy
// calculator; on an H200 they agree with what the driver reports.
package occupancy
