// Package profile says where the time of a kernel goes: a prediction from counts of the
// emulator and, on a machine with a GPU and Nsight Compute, a measurement.
package profile
