// Package occupancy computes how many blocks of a kernel an SM can hold and what limits
// them, for any architecture and without a GPU. On an H200 the results agree
// with the driver for all published records that have both.
package occupancy
