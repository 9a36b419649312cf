// Package calibrate measures the latencies and throughputs of a GPU with small kernels.
//
// Each [Probe] is a kernel written with package build: a loop of operations between two readings
// of the clock. It runs with two numbers of iterations, and the difference of the two times is free
// of everything outside the loop. The results have the names of the numbers in package chips, so
// that [Merge] can write the file of a chip.
//
// The probes are never used to validate a prediction, and the kernels that validate predictions
// are never used here.
package calibrate
