// Package resources finds the resources that kernels need on a GPU: registers, spills,
// stack, shared and constant memory.
//
// There are three sources. ptxas, NVIDIA's assembler, gives all figures for any target.
// Without ptxas, the compiler in the driver gives figures for the GPU of the machine.
// Without a GPU, registers are estimated from live ranges. Every [Figure] names its source,
// and a figure without a source is unknown.
package resources
