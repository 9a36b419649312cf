// Package profile says where the time of a kernel goes: a prediction by the simulator
// and, on a machine with a GPU and Nsight Compute, a measurement.
package profile
